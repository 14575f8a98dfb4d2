"""Drives experiments: each cell a run, so many at once, within the budget of all, and the remaining ones after a restart."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from operator import add
from typing import TYPE_CHECKING, Any

from courtroom.engine.lease import FencedWriter
from courtroom.engine.loop import Batcher, wait
from courtroom.engine.runner import BEAT_S, Runner
from courtroom.engine.setup import Budget
from courtroom.errors import CourtroomError, log_file
from courtroom.experiments.cell_runs import CellPostponed, LocalCells
from courtroom.experiments.outcome import Outcome
from courtroom.experiments.plan import Cell
from courtroom.experiments.spec import Experiment
from courtroom.experiments.store import ExperimentStore, Status, StoredCell, StoredExperiment
from courtroom.hearings import Hearings

if TYPE_CHECKING:
    from courtroom.experiments.cluster import DaskCells

log = logging.getLogger(__name__)

PARTS = 8
"""Cells begin together, an eighth of those that may be under way, so that what several need is done for them at once."""
NO_DASK = "A Dask cluster needs the extra `dask`: pip install 'courtroom[dask]'."
NOT_SHARED = (
    "A Dask cluster needs a store that its workers share. Set COURTROOM_DATABASE to a PostgreSQL database, here and for the "
    "workers."
)
NOT_ENDED = "The run of this cell was left before its end. The logs of the workers say more; try it again."
GIVEN_UP = 5
"""An arm whose first so many cells all fail is given up: its other cells fail at once, and the other arms go on."""


Took = tuple[float, ...]
"""Calls, tokens and US dollars."""


@dataclass
class DrivenExperiment:
    """What this process knows of an experiment that it drives. Used on the loop alone."""

    kept: StoredExperiment
    runs: LocalCells
    finish: Callable[[Cell, Runner, Mapping[str, str]], Awaitable[None]]
    """Brings a cell to its end: here, or on a cluster."""
    concluding: Batcher[tuple[int, Outcome], None]
    """Writes what a cell has come to."""
    to_train: Counter[int] = field(default_factory=Counter)
    """How many cases each arm is still to learn from."""
    spent: Took = (0.0, 0.0, 0.0)
    """By all cells that have ended."""
    dearest: dict[int, Took] = field(default_factory=dict)
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
        return self.kept.experiment

    def spend(self, arm: int, took: Took, cells: int = 1) -> None:
        """Cells of an arm have ended and took so many calls, tokens and US dollars together."""
        before = self.dearest.get(arm, (0.0, 0.0, 0.0))
        self.dearest[arm] = tuple(max(most, new / cells) for most, new in zip(before, took, strict=True))
        self.spent = tuple(map(add, self.spent, took))


class ExperimentDriver:
    """All experiments of one store, as one process drives them."""

    def __init__(self, store: ExperimentStore, house: Hearings) -> None:
        self.store, self._house = store, house
        self._driving: dict[str, asyncio.Task[None]] = {}
        self._claiming = asyncio.Lock()
        self._keys: dict[str, Mapping[str, str]] = {}

    def go(self, experiment: str, keys: Mapping[str, str] | None = None) -> None:
        """Start the remaining cells. `keys`: what the person typed who starts it; see `Runner.go`. On a cluster, workers have keys
        of their own. Raises `CourtroomError`: the settings name a cluster that can't be used."""
        self._house.runner.do(self._try_cluster(experiment)).result()
        self._keys[experiment] = dict(keys or {})
        self.store.set_status(experiment, "running")
        self._do(self._resume(experiment, self._house.runner))

    def pause(self, experiment: str) -> None:
        """Start no further cell, and stop the runs under way; nothing that was answered is lost."""
        self._do(self._say(experiment, "paused", "Paused. Go on at any time; nothing is lost."))
        waiting = {cell.run for cell in self.store.cells(experiment, "waiting")}
        for run in [run for run, *_ in self._house.store.under_way() if run in waiting]:
            self._house.runner.stop(run)

    def resume_interrupted(self) -> list[str]:
        """Go on with the experiments whose process has died; their ids. Those that others drive are watched, in case these die."""
        runner = self._house.runner
        under_way = self.store.under_way()
        left = [
            experiment for experiment, owner, heartbeat in under_way if self._left(experiment, owner, heartbeat, runner)
        ]
        for experiment in left:
            self._do(self._resume(experiment, runner))
        for experiment in {experiment for experiment, *_ in under_way} - {*left}:
            runner.watch(self._settled(experiment, runner))
        return left

    def settled(self, experiment: str) -> Future[None]:
        """Done when it is running no more; where its driver dies meanwhile, it is driven here."""
        runner = self._house.runner
        return runner.do(self._settled(experiment, runner))

    def _left(self, experiment: str, owner: str | None, heartbeat: float | None, runner: Runner) -> bool:
        """Whether nobody drives it any more."""
        return experiment not in self._driving and not runner.driver.lives(
            self.store.lease, experiment, owner, heartbeat
        )

    def _do(self, work: Coroutine[Any, Any, None]) -> None:
        self._house.runner.do(work).result()

    # What runs here is given the runner: asking the courthouse for it waits for the lock under which it is closed,
    # and closing waits for this loop.

    async def _say(self, experiment: str, status: Status, reason: str) -> None:
        """Said on the loop, so that no cell begins between this and what comes after it."""
        if self.store.status(experiment) in ("running", "paused"):
            self.store.set_status(experiment, status, reason)

    async def _resume(self, experiment: str, runner: Runner) -> None:
        async with self._claiming:
            if experiment in self._driving:
                return
            if await asyncio.to_thread(runner.driver.claim, self.store.lease, experiment):
                self._driving[experiment] = asyncio.create_task(self._drive(experiment, runner))
            else:
                self._keys.pop(experiment, None)  # its driver goes on by itself

    async def _drive(self, experiment: str, runner: Runner) -> None:
        def wrong(error: BaseException) -> None:
            log.warning("experiment %s: %s", experiment, error)

        hand = FencedWriter(self.store.lease, experiment, runner.driver.owner, self._house.writer, wrong)
        say = partial(self.store.set_status, experiment)
        try:
            async with self._cluster(experiment) as cluster:
                await self._run_all(experiment, runner, hand, cluster)
        except CourtroomError as error:
            hand.do(partial(say, "paused", str(error)))
        except Exception:  # noqa: BLE001  nobody awaits this task: what goes wrong is reported on the experiment and in the log
            log.exception("experiment %s could not be driven", experiment)
            hand.do(partial(say, "paused", "The experiment could not be driven; the log says why."))
        finally:
            try:
                await self._house.writer.do(partial(runner.driver.release, self.store.lease, experiment))
            finally:
                self._driving.pop(experiment, None)
                self._keys.pop(experiment, None)

    async def _run_all(self, experiment: str, runner: Runner, hand: FencedWriter, cluster: DaskCells | None) -> None:
        state, left = await asyncio.to_thread(self._begun, experiment, cluster)
        waiting, at_once = iter(left), state.experiment.at_once
        cell = next(waiting, None)
        troubles: list[str] = []

        under_way: dict[asyncio.Task[None], StoredCell] = {}
        ended = asyncio.Event()
        part = max(1, at_once // PARTS)

        async def run(cell: StoredCell) -> None:
            try:
                if self.store.status(experiment) == "running":
                    await self._run(state, cell, runner)
            except CourtroomError as error:
                troubles.append(str(error))

        def over(task: asyncio.Task[None]) -> None:
            del under_way[task]
            if len(under_way) <= at_once - part or not under_way:
                ended.set()

        async with asyncio.TaskGroup() as group:
            while self._goes_on(experiment, runner):
                while cell is not None and len(under_way) < at_once and _room(state, cell, len(under_way)):
                    task = group.create_task(run(cell))
                    under_way[task] = cell
                    task.add_done_callback(over)
                    cell = next(waiting, None)
                if not under_way:
                    break
                ended.clear()
                await wait(ended, BEAT_S)
            while under_way and self.store.status(experiment) != "running":
                # Also a run that was only being made when the experiment was halted.
                tasks, runs = [*under_way], [cell.run for cell in under_way.values()]
                await asyncio.to_thread(self._stop, runs, runner)
                await asyncio.wait(tasks, timeout=BEAT_S)
        if self._goes_on(experiment, runner):
            hand.do(partial(self.store.set_status, experiment, *self._conclusion(state, troubles)))

    def _stop(self, runs: Iterable[str], runner: Runner) -> None:
        for run in runs:
            if runner.drives(run):
                runner.stop(run)

    def _goes_on(self, experiment: str, runner: Runner) -> bool:
        return self.store.status(experiment) == "running" and self.store.lease.holds(experiment, runner.driver.owner)

    async def _settled(self, experiment: str, runner: Runner) -> None:
        while True:
            if driving := self._driving.get(experiment):
                await asyncio.wait([driving])
            if self.store.status(experiment) != "running":
                return
            holder = self.store.lease.holder(experiment)
            if self._left(experiment, *holder, runner):
                await self._resume(experiment, runner)
            else:
                await asyncio.sleep(BEAT_S)  # another process drives it

    def _begun(self, experiment: str, cluster: DaskCells | None) -> tuple[DrivenExperiment, list[StoredCell]]:
        """What was done of an experiment before, and its cells that are not done."""
        kept = self.store.experiment(experiment)
        runs = LocalCells(kept, self._house)
        state = DrivenExperiment(
            kept=kept,
            runs=runs,
            finish=(cluster or runs).finish,
            concluding=Batcher(partial(self._concluded, experiment)),
        )
        counts = self.store.counts(experiment)
        for place, (calls, tokens, cost) in self.store.took(experiment).items():
            state.spend(place, (calls, tokens, cost or 0.0), counts[place, "done"])
            state.done.add(place)
        waiting = list(self.store.cells(experiment, "waiting"))
        state.to_train = Counter(cell.arm for cell in waiting if cell.phase == "train")
        for arm in runs.training.arms:  # it may have been killed between an arm's last case and this
            if not state.to_train[arm] and not runs.training.ended(arm):
                runs.training.end(arm)
        return state, waiting

    async def _run(self, state: DrivenExperiment, cell: StoredCell, runner: Runner) -> None:
        """Bring a cell to its end; what goes wrong is written on the cell."""
        try:
            if cell.arm not in state.done and state.failed.get(cell.arm, 0) >= GIVEN_UP:
                why = f"Not tried: the first {GIVEN_UP} cells of this arm failed. See their reasons."
                await self._fail(state.kept.id, cell, why)
                return
            await self._bring(state, cell, runner)
        except CellPostponed as error:
            state.stopped = str(error)
        except CourtroomError as error:
            await self._failed(state, cell, str(error))
        except Exception:
            log.exception("cell %s of experiment %s", cell.run, state.kept.id)
            await self._failed(state, cell, f"Something went wrong inside the program; {log_file()} says what.")
        finally:
            state.open[cell.arm] -= 1
            if cell.phase == "train":
                state.alone = False

    def _conclusion(self, state: DrivenExperiment, troubles: list[str]) -> tuple[Status, str]:
        """Where an experiment stands of which every cell was tried, and why."""
        counts = self.store.counts(state.kept.id)
        waiting = sum(many for (_, found), many in counts.items() if found == "waiting")
        failed = sum(many for (_, found), many in counts.items() if found == "failed")
        if waiting:
            why = state.stopped or next(iter(troubles), "Some runs stopped.")
            return "paused", f"{why} {_cells(waiting, 'is', 'are')} left. Go on at any time; nothing is lost."
        return "done", f"{_cells(failed)} failed. The rows of these cells say why; try them again." if failed else ""

    @asynccontextmanager
    async def _cluster(self, experiment: str) -> AsyncIterator[DaskCells | None]:
        """The cluster that the settings name, tried; None where they name none. Raises `CourtroomError`: it can't be used; the sentence says why."""
        if not (address := self._house.settings.dask):
            yield None
            return
        if self._house.database.claims is None:
            raise CourtroomError(NOT_SHARED)
        try:
            await asyncio.to_thread(import_module, "distributed")  # it takes a second or two
        except ImportError as error:
            raise CourtroomError(NO_DASK) from error
        from courtroom.experiments.cluster import connected

        async with connected(address, self.store.experiment(experiment), type(self._house)) as cells:
            yield cells

    async def _try_cluster(self, experiment: str) -> None:
        async with self._cluster(experiment):
            pass

    async def _bring(self, state: DrivenExperiment, cell: StoredCell, runner: Runner) -> None:
        if cell.phase == "train":
            await asyncio.to_thread(self._taught, state, cell)
        await state.finish(cell, runner, self._keys.get(state.kept.id, {}))
        end = await state.runs.result(cell)
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
        elif self.store.status(state.kept.id) == "running":  # not halted: its own setup's budget is used up
            await self._failed(state, cell, end.why or NOT_ENDED)

    def _taught(self, state: DrivenExperiment, cell: StoredCell) -> None:
        """Put the run of a cell that teaches on record where it is not, and begin its arm's training with it."""
        if self._house.store.status(cell.run) != "deleted":
            return
        (row,) = state.runs.rows([cell.row], "train")
        training = state.runs.training
        with self._house.store.together():
            if not any(self.store.cells(state.kept.id, "done", cell.arm, "train")):
                training.begin(cell.arm)
            procedure = state.experiment.arms[cell.arm].procedure
            self._house.new_run(procedure, row.case, training.trains(cell.arm), cell.seed, cell.run)

    async def _concluded(self, experiment: str, some: Sequence[tuple[int, Outcome]]) -> list[None]:
        """Write what cells have come to, in one transaction."""

        def write() -> None:
            with self._house.store.together():
                for number, outcome in some:
                    self.store.conclude(experiment, number, outcome)

        await self._house.writer.do(write)
        return [None] * len(some)

    async def _failed(self, state: DrivenExperiment, cell: StoredCell, reason: str) -> None:
        if cell.phase == "train":  # what comes after would learn, and be tested, on something else
            arm = state.experiment.arms[cell.arm].name
            state.stopped = f"The training of {arm} stopped at the case {cell.row}: {reason}"
            return
        state.failed[cell.arm] = state.failed.get(cell.arm, 0) + 1
        await self._fail(state.kept.id, cell, reason)

    async def _fail(self, experiment: str, cell: StoredCell, reason: str) -> None:
        await self._house.writer.do(lambda: self.store.conclude(experiment, cell.number, None, reason))


def _room(state: DrivenExperiment, cell: StoredCell, under_way: int) -> bool:
    """Whether a cell may begin next to so many: what is spent, and what these cells will probably take, fits the budget."""
    if state.stopped or state.alone or (cell.phase == "train" and under_way):
        return False
    if why := used_up(state, cell.arm):
        if not under_way:
            state.stopped = why
        return False
    state.alone = cell.phase == "train"
    state.open[cell.arm] += 1
    return True


def used_up(state: DrivenExperiment, arm: int) -> str:
    """Why the budget has no room for one more cell of an arm; empty where it has. A cell is taken to take what the dearest of its
    arm took. Before any of its arm has ended it goes alone, so that a small budget is not overshot by many at once."""
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
