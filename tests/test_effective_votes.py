"""What a panel's votes are worth: against panels whose correlation is known, and on runs."""

import json
import random
import re
from itertools import combinations
from statistics import fmean

import pytest

from courtroom.courthouse import Courthouse
from courtroom.evaluation.effective_votes import FEWEST, Panel, conformity, effective, persona_share, variety
from courtroom.evaluation.yardstick import of_runs
from courtroom.language import speaking, translated
from courtroom.procedures.cyberjurors.setup import CyberJurorsSetup
from pages.parts.shared.shown import literal
from tests.benchmarks.measure_voices import PANELS, held, simulated
from tests.driving import drive, shell
from tests.pages import house, page, texts  # noqa: F401


@pytest.mark.parametrize("seed", range(5))
def test_it_is_what_counting_all_pairs_of_votes_gives(seed: int) -> None:
    votes = simulated("copies one", 15, 7, 0.4, 0.6, random.Random(seed))
    cases = [list(ballot.values()) for _, ballot in votes]
    within = fmean(a == b for one in cases for a, b in combinations(one, 2))
    between = fmean(a == b for one, other in combinations(cases, 2) for a in one for b in other)
    found, *counted = effective(votes)
    assert found.value == pytest.approx(7 / (1 + 6 * max(0.0, (within - between) / (1 - between))))
    assert counted == [7, 15]


@pytest.mark.parametrize(("known", "worth"), [(0.0, 17), (0.35, 17 / 6.6), (1.0, 1)])
def test_panels_of_a_known_correlation_are_worth_what_it_says(known: float, worth: float) -> None:
    panels = [simulated("copies one", 60, 17, known, 0.5, random.Random(seed)) for seed in range(12)]
    assert fmean(effective(votes)[0].value for votes in panels) == pytest.approx(worth, rel=0.15)


@pytest.mark.parametrize("kind", PANELS)
@pytest.mark.slow
def test_the_interval_holds_the_truth_as_often_as_it_says(kind: str) -> None:
    """Of 60, fewer than 52 would come of 95 % in 1 of 130."""
    assert held(kind, 13, 17, 0.5, 60) * 60 >= 52


def test_votes_that_are_all_the_same_say_nothing_of_their_worth() -> None:
    assert effective([(f"case {number}", {"a": 0, "b": 0}) for number in range(20)]) is None
    alike, *_ = effective([(f"case {number}", dict.fromkeys("abcde", number % 2)) for number in range(20)])
    assert alike.value == alike.low == 1 < alike.high


def test_who_the_juror_is_counts_or_not() -> None:
    draw, who = random.Random(0), [f"juror {number}" for number in range(12)]
    apart = [Panel(f"case {case}", ({one: int(place % 3 == 0) for place, one in enumerate(who)},)) for case in range(9)]
    assert persona_share(apart) == pytest.approx((1, 1 / 401, 108), abs=0.01)
    alike = [Panel(f"case {case % 3}", ({one: draw.randrange(2) for one in who},)) for case in range(9)]
    share, p, _ = persona_share(alike)
    assert share < 0.2
    assert p > 0.05


def test_who_goes_over_and_who_stays() -> None:
    before = {"a": 0, "b": 1, "c": 1, "d": 1}
    assert conformity(Panel("x", (before, {**before, "a": 1}))) == (1, 1, 0, 1)
    assert conformity(Panel("x", (before, {**before, "c": 0}))) == (0, 1, 1, 1)
    assert conformity(Panel("x", ({"a": 0}, {"a": 1}))) == (0, 0, 0, 0), "nobody to go over to"
    assert variety(Panel("x", (), ("the same words", "the same words"))) == 0
    assert variety(Panel("x", (), ("one thing", "other matter"))) == 1


def test_a_verdict_with_enough_cases_behind_it_says_what_its_votes_are_worth(house: Courthouse) -> None:  # noqa: F811
    setup = CyberJurorsSetup(jury_size=5, rounds=1, examination="shared", grounding_rounds=1)
    disputes = [house.library.case(one.id) for one in house.library.cases() if one.kind == "dispute"]
    runs = [drive(house, house.new_run("cyberjurors", case, setup, 0)) for case in disputes[: FEWEST - 1]]
    assert house.worth(runs[0]) == ""
    other = setup.model_copy(update={"rounds": 2})
    drive(house, house.new_run("cyberjurors", disputes[FEWEST], other, 0))
    assert house.worth(runs[0]) == "", "another kind of panel"
    runs.append(drive(house, house.new_run("cyberjurors", disputes[FEWEST - 1], setup, 0)))
    said = house.worth(runs[0])
    votes, interval = r"worth about [1-5]\.\d independent votes", r"95 % interval \d\.\d to \d\.\d, over 12 cases"
    assert re.fullmatch(rf"5 jurors, {votes} \({interval}\)\.", said)
    assert literal(said) in texts(page("deliberation", {"run": runs[0]}))
    assert json.loads(shell("show", runs[0], "--json"))["worth"] == said
    with speaking("zh"):
        assert "折合约" in translated(said)
    found = {line.name: line for line in of_runs(runs, house.record, house.procedures).lines}
    assert said.startswith(f"5 jurors, worth about {found['votes-last'].value:.1f} ")
    assert {"votes-first", "votes-next", "variety", "who"} <= found.keys()
