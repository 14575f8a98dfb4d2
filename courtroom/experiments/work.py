"""What an experiment is to the crew that drives it: each cell a run, within the budget of all, arms that fail given up."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from courtroom.cases.case import Case
from courtroom.datasets import Row
from courtroom.engine.gathered import Gathered, each
from courtroom.engine.record import Record
from courtroom.engine.run import CELL
from courtroom.engine.runner import Runner
from courtroom.engine.setup import Budget, Setup
from courtroom.errors import CourtroomError, log_file
from courtroom.experiments.begin import setups_of
from courtroom.experiments.outcome import Outcome, of_record
from courtroom.experiments.ports import ExperimentHouse
from courtroom.experiments.spec import Experiment
from courtroom.experiments.store import ExperimentStore, Status, StoredCell, StoredExperiment
from courtroom.experiments.training import Training

log = logging.getLogger(__name__)

GIVEN_UP = 5
"""An arm whose first so many cells all fail is given up: its other cells fail at once, and the other arms go on."""
APART_S = 0.02
"""Seconds in which cells that end are read together."""
NEW = "new"
"""How a run stands that was put on record just now."""
Ended = tuple[Record, Outcome | None]


@dataclass
class DrivenExperiment:
    """What this process knows of an experiment that it drives. Used on the loop alone."""

    kept: StoredExperiment
    training: Training
    setups: Mapping[int, Setup]
    """Of the runs that are tested, by the arm's place."""
    making: Gathered[StoredCell, str]
    """Puts the run of a cell that is tested on record; how it stands."""
    ending: Gathered[str, Ended]
    """Reads a run that has come to an end."""
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

    def at_once(self, job: str) -> int:
        """See `Work`."""
        return self._store.experiment(job).experiment.at_once

    def waiting(self, job: str) -> list[StoredCell]:
        """See `Work`. Called before all else of a drive."""
        kept = self._store.experiment(job)
        setups = setups_of(kept.experiment, self._house.procedures, kept.kind)
        training = Training(kept.experiment, setups, self._house)
        state = self._under_way[job] = DrivenExperiment(
            kept=kept,
            training=training,
            setups={place: training.tests(place) for place in setups},
            making=Gathered(lambda some: asyncio.to_thread(self._made, state, some)),
            ending=Gathered(lambda runs: asyncio.to_thread(_ended, self._house.record, runs), apart_s=APART_S),
            concluding=Gathered(partial(self._concluded, job)),
        )
        counts = self._store.counts(job)
        for place, (calls, tokens, cost) in self._store.took(job).items():
            state.spend(place, (calls, tokens, cost or 0.0), counts[place, "done"])
            state.done.add(place)
        waiting = list(self._store.cells(job, "waiting"))
        state.to_train = Counter(cell.arm for cell in waiting if cell.phase == "train")
        for arm in training.arms:  # it may have been killed between an arm's last case and this
            if not state.to_train[arm] and not training.ended(arm):
                training.end(arm)
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
            status = await asyncio.to_thread(self._taught, state, cell)
        else:
            status = await state.making(cell)
        if status != "done":
            await runner.finish(cell.run, keys, new=status == NEW)
        record, outcome = await state.ending(cell.run)
        if record.run.status == "failed":
            state.spend(cell.arm, (record.asked, sum(record.tokens), record.cost or 0.0))
            await self._failed(state, cell, _why(record))
        elif outcome is not None:
            tokens = outcome.prompt_tokens + outcome.completion_tokens
            state.spend(cell.arm, (outcome.asked, tokens, outcome.cost or 0.0))
            state.done.add(cell.arm)
            await state.concluding((cell.number, outcome))
            if cell.phase == "train":
                state.to_train[cell.arm] -= 1
                if not state.to_train[cell.arm]:
                    await asyncio.to_thread(state.training.end, cell.arm)
        elif self._store.status(job) == "running":  # not halted: its own setup's budget is used up
            await self._failed(state, cell, _why(record))

    def _made(self, state: DrivenExperiment, some: Sequence[StoredCell]) -> list[str | BaseException]:
        """Put the runs of cells that are tested on record where they are not; how each stands, or why it can't be made."""
        found: list[str | BaseException] = [self._house.store.status(cell.run) for cell in some]
        missing = [cell for cell, status in zip(some, found, strict=True) if status == "deleted"]
        cases = self._cases(state, {cell.row for cell in missing})
        puts = each([partial(self._planned, state, cell, cases[cell.row]) for cell in missing])
        with self._house.store.together():
            made = each([partial(_put, put) for put in puts])
        states = dict(zip((cell.run for cell in missing), made, strict=True))
        return [states.get(cell.run, status) for cell, status in zip(some, found, strict=True)]

    def _cases(self, state: DrivenExperiment, ids: Collection[str]) -> dict[str, Case | BaseException]:
        """The cases of rows, read together; where one of them can't be read, why."""
        try:
            return {row.id: row.case for row in self._rows(state, ids)}
        except CourtroomError:
            alone = each([partial(self._rows, state, [name]) for name in ids])
        return {
            name: found if isinstance(found, BaseException) else found[0].case
            for name, found in zip(ids, alone, strict=True)
        }

    def _rows(self, state: DrivenExperiment, ids: Collection[str]) -> list[Row]:
        dataset = state.experiment.dataset
        return list(self._house.datasets.rows(dataset.name, version=dataset.version, ids=ids))

    def _planned(self, state: DrivenExperiment, cell: StoredCell, case: Case | BaseException) -> Callable[[], str]:
        """What puts the run of a cell that is tested on record."""
        if isinstance(case, BaseException):
            raise case
        arm = state.experiment.arms[cell.arm]
        return self._house.planned_run(arm.procedure, case, state.setups[cell.arm], cell.seed, cell.run, CELL)

    def _taught(self, state: DrivenExperiment, cell: StoredCell) -> str:
        """Put the run of a cell that teaches on record where it is not, and begin its arm's training with it; how it stands."""
        status = self._house.store.status(cell.run)
        if status != "deleted":
            return status
        (row,) = self._rows(state, [cell.row])
        with self._house.store.together():
            if not any(self._store.cells(state.kept.id, "done", cell.arm, "train")):
                state.training.begin(cell.arm)
            procedure = state.experiment.arms[cell.arm].procedure
            self._house.new_run(procedure, row.case, state.training.trains(cell.arm), cell.seed, cell.run)
        return NEW

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


def _put(put: Callable[[], str] | BaseException) -> str:
    if isinstance(put, BaseException):
        raise put
    put()
    return NEW


def _ended(record: Callable[[str], Record], runs: Sequence[str]) -> list[Ended | BaseException]:
    """Runs as they stand, each with its outcome where it is done."""

    def ended(run: str) -> Ended:
        found = record(run)
        return found, of_record(found) if found.run.status == "done" else None

    return each([partial(ended, run) for run in runs])


def _why(record: Record) -> str:
    """Why a run has no verdict, with what its last call that failed says: a missing key, a model that is not there."""
    reason = record.run.reason
    error = next((call.error for call in reversed(record.calls) if call.error), "")
    return reason if not error or error in reason else f"{error} {reason}"


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
