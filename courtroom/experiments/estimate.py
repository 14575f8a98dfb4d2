"""What an experiment will take, by rehearsing some of its cells; answers that cells share are counted once."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from courtroom.experiments.begin import rows_of, setup_of
from courtroom.experiments.ports import ExperimentHouse
from courtroom.experiments.spec import Experiment
from courtroom.models.request import Reply

REHEARSED = 12
"""Cases whose cells are rehearsed under every arm and repeat; the others are taken to be like them."""


@dataclass(frozen=True)
class ArmEstimate:
    """What one arm will take."""

    arm: str
    cells: int
    calls: int
    """Calls asked anew."""
    tokens: int
    money: float | None
    """US dollars; None where a price is not known."""


@dataclass(frozen=True)
class ExperimentEstimate:
    """What all arms will take."""

    cells: int
    rehearsed: int
    """Cells that were rehearsed; the others are taken to be like them."""
    calls: int
    shared: int
    """Calls that are not asked because another cell asks the same, or the answer is on record."""
    tokens: int
    money: float | None
    arms: tuple[ArmEstimate, ...]


def estimate(
    experiment: Experiment, kind: str, house: ExperimentHouse, progress: Callable[[int, int], None]
) -> ExperimentEstimate:
    """An estimate; nothing is asked of any language model or put on record.

    Args:
        progress: is called with how many cells are rehearsed, and of how many.
    """
    ids = [row.id for row in rows_of(house.datasets, experiment.dataset)]
    chosen = set(ids if len(ids) <= REHEARSED else random.Random(0).sample(ids, REHEARSED))
    arms = [(arm, setup_of(arm, house.procedures, kind)) for arm in experiment.arms if arm.procedure]
    total = len(chosen) * len(arms) * experiment.repeats
    known: dict[str, Reply] = {}
    asked, shared, tokens = ({arm.name: 0 for arm, _ in arms} for _ in range(3))
    money: dict[str, float | None] = {arm.name: 0.0 for arm, _ in arms}
    done = 0
    for row in rows_of(house.datasets, experiment.dataset):
        if row.id not in chosen:
            continue
        for arm, setup in arms:
            for repeat in range(experiment.repeats):
                progress(done, total)
                found = house.estimate(arm.procedure, row.case, setup, arm.seed + repeat, known=known)
                asked[arm.name] += found.calls - found.on_record
                shared[arm.name] += found.on_record
                tokens[arm.name] += sum(load.prompt_tokens + load.completion_tokens for load in found.loads)
                price, before = house.price(found), money[arm.name]
                money[arm.name] = None if price is None or before is None else before + price
                done += 1
    progress(total, total)
    more = len(ids) / len(chosen) if chosen else 0.0
    cells = len(ids) * experiment.repeats
    rows = tuple(
        ArmEstimate(
            arm.name,
            cells,
            round(asked[arm.name] * more),
            round(tokens[arm.name] * more),
            None if (spent := money[arm.name]) is None else spent * more,
        )
        for arm, _ in arms
    )
    prices = [row.money for row in rows]
    return ExperimentEstimate(
        cells=cells * len(arms),
        rehearsed=total,
        calls=sum(row.calls for row in rows),
        shared=round(sum(shared.values()) * more),
        tokens=sum(row.tokens for row in rows),
        money=None if None in prices else sum(price for price in prices if price is not None),
        arms=rows,
    )
