"""Drives many runs that belong together, as a sweep's or an experiment's: so many at once, the remaining ones after a restart.

It knows of jobs and their cells, and nothing of what they are for.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Iterable, Mapping
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager
from functools import partial
from typing import Any, Generic, Protocol, TypeVar

from courtroom.engine.driven_runs import BEAT_S
from courtroom.engine.lease import Hand, Lease
from courtroom.engine.loop import wait
from courtroom.engine.runner import Runner
from courtroom.errors import CourtroomError
from courtroom.store.writer import Writer

log = logging.getLogger(__name__)


class JobRun(Protocol):
    """One run of a job."""

    @property
    def run(self) -> str:
        """Its id, also before it is made."""
        ...


C = TypeVar("C", bound=JobRun)
RUNNING = "running"
PARTS = 8
"""Cells begin together, an eighth of those that may be under way, so that what several need is done for them at once."""


class Jobs(Protocol):
    """Where jobs are kept."""

    lease: Lease

    def status(self, job: str) -> str:
        """Where a job stands; it goes on as long as that is `running`."""
        ...

    def set_status(self, job: str, status: Any, reason: str = "") -> None:
        """Say where a job stands."""
        ...

    def under_way(self) -> list[tuple[str, str | None, float | None]]:
        """Jobs that count as running, each with who drives it and the last heartbeat."""
        ...


class Work(Protocol[C]):
    """What a job is."""

    what: str
    """A word for it, as in the log."""

    def held(self, job: str) -> AbstractAsyncContextManager[None]:
        """What is held while the job is driven, such as a connection.

        Raises:
            CourtroomError: it can't be had; the job is paused, with this as the reason.
        """
        ...

    def at_once(self, job: str) -> int:
        """How many of its cells may be under way at once."""
        ...

    def waiting(self, job: str) -> Iterable[C]:
        """The cells that are not done, in their order."""
        ...

    def room(self, job: str, cell: C, under_way: int) -> bool:
        """Whether a cell may begin beside so many; where none is under way, False is the end for now."""
        ...

    async def run(self, job: str, cell: C, runner: Runner, keys: Mapping[str, str]) -> None:
        """Bring a cell to its end; called on the loop.

        Raises:
            CourtroomError: it came to none.
        """
        ...

    def conclusion(self, job: str, troubles: list[str]) -> tuple[str, str]:
        """Where a job stands of which every cell was tried, and why; from the sentences of cells that came to no end."""
        ...


class Crew(Generic[C]):
    """All jobs of one kind, as one process drives them."""

    def __init__(self, jobs: Jobs, work: Work[C], writer: Writer, runner: Callable[[], Runner]) -> None:
        self._jobs, self._work, self._writer, self._runner = jobs, work, writer, runner
        self._driving: dict[str, asyncio.Task[None]] = {}
        self._claiming = asyncio.Lock()
        self._keys: dict[str, Mapping[str, str]] = {}

    def go(self, job: str, keys: Mapping[str, str] | None = None) -> None:
        """Start the remaining cells.

        Args:
            keys: what the person typed who starts it; see `Runner.go`.
        """
        self._keys[job] = dict(keys or {})
        self._jobs.set_status(job, RUNNING)
        self._do(self._take_up(job, self._runner()))

    def halt(self, job: str, status: str, reason: str, runs: Callable[[], Iterable[str]]) -> None:
        """Start no further cell, and stop the runs under way; nothing that was answered is lost.

        Args:
            runs: those under way, looked up once no further one can begin.
        """
        self._do(self._say(job, status, reason))
        runner = self._runner()
        for run in runs():
            runner.stop(run)

    def take_up_interrupted(self) -> list[str]:
        """Go on with the jobs whose process has died; their ids. Those that others drive are watched, in case these die."""
        runner = self._runner()
        under_way = self._jobs.under_way()
        left = [job for job, owner, heartbeat in under_way if self._left(job, owner, heartbeat, runner)]
        for job in left:
            self._do(self._take_up(job, runner))
        for job in {job for job, *_ in under_way} - {*left}:
            runner.watch(self._settled(job, runner))
        return left

    def settled(self, job: str) -> Future[None]:
        """Done when the job is running no more; where its driver dies meanwhile, it is driven here."""
        runner = self._runner()
        return runner.do(self._settled(job, runner))

    def drives(self, job: str) -> bool:
        """Whether this process drives the job now."""
        return job in self._driving

    def _left(self, job: str, owner: str | None, heartbeat: float | None, runner: Runner) -> bool:
        """Whether nobody drives it any more."""
        return job not in self._driving and not runner.driver.lives(self._jobs.lease, job, owner, heartbeat)

    def _do(self, work: Coroutine[Any, Any, None]) -> None:
        self._runner().do(work).result()

    # --- on the loop ----------------------------------------------------------------------------------------

    # What runs here is given the runner: asking the house for it waits for the lock under which the house is closed,
    # and closing waits for this loop.

    async def _say(self, job: str, status: str, reason: str) -> None:
        """Said on the loop, so that no cell begins between this and what comes after it."""
        if self._jobs.status(job) in (RUNNING, "paused"):
            self._jobs.set_status(job, status, reason)

    async def _take_up(self, job: str, runner: Runner) -> None:
        async with self._claiming:
            if job in self._driving:
                return
            if await asyncio.to_thread(runner.driver.claim, self._jobs.lease, job):
                self._driving[job] = asyncio.create_task(self._drive(job, runner))
            else:
                self._keys.pop(job, None)  # its driver goes on by itself

    async def _drive(self, job: str, runner: Runner) -> None:
        def wrong(error: BaseException) -> None:
            log.warning("%s %s: %s", self._work.what, job, error)

        hand = Hand(self._jobs.lease, job, runner.driver.owner, self._writer, wrong)
        say = partial(self._jobs.set_status, job)
        try:
            async with self._work.held(job):
                await self._run_all(job, runner, hand)
        except CourtroomError as error:
            hand.do(partial(say, "paused", str(error)))
        except Exception:  # noqa: BLE001  nobody awaits this task: what goes wrong is reported on the job and in the log
            log.exception("%s %s could not be driven", self._work.what, job)
            hand.do(partial(say, "paused", f"The {self._work.what} could not be driven; the log says why."))
        finally:
            try:
                await self._writer.do(partial(runner.driver.release, self._jobs.lease, job))
            finally:
                self._driving.pop(job, None)
                self._keys.pop(job, None)

    async def _run_all(self, job: str, runner: Runner, hand: Hand) -> None:
        waiting = iter(await asyncio.to_thread(lambda: [*self._work.waiting(job)]))
        at_once = await asyncio.to_thread(self._work.at_once, job)
        cell = next(waiting, None)
        troubles: list[str] = []

        under_way: dict[asyncio.Task[None], C] = {}
        ended = asyncio.Event()
        part = max(1, at_once // PARTS)

        async def run(cell: C) -> None:
            try:
                if self._jobs.status(job) == RUNNING:
                    await self._work.run(job, cell, runner, self._keys.get(job, {}))
            except CourtroomError as error:
                troubles.append(str(error))

        def over(task: asyncio.Task[None]) -> None:
            del under_way[task]
            if len(under_way) <= at_once - part or not under_way:
                ended.set()

        async with asyncio.TaskGroup() as group:
            while self._goes_on(job, runner):
                while cell is not None and len(under_way) < at_once and self._work.room(job, cell, len(under_way)):
                    task = group.create_task(run(cell))
                    under_way[task] = cell
                    task.add_done_callback(over)
                    cell = next(waiting, None)
                if not under_way:
                    break
                ended.clear()
                await wait(ended, BEAT_S)
            while under_way and self._jobs.status(job) != RUNNING:
                # Also a run that was only being made when the job was halted.
                tasks, runs = [*under_way], [one.run for one in under_way.values()]
                await asyncio.to_thread(self._stop, runs, runner)
                await asyncio.wait(tasks, timeout=BEAT_S)
        if self._goes_on(job, runner):
            hand.do(partial(self._jobs.set_status, job, *self._work.conclusion(job, troubles)))

    def _stop(self, runs: Iterable[str], runner: Runner) -> None:
        for run in runs:
            if runner.drives(run):
                runner.stop(run)

    def _goes_on(self, job: str, runner: Runner) -> bool:
        return self._jobs.status(job) == RUNNING and self._jobs.lease.holds(job, runner.driver.owner)

    async def _settled(self, job: str, runner: Runner) -> None:
        while True:
            if driving := self._driving.get(job):
                await asyncio.wait([driving])
            if self._jobs.status(job) != RUNNING:
                return
            holder = self._jobs.lease.holder(job)
            if self._left(job, *holder, runner):
                await self._take_up(job, runner)
            else:
                await asyncio.sleep(BEAT_S)  # another process drives it
