"""The runs that this process drives: taken up, driven, left; and taken over from a process that died."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections.abc import Callable, Coroutine, Mapping
from functools import partial
from typing import Any

from courtroom.engine.control import Control
from courtroom.engine.drive import Drive
from courtroom.engine.driven_run import DrivenRun
from courtroom.engine.errors import RunBusy
from courtroom.engine.free_memory import give_back
from courtroom.engine.lease import Driver, Hand
from courtroom.engine.live import Live
from courtroom.engine.loop import Loop
from courtroom.engine.store import RunStore
from courtroom.errors import CourtroomError
from courtroom.models.keys import KEYS
from courtroom.store.writer import Writer

log = logging.getLogger(__name__)

SetUp = Callable[[str, Live, Hand, Callable[[], None]], Coroutine[Any, Any, Drive]]
"""Sets up a run's drive: its id, its open calls, what writes of it, and what is called when its status is on disk."""

NO_KEYS: Mapping[str, str] = {}
BEAT_S = 0.5
"""How often a driver looks for a new control, and a waiter at a run that another process drives."""
DRIVEN_S = 10 * BEAT_S
"""How often a waiter looks at a run that this process drives, although it would be told."""
HELD_S = 0.05
IDLE_S = 10.0
"""So long after the last run has ended, memory is given back."""
LOST_TWICE = "The program ended twice while it worked on this run. Press Run to try again; nothing is lost."


class DrivenRuns:
    """Drives runs, each in at most one process at a time. Async methods are awaited on the loop."""

    def __init__(
        self, store: RunStore, writer: Writer, driver: Driver, loop: Loop, set_up: SetUp, streaming: bool
    ) -> None:
        self._store, self._writer, self._driver, self._loop = store, writer, driver, loop
        self._set_up, self._streaming = set_up, streaming
        self._runs: dict[str, DrivenRun] = {}
        self._lives: dict[str, Live] = {}
        self._said: dict[str, Control] = {}
        """Controls that this process has put on disk and not yet obeyed."""
        self._news: dict[str, asyncio.Event] = {}
        """Set, and taken out, when a run's status is on disk. Each run has its own: hundreds may be waited for at once."""
        self._claiming = asyncio.Lock()
        self._idle: asyncio.TimerHandle | None = None
        writer.listen(lambda trouble: loop.call(partial(self._hold, trouble)))

    def __contains__(self, run: str) -> bool:
        return run in self._runs

    def live(self, run: str) -> Live:
        """The open calls of a run, as far as this process drives it."""
        return self._lives.get(run, Live())

    def left(self, run: str, owner: str | None, heartbeat: float | None) -> bool:
        """Whether nobody drives it any more."""
        return run not in self._runs and not self._driver.lives(self._store.lease, run, owner, heartbeat)

    def put(self, run: str, control: Control) -> None:
        """Put a control on disk, to be obeyed next."""
        self._said[run] = control
        self._store.set_control(run, control)

    async def settled(self, run: str) -> None:
        """Wait until the run is done, failed or paused. It is taken over from a driver that dies."""
        while True:
            # Taken before a look at what there is, so that no news are missed in between.
            news = self._news.setdefault(run, asyncio.Event())
            status, (owner, heartbeat) = self._store.status(run), self._store.lease.holder(run)
            if status != "running":
                return
            if self.left(run, owner, heartbeat):
                try:
                    await self.take_up_alone(run, self._store.control(run))
                except CourtroomError as error:
                    log.info("run %s can't be taken over now: %s", run, error)
            # What other processes do is seen only on disk; of a run that is driven here there are news.
            await self._loop.wait(news, DRIVEN_S if run in self._runs else BEAT_S)

    async def take_up_alone(self, run: str, control: Control, keys: Mapping[str, str] = NO_KEYS) -> None:
        """Take up a run that nobody drives, unless its last two drivers ended without a new event between them."""
        if not await asyncio.to_thread(self._ends_its_process, run):
            await self.take_up(run, control, keys)

    async def take_up(self, run: str, control: Control, keys: Mapping[str, str] = NO_KEYS) -> None:
        """Drive a run as far as the control on disk allows, unless another process does.

        Args:
            control: the one on disk.
            keys: used in place of anybody else's.

        Raises:
            RunBusy: another process has just taken the run up.
            CourtroomError: the disk takes no writes.
        """
        self._said.pop(run, None)
        async with self._claiming:
            driven = self._runs.get(run)
            if driven is None:
                if self._writer.trouble:
                    raise CourtroomError(self._writer.trouble)
                if await asyncio.to_thread(self._claimed, run):
                    self._lives.setdefault(run, Live(streaming=self._streaming))
                    driven = self._runs[run] = DrivenRun(run, self._store, dict(keys))
                    driven.task = asyncio.create_task(self._drive(driven))
                return
            driven.use(keys)
            if driven.obey(control):
                await self._writer.settled()

    async def obey(self, run: str, control: Control) -> None:
        """Go as far as a control allows that is on disk."""
        self._said.pop(run, None)
        if (driven := self._runs.get(run)) and driven.obey(control):
            await self._writer.settled()
        if control.stopped:
            await self.let_go(run)

    async def let_go(self, run: str) -> None:
        """Drive a run no longer, so that it is taken up from the record when it goes on."""
        if driven := self._runs.get(run):
            driven.task.cancel()
            while not driven.task.done() and not self._writer.trouble:
                await asyncio.wait([driven.task], timeout=HELD_S)

    async def end(self) -> None:
        """Drive nothing any longer."""
        await self._loop.end([driven.task for driven in self._runs.values()])

    def _ends_its_process(self, run: str) -> bool:
        owner, heartbeat = self._store.lease.holder(run)  # None where the process let go of it before it ended
        # Somebody else who waited here may just have taken it up: who drives it now lives.
        if owner is None or not self.left(run, owner, heartbeat) or self._store.lost.note(run, owner) < 2:
            return False
        self._store.set_status(run, "paused", LOST_TWICE)
        self._store.lease.release(run, owner)
        return True

    def _claimed(self, run: str) -> bool:
        """Whether this process is to drive the run; where another one does, that looks for the new control by itself."""
        with self._store.together():
            mine = self._driver.claim(self._store.lease, run)
            if mine is None:
                raise RunBusy("Another server has just taken up this run. Look again in a moment.")
            if mine and self._store.status(run) == "failed":
                self._store.rewinding.ask_again(run)
            self._store.set_status(run, "running")
            return mine

    async def _drive(self, driven: DrivenRun) -> None:
        KEYS.set(driven.keys)
        run, say = driven.run, partial(self._store.set_status, driven.run)
        hand = Hand(self._store.lease, run, self._driver.owner, self._writer, partial(self._wrong, driven))
        try:
            drive = await self._set_up(run, self._lives[run], hand, lambda: self._loop.call(partial(self._tell, run)))
            drive.gate.hold(bool(self._writer.trouble))
            driven.drive = drive
            async with asyncio.TaskGroup() as group:
                beat = group.create_task(self._beat(driven, drive))
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
                await self._writer.do(partial(self._driver.release, self._store.lease, run))
            finally:
                self._runs.pop(
                    run
                ).keys.clear()  # answers under way still arrive; they are not asked for again with these
                self._tell(run)
                self._wait_until_idle()

    def _wait_until_idle(self) -> None:
        """Give memory back once nothing has been driven for a while."""
        if self._idle is not None:
            self._idle.cancel()
        self._idle = asyncio.get_running_loop().call_later(IDLE_S, self._give_back)

    def _give_back(self) -> None:
        if not self._runs:
            self._loop.watch(asyncio.to_thread(give_back))

    async def _beat(self, driven: DrivenRun, drive: Drive) -> None:
        """Show that the run is driven, and obey what other processes say of it."""
        run, gate = driven.run, drive.gate
        while True:
            await asyncio.sleep(BEAT_S)
            if not self._store.lease.holds(run, self._driver.owner):
                driven.task.cancel()
            if not drive.hand.idle:
                continue  # what is on disk may be older than what is to be written
            control = self._store.control(run)
            if self._store.interventions.count(run) != drive.interventions_seen:  # by way of another server
                self._loop.watch(self._taken_up_again(run, control))
                return
            if control not in (gate.control, self._said.get(run)):  # a person at another server has it go on
                driven.use(NO_KEYS)
            gate.set(control)
            if gate.waits and self._store.run(run).status == "running":
                gate.tell()
            if control.stopped:
                driven.task.cancel()

    async def _taken_up_again(self, run: str, control: Control) -> None:
        await self.let_go(run)
        if not control.paused and not control.stopped:
            await self.take_up(run, control)

    def _tell(self, run: str) -> None:
        """Wake who waits for news of a run; called on the loop."""
        if news := self._news.pop(run, None):
            news.set()

    def _wrong(self, driven: DrivenRun, error: BaseException) -> None:
        """A write of a run failed; called in the writer's thread."""

        def give_up() -> None:
            if self._runs.get(driven.run) is driven:
                driven.give_up(error)

        self._loop.call(give_up)

    def _hold(self, trouble: str) -> None:
        """Pause the runs while writes are held, and say so as soon as that can be written."""
        for driven in self._runs.values():
            driven.hold(trouble)
        if trouble and self._runs:
            self._loop.watch(asyncio.to_thread(self._say_held, list(self._runs), trouble))

    def _say_held(self, runs: list[str], trouble: str) -> None:
        try:
            for run in runs:
                self._store.say(run, trouble)
        except sqlite3.OperationalError as error:
            log.warning("that writes are held could not be written either: %s", error)
