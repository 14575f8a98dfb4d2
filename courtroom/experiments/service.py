"""Experiments as pages, the shell and programs use them: begun, estimated, run, paused, read."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection, Mapping
from concurrent.futures import Future
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING

from courtroom.access import Access, acts, needs
from courtroom.cases.case import Case
from courtroom.datasets.samples import row_id
from courtroom.engine.runner import BEAT_S
from courtroom.errors import CourtroomError
from courtroom.experiments.canary import USUAL_CALLS, Canary, ask_again
from courtroom.experiments.driver import DrivenExperiment, cluster_of
from courtroom.experiments.hypotheses import Preregistration, prompts_hash
from courtroom.experiments.measures import CaseResult, at_hand, fitting, wanted
from courtroom.experiments.mirror import is_unread
from courtroom.experiments.outcome import Outcome
from courtroom.experiments.plan import ExperimentEstimate, Phase, Plan, Progress, estimate, memories_of, pinned, rows_of
from courtroom.experiments.results import ExperimentResults, accounts, remarks
from courtroom.experiments.sequential_test import Repeats
from courtroom.experiments.spec import ALL, Experiment, with_controls
from courtroom.experiments.store import ExperimentStore, Status
from courtroom.experiments.what_if import WhatIfs
from courtroom.store.connection import StoreLock

if TYPE_CHECKING:
    from courtroom.courthouse import Courthouse

log = logging.getLogger(__name__)


class Experiments:
    """All experiments of one store, as one process drives them."""

    def __init__(self, store: ExperimentStore, house: Courthouse) -> None:
        self.store, self._house = store, house
        self.repeats, self.what_ifs = Repeats(house), WhatIfs(house)
        self._driving: dict[str, asyncio.Task[None]] = {}
        """The experiments that this process drives."""
        self.undriven: set[str] = set()
        """Those that this process could not drive."""
        self._taking = asyncio.Lock()
        self._keys: dict[str, Mapping[str, str]] = {}

    @needs(Access.RUN)
    def begin(self, experiment: Experiment) -> str:
        """Put an experiment on record with all its cells, and return its id; the very same is on record once. A changed
        budget, title or list of measures changes the experiment that is on record. Raises `CourtroomError`: it does not
        fit the dataset, a procedure or the predictions."""
        if arm := next(filter(is_unread, experiment.arms), None):
            raise CourtroomError(
                f"Nobody has seen what “{arm.name}” changes in the cases. Read it, and write into `seen_by` of the arm who "
                "has read it, or give --seen-by."
            )
        plan = Plan.of(experiment, self._house)
        name = self.store.create(plan.experiment, plan.kind, plan.cells())
        there = self.store.experiment(name).experiment
        self.store.replace(plan.experiment.model_copy(update={"lock": there.lock, "canaries": there.canaries}))
        return name

    @needs(Access.RUN)
    def lock(self, experiment: Experiment) -> Preregistration:
        """Put an experiment on record with its hypotheses, before anything is asked; the very same lock where there is
        one. Raises `CourtroomError`: there are no hypotheses, other ones are locked already, or a cell is done."""
        if not experiment.hypotheses:
            raise CourtroomError("There is no hypothesis to lock. Write a [[hypothesis]] into the experiment's file.")
        name = self.begin(experiment)
        kept = self.store.experiment(name).experiment
        if kept.lock is not None:
            if kept.lock.hypotheses != experiment.hypotheses:
                raise CourtroomError(
                    "Other hypotheses of this experiment are locked already. They can't be changed any more."
                )
            return kept.lock
        if any(state != "waiting" for _, state in self.store.counts(name)):
            raise CourtroomError("This experiment has results already. Hypotheses are locked before the first answer.")
        hashes = {"specification": kept.digest, "prompts": prompts_hash(self._house.procedures, kept.procedures)}
        dataset = kept.dataset.version or ""
        lock = Preregistration(at=datetime.now(UTC), hypotheses=kept.hypotheses, dataset=dataset, **hashes)
        self.store.replace(kept.model_copy(update={"lock": lock}))
        return lock

    def estimate(self, experiment: Experiment, progress: Progress = lambda done, total: None) -> ExperimentEstimate:
        """About what an experiment will take: calls, tokens, money, and how many calls shared answers save. `progress`:
        is called with how many cells are rehearsed, and of how many."""
        return estimate(Plan.of(experiment, self._house), progress)

    def cases(self, experiment: Experiment) -> list[Case]:
        """Return the cases that an experiment tests; bundled ones are taken in as its dataset."""
        exact, _ = pinned(experiment, {}, self._house)
        return [row.case for row in rows_of(self._house, exact.dataset)]

    def with_controls(self, experiment: Experiment, of: Collection[str] = (ALL,)) -> Experiment:
        """The experiment with the matched controls of these arms added. Raises `CourtroomError`: an arm is no panel."""
        return with_controls(experiment, self._house.procedures, lambda tried: self.estimate(tried).tokens, of)

    @needs(Access.RUN)
    def go(self, name: str, keys: Mapping[str, str] | None = None) -> str:
        """Start the remaining cells, and return the experiment's id. `keys`: what the person typed who starts it; see
        `Runner.go`. On a cluster, workers have keys of their own. Raises `CourtroomError`: the settings name a cluster
        that can't be used."""
        kept = self.store.changing(name, "start")
        if kept.status != "done" or any(state == "waiting" for _, state in self.store.counts(kept.id)):
            self._go(kept.id, keys)
        return kept.id

    @needs(Access.RUN)
    def try_again(self, name: str, keys: Mapping[str, str] | None = None) -> int:
        """Start the cells again that failed; how many there are. Answers that are on record are not asked for again."""
        kept = self.store.changing(name, "start")
        many = self.store.try_again(kept.id)
        if many:
            self._go(kept.id, keys)
        return many

    def _go(self, name: str, keys: Mapping[str, str] | None) -> None:
        # A person has them go on: that a process ended twice while it drove many of them says nothing of any one.
        self._house.store.forgive(cell.run for cell in self.store.cells(name, "waiting"))
        if self._house.settings.dask:
            self._house.runner.do(self._try_cluster(name)).result()
        self._keys[name] = dict(keys or {})
        self.store.set_status(name, "running")
        self._house.runner.do(self._resume(name)).result()
        if name not in self._driving:  # another process drives it: where that dies, it is driven here
            self._house.runner.watch(self._settled(name))

    async def _try_cluster(self, experiment: str) -> None:
        async with cluster_of(self._house, self.store.experiment(experiment)):
            pass

    @needs(Access.RUN)
    def pause(self, name: str) -> None:
        """Start no further cell, and let go of those under way; nothing that was answered is lost."""
        kept = self.store.changing(name, "pause")
        with acts(None):  # the experiment's runs go with it: whoever drives it stops them
            if self.store.status(kept.id) in ("running", "paused"):
                self.store.set_status(kept.id, "paused", "Paused. Go on at any time; nothing is lost.")

    def resting_on(self, dataset: str, version: str | None = None) -> list[str]:
        """The ids of experiments whose cases are of a dataset, or of one version of it, newest first."""
        every = ((one.id, (one.experiment.dataset, one.experiment.teaches)) for one in self.store.experiments())
        return [name for name, both in every if any(one and (dataset, version) in one.rests_on for one in both)]

    @needs(Access.RUN)
    def delete_dataset(self, dataset: str, version: str | None = None) -> None:
        """Forget a dataset, or one version of it. Runs keep the cases that they have. Raises `CourtroomError`:
        experiments rest on it; without it they could neither go on nor show their tables."""
        if resting := self.resting_on(dataset, version):
            more = f" and {len(resting) - 3} more" if len(resting) > 3 else ""
            raise CourtroomError(
                f"Experiments rest on “{dataset}”: {', '.join(resting[:3])}{more}. Delete these first; without their "
                "cases they could neither go on nor show their tables."
            )
        self._house.datasets.delete(dataset, version)

    @needs(Access.RUN)
    def delete(self, name: str) -> None:
        """Forget an experiment, its runs, and the memories that it named and nothing else names; answers stay."""
        kept = self.store.changing(name, "delete")
        if kept.status == "running":
            self.pause(kept.id)
            self.wait(kept.id)
        with self._house.store.together():
            self.store.delete(kept.id, self._house.store.take_out)
            for memory in memories_of(kept.experiment):
                self._house.knowledge.forget_memory(memory)
                if not self.store.names_snapshot(memory):
                    self._house.knowledge.snapshots.forget(memory)

    def resume_interrupted(self) -> list[str]:
        """Go on with the experiments whose process has died, and watch those that other processes drive.

        Returns:
            The ids of those that nobody drove.
        """
        under_way = self.store.under_way()
        left = [experiment for experiment in under_way if self._is_left(experiment)]
        for experiment in left:
            self._house.runner.do(self._resume(experiment)).result()
        for experiment in {*under_way} - {*left}:
            self._house.runner.watch(self._settled(experiment))
        return left

    def wait(self, name: str, timeout: float | None = None) -> None:
        """Wait until an experiment is done or paused; where its driver dies meanwhile, it is driven here."""
        self.settled(name).result(timeout)

    def settled(self, name: str) -> Future[None]:
        """Done when the experiment is done or paused; see `wait`."""
        return self._house.runner.do(self._settled(self.store.experiment(name).id))

    def _is_left(self, experiment: str) -> bool:
        return experiment not in self._driving and not self.store.is_driven(experiment)

    async def _settled(self, experiment: str) -> None:
        while True:
            if driving := self._driving.get(experiment):
                await asyncio.wait([driving])
            if self.store.status(experiment) != "running":
                return
            if self._is_left(experiment):
                await self._resume(experiment)
            else:
                await asyncio.sleep(BEAT_S)  # another process drives it

    async def _resume(self, experiment: str) -> None:
        async with self._taking:
            if experiment in self._driving:
                return
            lock = self.store.lock(experiment)
            if await asyncio.to_thread(lock.take):
                self._driving[experiment] = asyncio.create_task(self._drive(experiment, lock))
            else:
                self._keys.pop(experiment, None)  # its driver goes on by itself

    async def _drive(self, experiment: str, lock: StoreLock) -> None:
        status: tuple[Status, str] | None = None
        try:
            kept = self.store.experiment(experiment)
            async with cluster_of(self._house, kept) as finish:
                driven = await asyncio.to_thread(
                    DrivenExperiment, kept, self._house, finish, lambda: self._keys.get(experiment, {})
                )
                status = await driven.drive(lock)
                self.undriven.discard(experiment)
        except CourtroomError as error:
            self.undriven.add(experiment)
            status = "paused", str(error)
        except Exception:  # noqa: BLE001  nobody awaits this task: it is reported on the experiment and in the log
            log.exception("experiment %s could not be driven", experiment)
            self.undriven.add(experiment)
            status = "paused", "The experiment could not be driven; the log says why."
        finally:
            if status:
                written = self._house.writer.put(partial(self.store.set_status, experiment, *status), lock)
                written.add_done_callback(partial(_report, experiment))
                if status[0] != "running":
                    self._house.bell.ring("experiment", experiment, status[0])
            try:
                await self._house.writer.release(lock)
            finally:
                self._driving.pop(experiment, None)
                self._keys.pop(experiment, None)

    @needs(Access.RUN)
    def canary(
        self, name: str, calls: int = USUAL_CALLS, money: float | None = None, keys: Mapping[str, str] | None = None
    ) -> Canary:
        """Ask a sample of the recorded calls again, each twice, and keep what came of it; see `ask_again`. `calls`:
        recorded calls, 1 to 1,000. `money`: US dollars for this alone; the experiment's own budget holds too. Raises
        `CourtroomError`: no language model was asked, or no cell is done."""
        kept = self.store.changing(name, "ask")
        found = ask_again(self._house, kept, calls, money, keys or {})
        now = self.store.experiment(kept.id).experiment
        self.store.replace(now.model_copy(update={"canaries": (*now.canaries, found)}))
        return found

    def rows(self, name: str, phase: Phase = "test") -> list[CaseResult]:
        """Every cell that counts in the table, with its case and what it came to so far; or every cell that only
        teaches. Raises `CourtroomError`: the dataset's version is not there any more."""
        kept = self.store.experiment(name)
        experiment, dataset, datasets = kept.experiment, kept.experiment.dataset, self._house.datasets
        cells = list(self.store.cells(kept.id, phase=phase))
        only = ((phase == "train" and experiment.teaches) or dataset).only(dict.fromkeys(cell.row for cell in cells))
        with acts(None):  # who may see an experiment sees the cases that it is on
            rows = {row.id: row for row in rows_of(self._house, only)} if cells else {}
            relevance = datasets.relevance(dataset.name, dataset.version) if cells and not dataset.run else {}
        names = [arm.name for arm in experiment.arms]
        outcomes = {(names[cell.arm], cell.row, cell.repeat): cell.outcome for cell in cells}
        return [
            CaseResult(
                **cell.model_dump(include={"number", "row", "repeat", "state", "reason"}),
                arm=names[cell.arm],
                case=rows[cell.row].case,
                category=rows[cell.row].category,
                run=cell.run or dataset.run,
                outcome=_of_rows(cell.outcome or Outcome(), dataset.name),
                relevance=relevance.get(cell.row, {}),
                single=outcomes.get((experiment.gain_over.get(names[cell.arm], ""), cell.row, cell.repeat)),
            )
            for cell in cells
        ]

    def runs(self, name: str, arm: str = "") -> list[str]:
        """Return the runs of all cells that are done, or of an arm's. Raises `CourtroomError`: there is no such arm."""
        kept = self.store.experiment(name)
        arms = [one.name for one in kept.experiment.arms]
        if arm and arm not in arms:
            raise CourtroomError(f"The experiment has no arm “{arm}”. It has: {', '.join(arms)}.")
        cells = self.store.cells(kept.id, "done", arms.index(arm) if arm else None, "test")
        return [run for cell in cells if (run := cell.run or kept.experiment.dataset.run)]

    def results(self, name: str) -> ExperimentResults:
        kept = self.store.experiment(name)
        rows = self.rows(kept.id)
        scored = [row for row in rows if row.state == "done"]
        measures, notes = at_hand(wanted(kept.kind, kept.experiment.measures), scored)
        prompts = prompts_hash(self._house.procedures, kept.experiment.procedures) if kept.experiment.lock else ""
        measures = measures or fitting(kept.kind, scored)
        found, training = accounts(kept.experiment, rows, measures), self.rows(kept.id, "train")
        notes = (*remarks(found, rows, training), *notes)
        return ExperimentResults(kept, rows, measures, notes, training, prompts, found)


def _report(experiment: str, written: Future[None]) -> None:
    if (error := written.exception()) is not None:
        log.warning("experiment %s: %s", experiment, error)


def _of_rows(outcome: Outcome, dataset: str) -> Outcome:
    """An outcome whose precedents have the ids of the dataset's rows that they were made of."""
    if not outcome.looked_up:
        return outcome
    return outcome.model_copy(update={"looked_up": tuple(row_id(dataset, name) for name in outcome.looked_up)})
