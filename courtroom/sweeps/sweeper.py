"""Drives what-if sweeps on the engine's loop: a few forks of the base run at once, the remaining ones after a restart."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

from courtroom.cases.case import Case
from courtroom.engine.driven_runs import BEAT_S
from courtroom.engine.lease import Hand
from courtroom.engine.procedure import Procedure
from courtroom.engine.record import Record
from courtroom.engine.rehearsal import Estimate
from courtroom.engine.runner import Runner
from courtroom.engine.setup import Setup
from courtroom.engine.store import RunStore
from courtroom.errors import CourtroomError
from courtroom.models.request import Reply
from courtroom.store.writer import Writer
from courtroom.sweeps.plan import Plan, Variant, affordable, applied, plan
from courtroom.sweeps.proposals import proposals
from courtroom.sweeps.store import Cell, Status, Sweep, SweepStore

log = logging.getLogger(__name__)

AT_ONCE = 2
"""Runs of one sweep under way at once: enough to keep a model's server busy, few enough to leave room for a person."""


class House(Protocol):
    """What a sweep needs of the courthouse."""

    store: RunStore
    writer: Writer

    @property
    def procedures(self) -> Mapping[str, Procedure]:
        """The published systems by name."""
        ...

    @property
    def runner(self) -> Runner:
        """The engine."""
        ...

    def record(self, run: str) -> Record:
        """A run as it stands."""
        ...

    def fork(
        self, parent: str, setup: Setup, seed: int | None = None, case: Case | None = None, run: str | None = None
    ) -> str:
        """A run with something changed."""
        ...

    def estimate(
        self,
        procedure: str,
        case: Case,
        setup: Setup,
        seed: int,
        parent: str | None = None,
        known: dict[str, Reply] | None = None,
    ) -> Estimate:
        """What a run would take."""
        ...


@dataclass(frozen=True)
class Takes:
    """What a sweep would take: calls asked anew, and calls served from the record or from another of its runs."""

    runs: int
    ask: int
    serve: int


class Sweeper:
    """All sweeps of one store, as one process drives them."""

    def __init__(self, store: SweepStore, house: House) -> None:
        self.store = store
        self._house = house
        self._driving: dict[str, asyncio.Task[None]] = {}
        self._claiming = asyncio.Lock()
        self._keys: dict[str, Mapping[str, str]] = {}

    # --- before ---------------------------------------------------------------------------------------------

    def base(self, run: str) -> Record:
        """A run that can be the base of a sweep.

        Raises:
            CourtroomError: it has no verdict yet.
        """
        record = self._house.record(run)
        if record.run.verdict is None:
            raise CourtroomError("This run has no verdict yet. Run it to its end first, then ask what would change it.")
        return record

    def plan(self, run: str, variants: Sequence[Variant], seeds: Sequence[int]) -> Plan:
        """A plan on a finished run, tried against its setup and case.

        Raises:
            CourtroomError: a variant does not fit.
        """
        base = self.base(run)
        return plan(run, self._house.procedures[base.run.procedure], base.setup, base.case, variants, seeds)

    def estimate(self, wanted: Plan, told: Callable[[int, int], None] = lambda done, total: None) -> Takes:
        """About what a plan will take; what one of its runs asks is on record for those after it.

        Args:
            told: is told how far the rehearsals are.
        """
        base = self.base(wanted.base)
        known: dict[str, Reply] = {}
        ask = serve = 0
        cells = [(variant, seed) for variant in wanted.variants for seed in wanted.seeds]
        for number, (variant, seed) in enumerate(cells):
            told(number, len(cells))
            if variant.kind == "base" and seed == base.run.seed:
                continue
            found = self._rehearsed(base, variant, seed, known)
            ask += found.calls - found.on_record
            serve += found.on_record
        told(len(cells), len(cells))
        return Takes(len(cells), ask, serve)

    def propose(
        self, run: str, budget: int, told: Callable[[int, int], None] = lambda done, total: None
    ) -> list[tuple[Variant, int]]:
        """What could change this verdict: single changes with the calls that each asks anew, as many as fit a budget."""
        base = self.base(run)
        offered = proposals(self._house.procedures[base.run.procedure], base.setup, base.case, base.run.seed)
        calls: dict[str, int] = {}
        for number, variant in enumerate(offered):
            told(number, len(offered))
            found = self._rehearsed(base, variant, base.run.seed, None)
            calls[variant.name] = found.calls - found.on_record
        told(len(offered), len(offered))
        return affordable(offered, lambda variant: calls[variant.name], budget)

    # --- steering -------------------------------------------------------------------------------------------

    def start(self, wanted: Plan, keys: Mapping[str, str] | None = None) -> str:
        """Run a plan; where the very same is on record already, that sweep goes on. Its id.

        Args:
            keys: what the person typed who starts it; see `Runner.go`.
        """
        row = self._house.store.run(wanted.base)
        sweep = self.store.same_or_new(wanted, row.title, row.seed)
        self.go(sweep, keys)
        return sweep

    def go(self, sweep: str, keys: Mapping[str, str] | None = None) -> None:
        """Start the remaining runs, and try those again that had stopped."""
        self._keys[sweep] = dict(keys or {})
        if self.store.sweep(sweep).status != "done":
            self.store.set_status(sweep, "running")
            self._do(self._take_up(sweep, self._house.runner))

    def pause(self, sweep: str) -> None:
        """Start no further run, and let go of those under way; nothing that was answered is lost."""
        self._halt(sweep, "paused", "Paused. Go on at any time; nothing is lost.")

    def cancel(self, sweep: str) -> None:
        """Give the sweep up; its finished runs stay, with what they tell."""
        self._halt(sweep, "cancelled", "Cancelled. What had finished is shown.")

    def delete(self, sweep: str) -> None:
        """Forget a sweep and its runs; the base run stays, and so do all answers."""
        self.cancel(sweep)
        self.store.delete(sweep, self._house.store.take_out)

    def take_up_interrupted(self) -> list[str]:
        """Go on with the sweeps whose process has died; their ids. Those that others drive are watched, in case these die."""
        runner = self._house.runner
        under_way = [sweep for sweep in self.store.sweeps() if sweep.status == "running"]
        left = [sweep.id for sweep in under_way if self._left(sweep, runner)]
        for sweep in left:
            self._do(self._take_up(sweep, runner))
        for sweep in {sweep.id for sweep in under_way} - {*left}:
            runner.watch(self._settled(sweep, runner))
        return left

    def wait(self, sweep: str, timeout: float | None = None) -> None:
        """Wait until the sweep is done, paused or cancelled; where its driver dies meanwhile, it is driven here."""
        self.settled(sweep).result(timeout)

    def settled(self, sweep: str) -> Future[None]:
        """Done when the sweep is done, paused or cancelled; see `wait`."""
        runner = self._house.runner
        return runner.do(self._settled(sweep, runner))

    # --- within ---------------------------------------------------------------------------------------------

    def _rehearsed(self, base: Record, variant: Variant, seed: int, known: dict[str, Reply] | None) -> Estimate:
        setup, case = applied(variant, base.setup, base.case)
        return self._house.estimate(base.run.procedure, case, setup, seed, base.run.id, known)

    def _left(self, sweep: Sweep, runner: Runner) -> bool:
        """Whether nobody drives it any more."""
        lives = runner.driver.lives(self.store.lease, sweep.id, sweep.owner, sweep.heartbeat)
        return sweep.id not in self._driving and not lives

    def _halt(self, sweep: str, status: Status, reason: str) -> None:
        self._do(self._say(sweep, status, reason))
        for cell in self.store.cells(sweep):
            if cell.status == "running":
                self._house.runner.stop(cell.run)

    def _do(self, work: Coroutine[Any, Any, None]) -> None:
        self._house.runner.do(work).result()

    # --- on the loop ----------------------------------------------------------------------------------------

    # What runs here is given the runner: asking the house for it waits for the lock under which the house is closed,
    # and closing waits for this loop.

    async def _say(self, sweep: str, status: Status, reason: str) -> None:
        """Said on the loop, so that no run begins between this and what comes after it."""
        if self.store.status(sweep) in ("running", "paused"):
            self.store.set_status(sweep, status, reason)

    async def _take_up(self, sweep: str, runner: Runner) -> None:
        async with self._claiming:
            if sweep in self._driving:
                return
            claimed = await asyncio.to_thread(runner.driver.claim, self.store.lease, sweep)
            if claimed:
                self._driving[sweep] = asyncio.create_task(self._drive(sweep, runner))
            else:
                self._keys.pop(sweep, None)  # its driver goes on by itself

    async def _drive(self, sweep: str, runner: Runner) -> None:
        def wrong(error: BaseException) -> None:
            log.warning("sweep %s: %s", sweep, error)

        hand = Hand(self.store.lease, sweep, runner.driver.owner, self._house.writer, wrong)
        say = partial(self.store.set_status, sweep)
        try:
            await self._run_all(sweep, runner, hand)
        except CourtroomError as error:
            hand.do(partial(say, "paused", str(error)))
        except Exception:  # noqa: BLE001  nobody awaits this task: what goes wrong is told on the sweep and in the log
            log.exception("sweep %s could not be driven", sweep)
            hand.do(partial(say, "paused", "The sweep could not be driven; the log says why."))
        finally:
            try:
                await self._house.writer.do(partial(runner.driver.release, self.store.lease, sweep))
            finally:
                self._driving.pop(sweep, None)
                self._keys.pop(sweep, None)

    async def _run_all(self, sweep: str, runner: Runner, hand: Hand) -> None:
        row = self.store.sweep(sweep)
        base = await asyncio.to_thread(runner.record, row.base)
        waiting = iter([cell for cell in self.store.cells(sweep) if cell.status != "done"])
        troubles: list[str] = []

        async def run(cell: Cell) -> None:
            try:
                await self._run(base, row, cell, runner)
            except CourtroomError as error:
                troubles.append(str(error))

        async with asyncio.TaskGroup() as group:
            under_way: set[asyncio.Task[None]] = set()
            while self._goes_on(sweep, runner):
                while len(under_way) < AT_ONCE and (cell := next(waiting, None)):
                    under_way.add(group.create_task(run(cell)))
                if not under_way:
                    break
                _, under_way = await asyncio.wait(under_way, timeout=BEAT_S, return_when=asyncio.FIRST_COMPLETED)
        if self._goes_on(sweep, runner):
            hand.do(partial(self.store.set_status, sweep, *self._conclusion(sweep, troubles)))

    def _goes_on(self, sweep: str, runner: Runner) -> bool:
        return self.store.status(sweep) == "running" and self.store.lease.holds(sweep, runner.driver.owner)

    async def _run(self, base: Record, sweep: Sweep, cell: Cell, runner: Runner) -> None:
        if self.store.status(sweep.id) != "running":
            return
        if cell.status == "waiting":
            await asyncio.to_thread(self._made, base, sweep, cell)
        await runner.finish(cell.run, self._keys.get(sweep.id, {}))

    def _made(self, base: Record, sweep: Sweep, cell: Cell) -> None:
        setup, case = applied(sweep.plan.variants[cell.variant], base.setup, base.case)
        self._house.fork(base.run.id, setup, cell.seed, case, cell.run)

    def _conclusion(self, sweep: str, troubles: list[str]) -> tuple[Status, str]:
        left = [cell for cell in self.store.cells(sweep) if cell.status != "done"]
        if not left:
            return "done", ""
        reasons = [*troubles, *(self._house.store.run(cell.run).reason for cell in left if cell.status != "waiting")]
        many = f"{len(left)} runs have" if len(left) > 1 else "One run has"
        return "paused", f"{many} no verdict yet. {next(filter(None, reasons), '')}".strip()

    async def _settled(self, sweep: str, runner: Runner) -> None:
        while True:
            if driving := self._driving.get(sweep):
                await asyncio.wait([driving])
            if self.store.status(sweep) != "running":
                return
            if self._left(self.store.sweep(sweep), runner):
                await self._take_up(sweep, runner)
            else:
                await asyncio.sleep(BEAT_S)  # another process drives it
