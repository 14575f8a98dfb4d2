"""A council: answers apart, ranks of unseen authors, a chair; agreement and biases are measured."""

import pytest

from courtroom.courthouse import Courthouse
from courtroom.engine.interventions import Overrule
from courtroom.procedures.council.procedure import CouncilSetup
from courtroom.procedures.council.ranks import LETTERS, Rank, agreement, mean_ranks, ranked
from courtroom.procedures.council.tasks import RankAnswers
from tests.asked import asked as prompts_of
from tests.driving import drive, house
from tests.test_questions import bridge

__all__ = ["house"]  # a fixture

AUTHORS = ("member-1", "member-2", "member-3", "member-4")


def all_ranks(orders: dict[str, tuple[str, ...]]) -> list[Rank]:
    """Ranks in which each member is shown the answers in the order of their authors."""
    letters = dict(zip(LETTERS, AUTHORS, strict=False))
    named = {author: letter for letter, author in letters.items()}
    return [rank for who, order in orders.items() for rank in ranked(who, letters, [named[one] for one in order])]


def test_ones_own_answer_is_left_out_of_the_count() -> None:
    found = all_ranks({"member-1": AUTHORS, "member-2": AUTHORS})
    assert [rank.counted for rank in found[:4]] == [None, 1, 2, 3]
    assert mean_ranks(found) == {"member-1": 1, "member-2": 1, "member-3": 2, "member-4": 3}


def test_agreement_is_kendalls_w() -> None:
    assert agreement(all_ranks(dict.fromkeys(AUTHORS, AUTHORS))) == pytest.approx(1)
    a, b, c, d = AUTHORS
    # The sums of ranks are 3, 3, 6 and 8; the squares of what they lie from 5 add up to 18; W = 12 * 18 / (4 * 60).
    assert agreement(all_ranks({a: (a, b, c, d), b: (b, a, c, d)})) == pytest.approx(0.9)
    assert agreement(all_ranks({a: AUTHORS})) is None


def test_nobody_is_told_whose_an_answer_is(house: Courthouse) -> None:
    for options in (0, 3):
        asked_of = prompts_of(house, "council", case=bridge(options))
        ranking = [one for one in asked_of if isinstance(one.task, RankAnswers)]
        assert len(ranking) == 4
        for one in asked_of:
            assert not any(word in one.text() for word in ("member-", "Member 1"))


def test_the_chairs_groups_are_what_is_voted_on(house: Courthouse) -> None:
    run = drive(house, house.new_run("council", bridge(0), CouncilSetup(), 0))
    groups = ({"answer": "Close it.", "letters": ["K"]}, {"answer": "Leave it open.", "letters": ["N", "M", "L"]})
    before = house.record(run)
    planned = house.interventions.planned(before, [Overrule(path="answers/chair/group", value={"groups": groups})])
    record = house.record(drive(house, house.fork(run, before.setup, interventions=planned)))
    assert record.run.verdict
    assert sorted(record.run.verdict.counts.values()) == [1, 3]
    assert record.run.verdict.outcome in ("Close it.", "Leave it open.")
