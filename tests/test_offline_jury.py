"""The jury that deliberates without a key, over all sample disputes: it splits where the votes on record do, and talks."""

import statistics
from dataclasses import dataclass

import pytest

from courtroom.courthouse import Courthouse
from courtroom.procedures.cyberjurors.procedure import CYBERJURORS
from courtroom.settings import Settings


@dataclass(frozen=True)
class Heard:
    """How a jury of 17 decided a sample: votes for the buyer by round, and how many different leading reasons it gave."""

    real: int
    votes: tuple[int, ...]
    leading: int


@pytest.fixture(scope="module")
def heard(tmp_path_factory: pytest.TempPathFactory) -> list[Heard]:
    house = Courthouse(Settings(home=tmp_path_factory.mktemp("jury")))
    found = [decided(house, case.id) for case in house.library.cases() if case.kind == "dispute"]
    house.close()
    assert len(found) == 13
    return found


def decided(house: Courthouse, name: str) -> Heard:
    case = house.library.case(name)
    run = house.new_run("cyberjurors", case, CYBERJURORS.setup(), 0)
    house.runner.go(run)
    house.runner.wait(run, 60)
    rounds: dict[str, list[dict[str, object]]] = {}
    for call in house.record(run).calls:
        if call.task == "judge" and call.value is not None:
            rounds.setdefault(call.stage, []).append(dict(call.value))
    votes = tuple(sum(opinion["verdict"] == "buyer" for opinion in opinions) for opinions in rounds.values())
    last = list(rounds.values())[-1]
    return Heard(case.jury.buyer, votes, len({opinion["reasoning"][0] for opinion in last}))  # type: ignore[index]


@pytest.mark.slow
def test_votes_lie_near_those_of_the_real_jury(heard: list[Heard]) -> None:
    assert statistics.mean(abs(one.votes[-1] - one.real) for one in heard) <= 2.5
    assert sum((one.votes[-1] > 8) == (one.real > 8) for one in heard) >= 11


def test_most_samples_need_more_than_one_round(heard: list[Heard]) -> None:
    assert sum(len(one.votes) > 1 for one in heard) >= 8


def test_jurors_lead_with_reasons_of_their_own(heard: list[Heard]) -> None:
    assert statistics.median(one.leading for one in heard) >= 6


def test_some_jurors_change_their_mind(heard: list[Heard]) -> None:
    assert any(len(set(one.votes)) > 1 for one in heard)
