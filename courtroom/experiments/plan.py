"""The cells of an experiment: case by arm by repeat, with the id of each run. Pure: the same experiment has the same cells."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Literal

from courtroom.experiments.spec import Experiment
from courtroom.strict import Strict

Phase = Literal["train", "test"]


class Cell(Strict):
    """One case under one arm, once."""

    number: int
    """Its place in the experiment: the first case under every arm, then the next case, so that arms can be compared early."""
    arm: int
    row: str
    """The case's id in its dataset."""
    repeat: int
    seed: int
    run: str
    """Empty where the arm is predictions made elsewhere."""
    phase: Phase = "test"


def cells(
    experiment: Experiment,
    tested: Sequence[str],
    trained: Sequence[str] = (),
    answered: Mapping[int, Mapping[str, int]] | None = None,
    learning: Collection[int] = (),
) -> Iterator[Cell]:
    """Every cell, those that train first: all of one arm, then all of the next.

    Args:
        tested: ids of the cases, in their order.
        trained: ids of the cases to learn from, in their order.
        answered: how many answers predictions made elsewhere have to each case, by the arm's place: so many repeats.
        learning: the places of the arms that learn.
    """
    number = 0
    given = answered or {}
    most = max([experiment.repeats, *(many for arm in given.values() for many in arm.values())])
    for place in sorted(learning):
        for row in trained:
            run = run_id(experiment, place, row, 0, "train")
            yield Cell(
                number=number, arm=place, row=row, repeat=0, seed=experiment.arms[place].seed, run=run, phase="train"
            )
            number += 1
    for repeat in range(most):
        for row in tested:
            for place, arm in enumerate(experiment.arms):
                if repeat >= (given.get(place, {}).get(row, 0) if arm.predictions else experiment.repeats):
                    continue
                run = "" if arm.predictions else run_id(experiment, place, row, repeat)
                yield Cell(number=number, arm=place, row=row, repeat=repeat, seed=arm.seed + repeat, run=run)
                number += 1


def run_id(experiment: Experiment, arm: int, row: str, repeat: int, phase: Phase = "test") -> str:
    """The id of a cell's run: made of what it is, so that no cell is ever run twice."""
    what = "\n".join((experiment.digest, experiment.arms[arm].name, row, str(repeat), phase))
    return f"cell-{hashlib.sha256(what.encode()).hexdigest()[:16]}"


def overlap(tested: Iterable[str], trained: Iterable[str]) -> frozenset[str]:
    """Cases that are in both."""
    return frozenset(tested) & frozenset(trained)
