"""What a worker of a cluster does: it opens the store that its own environment names, and drives the cells that it is given."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable

from distributed import Worker, WorkerPlugin, get_worker

from courtroom.engine.driven_runs import BEAT_S
from courtroom.engine.runner import Runner
from courtroom.errors import CourtroomError
from courtroom.experiments.cell_runs import CellEnd, CellRuns, NotDriven
from courtroom.experiments.cluster.turns import TurnsAtWorker
from courtroom.experiments.plan import Cell
from courtroom.experiments.ports import ExperimentHouse
from courtroom.experiments.store import ExperimentStore, NoSuchExperiment
from courtroom.store.failures import OUTAGES
from courtroom.version import __version__

log = logging.getLogger(__name__)

Opens = Callable[..., ExperimentHouse]
"""Opens what a process needs of the store that its environment names, given the `limits` of models: a class, so that only its name
goes to workers."""

NAME = "courtroom"
ELSEWHERE = "A worker of the Dask cluster has another store. Set its COURTROOM_DATABASE to the one that is used here."

OTHER_VERSION = "A worker of the Dask cluster has another version of Courtroom. Install the same one there."


def drive(experiment: str, owner: str, version: str, cell: str) -> str:
    """Bring a cell to its end; the task of a cell, in a thread of a worker's.

    Args:
        owner: who drives the experiment.
        version: theirs of this program.
        cell: a `Cell` as JSON; what comes back is a `CellEnd` as JSON.

    Raises:
        NotDriven: this worker can't drive any cell of the experiment.
        CourtroomError: it can't drive this one.
    """
    if version != __version__:
        raise NotDriven(OTHER_VERSION)
    return _at(get_worker()).cells.drive(experiment, owner, Cell.model_validate_json(cell)).model_dump_json()


async def examine_worker(experiment: str, created: float, dask_worker: Worker) -> str:
    """Why a worker can't drive the cells of an experiment that was put on record at a time; empty where it can."""
    try:
        there = await asyncio.to_thread(lambda: _at(dask_worker).cells.created(experiment))
    except CourtroomError as error:
        return str(error)
    return "" if there == created else ELSEWHERE


class AtWorker(WorkerPlugin):
    """A worker's courthouse, opened when it is first needed and closed with the worker."""

    name = NAME
    idempotent = True

    def __init__(self, opens: Opens) -> None:
        self._opens = opens

    def setup(self, worker: Worker) -> None:
        """Get ready for cells, without Dask's profiler: it sees nothing of them, and can stop the process for good.

        It calls `sys._current_frames` a hundred times a second. In Python before 3.11.9 that can wait for itself, if memory is
        collected just then (python/cpython#106883), and the worker's transactions would stay open.
        """
        if profiler := worker.periodic_callbacks.pop("profile", None):
            profiler.stop()
        self._turns, self._lock = TurnsAtWorker(worker), threading.Lock()
        self._cells: WorkerCells | None = None

    async def teardown(self, worker: Worker) -> None:
        """Let go of the store; runs under way are taken over by another worker."""
        self._turns.close()
        if self._cells is not None:
            await asyncio.to_thread(self._cells.house.close)

    @property
    def cells(self) -> WorkerCells:
        """The cells that this worker drives.

        Raises:
            NotDriven: its store can't be opened.
        """
        with self._lock:
            if self._cells is None:
                try:
                    self._cells = WorkerCells(self._opens(limits=self._turns))
                except CourtroomError as error:
                    raise NotDriven(f"A worker of the Dask cluster can't open the store: {error}") from error
            return self._cells


class WorkerCells:
    """Cells of all experiments that one worker drives."""

    def __init__(self, house: ExperimentHouse) -> None:
        self.house = house
        self._store = ExperimentStore(house.database)
        self._runs: dict[str, CellRuns] = {}
        self._under_way: dict[asyncio.Task[CellEnd] | None, tuple[str, str]] = {}
        """The experiment and the run of each task on the loop."""

    def drive(self, experiment: str, owner: str, cell: Cell) -> CellEnd:
        """Bring a cell to its end, and wait for it; see `drive`."""
        runner = self.house.runner
        return runner.do(self._drive(experiment, owner, cell, runner)).result()

    def created(self, experiment: str) -> float | None:
        """When an experiment was put on record; None where it is not."""
        try:
            return self._store.experiment(experiment).created
        except NoSuchExperiment:
            return None

    def _runs_of(self, experiment: str, owner: str) -> CellRuns | None:
        """Who brings cells of an experiment to their ends here; None where it is halted.

        Raises:
            NotDriven: whoever drives it has another store, or drives it no longer.
        """
        if self._store.lease.holder(experiment)[0] != owner:
            raise NotDriven(ELSEWHERE)
        if self._store.status(experiment) != "running":
            return None
        if experiment not in self._runs:
            self._runs[experiment] = CellRuns(self._store.experiment(experiment), self.house)
        return self._runs[experiment]

    async def _drive(self, experiment: str, owner: str, cell: Cell, runner: Runner) -> CellEnd:
        if (runs := await asyncio.to_thread(self._runs_of, experiment, owner)) is None:
            return CellEnd(status="paused")
        if not self._under_way:
            runner.watch(self._watch(runner))
        task = asyncio.current_task()
        self._under_way[task] = (experiment, cell.run)
        try:
            return await runs.bring(cell, runner, {})
        finally:
            del self._under_way[task]

    async def _watch(self, runner: Runner) -> None:
        """Stop the runs of experiments that are halted, as long as there are any runs."""
        while self._under_way:
            await asyncio.sleep(BEAT_S)
            try:
                for experiment in {name for name, _ in self._under_way.values()}:
                    if await asyncio.to_thread(self._store.status, experiment) != "running":
                        runs = [run for name, run in self._under_way.values() if name == experiment]
                        await asyncio.to_thread(_stop, runs, runner)
            except (*OUTAGES, CourtroomError) as error:
                log.warning("halted experiments could not be looked for, which is tried again: %s", error)


def _stop(runs: list[str], runner: Runner) -> None:
    for run in runs:
        if runner.drives(run):
            runner.stop(run)


def _at(worker: Worker) -> AtWorker:
    plugin = worker.plugins[NAME]
    assert isinstance(plugin, AtWorker)
    return plugin
