"""The engine's event loop, in a thread of its own."""

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterable
from concurrent.futures import Future
from contextlib import suppress
from contextvars import copy_context
from typing import Any, TypeVar

from courtroom.access import for_server

T = TypeVar("T")


async def wait(news: asyncio.Event, seconds: float) -> None:
    """Wait for an event, but not longer than this."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await news.wait()


class Loop:
    """An event loop that runs in a background thread. Methods that are not async may be called from any thread.

    What is done on it is done for the server itself: it goes on when who began it has left, or has less access.
    """

    def __init__(self) -> None:
        self._kept: set[asyncio.Task[None]] = set()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="courtroom-engine", daemon=True)
        self._thread.start()

    def do(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Begin something on the loop."""
        return for_server(copy_context()).run(asyncio.run_coroutine_threadsafe, work, self._loop)

    def watch(self, work: Coroutine[Any, Any, None]) -> None:
        """Do something on the loop for which nobody waits; it ends when the loop does."""

        def keep() -> None:
            task = self._loop.create_task(work)
            self._kept.add(task)
            task.add_done_callback(self._kept.discard)

        self.call(keep)

    def call(self, work: Callable[[], object]) -> None:
        """Call something on the loop; nothing where the loop has ended."""
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(work, context=for_server(copy_context()))

    async def end(self, tasks: Iterable[asyncio.Task[None]]) -> None:
        """Cancel tasks and all that is watched, and wait until they have ended."""
        ending = [*tasks, *self._kept]
        for task in ending:
            task.cancel()
        await asyncio.gather(*ending, return_exceptions=True)

    def close(self) -> None:
        """End what libraries have left running on the loop, then its thread."""
        self.do(self._end_rest()).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _end_rest(self) -> None:
        await self.end(asyncio.all_tasks() - {asyncio.current_task()})
        await self._loop.shutdown_asyncgens()
        await self._loop.shutdown_default_executor()
