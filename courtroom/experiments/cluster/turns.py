"""A model's limits over all workers of a cluster: its scheduler, which every worker has a link to, says when a call may be made.

Messages go over the links that Dask has open in any case. What a worker held is free again as soon as the scheduler misses it.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any

from distributed import Scheduler, SchedulerPlugin, Worker
from distributed.comm.core import CommClosedError

from courtroom.models.errors import ModelError
from courtroom.models.failures import retry_after
from courtroom.models.limits import Asked, CallPlace, Door, Limits, asked_of, shared_by
from courtroom.models.request import Request, Usage

ENTER, LEAVE, TURN = "courtroom-enter", "courtroom-leave", "courtroom-turn"
"""A worker has a call to make; it has ended, or is not to be made any more; it may be made now."""


@dataclass
class AwaitedCall:
    """A call that a worker waits for, or makes."""

    door: Door
    asked: Asked
    place: CallPlace
    entering: asyncio.Task[None]


class TurnsAtScheduler(SchedulerPlugin):
    """The limits of all models, as `Limits` holds them for one process."""

    name = "courtroom-turns"
    idempotent = True

    async def start(self, scheduler: Scheduler) -> None:
        """Take what workers say from now on."""
        self._scheduler, self._limits = scheduler, Limits()
        self._calls: dict[tuple[str, str], AwaitedCall] = {}
        scheduler.stream_handlers.update({ENTER: self._enter, LEAVE: self._leave})

    def remove_worker(self, scheduler: Scheduler, worker: str, *, stimulus_id: str, **given: Any) -> None:
        """A worker is gone, and its calls with it."""
        for of, call in [key for key in self._calls if key[0] == worker]:
            self._leave(of, call, None, None)

    def _enter(self, worker: str, call: str, model: tuple[str, str], asked: Asked, prompt: int, longest: int) -> None:
        door, place = self._limits.door(tuple(model)), CallPlace(lambda: prompt, longest)
        limits = (asked[0], asked[1], asked[2])  # a list by now

        async def let_in() -> None:
            await door.enter(limits, place)
            self._scheduler.worker_send(worker, {"op": TURN, "call": call})

        self._calls[worker, call] = AwaitedCall(door, limits, place, asyncio.create_task(let_in()))

    def _leave(self, worker: str, call: str, used: tuple[int, int] | None, pause: float | None) -> None:
        awaited = self._calls.pop((worker, call), None)
        if awaited is None:
            return
        awaited.door.pause(pause)
        if not awaited.entering.done():
            awaited.entering.cancel()
            return
        if used is not None:
            awaited.place.usage = Usage(prompt=used[0], completion=used[1])
        awaited.door.leave(awaited.asked, awaited.place)


class TurnsAtWorker:
    """Asks the scheduler for each call; see `Turns`."""

    def __init__(self, worker: Worker) -> None:
        self._worker = worker
        self._waiting: dict[str, asyncio.Future[None]] = {}
        worker.stream_handlers[TURN] = self._let_in

    @asynccontextmanager
    async def turn(self, request: Request) -> AsyncIterator[CallPlace]:
        """See `Turns`.

        Raises:
            ModelError: the worker is being closed.
        """
        place, call = CallPlace.of(request), secrets.token_hex(8)
        turn = self._waiting[call] = asyncio.get_running_loop().create_future()
        what = {"model": shared_by(request.spec), "asked": asked_of(request.spec)}
        self._send({"op": ENTER, "call": call, **what, "prompt": place.prompt, "longest": place.longest})
        pause: float | None = None
        try:
            await turn
            yield place
        except Exception as error:
            pause = retry_after(error)
            raise
        finally:
            del self._waiting[call]
            used = (place.usage.prompt, place.usage.completion) if place.usage else None
            self._send({"op": LEAVE, "call": call, "used": used, "pause": pause})

    def close(self) -> None:
        """No call is let in any more. Called on the worker's loop."""
        for turn in [*self._waiting.values()]:
            turn.get_loop().call_soon_threadsafe(_end, turn, ModelError("The worker is being closed."))

    def _send(self, message: dict[str, Any]) -> None:
        """From any loop."""

        def send() -> None:
            with suppress(CommClosedError):  # the scheduler has noticed
                self._worker.batched_stream.send(message)

        self._worker.loop.add_callback(send)

    def _let_in(self, call: str) -> None:
        if turn := self._waiting.get(call):
            turn.get_loop().call_soon_threadsafe(_end, turn, None)


def _end(turn: asyncio.Future[None], error: Exception | None) -> None:
    if turn.done():
        return
    if error is None:
        turn.set_result(None)
    else:
        turn.set_exception(error)
