"""From a file to cells on record: the dataset's version and the predictions pinned, every arm tried before anything is asked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from pydantic import ValidationError

from courtroom.cases.case import Case
from courtroom.cases.explain import explain
from courtroom.datasets import DatasetInfo, Datasets, Row
from courtroom.engine.changes import changed
from courtroom.engine.procedure import Procedure
from courtroom.engine.setup import Setup
from courtroom.errors import CourtroomError
from courtroom.experiments.elsewhere import Answers, answers_of, digest
from courtroom.experiments.measures import measures_of, wanted
from courtroom.experiments.outcome import Outcome
from courtroom.experiments.plan import Cell, cells, overlap
from courtroom.experiments.spec import Arm, Cases, Experiment


def rows_of(datasets: Datasets, cases: Cases) -> Iterator[Row]:
    """The rows that an experiment takes of its dataset, in their order."""
    return datasets.rows(
        cases.name,
        version=cases.version,
        split=cases.split,
        ids=cases.ids,
        limit=cases.limit,
        sample=cases.sample,
        seed=cases.seed,
    )


def pinned(experiment: Experiment, datasets: Datasets) -> tuple[Experiment, DatasetInfo]:
    """The experiment with the dataset's version and the digests of all predictions written out."""
    info = datasets.info(experiment.dataset.name, experiment.dataset.version)
    arms = tuple(
        arm.model_copy(update={"digest": digest(answers_of(Path(arm.predictions), arm.model))})
        if arm.predictions
        else arm
        for arm in experiment.arms
    )
    # Where the file lies is no part of what it says.
    arms = tuple(
        arm.model_copy(update={"predictions": Path(arm.predictions).name}) if arm.predictions else arm for arm in arms
    )
    dataset = experiment.dataset.model_copy(update={"version": info.version})
    return experiment.model_copy(update={"dataset": dataset, "arms": arms}), info


def answers(experiment: Experiment) -> dict[int, Answers]:
    """The predictions of the arms that have any, by the arm's place."""
    return {
        place: answers_of(Path(arm.predictions), arm.model)
        for place, arm in enumerate(experiment.arms)
        if arm.predictions
    }


def check(experiment: Experiment, kind: str, procedures: Mapping[str, Procedure]) -> None:
    """Try what can be tried before a case is read.

    Raises:
        CourtroomError: a procedure is unknown or takes another kind of case, a setup does not fit, a measure is unknown.
    """
    if not measures_of(kind):
        raise CourtroomError(f"Cases of the kind “{kind}” have no outcome to measure. Choose another dataset.")
    wanted(kind, experiment.measures)
    setups_of(experiment, procedures, kind)


def setups_of(experiment: Experiment, procedures: Mapping[str, Procedure], kind: str) -> dict[int, Setup]:
    """The setups of the arms that are procedures, by their places; see `setup_of`."""
    arms = enumerate(experiment.arms)
    return {place: setup_of(arm, procedures, kind) for place, arm in arms if arm.procedure}


def setup_of(arm: Arm, procedures: Mapping[str, Procedure], kind: str) -> Setup:
    """The setup of an arm.

    Raises:
        CourtroomError: its procedure is unknown or takes another kind of case, or a value does not fit.
    """
    chosen = procedures.get(arm.procedure)
    if chosen is None:
        raise CourtroomError(f"{arm.name}: there is no procedure “{arm.procedure}”. Known: {', '.join(procedures)}.")
    if chosen.case_kind != kind:
        fitting = [one.name for one in procedures.values() if one.case_kind == kind]
        raise CourtroomError(
            f"{arm.name}: {chosen.title} hears cases of the kind “{chosen.case_kind}”; the dataset has the kind “{kind}”. "
            f"Choose a procedure that takes it: {', '.join(fitting) or 'there is none'}."
        )
    given = {"model.id": arm.model} if arm.model else {}
    try:
        setup = changed(chosen.setup(), {**given, **arm.set})
    except ValidationError as error:
        raise CourtroomError(f"{arm.name}: {' '.join(explain(error))}") from error
    except CourtroomError as error:
        raise CourtroomError(f"{arm.name}: {error}") from error
    if refused := setup.refused():
        raise CourtroomError(f"{arm.name}: {' '.join(refused)}")
    return setup


def planned(
    experiment: Experiment, datasets: Datasets, given: Mapping[int, Answers], learning: Sequence[int] = ()
) -> Iterator[tuple[Cell, Outcome | None]]:
    """Every cell; a prediction made elsewhere with its outcome, and no cell where it has no answer to a case.

    Args:
        learning: the places of the arms that are trained.

    Raises:
        CourtroomError: there is no case, no arm learns, an arm's predictions are of none of the cases, or a case is both trained on and tested.
    """
    found: dict[str, Case] = {}
    tested: list[str] = []
    for row in rows_of(datasets, experiment.dataset):
        tested.append(row.id)
        if given:
            found[row.id] = row.case
    if not tested:
        raise CourtroomError(
            f"The dataset “{experiment.dataset.name}” has no case in what was chosen of it. Choose more."
        )
    for place, answered in given.items():
        if not answered.keys() & found.keys():
            arm = experiment.arms[place]
            raise CourtroomError(
                f"{arm.name}: none of the {len(answered):,} predictions is of a case of the dataset "
                f"“{experiment.dataset.name}”. Its cases have ids such as {', '.join(tested[:3])}."
            )
    trained = _trained(experiment, datasets)
    if trained and not learning:
        raise CourtroomError("No arm learns. Choose a procedure with a memory, or leave out knowledge.train.")
    if (both := overlap(tested, trained)) and not experiment.knowledge.test_on_trained:
        raise CourtroomError(
            f"{len(both)} cases are both trained on and tested, such as {sorted(both)[0]}. Choose splits that share none, "
            "or set knowledge.test_on_trained = true."
        )
    many = {place: {row: len(several) for row, several in answered.items()} for place, answered in given.items()}
    for cell in cells(experiment, tested, trained, many, learning):
        yield cell, None if cell.run else given[cell.arm][cell.row][cell.repeat].outcome(found[cell.row])


def _trained(experiment: Experiment, datasets: Datasets) -> Sequence[str]:
    if experiment.knowledge.train is None:
        return ()
    version = experiment.dataset.version
    return [row.id for row in datasets.rows(experiment.dataset.name, version=version, split=experiment.knowledge.train)]
