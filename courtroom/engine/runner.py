"""All runs of one process: one event loop in one background thread. Its methods may be called from any thread."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import threading
import time
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import Future
from typing import Any, TypeVar

from courtroom.engine.asker import Asker
from courtroom.engine.control import Control
from courtroom.engine.drive import Drive
from courtroom.engine.errors import RunBusy
from courtroom.engine.live import Live
from courtroom.engine.ports import Knows, Seats, Sees
from courtroom.engine.procedure import Procedure
from courtroom.engine.record import Record
from courtroom.engine.store import RunStore
from courtroom.errors import Unreadable
from courtroom.models.keys import KEYS

log = logging.getLogger(__name__)

T = TypeVar("T")

BEAT_S = 0.5
"""How often a driver shows that it lives and looks for a new control."""
LEASE_S = 30.0
"""A driver that has not shown itself for this long is taken for dead."""
LOST_TWICE = "The program ended twice while it worked on this run. Press Run to try again; nothing is lost."


class Runner:
    """Drives runs, each in at most one process at a time.

    Args:
        warm: awaited once before the first run: what a run needs is loaded before its clock starts.
        streaming: whether answers are to stream in, where a model can.
    """

    def __init__(
        self,
        store: RunStore,
        procedures: Mapping[str, Procedure],
        asker: Asker,
        knowledge: Knows,
        sight: Sees,
        seats: Seats,
        warm: Callable[[Record], Coroutine[Any, Any, None]],
        streaming: bool = False,
    ) -> None:
        self.owner = f"{socket.gethostname()}:{os.getpid()}:{id(self):x}"
        self._store, self._procedures, self._asker = store, procedures, asker
        self._knowledge, self._sight, self._seats = knowledge, sight, seats
        self._warm, self._streaming = warm, streaming
        self.keys: dict[str, Mapping[str, str]] = {}
        """Keys typed for a run; in memory only."""
        self._driving: dict[str, asyncio.Task[None]] = {}
        self._drives: dict[str, Drive] = {}
        self._lives: dict[str, Live] = {}
        self._again: asyncio.Task[None] | None = None  # held, so that it isn't collected under way
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="courtroom-engine", daemon=True)
        self._thread.start()

    def record(self, run: str) -> Record:
        """A run as it stands on record."""
        row = self._store.run(run)
        procedure = self._procedures.get(row.procedure)
        if procedure is None:
            raise Unreadable("run", run, f"its procedure “{row.procedure}” is not installed here")
        return Record(
            run=row,
            case=self._store.case(row),
            setup=self._store.setup(run, procedure.setup),
            events=tuple(self._store.events(run)),
            interventions=self._store.interventions.of(run),
            overtaken=tuple(self._store.overtaken(run)),
        )

    def live(self, run: str) -> Live:
        """The open calls of a run, as far as this process drives it."""
        return self._lives.get(run, Live())

    def drives(self, run: str) -> bool:
        """Whether this process drives the run now."""
        return run in self._driving

    def interrupted(self, run: str) -> bool:
        """Whether the run counts as running although nobody drives it any more."""
        row = self._store.run(run)
        return row.status == "running" and not self.drives(run) and not alive(row.owner, row.heartbeat)

    # --- steering -------------------------------------------------------------------------------------------

    def go(self, run: str, control: Control | None = None) -> None:
        """Run on as far as `control` allows (default: to the end, with the breaks as they are).

        Raises:
            RunBusy: another process could not be told, as it holds the run without obeying.
        """
        row = self._store.run(run)
        control = control or Control(breaks=row.control.breaks)
        self._store.set_control(run, control)
        self._store.forget_lost_drivers(run)
        if row.status != "done":
            self.do(self._take_up(run, control)).result()

    def step(self, run: str) -> None:
        """Work on one stage: the current one if it is unfinished, else the next."""
        record = self.record(run)
        last = record.stages[-1] if record.stages else None
        upto = 0 if last is None else last.index + (last.path in record.ended)
        self.go(run, Control(upto=upto, breaks=record.run.control.breaks))

    def run_to(self, run: str, stage: str) -> None:
        """Run on until a stage, by name, slug or kind, is done."""
        self.go(run, Control(stage=stage, breaks=self._store.run(run).control.breaks))

    def let_go(self, run: str) -> None:
        """Drive a paused run no longer, so that it is taken up from the record when it goes on."""
        self.do(self._let_go(run)).result()

    def pause(self, run: str) -> None:
        """Ask nothing more for now; answers under way still arrive and are kept."""
        self._set(run, self._store.control(run).model_copy(update={"paused": True}))

    def stop(self, run: str) -> None:
        """Let go of the run. It can be run on at any time."""
        self._set(run, self._store.control(run).model_copy(update={"stopped": True}))

    def set_breaks(self, run: str, control: Control) -> None:
        """Break elsewhere from now on."""
        self._set(run, control)

    def wait(self, run: str, timeout: float | None = None) -> None:
        """Wait until the run is done, failed or paused."""
        self.do(self._settled(run)).result(timeout)

    def do(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Do something on the engine's loop."""
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def take_up_interrupted(self) -> list[str]:
        """Go on with the runs whose process has died; their ids. One that seems to end its process is left to a person."""
        runs = [row.id for row in self._store.runs() if self.interrupted(row.id)]
        for run in runs:
            self.do(self._take_up_by_itself(run, self._store.control(run))).result()
        return runs

    def close(self) -> None:
        """Stop all runs, wait for the answers under way, end the thread."""
        self.do(self._close()).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    # --- on the loop ----------------------------------------------------------------------------------------

    async def finish(self, run: str) -> None:
        """Drive a run, or wait while another process does, until it is done, failed or paused; called on the loop."""
        control = Control(breaks=self._store.control(run).breaks)
        self._store.set_control(run, control)
        await (self._take_up_by_itself if self.interrupted(run) else self._take_up)(run, control)
        while self._store.status(run) == "running":
            if driving := self._driving.get(run):
                await asyncio.wait([driving], timeout=BEAT_S)
            elif self.interrupted(run):
                await self._take_up_by_itself(run, control)
            else:
                await asyncio.sleep(BEAT_S)

    async def _take_up_by_itself(self, run: str, control: Control) -> None:
        """Take up a run that nobody drives, unless its last two drivers ended without a new event between them."""
        owner = self._store.run(run).owner  # None where the process let go of it before it ended
        if owner is not None and self._store.lost_driver(run) >= 2:
            self._store.set_status(run, "paused", LOST_TWICE)
            self._store.release(run, owner)
        else:
            await self._take_up(run, control)

    async def _take_up(self, run: str, control: Control) -> None:
        if run in self._driving:
            if drive := self._drives.get(
                run
            ):  # while it still warms up, it has yet to read the control that is on disk
                drive.court.gate.set(control)
            return
        row = self._store.run(run)
        if row.owner not in (None, self.owner) and alive(row.owner, row.heartbeat):
            self._store.set_status(run, "running")
            return  # its driver looks for the new control by itself, and says where it comes to wait
        if not self._store.claim(run, self.owner, row.owner):
            raise RunBusy("Another server has just taken up this run. Look again in a moment.")
        if row.status == "failed":
            self._store.forget_abstentions(run)
        self._store.set_status(run, "running")
        live = self._lives.setdefault(run, Live(streaming=self._streaming))
        self._driving[run] = asyncio.create_task(self._drive(run, live))

    async def _drive(self, run: str, live: Live) -> None:
        KEYS.set(self.keys.get(run, {}))
        try:
            await self._warm(self.record(run))
            drive = Drive.take_up(
                run, self._store, self._procedures, self._asker, self._knowledge, self._sight, self._seats, live
            )
            self._drives[run] = drive
            async with asyncio.TaskGroup() as group:
                beat = group.create_task(self._beat(run, drive))
                await drive.go()
                beat.cancel()
        except asyncio.CancelledError:
            if self._store.control(run).stopped:
                self._store.set_status(run, "paused", "Stopped. Run it on at any time; nothing is lost.")
            raise
        except Exception:  # noqa: BLE001  nobody awaits this task: what goes wrong is told on the run and in the log
            log.exception("run %s could not be driven", run)
            self._store.set_status(run, "failed", "The run could not be driven; the log says why.")
        finally:
            self._drives.pop(run, None)
            self._driving.pop(run, None)
            self._store.release(run, self.owner)

    async def _beat(self, run: str, drive: Drive) -> None:
        """Show that the run is driven, and obey what other processes say of it."""
        while True:
            await asyncio.sleep(BEAT_S)
            control = self._store.control(run)
            if self._store.interventions.count(run) != drive.acts:  # by way of another server
                self._again = asyncio.create_task(self._taken_up_again(run, control))
                return
            drive.court.gate.set(control)
            if drive.court.gate.waits and self._store.run(run).status == "running":
                drive.court.gate.tell()
            if control.stopped or not self._store.beat(run, self.owner):
                self._driving[run].cancel()

    def _set(self, run: str, control: Control) -> None:
        self._store.set_control(run, control)
        self.do(self._obey(run, control)).result()

    async def _obey(self, run: str, control: Control) -> None:
        if drive := self._drives.get(run):
            drive.court.gate.set(control)
        if control.stopped and (driving := self._driving.get(run)):
            driving.cancel()
            await asyncio.wait([driving])

    async def _let_go(self, run: str) -> None:
        if driving := self._driving.get(run):
            driving.cancel()
            await asyncio.wait([driving])

    async def _taken_up_again(self, run: str, control: Control) -> None:
        await self._let_go(run)
        if not control.paused and not control.stopped:
            await self._take_up(run, control)

    async def _settled(self, run: str) -> None:
        while self._store.status(run) == "running":  # noqa: ASYNC110  another process may be the one that drives it
            await asyncio.sleep(0.02)

    async def _close(self) -> None:
        driving = list(self._driving.values())
        for task in driving:
            task.cancel()
        await asyncio.gather(*driving, return_exceptions=True)
        await self._asker.finish()
        rest = asyncio.all_tasks() - {asyncio.current_task()}
        for task in rest:  # what libraries have left running on this loop
            task.cancel()
        await asyncio.gather(*rest, return_exceptions=True)


def alive(owner: str | None, heartbeat: float | None) -> bool:
    """Whether a driver lives. A process of this machine that is gone is known at once, any other by its silence."""
    if owner is None or heartbeat is None:
        return False
    host, pid, _ = owner.rsplit(":", 2)
    if host == socket.gethostname():
        try:
            os.kill(int(pid), 0)
        except ProcessLookupError:
            return False
        except PermissionError:
            pass  # it is there, and somebody else's
    return heartbeat > time.time() - LEASE_S
