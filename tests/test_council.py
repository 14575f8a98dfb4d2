"""A council: answers apart, ranks of unseen authors, a chair; agreement and biases are measured."""

import random
from dataclasses import replace
from itertools import permutations

import pytest
from pydantic import ValidationError

from courtroom.cases.ask import asked_with
from courtroom.courthouse import Courthouse
from courtroom.declarations.blocks import Table, Text
from courtroom.engine.events import Called
from courtroom.engine.interventions import Overrule
from courtroom.language import speaking
from courtroom.procedures.council.procedure import COUNCIL, CouncilSetup
from courtroom.procedures.council.ranks import (
    LETTERS,
    Rank,
    agreement,
    correlation,
    dealt,
    mean_ranks,
    own_advantage,
    ranked,
)
from courtroom.procedures.council.tasks import GroupAnswers, RankAnswers
from courtroom.procedures.council.views import given
from courtroom.report import as_html
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
    assert [(rank.author, rank.counted) for rank in found[:4]] == [
        ("member-1", None),
        ("member-2", 1),
        ("member-3", 2),
        ("member-4", 3),
    ]
    assert mean_ranks(found) == {"member-1": 1, "member-2": 1, "member-3": 2, "member-4": 3}


def test_agreement_is_kendalls_w() -> None:
    assert agreement(all_ranks(dict.fromkeys(AUTHORS, AUTHORS))) == pytest.approx(1)
    a, b, c, d = AUTHORS
    # The sums of ranks are 3, 3, 6 and 8; the squares of what they lie from 5 add up to 18; W = 12 * 18 / (4 * 60).
    assert agreement(all_ranks({a: (a, b, c, d), b: (b, a, c, d)})) == pytest.approx(0.9)
    assert agreement(all_ranks({a: AUTHORS})) is None


def test_lots_come_to_the_agreement_that_the_page_names() -> None:
    draw = random.Random(0)
    orders = [*permutations(AUTHORS)]
    values = [agreement(all_ranks({who: draw.choice(orders) for who in AUTHORS})) or 0.0 for _ in range(300)]
    assert sum(values) / len(values) == pytest.approx(1 / len(AUTHORS), abs=0.03)


def test_whoever_ranks_by_place_shows_it() -> None:
    by_place = [
        rank
        for who in AUTHORS
        for letters in [dealt(random.Random(who), AUTHORS)]
        for rank in ranked(who, letters, [*letters])
    ]
    assert correlation(by_place, {rank: -rank.shown for rank in by_place}) > 0.8  # type: ignore[operator]
    assert correlation(by_place, dict.fromkeys(by_place, 1.0)) is None


def test_whoever_puts_its_own_answer_first_shows_it() -> None:
    orders = {who: (who, *(one for one in AUTHORS if one != who)) for who in AUTHORS}
    assert own_advantage(all_ranks(orders)) == pytest.approx(2)
    assert own_advantage([]) is None


def test_nobody_is_told_whose_an_answer_is(house: Courthouse) -> None:
    for options in (0, 3):
        asked_of = prompts_of(house, "council", case=bridge(options))
        ranking = [one for one in asked_of if isinstance(one.task, RankAnswers)]
        assert len(ranking) == 4
        for one in asked_of:
            assert not any(word in one.text() for word in ("member-", "Member 1"))
    orders = [[shown.reasons for shown in one.task.answers] for one in ranking]  # type: ignore[attr-defined]
    assert len({str(order) for order in orders}) > 1


def test_the_view_shows_ranks_agreement_and_biases(house: Courthouse) -> None:
    run = drive(house, house.new_run("council", bridge(3), CouncilSetup(), 0))
    (view,) = COUNCIL.views
    who, told, biases, _ = view.drawn(house.record(run))[""]
    assert isinstance(who, Table)
    assert isinstance(told, Text)
    assert isinstance(biases, Table)
    assert len(who.rows) == 4
    assert all(sum(str(cell).startswith("(") for cell in row) == 1 for row in who.rows)
    assert "Kendall's W is " in told.body
    assert [name for name, _ in biases.rows] == ["Shown earlier", "Long", "One's own (in places)"]


def test_ranks_keep_their_authors_whoever_answers_first(house: Courthouse) -> None:
    run = drive(house, house.new_run("council", bridge(3), CouncilSetup(), 0))
    record = house.record(run)
    answers = [(at, event) for at, event in record.events if isinstance(event, Called) and event.task == "respond"]
    ended = iter(reversed(answers))
    late = replace(record, events=tuple(next(ended) if pair in answers else pair for pair in record.events))
    assert [call.member for call in late.calls] != [call.member for call in record.calls]
    assert given(late) == given(record)


def test_the_chairs_groups_are_what_is_voted_on(house: Courthouse) -> None:
    run = drive(house, house.new_run("council", bridge(0), CouncilSetup(), 0))
    groups = ({"answer": "Close it.", "letters": ["K"]}, {"answer": "Leave it open.", "letters": ["N", "M", "L"]})
    before = house.record(run)
    planned = house.interventions.planned(before, [Overrule(path="answers/chair/group", value={"groups": groups})])
    record = house.record(drive(house, house.fork(run, before.setup, interventions=planned)))
    assert record.run.verdict
    assert sorted(record.run.verdict.counts.values()) == [1, 3]
    assert record.run.verdict.outcome in ("Close it.", "Leave it open.")


def test_a_letter_left_out_or_named_twice_is_refused(house: Courthouse) -> None:
    (task, *_) = (one.task for one in prompts_of(house, "council", case=bridge(2)) if isinstance(one.task, RankAnswers))
    answer = task.answer(reasons="So.", order=("K", "K", "L", "M"))
    assert task.problem(answer) == "Name each of K, L, M, N once."


def test_the_chair_groups_letters_that_there_are(house: Courthouse) -> None:
    (task,) = (one.task for one in prompts_of(house, "council", case=bridge(0)) if isinstance(one.task, GroupAnswers))
    assert task.form.model_validate({"groups": [{"letters": ["K", "L", "M", "N"], "answer": "Yes."}]})
    for letters in (["Z"], [*"KLMNK"]):
        with pytest.raises(ValidationError):
            task.form.model_validate({"groups": [{"letters": letters, "answer": "Yes."}]})


def test_the_chair_is_told_how_ranks_are_counted(house: Courthouse) -> None:
    said = {one.task.name: one.text() for one in prompts_of(house, "council", {"seats": 5}, bridge(0))}
    assert "the others numbered anew: 1 is the best mean rank, 4 the worst." in said["conclude"]
    assert "Answer K, counted with “A”" in said["conclude"]
    assert '"choice"' not in said["conclude"], "only one answer was proposed"


def test_one_model_at_temperature_0_is_warned_of() -> None:
    cold = {"id": "openai/one", "temperature": 0}
    assert CouncilSetup.model_validate({"model": cold}).warnings()
    assert not CouncilSetup.model_validate({"model": cold, "members": {"member-2": {"id": "openai/two"}}}).warnings()
    assert not CouncilSetup().warnings()


def test_a_council_in_chinese_speaks_chinese(house: Courthouse) -> None:
    case = asked_with("这座老桥应该禁止汽车通行吗？", ("应该", "不应该")).case
    record = house.record(drive(house, house.new_run("council", case, CouncilSetup(), 0)))
    verdict = record.run.verdict
    assert verdict
    assert "平均名次最好" in verdict.summary
    assert "反对的理由：\n" in verdict.summary
    with speaking("zh"):
        report = as_html(record, COUNCIL, house.answers, house.media)
    for text in ("谁如何排名", "平均名次", "肯德尔和谐系数 W 为", "可能的偏差", "显示得早"):
        assert text in report
