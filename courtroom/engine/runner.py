"""All runs of one process, on one event loop. Its methods may be called from any thread."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from concurrent.futures import Future
from functools import partial
from typing import Any, TypeVar

from courtroom.access.account import Access
from courtroom.access.acting import needs
from courtroom.engine.asked import Asked
from courtroom.engine.asker import Asker
from courtroom.engine.beside import AskedBeside, BesideLedger, Keep, ask_beside, spent_with
from courtroom.engine.control import Control
from courtroom.engine.drive import Drive, installed
from courtroom.engine.driven_runs import NO_KEYS, DrivenRuns
from courtroom.engine.gate import Gate
from courtroom.engine.gathered import Gathered, each
from courtroom.engine.latest import LatestRecords
from courtroom.engine.lease import Driver, Hand
from courtroom.engine.live import Live
from courtroom.engine.loop import Loop
from courtroom.engine.ports import Knows, Seats, Sees
from courtroom.engine.procedure import Procedure
from courtroom.engine.record import Record
from courtroom.engine.services import Services
from courtroom.engine.setup import Setup
from courtroom.engine.store import READ_ONLY, RunStore
from courtroom.errors import CourtroomError
from courtroom.models.keys import KEYS
from courtroom.models.telemetry import NO_TELEMETRY, Telemetry
from courtroom.store.writer import Writer, plainly

T = TypeVar("T")


class Runner:
    """Drives runs, each in at most one process at a time.

    While the disk takes no writes, the runs driven here ask nothing new, say so, and go on by themselves; see `Writer`.

    Args:
        writer: writes all that is written of runs on the loop.
        warm: awaited before each run, with its procedure and its complete setup: what it needs is loaded before its clock starts.
        streaming: whether answers are to stream in, where a model can.
        telemetry: is notified of runs under way.
    """

    def __init__(
        self,
        store: RunStore,
        procedures: Mapping[str, Procedure],
        asker: Asker,
        writer: Writer,
        knowledge: Knows,
        sight: Sees,
        seats: Seats,
        warm: Callable[[Procedure, Setup], Coroutine[Any, Any, None]],
        streaming: bool = False,
        telemetry: Telemetry = NO_TELEMETRY,
    ) -> None:
        self.driver = Driver()
        self._store, self._procedures, self._asker, self._writer = store, procedures, asker, writer
        self._knowledge, self._sight, self._seats, self._warm = knowledge, sight, seats, warm
        self._loop = Loop()
        self._taking_up: Gathered[Callable[[], Drive], Drive] = Gathered(lambda some: asyncio.to_thread(each, some))
        self.latest = LatestRecords(self.record, store.pulse, store.demand_seen)
        self._driven = DrivenRuns(store, writer, self.driver, self._loop, self._set_up, streaming, telemetry)

    def record(self, run: str) -> Record:
        """A run as it stands on record."""
        row = self._store.run(run)
        procedure = installed(self._procedures, row)
        return Record(
            run=row,
            case=self._store.case(row),
            setup=self._store.setup(run, procedure.setup),
            events=tuple(self._store.events(run)),
            interventions=self._store.interventions.of(run),
            overtaken=tuple(self._store.rewinding.overtaken(run)),
            paid=self._store.payments.of(run),
        )

    def live(self, run: str) -> Live:
        """The open calls of a run, as far as this process drives it."""
        return self._driven.live(run)

    def drives(self, run: str) -> bool:
        """Whether this process drives the run now."""
        return run in self._driven

    def interrupted(self, run: str) -> bool:
        """Whether the run counts as running although nobody drives it any more."""
        row = self._store.run(run)
        return row.status == "running" and self._driven.left(run, row.owner, row.heartbeat)

    def trouble(self, run: str) -> str:
        """Why the run can't go on just now although it is under way: a sentence that may not be on disk yet."""
        return self._writer.trouble if self.drives(run) else ""

    # --- steering -------------------------------------------------------------------------------------------

    @needs(Access.RUN)
    def go(self, run: str, control: Control | None = None, keys: Mapping[str, str] = NO_KEYS) -> None:
        """Run on as far as `control` allows (default: to the end, with the breaks as they are).

        Args:
            keys: what the person typed who has it run on. They are used from here on, in place of anybody else's, and
                forgotten when somebody else has it run on, intervenes, or the run comes to its end.

        Raises:
            RunBusy: another process has just taken the run up.
            CourtroomError: the disk takes no writes.
        """
        with plainly():
            row = self._store.changing(run, "start")
            if row.imported:
                raise CourtroomError(f"{READ_ONLY} Fork it to go on from here.")
            control = control or Control(breaks=row.control.breaks)
            self._driven.put(run, control)
            self._store.lost.forget(run)
            if row.status != "done":
                self.do(self._driven.take_up(run, control, keys)).result()

    @needs(Access.RUN)
    def step(self, run: str, keys: Mapping[str, str] = NO_KEYS) -> None:
        """Work on one stage: the current one if it is unfinished, else the next."""
        record = self.record(run)
        last = record.stages[-1] if record.stages else None
        upto = 0 if last is None else last.index + (last.path in record.ended)
        self.go(run, Control(upto=upto, breaks=record.run.control.breaks), keys)

    @needs(Access.RUN)
    def run_to(self, run: str, stage: str, keys: Mapping[str, str] = NO_KEYS) -> None:
        """Run on until a stage, by name, slug or kind, is done."""
        self.go(run, Control(stage=stage, breaks=self._store.run(run).control.breaks), keys)

    def let_go(self, run: str) -> None:
        """Drive a paused run no longer, so that it is taken up from the record when it goes on."""
        self.do(self._driven.let_go(run)).result()

    @needs(Access.RUN)
    def pause(self, run: str) -> None:
        """Ask nothing more for now; answers under way still arrive and are kept."""
        self._store.changing(run, "pause")
        self._set(run, self._store.control(run).model_copy(update={"paused": True}))

    @needs(Access.RUN)
    def stop(self, run: str) -> None:
        """Let go of the run. It can be run on at any time."""
        self._store.changing(run, "stop")
        self._set(run, self._store.control(run).model_copy(update={"stopped": True}))

    @needs(Access.RUN)
    def set_breaks(self, run: str, control: Control) -> None:
        """Break elsewhere from now on."""
        self._store.changing(run, "change")
        self._set(run, control)

    def wait(self, run: str, timeout: float | None = None) -> None:
        """Wait until the run is done, failed or paused; where its driver dies meanwhile, it is driven here."""
        self.do(self.settled(run)).result(timeout)

    def do(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Do something on the engine's loop."""
        return self._loop.do(work)

    def ask_beside(
        self,
        record: Record,
        questions: Sequence[Asked[Any]],
        failures: Mapping[str, int],
        keep: Keep,
        keys: Mapping[str, str] = NO_KEYS,
    ) -> Future[AskedBeside]:
        """Ask questions beside a run, driven or not; nothing of it is written into the run.

        Args:
            failures: how often a question, by its path, had no answer before.
            keep: puts a call on record as soon as it is answered.
            keys: what the person typed who asks.
        """
        return self.do(self._ask_beside(record, questions, failures, keep, keys))

    def watch(self, work: Coroutine[Any, Any, None]) -> None:
        """Do something on the engine's loop for which nobody waits; it ends when the engine does."""
        self._loop.watch(work)

    def take_up_interrupted(self) -> list[str]:
        """Go on with the runs whose process has died; their ids. Those that others drive are watched, in case these die.

        A run that seems to end its process is left to a person.
        """
        under_way = self._store.under_way()
        left = [run for run, owner, heartbeat in under_way if self._driven.left(run, owner, heartbeat)]
        for run in left:
            with plainly():
                self.do(self._driven.take_up_alone(run, self._store.control(run))).result()
        for run in {run for run, *_ in under_way} - {*left}:
            self.watch(self.settled(run))
        return left

    def close(self, last: Callable[[], Coroutine[Any, Any, None]] | None = None) -> None:
        """Stop all runs, wait for the answers under way, do what is to be done last on the loop, end the thread."""
        self.do(self._end(last)).result()
        self._loop.close()
        self.driver.close()

    # --- on the loop ----------------------------------------------------------------------------------------

    async def finish(self, run: str, keys: Mapping[str, str] = NO_KEYS, *, new: bool = False) -> None:
        """Drive a run among many, or wait while another process does, until it is done, failed or paused.

        Called on the loop. Its answers do not stream in, as nobody watches so many.

        Args:
            new: it was put on record just now, so that nobody has driven it or said how far it may go.
        """
        before = Control() if new else self._store.control(run)
        control = Control(breaks=before.breaks)
        if control != before:
            await self._writer.do(partial(self._driven.put, run, control))
        take_up = self._driven.take_up_alone if not new and self.interrupted(run) else self._driven.take_up
        await take_up(run, control, keys, watched=False)
        await self.settled(run)

    async def settled(self, run: str) -> None:
        """Wait until the run is done, failed or paused; called on the loop. It is taken over from a driver that dies."""
        await self._driven.settled(run)

    async def _set_up(self, run: str, live: Live, hand: Hand, notify: Callable[[], None]) -> Drive:
        drive = await self._taking_up(partial(self._taken_up, run, live, hand, notify))
        await self._warm(drive.procedure, drive.deliberation.setup)
        return drive

    def _taken_up(self, run: str, live: Live, hand: Hand, notify: Callable[[], None]) -> Drive:
        services = (self._asker, self._knowledge, self._sight, self._seats)
        return Drive.take_up(run, self._store, self._procedures, *services, live, hand, notify)

    async def _ask_beside(
        self,
        record: Record,
        questions: Sequence[Asked[Any]],
        failures: Mapping[str, int],
        keep: Keep,
        keys: Mapping[str, str],
    ) -> AskedBeside:
        KEYS.set(keys)
        await self._warm(installed(self._procedures, record.run), record.setup)
        run = record.run.id
        root = await asyncio.to_thread(self._store.families.root, run)
        services = Services(
            ledger=BesideLedger(self._store.payments, run, root, failures),
            asker=self._asker,
            knowledge=self._knowledge,
            sight=self._sight,
            seats=self._seats,
            gate=Gate(Control(), -1, paused=lambda why, control: None, resumed=lambda: None),
            spent=await asyncio.to_thread(spent_with, self._store.payments, run),
            purses=self._store.purses,
            payer=await asyncio.to_thread(self._store.purses.payer, run),
            beside=True,
        )
        return await ask_beside(services, questions, keep)

    def _set(self, run: str, control: Control) -> None:
        with plainly():
            self._driven.put(run, control)
            self.do(self._driven.obey(run, control)).result()

    async def _end(self, last: Callable[[], Coroutine[Any, Any, None]] | None) -> None:
        self._writer.end()
        await self._driven.end()
        await self._asker.finish()
        if last is not None:
            await last()
