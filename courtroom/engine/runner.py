"""All runs of one process, on one event loop. Its methods may be called from any thread."""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Mapping, Sequence
from concurrent.futures import Future
from functools import partial
from typing import Any, TypeVar
from weakref import WeakValueDictionary

from courtroom.access import Access, needs
from courtroom.engine.active_run import ActiveRun, Engine
from courtroom.engine.asker import Asker
from courtroom.engine.budget import Spent
from courtroom.engine.errors import RunBusy
from courtroom.engine.exchange import AskedBeside, Keep, ask_beside, spent_with
from courtroom.engine.lease import LeaseHolder
from courtroom.engine.ledger import SideLedger
from courtroom.engine.loop import Batcher, Loop, results_of, wait
from courtroom.engine.people import People
from courtroom.engine.procedure import Procedure
from courtroom.engine.record import LatestRecords, Record
from courtroom.engine.run import Control
from courtroom.engine.services import Asked, Live, Services
from courtroom.engine.setup import Setup
from courtroom.engine.store import RunStore, read_only
from courtroom.errors import CourtroomError
from courtroom.knowledge.search import Knowledge
from courtroom.models.capabilities import Capabilities
from courtroom.models.keys import KEYS
from courtroom.store.connection import OUTAGES
from courtroom.store.writer import Writer, plainly

log = logging.getLogger(__name__)

T = TypeVar("T")
NO_KEYS: Mapping[str, str] = {}
BEAT_S = 0.5
"""How often a driver looks for a new control, and a waiter at a run that another process drives."""
DRIVEN_S = 10 * BEAT_S
"""How often a waiter looks at a run that this process drives, although it would be notified."""
HELD_S = 0.05
LOST_TWICE = "The program ended twice while it worked on this run. Press Run to try again; nothing is lost."


class Runner:
    """Drives runs, each in at most one process at a time.

    While the disk takes no writes, the runs driven here ask nothing new, say so, and go on by themselves; see `Writer`. `warm` is awaited
    before each run: what that needs is loaded before its clock starts.
    """

    def __init__(
        self,
        store: RunStore,
        procedures: Mapping[str, Procedure],
        asker: Asker,
        writer: Writer,
        knowledge: Knowledge,
        sight: Capabilities,
        people: People,
        warm: Callable[[Procedure, Setup], Coroutine[Any, Any, None]],
        streaming: bool = False,
    ) -> None:
        self.driver = LeaseHolder()
        self._loop = Loop()
        reading: Batcher[Callable[[], None], None] = Batcher(lambda some: asyncio.to_thread(results_of, some))
        self._engine = Engine(
            *(store, procedures, asker, writer, knowledge, sight, people, warm), self.driver, self._loop, reading
        )
        self._store, self._writer, self._streaming = store, writer, streaming
        self.latest = LatestRecords(self.record, store.pulse, store.demand_seen)
        self._active: dict[str, ActiveRun] = {}
        self._said: dict[str, Control] = {}
        """Controls that this process has put on disk and not yet obeyed."""
        self._changed: dict[str, asyncio.Event] = {}
        """Set, and taken out, when a run's status is on disk. Each run has its own: hundreds may be waited for at once."""
        self._starting: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._claims: Batcher[str, bool] = Batcher(lambda runs: asyncio.to_thread(self._claim, runs))
        self._beats = False
        writer.listen(lambda trouble: self._loop.call(partial(self._hold, trouble)))

    # --- what is seen of runs -------------------------------------------------------------------------------

    def record(self, run: str) -> Record:
        row = self._store.run(run)
        procedure = self._engine.procedures[row.procedure]
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
        return active.live if (active := self._active.get(run)) else Live()

    def drives(self, run: str) -> bool:
        return run in self._active

    def interrupted(self, run: str) -> bool:
        """Whether the run counts as running although no process drives it any more."""
        row = self._store.run(run)
        return row.status == "running" and self._abandoned(run, row.owner, row.heartbeat)

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
                raise CourtroomError(f"{read_only(row)} Fork it to go on from here.")
            control = control or Control(breaks=row.control.breaks)
            self._put(run, control)
            self._store.lost.forget(run)
            if row.status != "done":
                self.do(self._start(run, control, keys)).result()

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

    def release(self, run: str) -> None:
        """Drive a paused run no longer, so that it starts again from its record when it goes on."""
        self.do(self._release(run)).result()

    @needs(Access.RUN)
    def pause(self, run: str) -> None:
        """Ask nothing more for now; answers under way still arrive and are kept."""
        self._store.changing(run, "pause")
        self._set(run, self._store.control(run).model_copy(update={"paused": True}))

    @needs(Access.RUN)
    def stop(self, run: str) -> None:
        """Drive the run no longer. It can be run on at any time."""
        self._store.changing(run, "stop")
        self._set(run, self._store.control(run).model_copy(update={"stopped": True}))

    @needs(Access.RUN)
    def set_breaks(self, run: str, control: Control) -> None:
        self._store.changing(run, "change")
        self._set(run, control)

    def wait(self, run: str, timeout: float | None = None) -> None:
        """Wait until the run is done, failed or paused; where its driver dies meanwhile, it is driven here. Raises
        `NoSuchRun`: there is none."""
        self._store.run(run)
        self.do(self.settled(run)).result(timeout)

    def do(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        return self._loop.do(work)

    def watch(self, work: Coroutine[Any, Any, None]) -> None:
        """Do something on the engine's loop for which nobody waits; it ends when the engine does."""
        self._loop.watch(work)

    def ask_beside(
        self,
        record: Record,
        questions: Sequence[Asked[Any]],
        failures: Mapping[str, int],
        keep: Keep,
        keys: Mapping[str, str] = NO_KEYS,
        spent: Spent | None = None,
    ) -> Future[AskedBeside]:
        """Ask questions beside a run, driven or not; nothing of it is written into the run. `failures` says how often a question, by its path, failed.

        `spent`: what counts in the questions' budget; what the run has spent, where there is none.
        """

        async def ask() -> AskedBeside:
            KEYS.set(keys)
            engine, run = self._engine, record.run.id
            await engine.warm(engine.procedures[record.run.procedure], record.setup)
            root = await asyncio.to_thread(self._store.families.root, run)
            services = Services(
                ledger=SideLedger(self._store.payments, run, root, failures),
                asker=engine.asker,
                sight=engine.capabilities,
                people=engine.people,
                spent=await asyncio.to_thread(spent_with, self._store.payments, run) if spent is None else spent,
                monthly_budgets=self._store.monthly_budgets,
                payer=await asyncio.to_thread(self._store.monthly_budgets.payer, run),
                beside=True,
            )
            return await ask_beside(services, questions, keep)

        return self.do(ask())

    def resume_interrupted(self) -> list[str]:
        """Go on with the runs whose process has died; their ids. Those that others drive are watched, in case these die.

        A run that seems to end its process is left to a person.
        """
        under_way = self._store.under_way()
        abandoned = [run for run, owner, heartbeat in under_way if self._abandoned(run, owner, heartbeat)]
        for run in abandoned:
            with plainly():
                self.do(self._start_abandoned(run, self._store.control(run))).result()
        for run in {run for run, *_ in under_way} - {*abandoned}:
            self.watch(self.settled(run))
        return abandoned

    def close(self, last: Callable[[], Coroutine[Any, Any, None]] | None = None) -> None:
        """Stop all runs, wait for the answers under way, do what is to be done last on the loop, end the thread."""
        self.do(self._end(last)).result()
        self._loop.close()
        self.driver.close()

    # --- on the loop: one run among many --------------------------------------------------------------------

    async def finish(self, run: str, keys: Mapping[str, str] = NO_KEYS, *, new: bool = False) -> None:
        """Drive a run among many, or wait while another process does, until it is done, failed or paused.

        Called on the loop. Its answers do not stream in, as nobody watches so many.

        Args:
            new: it was put on record just now, so that no process has driven it or said how far it may go.
        """
        before = Control() if new else self._store.control(run)
        control = Control(breaks=before.breaks)
        if control != before:
            await self._writer.do(partial(self._put, run, control))
        start = self._start_abandoned if not new and self.interrupted(run) else self._start
        await start(run, control, keys, watched=False)
        await self.settled(run)

    async def settled(self, run: str) -> None:
        """Wait until the run is done, failed or paused; called on the loop. It is taken over from a driver that dies."""
        while True:
            # Taken before a look at what there is, so that no change is missed in between.
            changed = self._changed.setdefault(run, asyncio.Event())
            active = self._active.get(run)
            if active is None or active.gate is not None:  # else it is set up just now
                if self._store.status(run) != "running":
                    return
                if self._abandoned(run, *self._store.lease.holder(run)):
                    try:
                        await self._start_abandoned(run, self._store.control(run))
                    except CourtroomError as error:
                        log.info("run %s can't be taken over now: %s", run, error)
            # What other processes do is seen only on disk; a run that is driven here notifies.
            await wait(changed, DRIVEN_S if run in self._active else BEAT_S)

    async def _start(
        self, run: str, control: Control, keys: Mapping[str, str] = NO_KEYS, *, watched: bool = True
    ) -> None:
        """Drive a run as far as the control on disk allows, unless another process does."""
        self._said.pop(run, None)
        async with self._starting.setdefault(run, asyncio.Lock()):
            if (active := self._active.get(run)) is not None:
                active.use(keys)
                if active.obey(control):
                    await self._writer.settled()
                return
            if self._writer.trouble:
                raise CourtroomError(self._writer.trouble)
            if await self._claims(run):
                live = Live(streaming=self._streaming and watched)
                changed = partial(self._loop.call, partial(self._wake, run))
                self._active[run] = ActiveRun(run, self._engine, keys, live, changed, partial(self._ended, run))
                if not self._beats:
                    self._beats = True
                    self._loop.watch(self._beat())

    async def _start_abandoned(
        self, run: str, control: Control, keys: Mapping[str, str] = NO_KEYS, *, watched: bool = True
    ) -> None:
        """Start a run that no process drives, unless its last two drivers ended without a new event between them."""
        if not await asyncio.to_thread(self._ends_its_process, run):
            await self._start(run, control, keys, watched=watched)

    async def _release(self, run: str) -> None:
        if active := self._active.get(run):
            active.task.cancel()
            while not active.task.done() and not self._writer.trouble:
                await asyncio.wait([active.task], timeout=HELD_S)

    async def _obey(self, run: str, control: Control) -> None:
        self._said.pop(run, None)
        if (active := self._active.get(run)) and active.obey(control):
            await self._writer.settled()
        if control.stopped:
            await self._release(run)

    def _ended(self, run: str) -> None:
        self._active.pop(run, None)
        self._wake(run)

    def _wake(self, run: str) -> None:
        if changed := self._changed.pop(run, None):
            changed.set()

    # --- on the loop: all runs ------------------------------------------------------------------------------

    async def _beat(self) -> None:
        """Look at all runs that are driven here, every half second: whether they still are, and what others say of them."""
        try:
            while self._active:
                await asyncio.sleep(BEAT_S)
                active = {run: one for run, one in self._active.items() if one.gate is not None}
                # Looked up before the store is read: what is on disk may be older than what is to be written.
                idle = {run for run, one in active.items() if one.idle}
                try:
                    steering = self._store.steering(list(active)) if active else {}
                except OUTAGES as error:
                    log.warning("what others say of the runs could not be read, and is looked for again: %s", error)
                    continue
                for run, one in active.items():
                    if one.look(steering.get(run), self._said.get(run), run in idle):
                        self._loop.watch(self._start_again(run, steering[run].control))
        finally:
            self._beats = False

    async def _start_again(self, run: str, control: Control | None) -> None:
        await self._release(run)
        if control is not None and not control.paused and not control.stopped:
            await self._start(run, control)

    def _hold(self, trouble: str) -> None:
        """Pause the runs while writes are held, and say so as soon as that can be written."""
        for active in self._active.values():
            active.hold(trouble)
        if trouble and self._active:
            self._loop.watch(asyncio.to_thread(self._say_held, list(self._active), trouble))

    async def _end(self, last: Callable[[], Coroutine[Any, Any, None]] | None) -> None:
        self._writer.end()
        await self._loop.end([active.task for active in self._active.values()])
        await self._engine.asker.finish()
        if last is not None:
            await last()

    # --- in any thread --------------------------------------------------------------------------------------

    def _put(self, run: str, control: Control) -> None:
        self._said[run] = control
        self._store.set_control(run, control)

    def _set(self, run: str, control: Control) -> None:
        with plainly():
            self._put(run, control)
            self.do(self._obey(run, control)).result()

    def _abandoned(self, run: str, owner: str | None, heartbeat: float | None) -> bool:
        return run not in self._active and not self.driver.lives(self._store.lease, run, owner, heartbeat)

    def _ends_its_process(self, run: str) -> bool:
        owner, heartbeat = self._store.lease.holder(run)  # None where the process released it before it ended
        # Another waiter may just have started it: then its driver lives.
        if owner is None or not self._abandoned(run, owner, heartbeat) or self._store.lost.note(run, owner) < 2:
            return False
        self._store.set_status(run, "paused", LOST_TWICE)
        self._store.lease.release(run, owner)
        return True

    def _claim(self, runs: Sequence[str]) -> list[bool | BaseException]:
        """Whether this process is to drive each run; where another one does, that looks for the new control by itself."""
        results: list[bool | BaseException] = []
        with self._store.together():
            for run in runs:
                claimed = self.driver.claim(self._store.lease, run)
                if claimed is None:
                    results.append(RunBusy("Another server has just taken up this run. Look again in a moment."))
                    continue
                if claimed and self._store.status(run) == "failed":
                    self._store.rewinding.ask_again(run)
                self._store.set_status(run, "running")
                results.append(claimed)
        return results

    def _say_held(self, runs: list[str], trouble: str) -> None:
        try:
            for run in runs:
                self._store.say(run, trouble)
        except OUTAGES as error:
            log.warning("that writes are held could not be written either: %s", error)
