"""The cells of one experiment as this process brings them to their ends: put on record, driven, read."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from courtroom.datasets import Row
from courtroom.engine.errors import NoSuchRun
from courtroom.engine.record import Record
from courtroom.engine.run import CELL, Run, Status
from courtroom.engine.runner import Runner
from courtroom.errors import CourtroomError
from courtroom.experiments.outcome import Outcome, of_record
from courtroom.experiments.plan import Cell, Training, rows_of, setups_of
from courtroom.experiments.store import StoredExperiment
from courtroom.strict import Strict

if TYPE_CHECKING:
    from courtroom.courthouse import Courthouse

IMPORTED = (
    "The run {run} of this cell was imported from a file, so that it counts for nothing. "
    "Delete it, then try the cell again."
)


class CellResult(Strict):
    """How the run of a cell stands when nobody drives it any more."""

    status: Status
    outcome: Outcome | None = None
    """What it came to, where it is done."""
    why: str = ""
    """Why it has no outcome."""
    asked: int = 0
    """Calls really made."""
    tokens: int = 0
    cost: float = 0.0
    """US dollars, as far as they are known."""


class CellPostponed(CourtroomError):
    """A cell can't be driven for a reason that is none of its own: it goes on waiting."""


class LocalCells:
    """Brings the cells of one experiment to their ends in this process."""

    def __init__(self, kept: StoredExperiment, house: Courthouse) -> None:
        self._experiment, self._house = kept.experiment, house
        setups = setups_of(kept.experiment, kept.kind, house)
        self.training = Training(kept.experiment, setups, house)
        self._tests = {place: self.training.tests(place) for place in setups}
        """Setups of the runs that are tested, by the arm's place."""

    async def finish(self, cell: Cell, runner: Runner, keys: Mapping[str, str]) -> None:
        """Bring the run of a cell to its end; called on the loop. The run of a cell that teaches is on record already.

        Args:
            keys: what the person typed who has it run; see `Runner.go`.

        Raises:
            CourtroomError: it can't be brought to its end.
        """
        await asyncio.to_thread(self._begin, cell, keys)
        await runner.settled(cell.run)

    def result(self, cell: Cell) -> CellResult:
        """Read how the run of a cell stands. Raises `CourtroomError`: it can't be read, or was made elsewhere."""
        try:
            record = self._house.runner.record(cell.run)
        except NoSuchRun:  # halted before it was made
            return CellResult(status="paused")
        _refuse_imported(record.run)
        took = {"asked": record.asked, "tokens": sum(record.tokens), "cost": record.cost or 0.0}
        if record.run.status == "done":
            return CellResult(status="done", outcome=of_record(record, self._house.answers), **took)
        return CellResult(status=record.run.status, why=_why(record), **took)

    def row(self, cell: Cell) -> Row:
        """Read the row of a cell: of the experiment's dataset, or of the one from which it learns."""
        cases = (cell.phase == "train" and self._experiment.teaches) or self._experiment.dataset
        return next(rows_of(self._house, cases.only([cell.row])))

    def _begin(self, cell: Cell, keys: Mapping[str, str]) -> None:
        """Put the run of a cell on record where it is not, and have it go on."""
        status = self._house.store.status(cell.run)
        if status == "deleted":
            self._make(cell)
        else:
            _refuse_imported(self._house.store.run(cell.run))
        if status != "done":
            self._house.runner.drive(cell.run, keys, by_batch=self._experiment.batch)

    def _make(self, cell: Cell) -> None:
        arm, setup = self._experiment.arms[cell.arm], self._tests[cell.arm]
        case = arm.heard(self.row(cell).case)
        if parent := self._experiment.dataset.run:
            self._house.fork(parent, setup, cell.seed, case, cell.run)
        else:
            self._house.new_run(arm.procedure, case, setup, cell.seed, cell.run, CELL)


def stop(runs: Iterable[str], runner: Runner) -> None:
    """Stop those of the runs that this process drives."""
    for run in runs:
        if runner.drives(run):
            runner.stop(run)


def _refuse_imported(run: Run) -> None:
    """Refuse a run that was made elsewhere: it says what whoever wrote it wants."""
    if run.imported:
        raise CourtroomError(IMPORTED.format(run=run.id))


def _why(record: Record) -> str:
    """Why a run has no verdict, with what its last call that failed says: a missing key, a model that is not there."""
    reason = record.run.reason
    error = next((call.error for call in reversed(record.calls) if call.error), "")
    return reason if not error or error in reason else f"{error} {reason}"
