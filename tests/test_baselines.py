"""Baselines decide without a model, or with one; and a council ranks answers whose authors are unseen."""

from typing import Any

import pytest

from courtroom.courthouse import Courthouse
from courtroom.engine.interventions import Overrule
from courtroom.procedures.council.ranks import LETTERS, Rank, agreement, mean_ranks, ranked
from courtroom.procedures.council.tasks import RankAnswers
from tests.asked import asked
from tests.driving import drive, hearing
from tests.driving import house as house  # a fixture
from tests.test_questions import bridge


def test_the_votes_on_the_nearest_precedents_decide_and_no_model_is_asked(house: Courthouse) -> None:
    record = hearing(house, "cyberjurors", "phone-battery", variant="nearest-precedents", precedents=3)
    (found,) = record.retrievals
    votes = {side: sum(hit.record[f"{side}_votes"] for hit in found.hits) for side in ("buyer", "seller")}
    assert record.run.verdict.counts == votes
    assert record.run.verdict.outcome == max(votes, key=lambda side: votes[side])
    assert (len(found.hits), len(record.calls), record.cost) == (3, 0, 0.0)
    (ballot,) = record.ballots.values()
    assert [vote.choice for vote in ballot.values()] == [record.run.verdict.outcome]


def test_the_nearest_text_or_precedent_gives_label_or_judgment(house: Courthouse) -> None:
    record = hearing(house, "courtroom-llm", "message-feeling", structure="nearest", neighbours=1)
    (hit,) = record.retrievals[0].hits
    assert record.run.verdict.outcome == hit.record["label"]
    assert hit.record["id"].rpartition("/")[2] != record.run.verdict.details["results"][0]["id"]
    assert not record.calls
    record = hearing(house, "jurisagents", "criminal-bus-wallet", variant="nearest-precedents", precedents=1)
    assert not record.calls
    gold = record.retrievals[0].hits[0].record["gold"]
    judgment = record.run.verdict.details["judgment"]
    assert [*gold["charges"], *gold["relevant_articles"]] == judgment["charges"] + judgment["relevant_articles"]
    assert "no model was asked" in record.run.verdict.note


def test_each_speaker_reads_what_the_order_lets_it_read(house: Courthouse) -> None:
    def read(**knobs: Any) -> list[int]:
        return [len(one.task.said) for one in asked(house, "discussion", knobs) if one.task.name == "speak"]

    assert read() == [0, 1, 2, 3, 4, 5]
    assert read(order="simultaneous") == [0, 0, 0, 3, 3, 3]
    assert read(order="summarised") == [0, 0, 0, 0, 0, 0]
    summed = asked(house, "discussion", {"order": "summarised"})
    assert [one.task.name for one in summed] == ["speak"] * 3 + ["sum-up"] + ["speak"] * 3
    assert "# What was said so far, summed up" in summed[-1].text()
    assert "Member of the public said in turn 1 and voted for the" in summed[3].text()


def test_self_consistency_asks_the_same_question_of_each_and_counts(house: Courthouse) -> None:
    (preset,) = (one for one in house.procedures["discussion"].presets if one.title == "Self-consistency")
    (text,) = {one.text() for one in asked(house, "discussion", preset.changes)}  # chance alone tells answers apart
    assert "turn" not in text
    assert "Critic" not in text
    record = hearing(house, "discussion", "oak-table", **preset.changes)
    assert (len(record.calls), sum(record.run.verdict.counts.values())) == (5, 5)
    alone = hearing(house, "discussion", "oak-table", speakers=1, turns=1, order="simultaneous", points_of_view=False)
    assert len(alone.calls) == 1


AUTHORS = ("member-1", "member-2", "member-3", "member-4")


def all_ranks(orders: dict[str, tuple[str, ...]]) -> list[Rank]:
    """Ranks in which each member is shown the answers in the order of their authors."""
    letters = dict(zip(LETTERS, AUTHORS, strict=False))
    named = {author: letter for letter, author in letters.items()}
    return [rank for who, order in orders.items() for rank in ranked(who, letters, [named[one] for one in order])]


def test_ones_own_answer_does_not_count_and_agreement_is_kendalls() -> None:
    found = all_ranks({"member-1": AUTHORS, "member-2": AUTHORS})
    assert [rank.counted for rank in found[:4]] == [None, 1, 2, 3]
    assert mean_ranks(found) == {"member-1": 1, "member-2": 1, "member-3": 2, "member-4": 3}
    # And agreement is Kendall's W.
    assert agreement(all_ranks(dict.fromkeys(AUTHORS, AUTHORS))) == pytest.approx(1)
    a, b, c, d = AUTHORS
    # The sums of ranks are 3, 3, 6 and 8; the squares of what they lie from 5 add up to 18; W = 12 * 18 / (4 * 60).
    assert agreement(all_ranks({a: (a, b, c, d), b: (b, a, c, d)})) == pytest.approx(0.9)
    assert agreement(all_ranks({a: AUTHORS})) is None


def test_nobody_is_told_whose_an_answer_is(house: Courthouse) -> None:
    for options in (0, 3):
        asked_of = asked(house, "council", case=bridge(options))
        ranking = [one for one in asked_of if isinstance(one.task, RankAnswers)]
        assert len(ranking) == 4
        for one in asked_of:
            assert not any(word in one.text() for word in ("member-", "Member 1"))


def test_the_chairs_groups_are_what_is_voted_on(house: Courthouse) -> None:
    groups = ({"answer": "Close it.", "letters": ["K"]}, {"answer": "Leave it open.", "letters": ["N", "M", "L"]})
    before = hearing(house, "council", bridge(0))
    planned = house.interventions.planned(before, [Overrule(path="answers/chair/group", value={"groups": groups})])
    record = house.record(drive(house, house.fork(before.run.id, before.setup, interventions=planned)))
    assert record.run.verdict
    assert sorted(record.run.verdict.counts.values()) == [1, 3]
    assert record.run.verdict.outcome in ("Close it.", "Leave it open.")
