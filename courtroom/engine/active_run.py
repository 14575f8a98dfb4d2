"""One run's life in this process: read from its record, deliberated to a verdict or a stop, and closed."""

import asyncio
import logging
import time
import traceback
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from courtroom.engine.asker import Asker
from courtroom.engine.budget import Spent, in_sum
from courtroom.engine.errors import Abstained, BudgetReached, QuorumLost
from courtroom.engine.events import StageBegan, Verdict
from courtroom.engine.gate import Gate
from courtroom.engine.lease import FencedWriter, LeaseHolder, LeaseLost
from courtroom.engine.ledger import RunLedger
from courtroom.engine.loop import Batcher, Loop
from courtroom.engine.people import People
from courtroom.engine.procedure import Procedure
from courtroom.engine.run import CELL, Control, Status, Steering
from courtroom.engine.services import Live, Services
from courtroom.engine.setup import Setup
from courtroom.engine.store import RunStore
from courtroom.errors import CourtroomError, log_file
from courtroom.knowledge.search import Knowledge
from courtroom.models.capabilities import Capabilities
from courtroom.models.keys import KEYS, scrubbed
from courtroom.store.connection import OUTAGES, passing
from courtroom.store.log import about
from courtroom.store.writer import PROBE_S, Writer

log = logging.getLogger(__name__)

LONGEST_ERROR = 200
"""Characters of an exception that are shown with the run; the log has all of it."""


@dataclass(frozen=True)
class Engine:
    """What all runs of a process share. `warm` is awaited before each run: what that needs is loaded before its clock starts."""

    store: RunStore
    procedures: Mapping[str, Procedure]
    asker: Asker
    writer: Writer
    knowledge: Knowledge
    capabilities: Capabilities
    people: People
    warm: Callable[[Procedure, Setup], Coroutine[Any, Any, None]]
    holder: LeaseHolder
    loop: Loop
    reading: Batcher[Callable[[], None], None]


class ActiveRun:
    """One run that this process drives. Its methods are called on the loop.

    Args:
        keys: typed by the person who started it; in memory only. Its task holds this very object, so it is changed in place.
        changed: called in the writer's thread when the run's status has changed on disk.
        ended: called on the loop when the run is not driven any more.
    """

    gate: Gate | None = None
    """Where others reach in while the run goes on; None until the run is set up."""

    def __init__(
        self,
        run: str,
        engine: Engine,
        keys: Mapping[str, str],
        live: Live,
        changed: Callable[[], None],
        ended: Callable[[], None],
    ) -> None:
        self.run, self.live, self.keys = run, live, dict(keys)
        self._engine, self._store, self._changed, self._ended = engine, engine.store, changed, ended
        self._writer = FencedWriter(
            engine.store.lease,
            run,
            engine.holder.owner,
            engine.writer,
            lambda error: engine.loop.call(partial(self._give_up, error)),
        )
        self._interventions_seen = 0
        self.task = asyncio.create_task(self._drive())

    # --- what others ask of it ------------------------------------------------------------------------------

    def use(self, keys: Mapping[str, str]) -> None:
        """From here on, use these keys in place of anybody else's."""
        self.keys.clear()
        self.keys.update(keys)

    def obey(self, control: Control) -> bool:
        """Go as far as this allows. False while the run is set up: it will read the control that is on disk."""
        if self.gate is not None:
            self.gate.set(control)
        return self.gate is not None

    def hold(self, trouble: str) -> None:
        """Ask nothing new while the disk takes no writes; go on when `trouble` is empty."""
        if self.gate is not None:
            self.gate.hold(bool(trouble))
            if not trouble:
                self._writer.do(partial(self._store.say, self.run, ""))

    @property
    def idle(self) -> bool:
        """Whether the run is set up and all its writes are on disk."""
        return self.gate is not None and self._ledger.idle and self._writer.idle

    def look(self, seen: Steering | None, obeyed: Control | None, idle: bool) -> bool:
        """Obey what other processes have written about the run.

        Args:
            seen: what is on disk; None where the run was deleted.
            obeyed: the control that this process wrote last.
            idle: whether all writes were on disk before `seen` was read.

        Returns:
            Whether somebody intervened by way of another process, so that the run has to start again from its record.
        """
        if self.gate is None or self.task.cancelling():
            return False
        if seen is None or seen.owner != self._engine.holder.owner:
            self.task.cancel()
            return False
        if not idle or seen.control is None:
            return False
        if seen.interventions != self._interventions_seen:
            return True
        if seen.control not in (self.gate.control, obeyed):  # a person at another server has it go on
            self.use({})
        self.gate.set(seen.control)
        if self.gate.waits and seen.status == "running":
            self.gate.announce()
        if seen.control.stopped:
            self.task.cancel()
        return False

    # --- its life -------------------------------------------------------------------------------------------

    async def _drive(self) -> None:
        KEYS.set(self.keys)
        with about(run=self.run):
            try:
                await self._deliberate()
            except asyncio.CancelledError:
                if self._store.control(self.run).stopped:
                    self._set("paused", "Stopped. Run it on at any time; nothing is lost.")
                raise
            except Exception as error:  # noqa: BLE001  nobody awaits this task: the run's page and the log report the error
                self._report(error)
            finally:
                try:
                    await self._engine.writer.do(partial(self._engine.holder.release, self._store.lease, self.run))
                finally:
                    self.keys.clear()  # answers under way still arrive; no call is made with these again
                    self._ended()

    async def _deliberate(self) -> None:
        """Go on from the record until the run stands; where the store can't be reached, wait and begin again from there."""
        while True:
            try:
                await self._engine.reading(self._read)
                await self._engine.warm(self._procedure, self._setup)
                await self._go_on()
                return
            except (*OUTAGES, OSError) as error:
                if not (why := passing(error)):
                    raise
                log.warning("run %s waits: %s (%s)", self.run, why, error)
                await asyncio.sleep(PROBE_S)

    async def _go_on(self) -> None:
        self._gate.hold(bool(self._engine.writer.trouble))
        self.gate = self._gate
        began = time.perf_counter()
        verdict: Verdict | None = None
        try:
            verdict = await self._deliberation()
        except Exception as error:  # noqa: BLE001  the run's page and the log report it
            if passing(error):
                raise
            self._report(error)
        finally:
            took = max(0.0, time.perf_counter() - began - self._gate.waited_s)
            self._writer.do(partial(self._end, self._ledger.take_new_events(), took, verdict))

    def _read(self) -> None:
        """Get the deliberation ready from what is on record. It reads and computes much, so it has a thread of its own."""
        run, store, engine = self.run, self._store, self._engine
        row = store.run(run)
        self._procedure = engine.procedures[row.procedure]
        if store.rewinding.due(run):
            self._writer.do(partial(store.rewinding.rewind, run)).result()
        self._interventions_seen, interventions = store.interventions.count(run), store.interventions.of(run)
        events = [event for _, event in store.events(run)]
        stages = [event for event in events if isinstance(event, StageBegan)]
        teaches = row.parent is None and row.origin != CELL
        self._ledger = RunLedger(
            store, run, events, self._writer, teaches=teaches, overtaken=store.rewinding.overtaken(run)
        )
        self._gate = Gate(row.control, stages[-1].index if stages else -1, paused=self._paused, resumed=self._resumed)
        paid = in_sum(store.payments.of(run).values())
        services = Services(
            ledger=self._ledger,
            asker=engine.asker,
            look_up=engine.knowledge.answer,
            learn=engine.knowledge.learn,
            sight=engine.capabilities,
            people=engine.people,
            gate=self._gate,
            live=self.live,
            spent=Spent(paid.calls, paid.tokens, store.payments.known_money(run), paid.number),
            monthly_budgets=store.monthly_budgets,
            payer=store.monthly_budgets.payer(run),
        )
        case = store.case(row)
        self._setup, _ = self._procedure.prepare(case, store.setup(run, self._procedure.setup), row.seed)
        self._deliberation = self._procedure.deliberation(case, self._setup, row.seed, interventions, services)

    def _end(self, write_events: Callable[[], None], took: float, verdict: Verdict | None) -> None:
        write_events()
        self._store.add_wall(self.run, took)
        if verdict is not None:
            self._store.finish(self.run, verdict)

    # --- what is written of it ------------------------------------------------------------------------------

    def _resumed(self) -> None:
        self._writer.do(partial(self._store.set_status, self.run, "running"))

    def _paused(self, why: str, control: Control) -> None:
        self._ledger.flush()
        self._writer.do(partial(self._store.set_control, self.run, control))
        written = self._writer.do(partial(self._store.set_status, self.run, "paused", why))
        written.add_done_callback(lambda done: self._changed())

    def _set(self, status: Status, reason: str) -> None:
        if self.gate is not None:
            self._ledger.flush()
        self._writer.do(partial(self._store.set_status, self.run, status, reason))

    def _report(self, error: Exception) -> None:
        match error:
            case BudgetReached():
                self._set("paused", str(error))
            case Abstained():
                self._set("failed", f"The run can't go on without this answer. {error}")
            case QuorumLost():
                self._set("failed", str(error))
            case CourtroomError():
                log.exception("run %s stopped", self.run)
                self._set("failed", str(error))
            case _:
                log.exception("run %s failed", self.run)
                self._set("failed", unexpected(error))

    def _give_up(self, error: BaseException) -> None:
        """Stop, as nothing of the run may, or can, be written any more."""
        if self.gate is None or self.task.done() or self.task.cancelling():
            return
        if isinstance(error, LeaseLost):
            log.warning("run %s is driven by another process now", self.run)
        else:
            log.error("run %s could not be written", self.run, exc_info=error)
            self._set("failed", "What happened could not be written down; the log says why. The run is kept.")
        self.task.cancel()


def unexpected(error: Exception) -> str:
    """A sentence about an error of the program or of a procedure: the exception's last line, and where it was raised."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""
    line = scrubbed(" ".join(f"{type(error).__name__}: {error}".split()))[:LONGEST_ERROR]
    return f"Something went wrong inside the program: {line}{place}. {log_file()} has the rest. The run is kept."
