"""One run's life in this process: read from its record, deliberated to a verdict or a stop, and closed."""

from __future__ import annotations

import asyncio
import logging
import time
import traceback
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from courtroom.declarations.changes import value_at
from courtroom.engine.court import Court, RunInput, hear
from courtroom.engine.errors import Abstained, BudgetReached, QuorumLost
from courtroom.engine.events import Verdict
from courtroom.engine.gate import Gate
from courtroom.engine.ledger import RunLedger
from courtroom.engine.procedure import Procedure
from courtroom.engine.run import CELL, Control, Status, Steering
from courtroom.engine.services import OpenCall, Services
from courtroom.errors import CourtroomError, log_file
from courtroom.models.keys import KEYS, scrubbed
from courtroom.store.connection import OUTAGES, StoreLock, passing
from courtroom.store.log import about
from courtroom.store.writer import PROBE_S, LockLost

if TYPE_CHECKING:
    from courtroom.engine.runner import Runner

log = logging.getLogger(__name__)

T = TypeVar("T")
LONGEST_ERROR = 200
"""Characters of an exception that are shown with the run; the log has all of it."""


class ActiveRun:
    """One run that this process drives. It is made in any thread; its methods are called on the loop.

    Args:
        runner: has what all runs of a process share.
        lock: of this run, which this process has.
        keys: typed by the person who started it, in memory only. Its task holds this object: it is changed in place.
    """

    task: asyncio.Task[None]

    def __init__(self, runner: Runner, run: str, lock: StoreLock, keys: Mapping[str, str], *, streaming: bool) -> None:
        self.run, self.keys = run, dict(keys)
        self.calls: dict[str, OpenCall] = {}
        self._streaming = streaming
        self._runner, self._store, self._lock = runner, runner.store, lock
        goes_on = partial(runner.store.set_status, run, "running")
        asked = partial(runner.rings, run, "waits for a reply")
        self.gate = Gate(self._paused, lambda: self._write(goes_on), asked)
        self._ledger: RunLedger | None = None
        """None until the run is read."""
        self._interventions = 0
        """See `InterventionStore.count`."""
        self._last_write: Future[Any] | None = None

    # --- what others ask of it ------------------------------------------------------------------------------

    def use(self, keys: Mapping[str, str]) -> None:
        """From here on, use these keys in place of anybody else's."""
        self.keys.clear()
        self.keys.update(keys)

    def hold(self, trouble: str) -> None:
        """Ask nothing new while the disk takes no writes; go on when `trouble` is empty."""
        self.gate.hold(bool(trouble))
        if not trouble:
            self._write(partial(self._store.say, self.run, ""))

    @property
    def idle(self) -> bool:
        """Whether the run was read and all its writes are on disk."""
        is_written = self._last_write is None or self._last_write.done()
        return is_written and self._ledger is not None and not self._ledger.new

    def look(self, seen: Steering | None, obeyed: Control | None, idle: bool) -> bool:
        """Obey what other processes have written about the run.

        Args:
            seen: what is on disk; None where the run was deleted.
            obeyed: the control that this process wrote last.
            idle: whether all writes were on disk before `seen` was read.

        Returns:
            Whether somebody intervened by way of another process, so that the run has to start again from its record.
        """
        if self._ledger is None or self.task.cancelling():
            return False
        if seen is None:
            self.task.cancel()
        elif not self._lock.held:
            self._give_up(LockLost())
        elif idle and seen.control is not None:
            if seen.interventions != self._interventions:
                return True
            if seen.control not in (self.gate.control, obeyed):  # a person at another server has it go on
                self.use({})
            self.gate.set(seen.control)
            if self.gate.waits and seen.status == "running":
                self._paused(self.gate.why, self.gate.control)
            if seen.control.stopped:
                self.task.cancel()
        return False

    # --- its life -------------------------------------------------------------------------------------------

    async def drive(self) -> None:
        """Go on from the record until the run stands. Where the store can't be reached, wait and begin again."""
        KEYS.set(self.keys)
        with about(run=self.run):
            try:
                while why := await self._deliberate():
                    log.warning("run %s waits: %s", self.run, why)
                    await asyncio.sleep(PROBE_S)
            except asyncio.CancelledError:
                if self._store.run(self.run).control.stopped:
                    self._say("paused", "Stopped. Run it on at any time; nothing is lost.")
                raise
            except Exception as error:  # noqa: BLE001  nobody awaits this task: the page and the log have it
                self._report(error)
            finally:
                try:
                    await self._runner.writer.release(self._lock)
                finally:
                    self.keys.clear()  # answers under way still arrive; no call is made with these again
                    self._runner.ended(self.run)

    async def _deliberate(self) -> str:
        """Read the run and have its court deliberate. Return why the store can't be reached just now, else nothing."""
        try:
            reading = asyncio.create_task(asyncio.to_thread(self._read))
            try:
                procedure, court = await asyncio.shield(reading)
            finally:
                await asyncio.wait([reading])  # it writes too, so that the lock is kept until it ends
            self.gate.set(self._store.run(self.run).control)  # what was said while it was read
            await self._runner.warm(procedure, court.setup)
        except (*OUTAGES, OSError) as error:
            if not (why := passing(error)):
                raise
            return why
        began, waited_s = time.perf_counter(), self.gate.waited_s
        verdict: Verdict | None = None
        try:
            verdict = await hear(court, procedure.deliberate)
        except Exception as error:  # noqa: BLE001  the run's page and the log report it
            if why := passing(error):
                return why
            self._report(error)
        finally:
            took = max(0.0, time.perf_counter() - began - (self.gate.waited_s - waited_s))
            self._flush()
            self._write(partial(self._store.end, self.run, took, verdict))
        if verdict is not None:
            self._runner.rings(self.run, "done")
        return ""

    def _read(self) -> tuple[Procedure, Court[Any, Any]]:
        """Make the court from what is on record. It reads and computes much: not for the loop."""
        run, store, runner = self.run, self._store, self._runner
        store.interventions.rewind(run)
        self._interventions = store.interventions.count(run)
        record = runner.record(run)
        row, procedure = record.run, runner.procedures[record.run.procedure]
        self.gate.frontier = record.stages[-1].index if record.stages else -1
        teaches = row.parent is None and row.origin != CELL
        ledger = RunLedger(record, store, self._lock, self._write, teaches=teaches)
        learns, knowledge = procedure.learns, runner.knowledge
        if learns is not None and teaches:
            knowledge = knowledge.taught_by(str(value_at(record.setup, learns.sees)))
        services = Services(
            ledger=ledger,
            asker=runner.asker,
            look_up=knowledge.answer,
            learn=knowledge.lessons.teach,
            capabilities=runner.capabilities,
            people=runner.people,
            gate=self.gate,
            calls=self.calls,
            streaming=self._streaming,
            spent=store.payments.spent(run),
            month=store.monthly_budgets.of_run(run),
        )
        setup = record.setup.complete(record.case, row.seed)
        run_input = RunInput(procedure, record.case, setup, row.seed, record.interventions)
        self._ledger = ledger
        return procedure, Court(run_input, services)

    # --- what is written of it ------------------------------------------------------------------------------

    def _write(self, write: Callable[[], T]) -> Future[T]:
        """Write after what was put in before, as long as this has the lock; where it fails, the run stops."""
        self._last_write = done = self._runner.writer.put(write, self._lock)
        done.add_done_callback(self._written)
        return done

    def _written(self, done: Future[Any]) -> None:
        if (error := done.exception()) is not None:
            self._runner.call(partial(self._give_up, error))

    def _paused(self, why: str, control: Control) -> None:
        self._write(partial(self._store.set_control, self.run, control))
        self._say("paused", why).add_done_callback(lambda done: self._runner.call(partial(self._runner.wake, self.run)))

    def _set(self, status: Literal["paused", "failed"], reason: str) -> None:
        """Say where the run stands although nobody wanted it to."""
        self._say(status, reason)
        self._runner.rings(self.run, status)

    def _say(self, status: Status, reason: str) -> Future[None]:
        self._flush()
        return self._write(partial(self._store.set_status, self.run, status, reason))

    def _flush(self) -> None:
        if self._ledger is not None:
            self._ledger.flush()

    def _report(self, error: Exception) -> None:
        if isinstance(error, BudgetReached):
            self._set("paused", str(error))
        elif isinstance(error, Abstained):
            self._set("failed", f"The run can't go on without this answer. {error}")
        elif isinstance(error, QuorumLost):
            self._set("failed", str(error))
        else:
            log.exception("run %s failed", self.run)
            self._set("failed", str(error) if isinstance(error, CourtroomError) else unexpected(error))

    def _give_up(self, error: BaseException) -> None:
        """Stop, as nothing of the run may, or can, be written any more."""
        if self.task.done() or self.task.cancelling():
            return
        if isinstance(error, LockLost):
            log.warning("run %s lost its lock, and is taken up again", self.run)
            self._runner.watch(self._runner.settled(self.run))
        else:
            log.error("run %s could not be written", self.run, exc_info=error)
            self._set("failed", "What happened could not be written down; the log says why. The run is kept.")
        self.task.cancel()


def unexpected(error: Exception) -> str:
    """Return a sentence about an error of the program or of a procedure: its last line, and where it was raised."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""
    line = scrubbed(" ".join(f"{type(error).__name__}: {error}".split()))[:LONGEST_ERROR]
    return f"Something went wrong inside the program: {line}{place}. {log_file()} has the rest. The run is kept."
