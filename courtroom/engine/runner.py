"""All runs of one process, on one event loop. Its methods may be called from any thread."""

import asyncio
import logging
import threading
from collections.abc import Callable, Collection, Coroutine, Mapping
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from courtroom.access import Access, for_server, needs
from courtroom.declarations.setup import Setup
from courtroom.engine.active_run import ActiveRun
from courtroom.engine.answers import Asker
from courtroom.engine.people import People
from courtroom.engine.procedure import Procedure
from courtroom.engine.record import Record
from courtroom.engine.run import Control, Standing
from courtroom.engine.services import OpenCall
from courtroom.engine.store import RunStore, read_only
from courtroom.errors import CourtroomError
from courtroom.knowledge.search import Knowledge
from courtroom.models.capabilities import Capabilities
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


@dataclass(eq=False, kw_only=True)
class Runner:
    """Drives runs, each in at most one process at a time: the one that has its lock. Has an event loop in a thread.

    What is done on the loop is done for the server itself: it goes on when who began it has left, or has less access.

    While the disk takes no writes, the runs driven here ask nothing new, say so, and go on by themselves; see `Writer`.
    `warm` is awaited before each run: what that needs is loaded before its clock starts. `rings` is called when a run
    ends, fails or waits for a person.
    """

    store: RunStore
    procedures: Mapping[str, Procedure]
    asker: Asker
    writer: Writer
    knowledge: Knowledge
    capabilities: Capabilities
    people: People
    warm: Callable[[Procedure, Setup], Coroutine[Any, Any, None]]
    streaming: bool
    rings: Callable[[str, Standing], None]

    def __post_init__(self) -> None:
        self._kept: set[asyncio.Task[None]] = set()
        """What is watched."""
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="courtroom-engine", daemon=True)
        self._thread.start()
        self._taking = threading.Lock()
        """Held while a run is taken up: no run is twice."""
        self._active: dict[str, ActiveRun] = {}
        self._said: dict[str, Control] = {}
        """Controls that this process has put on disk and not yet obeyed."""
        self._changed: dict[str, asyncio.Event] = {}
        """Set, and taken out, when a run's status is on disk. Each run has its own: hundreds may be waited for."""
        self._beats = False
        self.writer.notify = lambda trouble: self.call(partial(self._hold, trouble))

    # --- the loop -------------------------------------------------------------------------------------------

    def do(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Begin something on the loop."""
        return for_server().run(asyncio.run_coroutine_threadsafe, work, self._loop)

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
            self._loop.call_soon_threadsafe(work, context=for_server())

    # --- what is seen of runs -------------------------------------------------------------------------------

    def record(self, run: str) -> Record:
        row = self.store.run(run)
        procedure = self.procedures[row.procedure]
        return Record(
            run=row,
            case=self.store.case(row),
            setup=self.store.setup(run, procedure.setup),
            events=tuple(self.store.events(run)),
            interventions=self.store.interventions.of(run),
            overtaken=tuple(self.store.interventions.overtaken(run)),
            paid=self.store.payments.of(run),
        )

    def open_calls(self, run: str) -> dict[str, OpenCall]:
        """The open calls of a run by path, as far as this process drives it."""
        return dict(active.calls) if (active := self._active.get(run)) else {}

    def drives(self, run: str) -> bool:
        return run in self._active

    def interrupted(self, run: str) -> bool:
        """Whether the run counts as running although no process drives it any more."""
        return self.store.run(run).status == "running" and self._is_abandoned(run)

    def trouble(self, run: str) -> str:
        """Why the run can't go on just now although it is under way: a sentence that may not be on disk yet."""
        return self.writer.trouble if self.drives(run) else ""

    # --- steering -------------------------------------------------------------------------------------------

    @needs(Access.RUN)
    def go(self, run: str, control: Control | None = None, keys: Mapping[str, str] = NO_KEYS) -> None:
        """Run on as far as `control` allows (default: to the end, with the breaks as they are). `keys`: what the person
        typed who has it run on. They are used from here on, in place of anybody else's, and forgotten when somebody
        else has it run on, intervenes, or the run comes to its end. Raises `CourtroomError`: the disk takes no writes.
        """
        with plainly():
            row = self.store.changing(run, "start")
            if row.imported:
                raise CourtroomError(f"{read_only(row)} Fork it to go on from here.")
            control = control or Control(breaks=row.control.breaks)
            self._put(run, control)
            if row.status != "done":
                self._take_up(run, control, keys)

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
        self.go(run, Control(stage=stage, breaks=self.store.run(run).control.breaks), keys)

    def release(self, run: str) -> None:
        """Drive a paused run no longer, so that it starts again from its record when it goes on."""
        self.do(self._release(run)).result()

    @needs(Access.RUN)
    def pause(self, run: str) -> None:
        """Ask nothing more for now; answers under way still arrive and are kept."""
        self._set(run, self.store.changing(run, "pause").control.model_copy(update={"paused": True}))

    @needs(Access.RUN)
    def stop(self, run: str) -> None:
        """Drive the run no longer. It can be run on at any time."""
        self._set(run, self.store.changing(run, "stop").control.model_copy(update={"stopped": True}))

    @needs(Access.RUN)
    def set_breaks(self, run: str, control: Control) -> None:
        self.store.changing(run, "change")
        self._set(run, control)

    def drive(self, run: str, keys: Mapping[str, str] = NO_KEYS, *, by_batch: bool = False) -> None:
        """Have a run among many go on to its end: its answers do not stream in, as nobody watches so many.

        One whose last two processes ended is left to a person; see `resume_interrupted`.
        """
        row = self.store.run(run)
        control = Control(breaks=row.control.breaks, by_batch=by_batch)
        if control != row.control:
            self._put(run, control)
        self._take_up(run, control, keys, is_watched=False, is_abandoned=row.status == "running")

    def wait(self, run: str, timeout: float | None = None) -> None:
        """Wait until the run is done, failed or paused; where its driver dies meanwhile, it is driven here. Raises
        `NoSuchRun`: there is none."""
        self.store.run(run)
        self.do(self.settled(run)).result(timeout)

    def resume_interrupted(self) -> list[str]:
        """Go on with the runs whose process has died; their ids. Those that others drive are watched in case these die.

        A run that seems to end its process is left to a person.
        """
        under_way = self.store.under_way()
        abandoned = [run for run in under_way if self._is_abandoned(run)]
        for run in abandoned:
            with plainly():
                self._take_up(run, is_abandoned=True)
        for run in {*under_way} - {*abandoned}:
            self.watch(self.settled(run))
        return abandoned

    def close(self, last: Callable[[], Coroutine[Any, Any, None]] | None = None) -> None:
        """Stop all runs, wait for the answers under way, do what is to be done last on the loop, end the thread."""
        self.do(self._end(last)).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    # --- in any thread but the loop's -----------------------------------------------------------------------

    def _take_up(
        self,
        run: str,
        control: Control | None = None,
        keys: Mapping[str, str] = NO_KEYS,
        *,
        is_watched: bool = True,
        is_abandoned: bool = False,
    ) -> None:
        """Drive a run as far as the control on disk allows; where another process does, that looks for it itself."""
        if self.writer.trouble and run not in self._active:
            raise CourtroomError(self.writer.trouble)
        with self._taking:
            lock = None if run in self._active else self.store.lock(run)
            if lock is not None and lock.take():
                try:
                    if is_abandoned and not self._may_take_over(run):
                        lock.release()
                        return
                    if not is_abandoned:
                        self.store.begin(run)
                    active = ActiveRun(self, run, lock, keys, streaming=self.streaming and is_watched)
                except BaseException:
                    lock.release()
                    raise
                self._active[run] = active
                self.call(partial(self._begin, active))
                return
        if lock is not None:
            if not is_abandoned:
                self.store.set_status(run, "running")
                self.watch(self.settled(run))
        elif not is_abandoned and not self.do(self._obey(run, control or Control(), keys)).result():
            self._take_up(run, control, keys, is_watched=is_watched)  # it has ended meanwhile

    def _may_take_over(self, run: str) -> bool:
        """Whether a run whose lock was free still has to go on, and does not end its process each time."""
        if self.store.status(run) != "running":
            return False
        if self.store.died_again(run):
            self.store.set_status(run, "paused", LOST_TWICE)
            self.call(partial(self.wake, run))
            return False
        return True

    def _is_abandoned(self, run: str) -> bool:
        return run not in self._active and not self.store.is_driven(run)

    def _put(self, run: str, control: Control) -> None:
        self._said[run] = control
        self.store.set_control(run, control)

    def _set(self, run: str, control: Control) -> None:
        with plainly():
            self._put(run, control)
            self.do(self._obey(run, control)).result()

    def _say_held(self, runs: list[str], trouble: str) -> None:
        try:
            for run in runs:
                self.store.say(run, trouble)
        except OUTAGES as error:
            log.warning("that writes are held could not be written either: %s", error)

    # --- on the loop: one run among many --------------------------------------------------------------------

    async def settled(self, run: str) -> None:
        """Wait until the run is done, failed or paused, on the loop. It is taken over from a driver that dies."""
        while True:
            # Taken before a look at what there is, so that no change is missed in between.
            changed = self._changed.setdefault(run, asyncio.Event())
            if self.store.status(run) != "running":
                return
            if self._is_abandoned(run):
                try:
                    await asyncio.to_thread(self._take_up, run, is_abandoned=True)
                except CourtroomError as error:
                    log.info("run %s can't be taken over now: %s", run, error)
            # What other processes do is seen only on disk; a run that is driven here notifies.
            with suppress(TimeoutError):
                async with asyncio.timeout(DRIVEN_S if run in self._active else BEAT_S):
                    await changed.wait()

    def _begin(self, active: ActiveRun) -> None:
        self._said.pop(active.run, None)
        if self.writer.trouble:
            active.gate.hold(True)
        active.task = asyncio.create_task(active.drive())
        if not self._beats:
            self._beats = True
            self.watch(self._beat())

    async def _release(self, run: str) -> None:
        if active := self._active.get(run):
            active.task.cancel()
            while not active.task.done() and not self.writer.trouble:
                await asyncio.wait([active.task], timeout=HELD_S)

    async def _obey(self, run: str, control: Control, keys: Mapping[str, str] | None = None) -> bool:
        """Have a run go as far as a control allows, with other keys if some are given; whether it is driven here."""
        self._said.pop(run, None)
        if active := self._active.get(run):
            if keys is not None:
                active.use(keys)
            active.gate.set(control)
            await self.writer.settled()
        if control.stopped:
            await self._release(run)
        return active is not None

    def ended(self, run: str) -> None:
        """Drive a run no longer: its task has ended."""
        self._active.pop(run, None)
        self.wake(run)

    def wake(self, run: str) -> None:
        """Tell who waits for a run that its status on disk has changed."""
        if changed := self._changed.pop(run, None):
            changed.set()

    # --- on the loop: all runs ------------------------------------------------------------------------------

    async def _beat(self) -> None:
        """Look at all runs that are driven here, every half second: are they still, and what do others say of them?"""
        try:
            while self._active:
                await asyncio.sleep(BEAT_S)
                active = dict(self._active)
                # Looked up before the store is read: what is on disk may be older than what is to be written.
                idle = {run for run, one in active.items() if one.idle}
                try:
                    steering = self.store.steering(list(active)) if active else {}
                except OUTAGES as error:
                    log.warning("what others say of the runs could not be read, and is looked for again: %s", error)
                    continue
                for run, one in active.items():
                    if one.look(steering.get(run), self._said.get(run), run in idle):
                        self.watch(self._start_again(run, steering[run].control))
        finally:
            self._beats = False

    async def _start_again(self, run: str, control: Control | None) -> None:
        await self._release(run)
        if control is not None and not control.paused and not control.stopped:
            await asyncio.to_thread(self._take_up, run, control)

    def _hold(self, trouble: str) -> None:
        """Pause the runs while writes are held, and say so as soon as that can be written."""
        for active in self._active.values():
            active.hold(trouble)
        if trouble and self._active:
            self.watch(asyncio.to_thread(self._say_held, list(self._active), trouble))

    async def _end(self, last: Callable[[], Coroutine[Any, Any, None]] | None) -> None:
        self.writer.end()
        await _ended([*(active.task for active in self._active.values()), *self._kept])
        await self.asker.finish()
        if last is not None:
            await last()
        await _ended(asyncio.all_tasks() - {asyncio.current_task()})  # what libraries have left running
        await self._loop.shutdown_asyncgens()
        await self._loop.shutdown_default_executor()


async def _ended(tasks: Collection[asyncio.Task[Any]]) -> None:
    """Cancel tasks, and wait until they have ended."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
