"""Drives what-if sweeps on the engine's loop: a few forks of the base run at once, the remaining ones after a restart."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass

from courtroom.access.account import Access
from courtroom.access.acting import acts, needs
from courtroom.engine.crew import Crew
from courtroom.engine.house import House
from courtroom.engine.record import Record
from courtroom.engine.rehearsal import Estimate
from courtroom.engine.runner import Runner
from courtroom.errors import CourtroomError
from courtroom.models.request import Reply
from courtroom.sweeps.plan import SweepPlan, Variant, affordable, applied, plan
from courtroom.sweeps.proposals import proposals
from courtroom.sweeps.store import Status, SweepCell, SweepStore

AT_ONCE = 2
"""Runs of one sweep under way at once: enough to keep a model's server busy, few enough to leave room for a person."""


@dataclass(frozen=True)
class SweepEstimate:
    """What a sweep would take: calls asked anew, and calls served from the record or from another of its runs."""

    runs: int
    ask: int
    serve: int


class Sweeper:
    """All sweeps of one store, as one process drives them."""

    def __init__(self, store: SweepStore, house: House) -> None:
        self.store = store
        self._house = house
        self._crew = Crew(store, Forking(store, house), house.writer, lambda: house.runner)

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

    def plan(self, run: str, variants: Sequence[Variant], seeds: Sequence[int]) -> SweepPlan:
        """A plan on a finished run, tried against its setup and case.

        Raises:
            CourtroomError: a variant does not fit.
        """
        base = self.base(run)
        return plan(run, self._house.procedures[base.run.procedure], base.setup, base.case, variants, seeds)

    def estimate(
        self, wanted: SweepPlan, notify: Callable[[int, int], None] = lambda done, total: None
    ) -> SweepEstimate:
        """About what a plan will take; what one of its runs asks is on record for those after it.

        Args:
            notify: is called with how far the rehearsals are.
        """
        base = self.base(wanted.base)
        known: dict[str, Reply] = {}
        ask = serve = 0
        cells = [(variant, seed) for variant in wanted.variants for seed in wanted.seeds]
        for number, (variant, seed) in enumerate(cells):
            notify(number, len(cells))
            if variant.kind == "base" and seed == base.run.seed:
                continue
            found = self._rehearsed(base, variant, seed, known)
            ask += found.calls - found.on_record
            serve += found.on_record
        notify(len(cells), len(cells))
        return SweepEstimate(len(cells), ask, serve)

    def propose(
        self, run: str, budget: int, notify: Callable[[int, int], None] = lambda done, total: None
    ) -> list[tuple[Variant, int]]:
        """What could change this verdict: single changes with the calls that each asks anew, as many as fit a budget."""
        base = self.base(run)
        offered = proposals(self._house.procedures[base.run.procedure], base.setup, base.case, base.run.seed)
        calls: dict[str, int] = {}
        for number, variant in enumerate(offered):
            notify(number, len(offered))
            found = self._rehearsed(base, variant, base.run.seed, None)
            calls[variant.name] = found.calls - found.on_record
        notify(len(offered), len(offered))
        return affordable(offered, lambda variant: calls[variant.name], budget)

    # --- steering -------------------------------------------------------------------------------------------

    @needs(Access.RUN)
    def start(self, wanted: SweepPlan, keys: Mapping[str, str] | None = None) -> str:
        """Run a plan; where the very same is on record already, that sweep goes on. Its id.

        Args:
            keys: what the person typed who starts it; see `Runner.go`.
        """
        row = self._house.store.run(wanted.base)
        sweep = self.store.same_or_new(wanted, row.title, row.seed)
        self.go(sweep, keys)
        return sweep

    @needs(Access.RUN)
    def go(self, sweep: str, keys: Mapping[str, str] | None = None) -> None:
        """Start the remaining runs, and try those again that had stopped."""
        self.store.changing(sweep, "start")
        if self.store.sweep(sweep).status != "done":
            self._crew.go(sweep, keys)

    @needs(Access.RUN)
    def pause(self, sweep: str) -> None:
        """Start no further run, and let go of those under way; nothing that was answered is lost."""
        self.store.changing(sweep, "pause")
        self._halt(sweep, "paused", "Paused. Go on at any time; nothing is lost.")

    @needs(Access.RUN)
    def cancel(self, sweep: str) -> None:
        """Give the sweep up; its finished runs stay, with what they show."""
        self.store.changing(sweep, "stop")
        self._halt(sweep, "cancelled", "Cancelled. What had finished is shown.")

    @needs(Access.RUN)
    def delete(self, sweep: str) -> None:
        """Forget a sweep and its runs; the base run stays, and so do all answers."""
        self.store.changing(sweep, "delete")
        self._halt(sweep, "cancelled", "Cancelled. What had finished is shown.")
        self.store.delete(sweep, self._house.store.take_out)

    def take_up_interrupted(self) -> list[str]:
        """Go on with the sweeps whose process has died; their ids. Those that others drive are watched, in case these die."""
        return self._crew.take_up_interrupted()

    def wait(self, sweep: str, timeout: float | None = None) -> None:
        """Wait until the sweep is done, paused or cancelled; where its driver dies meanwhile, it is driven here."""
        self.settled(sweep).result(timeout)

    def settled(self, sweep: str) -> Future[None]:
        """Done when the sweep is done, paused or cancelled; see `wait`."""
        return self._crew.settled(sweep)

    # --- within ---------------------------------------------------------------------------------------------

    def _rehearsed(self, base: Record, variant: Variant, seed: int, known: dict[str, Reply] | None) -> Estimate:
        setup, case = applied(variant, base.setup, base.case)
        return self._house.estimate(base.run.procedure, case, setup, seed, base.run.id, known)

    def _halt(self, sweep: str, status: Status, reason: str) -> None:
        def under_way() -> list[str]:
            return [cell.run for cell in self.store.cells(sweep) if cell.status == "running"]

        with acts(None):  # the sweep's runs go with it
            self._crew.halt(sweep, status, reason, under_way)


class Forking:
    """What a sweep is to the crew that drives it: forks of its base run."""

    what = "sweep"

    def __init__(self, store: SweepStore, house: House) -> None:
        self._store, self._house = store, house

    def held(self, job: str) -> AbstractAsyncContextManager[None]:
        """See `Work`."""
        return nullcontext()

    def at_once(self, job: str) -> int:
        """See `Work`."""
        return AT_ONCE

    def waiting(self, job: str) -> list[SweepCell]:
        """See `Work`. A sweep whose base is gone has none that could be run."""
        self._house.record(self._store.sweep(job).base)
        return [cell for cell in self._store.cells(job) if cell.status != "done"]

    def room(self, job: str, cell: SweepCell, under_way: int) -> bool:
        """See `Work`."""
        return True

    async def run(self, job: str, cell: SweepCell, runner: Runner, keys: Mapping[str, str]) -> None:
        """See `Work`."""
        if cell.status == "waiting":
            await asyncio.to_thread(self._made, job, cell)
        await runner.finish(cell.run, keys)

    def conclusion(self, job: str, troubles: list[str]) -> tuple[Status, str]:
        """See `Work`."""
        left = [cell for cell in self._store.cells(job) if cell.status != "done"]
        if not left:
            return "done", ""
        reasons = [*troubles, *(self._house.store.run(cell.run).reason for cell in left if cell.status != "waiting")]
        many = f"{len(left)} runs have" if len(left) > 1 else "One run has"
        return "paused", f"{many} no verdict yet. {next(filter(None, reasons), '')}".strip()

    def _made(self, sweep: str, cell: SweepCell) -> None:
        row = self._store.sweep(sweep)
        base = self._house.record(row.base)
        setup, case = applied(row.plan.variants[cell.variant], base.setup, base.case)
        self._house.fork(base.run.id, setup, cell.seed, case, cell.run)
