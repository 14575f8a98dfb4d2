"""The engine's event loop, in a thread of its own."""

import asyncio
import contextvars
import threading
from collections.abc import Callable, Coroutine, Iterable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from contextvars import copy_context
from typing import Any, Generic, TypeVar

from courtroom.access import by, for_server

T = TypeVar("T")


async def wait(news: asyncio.Event, seconds: float) -> None:
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
        return for_server(copy_context()).run(asyncio.run_coroutine_threadsafe, work, self._loop)

    def watch(self, work: Coroutine[Any, Any, None]) -> None:
        """Do something on the loop for which nobody waits; it ends when the loop does."""
        self._loop.call_soon_threadsafe(self._keep, work)

    def call(self, work: Callable[[], object]) -> None:
        """Call something on the loop; nothing where the loop has ended."""
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(by(None, work))

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
        rest = asyncio.all_tasks() - {asyncio.current_task()}
        for task in rest:
            task.cancel()
        await asyncio.gather(*rest, return_exceptions=True)
        await self._loop.shutdown_asyncgens()
        await self._loop.shutdown_default_executor()

    def _keep(self, work: Coroutine[Any, Any, None]) -> None:
        task = self._loop.create_task(work, context=for_server(copy_context()))
        self._kept.add(task)
        task.add_done_callback(self._kept.discard)


K = TypeVar("K")
R = TypeVar("R")


class Batcher(Generic[K, R]):
    """Does one piece of work for all who ask for it within a short time. Lives on one event loop.

    Who comes first is served at once. Who comes while the work is done, or less than `apart_s` after it began, goes with
    the next round, so that a crowd costs few rounds and one alone waits for nobody.

    Args:
        work: does it for several; a result for each, in their order, or an exception for that one alone.
        apart_s: seconds from the beginning of one round to that of the next, at least.
    """

    def __init__(
        self, work: Callable[[Sequence[K]], Coroutine[Any, Any, Sequence[R | BaseException]]], apart_s: float = 0.0
    ) -> None:
        self._work, self._apart_s = work, apart_s
        self._waiting: list[tuple[K, asyncio.Future[R]]] = []
        self._rounds: asyncio.Task[None] | None = None

    async def __call__(self, item: K) -> R:
        """Have it done for one.

        A caller that is cancelled leaves the work to be done: it may be in the middle of it.
        """
        loop = asyncio.get_running_loop()
        done: asyncio.Future[R] = loop.create_future()
        self._waiting.append((item, done))
        if self._rounds is None:
            # In a context of its own: what one caller holds, such as keys, is not there for the others. So it is for no person.
            self._rounds = loop.create_task(self._go(), context=for_server(contextvars.Context()))
        return await done

    async def _go(self) -> None:
        loop = asyncio.get_running_loop()
        try:
            while self._waiting:
                began = loop.time()
                await self._round()
                if self._waiting or self._apart_s:
                    await asyncio.sleep(began + self._apart_s - loop.time())
        finally:
            self._rounds = None

    async def _round(self) -> None:
        some, self._waiting = self._waiting, []
        try:
            results = await self._work([item for item, _ in some])
        except BaseException as error:
            results = [error] * len(some)
            if isinstance(error, asyncio.CancelledError):
                for _, done in some:
                    done.cancel()
                raise
        for (_, done), result in zip(some, results, strict=True):
            if done.done():
                continue  # nobody waits any more
            if isinstance(result, BaseException):
                done.set_exception(result)
            else:
                done.set_result(result)


def results_of(works: Sequence[Callable[[], R]]) -> list[R | BaseException]:
    """Calls each; what it gives, or the exception that it raises."""
    results: list[R | BaseException] = []
    for work in works:
        try:
            results.append(work())
        except Exception as error:  # noqa: BLE001  it is given to whoever asked for this one
            results.append(error)
    return results
