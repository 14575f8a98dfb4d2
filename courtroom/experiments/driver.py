"""Drives an experiment: each cell a run, so many at once, within the budget of all; here, or on a Dask cluster, of which
nothing else of the program knows."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING

from courtroom.declarations.setup import Budget
from courtroom.engine.record import Record
from courtroom.engine.runner import BEAT_S
from courtroom.errors import CourtroomError, log_file
from courtroom.experiments.outcome import Outcome
from courtroom.experiments.plan import Cell, CellPostponed, Finish, Plan
from courtroom.experiments.store import Status, StoredExperiment
from courtroom.questions.asides import Cost
from courtroom.store.connection import StoreLock

if TYPE_CHECKING:
    from courtroom.courthouse import Courthouse

log = logging.getLogger(__name__)

NOT_ENDED = "The run of this cell was left before its end. The logs of the workers say more; try it again."
GIVEN_UP = 5
"""An arm whose first so many cells all fail is given up: its other cells fail at once, and the other arms go on."""
BEGUN_EARLIER = (
    "it began to learn under an earlier version, which kept what it learned elsewhere. Give the experiment another name, "
    "and begin it anew."
)
Took = Mapping[str, float]
"""Calls, tokens and US dollars, by the names that they have in a budget."""
NOTHING: Took = dict.fromkeys(Budget.model_fields, 0.0)


def why_not_done(record: Record) -> str:
    """Why a run has no verdict, with what its last call that failed says: a missing key, a model that is not there."""
    reason = record.run.reason
    error = next((call.error for call in reversed(record.calls) if call.error), "")
    return reason if not error or error in reason else f"{error} {reason}"


@asynccontextmanager
async def cluster_of(house: Courthouse, kept: StoredExperiment) -> AsyncIterator[Finish | None]:
    """Open the cluster that the settings name, and try it; None where they name none. Raises `CourtroomError`: it can't
    be used; the sentence says why."""
    if not (address := house.settings.dask):
        yield None
        return
    if not house.database.is_shared:
        raise CourtroomError(
            "A Dask cluster needs a store that its workers share. Set COURTROOM_DATABASE to a PostgreSQL database, here "
            "and for the workers."
        )
    try:
        await asyncio.to_thread(import_module, "distributed")  # it takes a second or two
    except ImportError as error:
        raise CourtroomError("A Dask cluster needs the extra `dask`: pip install 'courtroom[dask]'.") from error
    from courtroom.experiments.cluster import connected

    async with connected(address, kept, type(house)) as finish:
        yield finish


class ArmTraining:
    """How far one arm's training has come. `cells`: all of it, in their order."""

    def __init__(self, cells: Iterable[Cell]) -> None:
        every = list(cells)
        self.cases = len(every)
        self.waiting = deque(cell for cell in every if cell.state == "waiting")
        """The first is the one that is under way, if any is: each sees what was learned from those before it."""
        self.left_out = sum(cell.state == "failed" for cell in every)
        """Cases that could not be answered, without which it went on."""
        self.in_a_row = 0


class DrivenExperiment:
    """One experiment that this process drives: its cells and what they took so far. Used on the loop alone.

    Args:
        finish: brings a cell to its end on a cluster; None has it done here.
        keys: what the person typed who last had it go on.
    """

    def __init__(
        self, kept: StoredExperiment, house: Courthouse, finish: Finish | None, keys: Callable[[], Mapping[str, str]]
    ) -> None:
        self._id, self._experiment = kept.id, kept.experiment
        store = house.experiments.store
        self._store, self._house, self._keys = store, house, keys
        self._plan = Plan(kept.experiment, kept.kind, house)
        self._finish = finish or self._plan.finish
        self._spent = NOTHING
        """By all cells that have ended."""
        self._dearest: dict[int, Took] = {}
        """The most of each that a cell of an arm took: what its next one is taken to take."""
        self._open: Counter[int] = Counter()
        """How many cells of each arm are under way."""
        self._failed: Counter[int] = Counter()
        self._done: set[int] = set()
        """Arms of which a cell is done."""
        self._stopped = ""
        """Why no further cell may begin."""
        self._trouble = ""
        """Why what a cell came to could not be written."""
        counts = store.counts(kept.id)
        for arm, took in store.took(kept.id).items():
            self._spend(arm, took, counts[arm, "done"])
            self._done.add(arm)
        self._tests = deque(cell for cell in store.cells(kept.id, "waiting") if cell.phase == "test")
        self._lessons = {arm: ArmTraining(store.cells(kept.id, arm=arm, phase="train")) for arm in self._plan.learning}
        """What each arm has still to learn from."""
        for arm, lessons in self._lessons.items():  # it may have been killed between an arm's last case and this
            if not lessons.waiting:
                self._plan.end_training(arm)

    async def drive(self, lock: StoreLock) -> tuple[Status, str] | None:
        """Bring the waiting cells to their ends, as long as the lock is held and nobody halts the experiment.

        Returns:
            Where it stands then, and why; None where somebody else has said so.
        """
        under_way: dict[asyncio.Task[None], Cell] = {}
        async with asyncio.TaskGroup() as group:
            while self._goes_on(lock):
                while len(under_way) < self._experiment.at_once and (cell := self._next()):
                    task = group.create_task(self._drive_cell(cell))
                    under_way[task] = cell
                    task.add_done_callback(under_way.__delitem__)
                if not under_way:
                    break
                await asyncio.wait([*under_way], timeout=BEAT_S, return_when=asyncio.FIRST_COMPLETED)
            while under_way and self._store.status(self._id) != "running":
                # Also a run that was only being made when the experiment was halted.
                await asyncio.to_thread(self._plan.halt, [cell.run for cell in under_way.values()])
                await asyncio.wait([*under_way], timeout=BEAT_S)
        return self._conclusion() if self._goes_on(lock) else None

    def _goes_on(self, lock: StoreLock) -> bool:
        return lock.held and self._store.status(self._id) == "running"

    async def _drive_cell(self, cell: Cell) -> None:
        """Bring a cell to its end; what goes wrong is written on the cell."""
        try:
            if self._store.status(self._id) == "running":
                await self._bring(cell)
        except CellPostponed as error:
            self._stopped = str(error)
        except CourtroomError as error:
            await self._fail(cell, str(error))
        except Exception:
            log.exception("cell %s of experiment %s", cell.run, self._id)
            await self._fail(cell, f"Something went wrong inside the program; {log_file()} says what.")
        finally:
            self._open[cell.arm] -= 1

    async def _bring(self, cell: Cell) -> None:
        if cell.arm not in self._done and self._failed[cell.arm] >= GIVEN_UP:
            raise CourtroomError(f"Not tried: the first {GIVEN_UP} cells of this arm failed. See their reasons.")
        if cell.phase == "train":
            await asyncio.to_thread(self._teach, cell)
        await self._finish(cell, self._keys())
        record, outcome = await asyncio.to_thread(self._plan.result, cell)
        failed = record is not None and record.run.status == "failed"
        if record is not None and (failed or outcome is not None):
            self._spend(cell.arm, Cost(calls=record.asked, tokens=sum(record.tokens), money=record.cost))
        if outcome is not None:
            self._done.add(cell.arm)
            await self._conclude(cell, outcome)
            if cell.phase == "train":
                self._lessons[cell.arm].in_a_row = 0
        elif failed or self._store.status(self._id) == "running":  # not halted: it failed, or its budget is used up
            raise CourtroomError((record and why_not_done(record)) or NOT_ENDED)

    def _teach(self, cell: Cell) -> None:
        """Put the run of a cell that teaches on record where it is not, and begin its arm's training with it."""
        there = self._house.store.status(cell.run) != "deleted"
        plan, lessons = self._plan, self._lessons[cell.arm]
        begun = there or len(lessons.waiting) < lessons.cases
        if begun and not self._house.knowledge.is_made(plan.memory(cell.arm)):
            raise CellPostponed(f"{self._experiment.arms[cell.arm].name}: {BEGUN_EARLIER}")
        if not there:
            case, procedure = plan.row(cell).case, self._experiment.arms[cell.arm].procedure
            with self._house.store.together():
                if not begun:
                    plan.begin_training(cell.arm)
                self._house.new_run(procedure, case, plan.trains(cell.arm), cell.seed, cell.run)

    async def _fail(self, cell: Cell, reason: str) -> None:
        if cell.phase == "train":
            lessons, share = self._lessons[cell.arm], self._experiment.knowledge.leave_out
            lessons.left_out, lessons.in_a_row = lessons.left_out + 1, lessons.in_a_row + 1
            if lessons.left_out > share * lessons.cases or lessons.in_a_row >= GIVEN_UP:
                arm = self._experiment.arms[cell.arm].name
                self._stopped = f"The training of {arm} stopped at the case {cell.row}: {reason}"
                return
        else:
            self._failed[cell.arm] += 1
        try:
            await self._conclude(cell, None, reason)
        except CourtroomError as error:
            self._trouble = self._trouble or str(error)

    async def _conclude(self, cell: Cell, outcome: Outcome | None, reason: str = "") -> None:
        """Write what a cell came to; after the last case of an arm's training its memory gets its name."""
        await self._house.writer.do(partial(self._store.conclude, self._id, cell.number, outcome, reason))
        if cell.phase == "train":
            self._lessons[cell.arm].waiting.popleft()
            if not self._lessons[cell.arm].waiting:
                await asyncio.to_thread(self._plan.end_training, cell.arm)

    def _conclusion(self) -> tuple[Status, str]:
        """Where an experiment stands of which every cell was tried, and why."""
        states: Counter[str] = Counter()
        for (_, state), many in self._store.counts(self._id).items():
            states[state] += many
        states["failed"] -= sum(lessons.left_out for lessons in self._lessons.values())
        if waiting := states["waiting"]:
            why = self._stopped or self._trouble or "Some runs stopped."
            return "paused", f"{why} {_cells(waiting, 'is', 'are')} left. Go on at any time; nothing is lost."
        if failed := states["failed"]:
            return "done", f"{_cells(failed)} failed. The rows of these cells say why; try them again."
        return "done", ""

    def _spend(self, arm: int, took: Cost, cells: int = 1) -> None:
        """Count what so many cells of an arm took together."""
        before, new = self._dearest.get(arm, NOTHING), {name: getattr(took, name) or 0.0 for name in NOTHING}
        self._dearest[arm] = {name: max(before[name], new[name] / cells) for name in NOTHING}
        self._spent = {name: self._spent[name] + new[name] for name in NOTHING}

    def _next(self) -> Cell | None:
        """Return the cell that begins now: the next case of an arm that learns, else, when all arms have learned, of
        the tests. None where each has to wait, or what is spent and what those under way will probably take leaves no
        room in the budget."""
        training = {arm: lessons.waiting[0] for arm, lessons in self._lessons.items() if lessons.waiting}
        free = [cell for arm, cell in training.items() if not self._open[arm]]
        cell = free[0] if free else self._tests[0] if self._tests and not training else None
        if cell is None or self._stopped:
            return None
        if why := self._used_up(cell.arm):
            if not self._open.total():
                self._stopped = why
            return None
        if cell.phase == "test":
            self._tests.popleft()
        self._open[cell.arm] += 1
        return cell

    def _used_up(self, arm: int) -> str:
        """Say why the budget has no room for one more cell of an arm; empty where it has.

        A cell is taken to take what the dearest of its arm took. Before any of its arm has ended it goes alone, so that
        a small budget is not overshot by many at once.
        """
        limits = {name: limit for name, limit in self._experiment.budget if limit is not None}
        if not limits:
            return ""
        if arm not in self._dearest and self._open.total():
            return "What a cell of this arm takes is not known yet."
        most = self._dearest.get(arm, NOTHING)
        for name, limit in limits.items():
            spent = self._spent[name]
            held = sum(many * self._dearest.get(other, most)[name] for other, many in self._open.items())
            if spent >= limit or spent + held + most[name] > limit:
                return (
                    f"The budget of {_amount(name, limit)} has no room for another cell: spent so far: "
                    f"{_amount(name, spent)}; a cell takes about {_amount(name, most[name])}. Raise it to go on."
                )
        return ""


def _cells(number: int, one: str = "", several: str = "") -> str:
    """1 cell, 2 cells; with a verb, 1 cell is, 2 cells are."""
    return " ".join(filter(None, ("1 cell", one) if number == 1 else (f"{number:,} cells", several)))


def _amount(name: str, value: float) -> str:
    if name == "money":
        return f"US$ {value:.4g}"
    return f"1 {name.removesuffix('s')}" if round(value) == 1 else f"{value:,.0f} {name}"
