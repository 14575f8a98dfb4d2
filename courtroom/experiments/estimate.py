"""What an experiment will take, by rehearsing some of its cells; answers that cells share are counted once."""

import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median

from courtroom.datasets import Row
from courtroom.engine.rehearsal import Estimate
from courtroom.engine.setup import Setup
from courtroom.experiments.plan import Phase, Training, check, is_parent, parent_of, rows_of
from courtroom.experiments.spec import Cases, Experiment
from courtroom.hearings import Hearings
from courtroom.models.request import Reply
from courtroom.models.spec import OFFLINE

REHEARSED = 12
"""Cases whose cells are rehearsed under every arm and repeat; the others are taken to be like them. So too of a training."""


SECONDS_A_CALL = 4.0
"""What a call of a language model is taken to last."""
SECONDS_A_CELL = 0.03
"""What a cell takes beside its calls: each is put on record."""


@dataclass(frozen=True)
class ArmEstimate:
    """What one arm will take, its training included."""

    arm: str
    cells: int
    training: int
    """Those of the cells that only teach."""
    calls: int
    """Calls asked anew."""
    tokens: int
    money: float | None
    """US dollars; None where a price is not known."""
    seconds: float
    """Were it run alone."""


@dataclass(frozen=True)
class ExperimentEstimate:
    """What all arms will take."""

    cells: int
    training: int
    """Those of the cells that only teach."""
    rehearsed: int
    """Cells that were rehearsed; the others are taken to be like them."""
    calls: int
    shared: int
    """Calls that are not asked because another cell asks the same, or the answer is on record."""
    tokens: int
    money: float | None
    seconds: float
    """With each call of a language model at `SECONDS_A_CALL`, and the offline model as fast as it was in the rehearsal."""
    arms: tuple[ArmEstimate, ...]


@dataclass
class _Taken:
    """What was rehearsed of one arm in one phase, and by how much more there will be."""

    more: float
    cells: int
    asked: int = 0
    shared: int = 0
    tokens: int = 0
    money: float | None = 0.0
    lasted: list[float] = field(default_factory=list)

    @property
    def seconds(self) -> float:
        """What all of its cells last. By the median: what is loaded once is no part of each."""
        return median(self.lasted or [0.0]) * self.cells


def estimate(
    experiment: Experiment, kind: str, house: Hearings, progress: Callable[[int, int], None]
) -> ExperimentEstimate:
    """An estimate; nothing is asked of any language model or put on record.

    An arm that learns is rehearsed with the memory as it is now: what it will have learned is not known yet. `progress`: is
    called with how many cells are rehearsed, and of how many.
    """
    setups, parent = check(experiment, kind, house), parent_of(experiment, house)
    training = Training(experiment, setups, house)
    of: dict[Phase, dict[int, Setup]] = {
        "train": {place: training.trains(place) for place in training.arms},
        "test": {place: training.rehearses(place) for place in setups},
    }
    cases: dict[Phase, Cases] = {"train": experiment.teaches or experiment.dataset, "test": experiment.dataset}
    repeats: dict[Phase, dict[int, int]] = {
        "train": dict.fromkeys(of["train"], 1),
        "test": {place: experiment.repeats_of(place) for place in of["test"]},
    }
    known: dict[str, Reply] = {}
    taken: dict[tuple[int, Phase], _Taken] = {}
    chosen = {phase: _chosen(cases[phase], house) for phase in of if of[phase]}
    total = sum(len(rows) * sum(repeats[phase].values()) for phase, (rows, _) in chosen.items())
    done = 0
    for phase, (rows, many) in chosen.items():
        more = many / len(rows) if rows else 0.0
        taken |= {(place, phase): _Taken(more, many * repeats[phase][place]) for place in of[phase]}
        for row, place, repeat in _each(rows, repeats[phase]):
            progress(done, total)
            arm, one, seed = experiment.arms[place], taken[place, phase], experiment.seed(place, repeat)
            done += 1
            if is_parent(arm, seed, parent):
                continue
            began = time.perf_counter()
            case, setup = row.case.without(*arm.without), of[phase][place]
            found = house.estimate(arm.procedure, case, setup, seed, experiment.dataset.run or None, known)
            one.lasted.append(_lasts(found, setup, time.perf_counter() - began, experiment.at_once))
            one.asked += found.calls - found.on_record
            one.shared += found.on_record
            one.tokens += sum(load.prompt_tokens + load.completion_tokens for load in found.loads)
            price = house.price(found)
            one.money = None if price is None or one.money is None else one.money + price
    progress(total, total)
    arms = tuple(_arm(experiment.arms[place].name, place, taken) for place in setups)
    prices = [arm.money for arm in arms]
    return ExperimentEstimate(
        cells=sum(arm.cells for arm in arms),
        training=sum(arm.training for arm in arms),
        rehearsed=total,
        calls=sum(arm.calls for arm in arms),
        shared=round(sum(one.shared * one.more for one in taken.values())),
        tokens=sum(arm.tokens for arm in arms),
        money=None if None in prices else sum(price for price in prices if price is not None),
        seconds=sum(arm.seconds for arm in arms),
        arms=arms,
    )


def _lasts(estimate: Estimate, setup: Setup, rehearsed: float, at_once: int) -> float:
    """Seconds that one cell adds, where as many calls are under way as the model's limit and the experiment's allow."""
    online = sum(load.calls for load in estimate.loads if load.model != OFFLINE)
    return SECONDS_A_CELL + rehearsed + online * SECONDS_A_CALL / min(at_once, setup.model.concurrency)


def _arm(name: str, place: int, taken: dict[tuple[int, Phase], _Taken]) -> ArmEstimate:
    both = [one for (of, _), one in taken.items() if of == place]
    prices = [None if one.money is None else one.money * one.more for one in both]
    return ArmEstimate(
        name,
        sum(one.cells for one in both),
        taken[place, "train"].cells if (place, "train") in taken else 0,
        round(sum(one.asked * one.more for one in both)),
        round(sum(one.tokens * one.more for one in both)),
        None if None in prices else sum(price for price in prices if price is not None),
        sum(one.seconds for one in both),
    )


def _chosen(cases: Cases, house: Hearings) -> tuple[list[Row], int]:
    """The rows that are rehearsed, and how many there are in all."""
    ids = [row.id for row in rows_of(house, cases)]
    some = set(ids if len(ids) <= REHEARSED else random.Random(0).sample(ids, REHEARSED))
    return [row for row in rows_of(house, cases) if row.id in some], len(ids)


def _each(rows: Sequence[Row], repeats: Mapping[int, int]) -> Iterator[tuple[Row, int, int]]:
    return ((row, place, repeat) for row in rows for place, many in repeats.items() for repeat in range(many))
