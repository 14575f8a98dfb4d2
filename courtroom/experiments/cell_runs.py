"""The cells of one experiment as this process brings them to their ends: put on record, driven, read."""

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial

from courtroom.cases.case import Case
from courtroom.datasets import Row
from courtroom.engine.errors import NoSuchRun
from courtroom.engine.loop import Batcher, results_of
from courtroom.engine.record import Record
from courtroom.engine.run import CELL, Status
from courtroom.engine.runner import Runner
from courtroom.engine.setup import Setup
from courtroom.errors import CourtroomError
from courtroom.experiments.outcome import Outcome, of_record
from courtroom.experiments.plan import Cell, Phase, Training, rows_of, setups_of
from courtroom.experiments.spec import Cases
from courtroom.experiments.store import StoredExperiment
from courtroom.hearings import Hearings
from courtroom.strict import Strict

APART_S = 0.02
"""Seconds in which cells that end are read together."""
IMPORTED = "The run {run} of this cell was imported from a file, so that it counts for nothing. Delete it, then try the cell again."
NEW = "new"
"""How a run stands that was put on record just now."""


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

    def __init__(self, kept: StoredExperiment, house: Hearings) -> None:
        self._experiment, self._house = kept.experiment, house
        setups = setups_of(kept.experiment, kept.kind, house)
        self.training = Training(kept.experiment, setups, house)
        self._tests: Mapping[int, Setup] = {place: self.training.tests(place) for place in setups}
        """Setups of the runs that are tested, by the arm's place."""
        self._making: Batcher[Cell, str] = Batcher(lambda some: asyncio.to_thread(self._made, some))
        self._ending: Batcher[str, CellResult] = Batcher(
            lambda runs: asyncio.to_thread(_ended, house.record, runs), apart_s=APART_S
        )

    async def finish(self, cell: Cell, runner: Runner, keys: Mapping[str, str]) -> None:
        """Bring the run of a cell to its end; called on the loop. The run of a cell that teaches is on record already. `keys`: what the
        person typed who has it run; see `Runner.go`. Raises `CourtroomError`: it can't be brought to its end."""
        status = await self._making(cell)
        if status != "done":
            await runner.finish(cell.run, keys, new=status == NEW)

    async def result(self, cell: Cell) -> CellResult:
        """How the run of a cell stands by its record. Raises `CourtroomError`: it has none that can be read."""
        return await self._ending(cell.run)

    def rows(self, ids: Collection[str], phase: Phase = "test") -> list[Row]:
        """Rows of the experiment's dataset, or of the one from which it learns."""
        dataset = (phase == "train" and self._experiment.teaches) or self._experiment.dataset
        of = Cases(name=dataset.name, run=dataset.run, version=dataset.version, ids=tuple(ids))
        return list(rows_of(self._house, of))

    def _made(self, some: Sequence[Cell]) -> list[str | BaseException]:
        """Put the runs of cells that are tested on record where they are not; how each stands, or why it can't be made."""
        found = results_of([partial(self._stands, cell.run) for cell in some])
        missing = [cell for cell, status in zip(some, found, strict=True) if status == "deleted"]
        cases = self._cases({cell.row for cell in missing})
        puts = results_of([partial(self._planned, cell, cases[cell.row]) for cell in missing])
        with self._house.store.together():
            made = results_of([partial(_put, put) for put in puts])
        states = dict(zip((cell.run for cell in missing), made, strict=True))
        return [states.get(cell.run, status) for cell, status in zip(some, found, strict=True)]

    def _stands(self, run: str) -> str:
        """How the run of a cell stands. Raises `CourtroomError`: it was made elsewhere, and says what whoever wrote it wants."""
        status = self._house.store.status(run)
        if status != "deleted" and self._house.store.run(run).imported:
            raise CourtroomError(IMPORTED.format(run=run))
        return status

    def _cases(self, ids: Collection[str]) -> dict[str, Case | BaseException]:
        """The cases of rows, read together; where one of them can't be read, why."""
        try:
            return {row.id: row.case for row in self.rows(ids)}
        except CourtroomError:
            alone = results_of([partial(self.rows, [name]) for name in ids])
        return {
            name: found if isinstance(found, BaseException) else found[0].case
            for name, found in zip(ids, alone, strict=True)
        }

    def _planned(self, cell: Cell, case: Case | BaseException) -> Callable[[], str]:
        """What puts the run of a cell that is tested on record."""
        if isinstance(case, BaseException):
            raise case
        arm = self._experiment.arms[cell.arm]
        setup, heard = self._tests[cell.arm], case.without(*arm.without)
        if parent := self._experiment.dataset.run:
            return self._house.planned_fork(parent, setup, cell.seed, heard, cell.run)
        return self._house.planned_run(arm.procedure, heard, setup, cell.seed, cell.run, CELL)


def _put(put: Callable[[], str] | BaseException) -> str:
    if isinstance(put, BaseException):
        raise put
    put()
    return NEW


def _ended(record: Callable[[str], Record], runs: Sequence[str]) -> list[CellResult | BaseException]:
    """Runs as they stand, each with its outcome where it is done."""

    def ended(run: str) -> CellResult:
        try:
            found = record(run)
        except NoSuchRun:  # halted before it was made
            return CellResult(status="paused")
        if found.run.imported:
            raise CourtroomError(IMPORTED.format(run=run))
        took = {"asked": found.asked, "tokens": sum(found.tokens), "cost": found.cost or 0.0}
        if found.run.status == "done":
            return CellResult(status="done", outcome=of_record(found), **took)
        return CellResult(status=found.run.status, why=_why(found), **took)

    return results_of([partial(ended, run) for run in runs])


def _why(record: Record) -> str:
    """Why a run has no verdict, with what its last call that failed says: a missing key, a model that is not there."""
    reason = record.run.reason
    error = next((call.error for call in reversed(record.calls) if call.error), "")
    return reason if not error or error in reason else f"{error} {reason}"
