"""Work that many ask for one by one and that is done for several at once: one thread and one transaction serve them all."""

import asyncio
import contextvars
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, Generic, TypeVar

from courtroom.access import for_server

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


def each(works: Sequence[Callable[[], R]]) -> list[R | BaseException]:
    results: list[R | BaseException] = []
    for work in works:
        try:
            results.append(work())
        except Exception as error:  # noqa: BLE001  it is given to whoever asked for this one
            results.append(error)
    return results
