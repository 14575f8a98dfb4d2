"""The runs that this process drives: taken up, driven, left; and taken over from a process that died."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Mapping, Sequence
from functools import partial
from typing import Any
from weakref import WeakValueDictionary

from courtroom.engine.control import Control
from courtroom.engine.drive import Drive
from courtroom.engine.driven_run import DrivenRun
from courtroom.engine.errors import RunBusy
from courtroom.engine.free_memory import give_back
from courtroom.engine.gathered import Gathered
from courtroom.engine.lease import Driver, Hand
from courtroom.engine.live import Live
from courtroom.engine.loop import Loop, wait
from courtroom.engine.run import Steering
from courtroom.engine.store import RunStore
from courtroom.errors import CourtroomError
from courtroom.models.keys import KEYS
from courtroom.models.telemetry import Telemetry
from courtroom.store.failures import OUTAGES
from courtroom.store.log import about
from courtroom.store.writer import Writer

log = logging.getLogger(__name__)

SetUp = Callable[[str, Live, Hand, Callable[[], None]], Coroutine[Any, Any, Drive]]
"""Sets up a run's drive: its id, its open calls, what writes of it, and what is called when its status is on disk."""

NO_KEYS: Mapping[str, str] = {}
BEAT_S = 0.5
"""How often a driver looks for a new control, and a waiter at a run that another process drives."""
DRIVEN_S = 10 * BEAT_S
"""How often a waiter looks at a run that this process drives, although it would be notified."""
HELD_S = 0.05
IDLE_S = 10.0
"""So long after the last run has ended, memory is given back."""
LOST_TWICE = "The program ended twice while it worked on this run. Press Run to try again; nothing is lost."


class DrivenRuns:
    """Drives runs, each in at most one process at a time. Async methods are awaited on the loop."""

    def __init__(
        self,
        store: RunStore,
        writer: Writer,
        driver: Driver,
        loop: Loop,
        set_up: SetUp,
        streaming: bool,
        telemetry: Telemetry,
    ) -> None:
        self._store, self._writer, self._driver, self._loop = store, writer, driver, loop
        self._telemetry = telemetry
        self._set_up, self._streaming = set_up, streaming
        self._runs: dict[str, DrivenRun] = {}
        self._lives: dict[str, Live] = {}
        self._said: dict[str, Control] = {}
        """Controls that this process has put on disk and not yet obeyed."""
        self._news: dict[str, asyncio.Event] = {}
        """Set, and taken out, when a run's status is on disk. Each run has its own: hundreds may be waited for at once."""
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        """Whoever takes a run up waits for who does so already."""
        self._claims: Gathered[str, bool] = Gathered(lambda runs: asyncio.to_thread(self._claimed, runs))
        self._beats = False
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
            if not self._being_set_up(run):
                if self._store.status(run) != "running":
                    return
                if self.left(run, *self._store.lease.holder(run)):
                    try:
                        await self.take_up_alone(run, self._store.control(run))
                    except CourtroomError as error:
                        log.info("run %s can't be taken over now: %s", run, error)
            # What other processes do is seen only on disk; of a run that is driven here there are news.
            await wait(news, DRIVEN_S if run in self._runs else BEAT_S)

    async def take_up_alone(
        self, run: str, control: Control, keys: Mapping[str, str] = NO_KEYS, *, watched: bool = True
    ) -> None:
        """Take up a run that nobody drives, unless its last two drivers ended without a new event between them."""
        if not await asyncio.to_thread(self._ends_its_process, run):
            await self.take_up(run, control, keys, watched=watched)

    async def take_up(
        self, run: str, control: Control, keys: Mapping[str, str] = NO_KEYS, *, watched: bool = True
    ) -> None:
        """Drive a run as far as the control on disk allows, unless another process does.

        Args:
            control: the one on disk.
            keys: used in place of anybody else's.
            watched: whether a person is likely to look on, so that answers are worth streaming.

        Raises:
            RunBusy: another process has just taken the run up.
            CourtroomError: the disk takes no writes.
        """
        self._said.pop(run, None)
        async with self._turns.setdefault(run, asyncio.Lock()):
            driven = self._runs.get(run)
            if driven is None:
                if self._writer.trouble:
                    raise CourtroomError(self._writer.trouble)
                if await self._claims(run):
                    self._lives[run] = Live(streaming=self._streaming and watched)
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

    def _being_set_up(self, run: str) -> bool:
        """Whether it is under way here and has not begun yet."""
        return (driven := self._runs.get(run)) is not None and driven.drive is None

    def _claimed(self, runs: Sequence[str]) -> list[bool | BaseException]:
        """Whether this process is to drive each run; where another one does, that looks for the new control by itself."""
        claimed: list[bool | BaseException] = []
        with self._store.together():
            for run in runs:
                mine = self._driver.claim(self._store.lease, run)
                if mine is None:
                    claimed.append(RunBusy("Another server has just taken up this run. Look again in a moment."))
                    continue
                if mine and self._store.status(run) == "failed":
                    self._store.rewinding.ask_again(run)
                self._store.set_status(run, "running")
                claimed.append(mine)
        return claimed

    async def _drive(self, driven: DrivenRun) -> None:
        KEYS.set(driven.keys)
        with about(run=driven.run):
            await self._driven(driven)

    async def _driven(self, driven: DrivenRun) -> None:
        run, say = driven.run, partial(self._store.set_status, driven.run)
        hand = Hand(self._store.lease, run, self._driver.owner, self._writer, partial(self._wrong, driven))
        try:
            drive = await self._set_up(run, self._lives[run], hand, lambda: self._loop.call(partial(self._wake, run)))
            drive.gate.hold(bool(self._writer.trouble))
            driven.drive = drive
            if not self._beats:
                self._beats = True
                self._loop.watch(self._beat())
            with self._telemetry.run(run, drive.procedure.name):
                await drive.go()
        except asyncio.CancelledError:
            if self._store.control(run).stopped:
                hand.do(partial(say, "paused", "Stopped. Run it on at any time; nothing is lost."))
            raise
        except Exception as error:  # noqa: BLE001  nobody awaits this task: what goes wrong is reported on the run and in the log
            log.exception("run %s could not be driven", run)
            plain = (
                str(error) if isinstance(error, CourtroomError) else "The run could not be driven; the log says why."
            )
            hand.do(partial(say, "failed", plain))
        finally:
            try:
                await self._writer.do(partial(self._driver.release, self._store.lease, run))
            finally:
                self._lives.pop(run, None)
                self._runs.pop(
                    run
                ).keys.clear()  # answers under way still arrive; they are not asked for again with these
                self._wake(run)
                self._wait_until_idle()

    def _wait_until_idle(self) -> None:
        """Give memory back once nothing has been driven for a while."""
        if self._idle is not None:
            self._idle.cancel()
        self._idle = asyncio.get_running_loop().call_later(IDLE_S, self._give_back)

    def _give_back(self) -> None:
        if not self._runs:
            self._loop.watch(asyncio.to_thread(give_back))

    async def _beat(self) -> None:
        """Look at all runs that are driven here, again and again: whether they still are, and what others say of them."""
        try:
            while self._runs:
                await asyncio.sleep(BEAT_S)
                known = {run: driven for run, driven in self._runs.items() if driven.drive is not None}
                # Looked up before the store is read: what is on disk may be older than what is to be written.
                idle = {run for run, driven in known.items() if driven.drive and driven.drive.hand.idle}
                try:
                    seen = self._store.steering(list(known)) if known else {}
                except OUTAGES as error:
                    log.warning("what others say of the runs could not be read, and is looked for again: %s", error)
                    continue
                for run, driven in known.items():
                    self._look(driven, seen.get(run), run in idle)
        finally:
            self._beats = False

    def _look(self, driven: DrivenRun, seen: Steering | None, idle: bool) -> None:
        """Obey what other processes say of a run."""
        run, drive = driven.run, driven.drive
        if drive is None or driven.task.cancelling():
            return
        if seen is None or seen.owner != self._driver.owner:
            driven.task.cancel()
            return
        if not idle or seen.control is None:
            return
        gate, control = drive.gate, seen.control
        if seen.interventions != drive.interventions_seen:  # by way of another server
            self._loop.watch(self._taken_up_again(run, control))
            return
        if control not in (gate.control, self._said.get(run)):  # a person at another server has it go on
            driven.use(NO_KEYS)
        gate.set(control)
        if gate.waits and seen.status == "running":
            gate.announce()
        if control.stopped:
            driven.task.cancel()

    async def _taken_up_again(self, run: str, control: Control) -> None:
        await self.let_go(run)
        if not control.paused and not control.stopped:
            await self.take_up(run, control)

    def _wake(self, run: str) -> None:
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
        except OUTAGES as error:
            log.warning("that writes are held could not be written either: %s", error)
