"""What an experiment is to the crew that drives it: each cell a run, within the budget of all, arms that fail given up."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial

from courtroom.engine.gathered import Gathered
from courtroom.engine.runner import Runner
from courtroom.engine.setup import Budget
from courtroom.errors import CourtroomError, log_file
from courtroom.experiments.cell_runs import Brings, CellRuns, NotDriven
from courtroom.experiments.cluster.reach import reached
from courtroom.experiments.outcome import Outcome
from courtroom.experiments.ports import ExperimentHouse
from courtroom.experiments.spec import Experiment
from courtroom.experiments.store import ExperimentStore, Status, StoredCell, StoredExperiment

log = logging.getLogger(__name__)

GIVEN_UP = 5
"""An arm whose first so many cells all fail is given up: its other cells fail at once, and the other arms go on."""


@dataclass
class DrivenExperiment:
    """What this process knows of an experiment that it drives. Used on the loop alone."""

    kept: StoredExperiment
    runs: CellRuns
    brings: Brings
    """Those, or a cluster's: who brings cells to their ends."""
    concluding: Gathered[tuple[int, Outcome], None]
    """Writes what a cell has come to."""
    to_train: Counter[int] = field(default_factory=Counter)
    """How many cases each arm is still to learn from."""
    spent: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Calls, tokens and US dollars of all cells that have ended."""
    dearest: dict[int, tuple[float, float, float]] = field(default_factory=dict)
    """The most of each that a cell of an arm took: what its next one is taken to take."""
    open: Counter[int] = field(default_factory=Counter)
    """How many cells of each arm are under way."""
    alone: bool = False
    """Whether a cell is under way that teaches, beside which no other may go."""
    failed: dict[int, int] = field(default_factory=dict)
    """Failures of each arm; an arm of which a cell is done is not in it any more."""
    done: set[int] = field(default_factory=set)
    """Arms of which a cell is done."""
    stopped: str = ""
    """Why no further cell may begin."""

    @property
    def experiment(self) -> Experiment:
        """What it is."""
        return self.kept.experiment

    def spend(self, arm: int, took: tuple[float, float, float], cells: int = 1) -> None:
        """Cells of an arm have ended and took so many calls, tokens and US dollars together."""
        before = self.dearest.get(arm, (0.0, 0.0, 0.0))
        self.dearest[arm] = _each(lambda most, new: max(most, new / cells), before, took)
        self.spent = _each(lambda before, new: before + new, self.spent, took)


class Cells:
    """Brings cells to their end; see `courtroom.engine.crew.Work`."""

    what = "experiment"

    def __init__(self, store: ExperimentStore, house: ExperimentHouse) -> None:
        self._store, self._house = store, house
        self._under_way: dict[str, DrivenExperiment] = {}
        self._clusters: dict[str, Brings] = {}

    @asynccontextmanager
    async def held(self, job: str) -> AsyncIterator[None]:
        """See `Work`: the cluster, where the settings name one."""
        if not (address := self._house.settings.dask):
            yield
            return
        async with reached(address, self._house, self._store.experiment(job)) as self._clusters[job]:
            try:
                yield
            finally:
                del self._clusters[job]

    async def try_cluster(self, job: str) -> None:
        """See whether the cluster can be used that the settings name, if they name one.

        Raises:
            CourtroomError: it can't.
        """
        if address := self._house.settings.dask:
            async with reached(address, self._house, self._store.experiment(job)):
                pass

    def at_once(self, job: str) -> int:
        """See `Work`."""
        return self._store.experiment(job).experiment.at_once

    def waiting(self, job: str) -> list[StoredCell]:
        """See `Work`. Called before all else of a drive."""
        kept = self._store.experiment(job)
        runs = CellRuns(kept, self._house)
        state = self._under_way[job] = DrivenExperiment(
            kept=kept,
            runs=runs,
            brings=self._clusters.get(job, runs),
            concluding=Gathered(partial(self._concluded, job)),
        )
        counts = self._store.counts(job)
        for place, (calls, tokens, cost) in self._store.took(job).items():
            state.spend(place, (calls, tokens, cost or 0.0), counts[place, "done"])
            state.done.add(place)
        waiting = list(self._store.cells(job, "waiting"))
        state.to_train = Counter(cell.arm for cell in waiting if cell.phase == "train")
        for arm in runs.training.arms:  # it may have been killed between an arm's last case and this
            if not state.to_train[arm] and not runs.training.ended(arm):
                runs.training.end(arm)
        return waiting

    def room(self, job: str, cell: StoredCell, under_way: int) -> bool:
        """See `Work`. A cell begins where what is spent, and what the cells under way and it will probably take, fit the budget."""
        state = self._under_way[job]
        if state.alone or (cell.phase == "train" and under_way):
            return False
        if state.stopped:
            return False
        if why := used_up(state, cell.arm):
            if not under_way:
                state.stopped = why
            return False
        state.alone = cell.phase == "train"
        state.open[cell.arm] += 1
        return True

    async def run(self, job: str, cell: StoredCell, runner: Runner, keys: Mapping[str, str]) -> None:
        """See `Work`."""
        state = self._under_way[job]
        try:
            if cell.arm not in state.done and state.failed.get(cell.arm, 0) >= GIVEN_UP:
                await self._fail(
                    job, cell, f"Not tried: the first {GIVEN_UP} cells of this arm failed. See their reasons."
                )
                return
            await self._run(state, cell, runner, keys)
        except NotDriven as error:
            state.stopped = str(error)
        except CourtroomError as error:
            await self._failed(state, cell, str(error))
        except Exception:
            log.exception("cell %s of experiment %s", cell.run, job)
            await self._failed(state, cell, f"Something went wrong inside the program; {log_file()} says what.")
        finally:
            state.open[cell.arm] -= 1
            if cell.phase == "train":
                state.alone = False

    def conclusion(self, job: str, troubles: list[str]) -> tuple[Status, str]:
        """See `Work`."""
        state = self._under_way.pop(job)
        counts = self._store.counts(job)
        waiting = sum(many for (_, found), many in counts.items() if found == "waiting")
        failed = sum(many for (_, found), many in counts.items() if found == "failed")
        if waiting:
            why = state.stopped or next(iter(troubles), "Some runs stopped.")
            return "paused", f"{why} {_cells(waiting, 'is', 'are')} left. Go on at any time; nothing is lost."
        return "done", f"{_cells(failed)} failed. The rows of these cells say why; try them again." if failed else ""

    # --- within ---------------------------------------------------------------------------------------------

    async def _run(self, state: DrivenExperiment, cell: StoredCell, runner: Runner, keys: Mapping[str, str]) -> None:
        job = state.kept.id
        if cell.phase == "train":
            await asyncio.to_thread(self._taught, state, cell)
        end = await state.brings.bring(cell, runner, keys)
        took = (end.asked, end.tokens, end.cost)
        if end.status == "failed":
            state.spend(cell.arm, took)
            await self._failed(state, cell, end.why)
        elif end.outcome is not None:
            state.spend(cell.arm, took)
            state.done.add(cell.arm)
            await state.concluding((cell.number, end.outcome))
            if cell.phase == "train":
                state.to_train[cell.arm] -= 1
                if not state.to_train[cell.arm]:
                    await asyncio.to_thread(state.runs.training.end, cell.arm)
        elif self._store.status(job) == "running":  # not halted: its own setup's budget is used up
            await self._failed(state, cell, end.why)

    def _taught(self, state: DrivenExperiment, cell: StoredCell) -> None:
        """Put the run of a cell that teaches on record where it is not, and begin its arm's training with it."""
        if self._house.store.status(cell.run) != "deleted":
            return
        (row,) = state.runs.rows([cell.row])
        training = state.runs.training
        with self._house.store.together():
            if not any(self._store.cells(state.kept.id, "done", cell.arm, "train")):
                training.begin(cell.arm)
            procedure = state.experiment.arms[cell.arm].procedure
            self._house.new_run(procedure, row.case, training.trains(cell.arm), cell.seed, cell.run)

    async def _concluded(self, job: str, some: Sequence[tuple[int, Outcome]]) -> list[None]:
        """Write what cells have come to, in one transaction."""

        def write() -> None:
            with self._house.store.together():
                for number, outcome in some:
                    self._store.conclude(job, number, outcome)

        await self._house.writer.do(write)
        return [None] * len(some)

    async def _failed(self, state: DrivenExperiment, cell: StoredCell, reason: str) -> None:
        if cell.phase == "train":  # what comes after would learn, and be tested, on something else
            arm = state.experiment.arms[cell.arm].name
            state.stopped = f"The training of {arm} stopped at the case {cell.row}: {reason}"
            return
        state.failed[cell.arm] = state.failed.get(cell.arm, 0) + 1
        await self._fail(state.kept.id, cell, reason)

    async def _fail(self, job: str, cell: StoredCell, reason: str) -> None:
        await self._house.writer.do(lambda: self._store.fail(job, cell.number, reason))


def used_up(state: DrivenExperiment, arm: int) -> str:
    """Why the budget has no room for one more cell of an arm; empty where it has.

    A cell is taken to take what the dearest of its arm took. Before any of its arm has ended it goes alone, so that a small
    budget is not overshot by many at once.
    """
    budget: Budget = state.experiment.budget
    limits = (("calls", budget.calls), ("tokens", budget.tokens), ("US$", budget.money))
    if all(limit is None for _, limit in limits):
        return ""
    if arm not in state.dearest and state.open.total():
        return "What a cell of this arm takes is not known yet."
    most = state.dearest.get(arm, (0.0, 0.0, 0.0))
    for place, (name, limit) in enumerate(limits):
        if limit is None:
            continue
        spent = state.spent[place]
        held = sum(many * state.dearest.get(other, most)[place] for other, many in state.open.items())
        if spent >= limit or spent + held + most[place] > limit:
            return (
                f"The budget of {_amount(name, limit)} has no room for another cell: spent so far: {_amount(name, spent)}; a "
                f"cell takes about {_amount(name, most[place])}. Raise it to go on."
            )
    return ""


def _cells(number: int, one: str = "", several: str = "") -> str:
    """1 cell, 2 cells; with a verb, 1 cell is, 2 cells are."""
    return " ".join(filter(None, ("1 cell", one) if number == 1 else (f"{number:,} cells", several)))


def _amount(name: str, value: float) -> str:
    if name == "US$":
        return f"US$ {value:.4g}"
    return f"1 {name.removesuffix('s')}" if round(value) == 1 else f"{value:,.0f} {name}"


def _each(
    work: Callable[[float, float], float], a: tuple[float, float, float], b: tuple[float, float, float]
) -> tuple[float, float, float]:
    return work(a[0], b[0]), work(a[1], b[1]), work(a[2], b[2])
