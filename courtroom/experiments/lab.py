"""Experiments as pages, the shell and programs use them: begun, estimated, run, paused, read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Future

from courtroom.access.account import Access
from courtroom.access.acting import acts, needs
from courtroom.datasets.precedents import row_id
from courtroom.engine.crew import Crew
from courtroom.errors import CourtroomError
from courtroom.experiments import begin
from courtroom.experiments.estimate import ExperimentEstimate, estimate
from courtroom.experiments.measures import at_hand, wanted
from courtroom.experiments.outcome import Outcome
from courtroom.experiments.plan import Phase
from courtroom.experiments.ports import ExperimentHouse
from courtroom.experiments.results import ExperimentResults
from courtroom.experiments.spec import Cases, Experiment
from courtroom.experiments.store import ExperimentStore, StoredExperiment
from courtroom.experiments.sure import Repeats
from courtroom.experiments.table import CellRow
from courtroom.experiments.training import Training
from courtroom.experiments.work import Cells


class Lab:
    """All experiments of one store, as one process drives them."""

    def __init__(self, store: ExperimentStore, house: ExperimentHouse) -> None:
        self.store = store
        self.repeats = Repeats(house)
        self._house = house
        self._cells = Cells(store, house)
        self._crew = Crew(store, self._cells, house.writer, lambda: house.runner)

    # --- before ---------------------------------------------------------------------------------------------

    @needs(Access.RUN)
    def begin(self, experiment: Experiment) -> str:
        """Put an experiment on record with all its cells, and return its id; the very same is on record once.

        A changed budget, title or list of measures changes the experiment that is on record.

        Raises:
            CourtroomError: it does not fit the dataset, a procedure or the predictions.
        """
        datasets = self._house.datasets
        given = begin.answers(experiment)
        exact, info = begin.pinned(experiment, datasets)
        begin.check(exact, info.kind, self._house.procedures)
        setups = begin.setups_of(exact, self._house.procedures, info.kind)
        learning = Training(exact, setups, self._house).arms
        name = self.store.create(exact, info.kind, begin.planned(exact, datasets, given, learning))
        self.store.replace(exact)
        return name

    def estimate(
        self, experiment: Experiment, progress: Callable[[int, int], None] = lambda done, total: None
    ) -> ExperimentEstimate:
        """About what an experiment will take: calls, tokens, money, and how many calls shared answers save.

        Args:
            progress: is called with how many cells are rehearsed, and of how many.
        """
        exact, info = begin.pinned(experiment, self._house.datasets)
        begin.check(exact, info.kind, self._house.procedures)
        return estimate(exact, info.kind, self._house, progress)

    # --- steering -------------------------------------------------------------------------------------------

    @needs(Access.RUN)
    def go(self, name: str, keys: Mapping[str, str] | None = None) -> str:
        """Start the remaining cells; the experiment's id.

        Args:
            keys: what the person typed who starts it; see `Runner.go`. On a cluster, workers have keys of their own.

        Raises:
            CourtroomError: the settings name a cluster that can't be used.
        """
        kept = self.store.experiment(name)
        self.store.changing(kept.id, "start")
        if kept.status != "done" or any(state == "waiting" for _, state in self.store.counts(kept.id)):
            self._go(kept.id, keys)
        return kept.id

    @needs(Access.RUN)
    def try_again(self, name: str, keys: Mapping[str, str] | None = None) -> int:
        """Start the cells again that failed; how many there are. Answers that are on record are not asked for again."""
        kept = self.store.experiment(name)
        self.store.changing(kept.id, "start")
        many = self.store.try_again(kept.id)
        if many:
            self._go(kept.id, keys)
        return many

    def _go(self, name: str, keys: Mapping[str, str] | None) -> None:
        self._house.runner.do(self._cells.try_cluster(name)).result()
        # A person has them go on: that a process ended twice while it drove many of them says nothing of any one.
        self._house.store.lost.forget(*(cell.run for cell in self.store.cells(name, "waiting")))
        self._crew.go(name, keys)

    @needs(Access.RUN)
    def pause(self, name: str) -> None:
        """Start no further cell, and let go of those under way; nothing that was answered is lost."""
        kept = self.store.experiment(name)
        self.store.changing(kept.id, "pause")

        def under_way() -> list[str]:
            waiting = {cell.run for cell in self.store.cells(kept.id, "waiting")}
            return [run for run, *_ in self._house.store.under_way() if run in waiting]

        with acts(None):  # the experiment's runs go with it
            self._crew.halt(kept.id, "paused", "Paused. Go on at any time; nothing is lost.", under_way)

    def resting_on(self, dataset: str, version: str | None = None) -> list[str]:
        """The ids of experiments whose cases are of a dataset, or of one version of it, newest first."""
        found = ((one.id, one.experiment.dataset) for one in self.store.experiments())
        return [name for name, cases in found if cases.name == dataset and version in (None, cases.version)]

    @needs(Access.RUN)
    def delete_dataset(self, dataset: str, version: str | None = None) -> None:
        """Forget a dataset, or one version of it. Runs keep the cases that they have.

        Raises:
            CourtroomError: experiments rest on it; without it they could neither go on nor show their tables.
        """
        if resting := self.resting_on(dataset, version):
            more = f" and {len(resting) - 3} more" if len(resting) > 3 else ""
            raise CourtroomError(
                f"Experiments rest on “{dataset}”: {', '.join(resting[:3])}{more}. Delete these first; without their cases they "
                "could neither go on nor show their tables."
            )
        self._house.datasets.delete(dataset, version)

    @needs(Access.RUN)
    def delete(self, name: str) -> None:
        """Forget an experiment, its runs, and the memories that it named and nothing else names; answers stay."""
        kept = self.store.experiment(name)
        self.store.changing(kept.id, "delete")
        if kept.status == "running":
            self.pause(kept.id)
            self.wait(kept.id)
        with self._house.store.together():
            self.store.delete(kept.id, self._house.store.take_out)
            for memory in Training.kept_by(kept.experiment):
                if not self.store.names_snapshot(memory):
                    self._house.knowledge.snapshots.forget(memory)

    def take_up_interrupted(self) -> list[str]:
        """Go on with the experiments whose process has died; their ids."""
        return self._crew.take_up_interrupted()

    def wait(self, name: str, timeout: float | None = None) -> None:
        """Wait until an experiment is done or paused; where its driver dies meanwhile, it is driven here."""
        self.settled(name).result(timeout)

    def settled(self, name: str) -> Future[None]:
        """Done when the experiment is done or paused; see `wait`."""
        return self._crew.settled(self.store.experiment(name).id)

    # --- after ----------------------------------------------------------------------------------------------

    def rows(self, name: str, phase: Phase = "test") -> list[CellRow]:
        """Every cell that counts in the table, with its case and what it came to so far; or every cell that only teaches.

        Raises:
            CourtroomError: the dataset's version is not there any more.
        """
        kept = self.store.experiment(name)
        with acts(None):  # who may see an experiment sees the cases that it is on
            return self._rows(kept, phase)

    def _rows(self, kept: StoredExperiment, phase: Phase) -> list[CellRow]:
        cells = list(self.store.cells(kept.id, phase=phase))
        if not cells:
            return []
        experiment, datasets = kept.experiment, self._house.datasets
        dataset = experiment.dataset
        chosen = dataset if phase == "test" else Cases(
            name=dataset.name, version=dataset.version, split=experiment.knowledge.train
        )  # fmt: skip
        rows = {row.id: (row.case, row.category) for row in begin.rows_of(datasets, chosen)}
        relevance = datasets.relevance(dataset.name, dataset.version)
        return [
            CellRow(
                number=cell.number,
                arm=experiment.arms[cell.arm].name,
                row=cell.row,
                case=rows[cell.row][0],
                category=rows[cell.row][1],
                repeat=cell.repeat,
                run=cell.run,
                state=cell.state,
                reason=cell.reason,
                outcome=_of_rows(cell.outcome, dataset.name),
                relevance=relevance.get(cell.row, {}),
            )
            for cell in cells
        ]

    def results(self, name: str) -> ExperimentResults:
        """Everything that an experiment shows so far."""
        kept = self.store.experiment(name)
        rows = self.rows(kept.id)
        scored = [one for row in rows if (one := row.scored)]
        measures, notes = at_hand(wanted(kept.kind, kept.experiment.measures), scored)
        return ExperimentResults(kept, rows, measures, notes, self.rows(kept.id, "train"))


def _of_rows(outcome: Outcome | None, dataset: str) -> Outcome | None:
    """An outcome whose precedents have the ids of the dataset's rows that they were made of."""
    if outcome is None or not outcome.looked_up:
        return outcome
    return outcome.model_copy(update={"looked_up": tuple(row_id(dataset, name) for name in outcome.looked_up)})
