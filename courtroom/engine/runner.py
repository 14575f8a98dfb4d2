"""All runs of one process: one event loop in one background thread. Its methods may be called from any thread."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
import threading
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

from courtroom.engine.asker import Asker
from courtroom.engine.control import Control
from courtroom.engine.drive import Drive
from courtroom.engine.errors import RunBusy
from courtroom.engine.lease import Driver, Hand, LeaseLost
from courtroom.engine.live import Live
from courtroom.engine.ports import Knows, Seats, Sees
from courtroom.engine.procedure import Procedure
from courtroom.engine.record import Record
from courtroom.engine.store import RunStore
from courtroom.errors import CourtroomError, Unreadable
from courtroom.models.keys import KEYS
from courtroom.store.writer import Writer, plainly

log = logging.getLogger(__name__)

T = TypeVar("T")

NO_KEYS: Mapping[str, str] = {}
BEAT_S = 0.5
"""How often a driver looks for a new control, and a waiter at a run that another process drives."""
HELD_S = 0.05
LOST_TWICE = "The program ended twice while it worked on this run. Press Run to try again; nothing is lost."


class Runner:
    """Drives runs, each in at most one process at a time.

    While the disk takes no writes, the runs driven here ask nothing new, say so, and go on by themselves; see `Writer`.

    Args:
        writer: writes all that is written of runs on the loop.
        warm: awaited once before the first run: what a run needs is loaded before its clock starts.
        streaming: whether answers are to stream in, where a model can.
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
        warm: Callable[[Record], Coroutine[Any, Any, None]],
        streaming: bool = False,
    ) -> None:
        self.driver = Driver()
        self._store, self._procedures, self._asker, self._writer = store, procedures, asker, writer
        self._knowledge, self._sight, self._seats = knowledge, sight, seats
        self._warm, self._streaming = warm, streaming
        self._keys: dict[str, dict[str, str]] = {}
        """Typed keys of the runs that are driven, each of whoever drives it; in memory only."""
        self._said: dict[str, Control] = {}
        """Controls that this process has put on disk and not yet obeyed."""
        self._driving: dict[str, asyncio.Task[None]] = {}
        self._drives: dict[str, Drive] = {}
        self._lives: dict[str, Live] = {}
        self._again: asyncio.Task[None] | None = None  # held, so that it isn't collected under way
        self._claiming = asyncio.Lock()
        self._watching: set[asyncio.Task[None]] = set()
        self._news = asyncio.Event()  # set, and replaced, when a run here may have settled
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="courtroom-engine", daemon=True)
        self._thread.start()
        writer.listen(self._heard)

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
            overtaken=tuple(self._store.rewinding.overtaken(run)),
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
        return row.status == "running" and self._left(run, row.owner, row.heartbeat)

    def trouble(self, run: str) -> str:
        """Why the run can't go on just now although it is under way: a sentence that may not be on disk yet."""
        return self._writer.trouble if self.drives(run) else ""

    # --- steering -------------------------------------------------------------------------------------------

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
            row = self._store.run(run)
            control = control or Control(breaks=row.control.breaks)
            self._put(run, control)
            self._store.lost.forget(run)
            if row.status != "done":
                self.do(self._take_up(run, control, keys)).result()

    def step(self, run: str, keys: Mapping[str, str] = NO_KEYS) -> None:
        """Work on one stage: the current one if it is unfinished, else the next."""
        record = self.record(run)
        last = record.stages[-1] if record.stages else None
        upto = 0 if last is None else last.index + (last.path in record.ended)
        self.go(run, Control(upto=upto, breaks=record.run.control.breaks), keys)

    def run_to(self, run: str, stage: str, keys: Mapping[str, str] = NO_KEYS) -> None:
        """Run on until a stage, by name, slug or kind, is done."""
        self.go(run, Control(stage=stage, breaks=self._store.run(run).control.breaks), keys)

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
        """Wait until the run is done, failed or paused; where its driver dies meanwhile, it is driven here."""
        self.do(self.settled(run)).result(timeout)

    def do(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Do something on the engine's loop."""
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def watch(self, work: Coroutine[Any, Any, None]) -> None:
        """Do something on the engine's loop for which nobody waits; it ends when the engine does."""
        self._loop.call_soon_threadsafe(self._kept_alive, work)

    def take_up_interrupted(self) -> list[str]:
        """Go on with the runs whose process has died; their ids. Those that others drive are watched, in case these die.

        A run that seems to end its process is left to a person.
        """
        under_way = self._store.under_way()
        left = [run for run, owner, heartbeat in under_way if self._left(run, owner, heartbeat)]
        for run in left:
            with plainly():
                self.do(self._take_up_by_itself(run, self._store.control(run))).result()
        for run in {run for run, *_ in under_way} - {*left}:
            self.watch(self.settled(run))
        return left

    def close(self, last: Callable[[], Coroutine[Any, Any, None]] | None = None) -> None:
        """Stop all runs, wait for the answers under way, do what is to be done last on the loop, end the thread."""
        self.do(self._close(last)).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
        self.driver.close()

    # --- on the loop ----------------------------------------------------------------------------------------

    async def finish(self, run: str, keys: Mapping[str, str] = NO_KEYS) -> None:
        """Drive a run, or wait while another process does, until it is done, failed or paused; called on the loop."""

        def wanted() -> Control:
            control = Control(breaks=self._store.control(run).breaks)
            self._put(run, control)
            return control

        control = await self._writer.do(wanted)
        left = await asyncio.to_thread(self.interrupted, run)
        await (self._take_up_by_itself if left else self._take_up)(run, control, keys)
        await self.settled(run)

    async def settled(self, run: str) -> None:
        """Wait until the run is done, failed or paused; called on the loop. It is taken over from a driver that dies."""
        while True:
            news = self._news
            status, owner, heartbeat = await asyncio.to_thread(self._standing, run)
            if status != "running":
                return
            if self._left(run, owner, heartbeat):
                try:
                    await self._take_up_by_itself(run, self._store.control(run))
                except CourtroomError as error:
                    log.info("run %s can't be taken over now: %s", run, error)
            await _heard_of(news)

    def _standing(self, run: str) -> tuple[str, str | None, float | None]:
        return self._store.status(run), *self._store.lease.holder(run)

    def _left(self, run: str, owner: str | None, heartbeat: float | None) -> bool:
        """Whether nobody drives it any more."""
        return not self.drives(run) and not self.driver.lives(self._store.lease, run, owner, heartbeat)

    async def _take_up_by_itself(self, run: str, control: Control, keys: Mapping[str, str] = NO_KEYS) -> None:
        """Take up a run that nobody drives, unless its last two drivers ended without a new event between them."""
        if not await asyncio.to_thread(self._ends_its_process, run):
            await self._take_up(run, control, keys)

    def _ends_its_process(self, run: str) -> bool:
        owner, _ = self._store.lease.holder(run)  # None where the process let go of it before it ended
        if owner is None or self._store.lost.note(run, owner) < 2:
            return False
        self._store.set_status(run, "paused", LOST_TWICE)
        self._store.lease.release(run, owner)
        return True

    async def _take_up(self, run: str, control: Control, keys: Mapping[str, str] = NO_KEYS) -> None:
        self._said.pop(run, None)
        async with self._claiming:
            if run not in self._driving:
                if self._writer.trouble:
                    raise CourtroomError(self._writer.trouble)
                if await asyncio.to_thread(self._claimed, run):
                    live = self._lives.setdefault(run, Live(streaming=self._streaming))
                    self._keys[run] = dict(keys)
                    self._driving[run] = asyncio.create_task(self._drive(run, live))
                return
            held = self._keys[run]
            held.clear()
            held.update(keys)
            if drive := self._drives.get(run):  # while it warms up, it has yet to read the control that is on disk
                drive.court.gate.set(control)
                await self._writer.settled()

    def _claimed(self, run: str) -> bool:
        """Whether this process is to drive the run; where another one does, that looks for the new control by itself."""
        mine = self.driver.claim(self._store.lease, run)
        if mine is None:
            raise RunBusy("Another server has just taken up this run. Look again in a moment.")
        if mine and self._store.status(run) == "failed":
            self._store.rewinding.ask_again(run)
        self._store.set_status(run, "running")
        return mine

    async def _drive(self, run: str, live: Live) -> None:
        KEYS.set(self._keys[run])  # the same object: whoever has the run go on next puts other keys into it
        hand = Hand(self._store.lease, run, self.driver.owner, self._writer, partial(self._wrong, run))
        say = partial(self._store.set_status, run)
        try:
            await self._warm(await asyncio.to_thread(self.record, run))

            def told() -> None:
                self._loop.call_soon_threadsafe(self._tell)

            take_up = partial(
                Drive.take_up,
                run,
                self._store,
                self._procedures,
                self._asker,
                self._knowledge,
                self._sight,
                self._seats,
            )
            drive = await asyncio.to_thread(take_up, live, hand, told)
            drive.court.gate.hold(bool(self._writer.trouble))
            self._drives[run] = drive
            async with asyncio.TaskGroup() as group:
                beat = group.create_task(self._beat(run, drive))
                await drive.go()
                beat.cancel()
        except asyncio.CancelledError:
            if self._store.control(run).stopped:
                hand.do(partial(say, "paused", "Stopped. Run it on at any time; nothing is lost."))
            raise
        except Exception as error:  # noqa: BLE001  nobody awaits this task: what goes wrong is told on the run and in the log
            log.exception("run %s could not be driven", run)
            plain = (
                str(error) if isinstance(error, CourtroomError) else "The run could not be driven; the log says why."
            )
            hand.do(partial(say, "failed", plain))
        finally:
            try:
                await self._writer.do(partial(self.driver.release, self._store.lease, run))
            finally:
                self._drives.pop(run, None)
                self._driving.pop(run, None)
                self._keys.pop(run).clear()  # answers under way still arrive; they are not asked for again with these
                self._tell()

    async def _beat(self, run: str, drive: Drive) -> None:
        """Show that the run is driven, and obey what other processes say of it."""
        while True:
            await asyncio.sleep(BEAT_S)
            if not self._store.lease.holds(run, self.driver.owner):
                self._driving[run].cancel()
            if not drive.hand.idle:
                continue  # what is on disk may be older than what is to be written
            control = self._store.control(run)
            if self._store.interventions.count(run) != drive.acts:  # by way of another server
                self._again = asyncio.create_task(self._taken_up_again(run, control))
                return
            if control not in (
                drive.court.gate.control,
                self._said.get(run),
            ):  # a person at another server has it go on
                self._keys[run].clear()
            drive.court.gate.set(control)
            if drive.court.gate.waits and self._store.run(run).status == "running":
                drive.court.gate.tell()
            if control.stopped:
                self._driving[run].cancel()

    def _set(self, run: str, control: Control) -> None:
        with plainly():
            self._put(run, control)
            self.do(self._obey(run, control)).result()

    def _put(self, run: str, control: Control) -> None:
        self._said[run] = control
        self._store.set_control(run, control)

    async def _obey(self, run: str, control: Control) -> None:
        self._said.pop(run, None)
        if drive := self._drives.get(run):
            drive.court.gate.set(control)
            await self._writer.settled()
        if control.stopped:
            await self._let_go(run)

    async def _let_go(self, run: str) -> None:
        if driving := self._driving.get(run):
            driving.cancel()
            while not driving.done() and not self._writer.trouble:
                await asyncio.wait([driving], timeout=HELD_S)

    async def _taken_up_again(self, run: str, control: Control) -> None:
        await self._let_go(run)
        if not control.paused and not control.stopped:
            await self._take_up(run, control)

    # --- what the writer tells, from its thread ---------------------------------------------------------------

    def _heard(self, trouble: str) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._hold, trouble)

    def _wrong(self, run: str, error: BaseException) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._give_up, run, error)

    def _hold(self, trouble: str) -> None:
        """Pause the runs driven here while writes are held, and say so as soon as that can be written."""
        for run, drive in self._drives.items():
            drive.court.gate.hold(bool(trouble))
            if not trouble:
                drive.hand.do(partial(self._store.say, run, ""))
        if trouble and self._driving:
            self._kept_alive(asyncio.to_thread(self._say_held, list(self._driving), trouble))

    def _say_held(self, runs: list[str], trouble: str) -> None:
        try:
            for run in runs:
                self._store.say(run, trouble)
        except sqlite3.OperationalError as error:
            log.warning("that writes are held could not be written either: %s", error)

    def _give_up(self, run: str, error: BaseException) -> None:
        """Drive a run no longer of which nothing may, or can, be written."""
        drive, driving = self._drives.get(run), self._driving.get(run)
        if drive is None or driving is None or driving.cancelling():
            return
        if isinstance(error, LeaseLost):
            log.warning("run %s is driven by another process now", run)
        else:
            log.error("run %s could not be written", run, exc_info=error)
            told = "What happened could not be written down; the log says why. The run is kept."
            drive.hand.do(partial(self._store.set_status, run, "failed", told))
        driving.cancel()

    def _kept_alive(self, work: Coroutine[Any, Any, None]) -> None:
        task = self._loop.create_task(work)
        self._watching.add(task)
        task.add_done_callback(self._watching.discard)

    def _tell(self) -> None:
        self._news.set()
        self._news = asyncio.Event()

    async def _close(self, last: Callable[[], Coroutine[Any, Any, None]] | None) -> None:
        self._writer.end()
        driving = list(self._driving.values())
        for task in (*driving, *self._watching):
            task.cancel()
        await asyncio.gather(*driving, *self._watching, return_exceptions=True)
        await self._asker.finish()
        if last is not None:
            await last()
        rest = asyncio.all_tasks() - {asyncio.current_task()}
        for task in rest:  # what libraries have left running on this loop
            task.cancel()
        await asyncio.gather(*rest, return_exceptions=True)
        await self._loop.shutdown_asyncgens()
        await self._loop.shutdown_default_executor()


async def _heard_of(news: asyncio.Event) -> None:
    """Wait for news of what is driven here; what other processes do is seen only on disk, at every beat."""
    with suppress(TimeoutError):
        async with asyncio.timeout(BEAT_S):
            await news.wait()
