"""A cell of an experiment as a run of this process: put on record where it is not, brought to its end, and read."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from courtroom.datasets import Row
from courtroom.engine.errors import NoSuchRun
from courtroom.engine.record import Record
from courtroom.engine.run import CELL, Run
from courtroom.engine.runner import Runner
from courtroom.errors import CourtroomError
from courtroom.experiments.outcome import Outcome, of_record
from courtroom.experiments.plan import Cell, Plan, rows_of
from courtroom.experiments.store import StoredExperiment

if TYPE_CHECKING:
    from courtroom.courthouse import Courthouse

IMPORTED = (
    "The run {run} of this cell was imported from a file, so that it counts for nothing. "
    "Delete it, then try the cell again."
)


class CellPostponed(CourtroomError):
    """A cell can't be driven for a reason that is none of its own: it goes on waiting."""


class LocalCells:
    """Brings the cells of one experiment to their ends in this process."""

    def __init__(self, kept: StoredExperiment, house: Courthouse) -> None:
        self._experiment, self._house = kept.experiment, house
        self.plan = Plan(kept.experiment, kept.kind, house)
        self._tests = {place: self.plan.tests(place) for place in self.plan.setups}
        """Setups of the runs that are tested, by the arm's place."""

    async def finish(self, cell: Cell, runner: Runner, keys: Mapping[str, str]) -> None:
        """Bring the run of a cell to its end; called on the loop. The run of a cell that teaches is on record already.
        `keys`: what the person typed who has it run; see `Runner.go`. Raises `CourtroomError`: it can't be brought to
        its end."""
        await asyncio.to_thread(self._begin, cell, keys)
        await runner.settled(cell.run)

    def result(self, cell: Cell) -> tuple[Record | None, Outcome | None]:
        """Read the run of a cell, and what it came to where it is done; nothing where it was halted before it was made.
        Raises `CourtroomError`: it can't be read, or was made elsewhere."""
        try:
            record = self._house.runner.record(cell.run)
        except NoSuchRun:
            return None, None
        _refuse_imported(record.run)
        return record, of_record(record, self._house.answers) if record.run.status == "done" else None

    def row(self, cell: Cell) -> Row:
        """Read the row of a cell: of the experiment's dataset, or of the one from which it learns."""
        cases = (cell.phase == "train" and self._experiment.teaches) or self._experiment.dataset
        return next(rows_of(self._house, cases.only([cell.row])))

    def _begin(self, cell: Cell, keys: Mapping[str, str]) -> None:
        """Put the run of a cell on record where it is not, and have it go on."""
        status = self._house.store.status(cell.run)
        if status != "deleted":
            _refuse_imported(self._house.store.run(cell.run))
        else:
            arm, setup = self._experiment.arms[cell.arm], self._tests[cell.arm]
            case = arm.heard(self.row(cell).case)
            if parent := self._experiment.dataset.run:
                self._house.fork(parent, setup, cell.seed, case, cell.run)
            else:
                self._house.new_run(arm.procedure, case, setup, cell.seed, cell.run, CELL)
        if status != "done":
            self._house.runner.drive(cell.run, keys, by_batch=self._experiment.batch)


def stop(runs: Iterable[str], runner: Runner) -> None:
    """Stop those of the runs that this process drives."""
    for run in runs:
        if runner.drives(run):
            runner.stop(run)


def _refuse_imported(run: Run) -> None:
    """Refuse a run that was made elsewhere: it says what whoever wrote it wants."""
    if run.imported:
        raise CourtroomError(IMPORTED.format(run=run.id))
