"""The measures, on values worked out by hand and on real records."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from courtroom.cases.criminal import CriminalCase, Gold
from courtroom.cases.files import read_upload
from courtroom.evaluation import (
    CLASSES,
    accuracy,
    amount_accuracy,
    choice_accuracy,
    hit_at,
    log_distance,
    macro_scores,
    normalised_log_distance,
    term_class,
)
from courtroom.law.judgment import LONGEST, Term
from tests.real import FOLDER, needs_real_data

PREDICTED = [{264}, {266, 280}, {234}, {293}]
GOLD = [{264}, {266}, {293}, {293}]
LIFE, DEATH = Term(life_imprisonment=True), Term(death_penalty=True)


def months(number: int) -> Term:
    return Term(imprisonment=number)


def test_accuracy_asks_for_the_whole_set() -> None:
    assert accuracy(PREDICTED, GOLD) == 2 / 4
    assert accuracy([["b", "a", "a"]], [("a", "b")]) == 1
    assert accuracy([{264}], [{"264"}]) == 0


def test_a_plain_text_is_one_label_and_no_set_of_characters() -> None:
    assert accuracy(["12", "12"], ["21", "12"]) == 1 / 2
    assert accuracy(["12"], [{"12"}]) == 1
    assert macro_scores(["12", "21"], ["21", "12"]).f1 == 0
    assert macro_scores(["12"], ["12"]).f1 == 1
    assert hit_at(1, ["12"], ["21"]) == 0
    assert hit_at(1, ["12"], ["12"]) == 1


def test_macro_scores_weigh_every_label_alike() -> None:
    """264: P 1 R 1. 266: P 1 R 1. 280: P 0 R 0. 234: P 0 R 0. 293: P 1 R 1/2."""
    scores = macro_scores(PREDICTED, GOLD)
    assert scores.precision == pytest.approx((1 + 1 + 0 + 0 + 1) / 5)
    assert scores.recall == pytest.approx((1 + 1 + 0 + 0 + 1 / 2) / 5)
    assert scores.f1 == pytest.approx((1 + 1 + 0 + 0 + 2 / 3) / 5)


def test_macro_scores_of_a_single_label_are_those_of_this_label() -> None:
    scores = macro_scores([{"盗窃"}, set()], [{"盗窃"}, {"盗窃"}])
    assert (scores.precision, scores.recall, scores.f1) == pytest.approx((1, 1 / 2, 2 / 3))


def test_macro_scores_without_a_label_are_0() -> None:
    scores = macro_scores([set(), set()], [set(), set()])
    assert (scores.precision, scores.recall, scores.f1) == (0, 0, 0)
    assert macro_scores([set()], [{264}]).f1 == 0


def test_hit_at_2_looks_at_the_first_two() -> None:
    ranked = [["a", "b", "c"], ["b", "c", "a"], []]
    assert hit_at(1, ranked, [{"a"}] * 3) == pytest.approx(1 / 3)
    assert hit_at(2, ranked, [{"a"}] * 3) == pytest.approx(1 / 3)
    assert hit_at(3, ranked, [{"a"}] * 3) == pytest.approx(2 / 3)
    assert hit_at(2, [["a", "b"]], [{"b", "z"}]) == 1
    with pytest.raises(ValueError, match="at least 1"):
        hit_at(0, ranked, [{"a"}] * 3)


def test_the_log_distance_is_that_of_lawbench() -> None:
    """ln(12 / 6) = ln 2 and ln(24 / 12) = ln 2; nothing predicted is ln 216."""
    assert log_distance([months(5)], [months(11)]) == pytest.approx(math.log(2))
    assert log_distance([months(5), months(23)], [months(11), months(11)]) == pytest.approx(math.log(2))
    assert log_distance([months(0), months(5)], [months(0), months(11)]) == pytest.approx(math.log(2) / 2)
    assert log_distance([None], [months(11)]) == pytest.approx(math.log(216))


def test_life_and_death_have_no_log_distance() -> None:
    assert log_distance([months(11), None, months(3)], [months(11), LIFE, DEATH]) == 0
    assert log_distance([LIFE, DEATH], [months(11), months(0)]) == pytest.approx(math.log(216))
    with pytest.raises(ValueError, match="no case has a real term in months"):
        log_distance([months(3)], [DEATH])


def test_the_normalised_log_distance_is_1_at_best_and_0_without_a_prediction() -> None:
    assert normalised_log_distance([months(11)], [months(11)]) == 1
    far = normalised_log_distance([months(11), months(23)], [months(11), months(11)])
    assert far == pytest.approx(1 - math.log(2) / 2 / math.log(216))
    assert normalised_log_distance([None], [months(11)]) == 0
    assert log_distance([months(0)], [months(LONGEST)]) > math.log(216)
    below = normalised_log_distance([months(0)], [months(LONGEST)])
    assert below == pytest.approx(1 - math.log(301) / math.log(216))
    assert below < 0, "farther off than no prediction at all"


@pytest.mark.parametrize(
    ("term", "expected"),
    [
        (DEATH, 0), (LIFE, 0), (months(300), 1), (months(121), 1), (months(120), 2), (months(85), 2), (months(84), 3),
        (months(61), 3), (months(60), 4), (months(37), 4), (months(36), 5), (months(25), 5), (months(24), 6), (months(13), 6),
        (months(12), 7), (months(10), 7), (months(9), 8), (months(7), 8), (months(6), 9), (months(1), 9), (months(0), 10),
    ],
)  # fmt: skip
def test_there_are_eleven_classes_of_terms(term: Term, expected: int) -> None:
    assert len(CLASSES) == 11
    assert term_class(term) == expected


def test_a_longer_term_is_never_in_a_lighter_class() -> None:
    classes = [term_class(months(number)) for number in range(LONGEST + 1)]
    assert all(longer <= shorter for shorter, longer in pairwise(classes))
    assert set(classes) == set(range(1, 11))


def test_an_amount_must_be_met_to_the_fen() -> None:
    assert amount_accuracy([8500.0, 100.0, 99.99, None], [8500.0, 100.5, 100.0, 3.0]) == 1 / 4
    assert amount_accuracy([0.1 + 0.2], [0.3]) == 1
    assert amount_accuracy([99.0], [100.0], tolerance=1) == 1


def test_a_choice_is_right_or_wrong() -> None:
    assert choice_accuracy(["A", "B", None, "D"], ["A", "C", "C", "D"]) == 2 / 4


def test_nothing_to_measure_is_told() -> None:
    for labels in (accuracy, macro_scores):
        with pytest.raises(ValueError, match="nothing to measure"):
            labels([], [])
        with pytest.raises(ValueError, match="1 predictions for 2 cases"):
            labels([{1}], [{1}, {2}])
    for terms in (log_distance, normalised_log_distance):
        with pytest.raises(ValueError, match="nothing to measure"):
            terms([], [])
        with pytest.raises(ValueError, match="2 predictions for 1 cases"):
            terms([None, None], [months(1)])
    with pytest.raises(ValueError, match="nothing to measure"):
        choice_accuracy([], [])
    with pytest.raises(ValueError, match="0 predictions for 1 cases"):
        amount_accuracy([], [1.0])


label_sets = st.frozensets(st.integers(1, 9), max_size=4)
pairs = st.lists(st.tuples(label_sets, label_sets), min_size=1, max_size=12)
terms = st.integers(0, LONGEST).map(months)


@given(st.lists(label_sets, min_size=1, max_size=12).filter(any))
def test_a_perfect_prediction_scores_1(gold: list[frozenset[int]]) -> None:
    scores = macro_scores(gold, gold)
    assert accuracy(gold, gold) == 1
    assert (scores.precision, scores.recall, scores.f1) == pytest.approx((1, 1, 1))


@given(pairs)
def test_macro_scores_are_the_means_of_what_is_counted_label_by_label(
    cases: list[tuple[frozenset[int], frozenset[int]]],
) -> None:
    predicted, gold = [mine for mine, _ in cases], [real for _, real in cases]
    counted = []
    for label in frozenset[int]().union(*predicted, *gold):
        both = sum(label in mine and label in real for mine, real in cases)
        mine, real = sum(label in labels for labels in predicted), sum(label in labels for labels in gold)
        counted.append((both / mine if mine else 0, both / real if real else 0, 2 * both / (mine + real)))
    means = [sum(column) / len(counted) for column in zip(*counted, strict=True)] if counted else [0, 0, 0]
    scores = macro_scores(predicted, gold)
    assert (scores.precision, scores.recall, scores.f1) == pytest.approx(tuple(means))


@given(pairs, st.integers(1, 8))
def test_more_places_never_hit_less(cases: list[tuple[frozenset[int], frozenset[int]]], k: int) -> None:
    ranked, gold = [sorted(mine) for mine, _ in cases], [real for _, real in cases]
    assert 0 <= hit_at(k, ranked, gold) <= hit_at(k + 1, ranked, gold) <= 1


@given(terms, terms, terms)
def test_the_log_distance_is_a_distance(a: Term, b: Term, c: Term) -> None:
    assert log_distance([a], [b]) == log_distance([b], [a])
    assert log_distance([a], [c]) <= log_distance([a], [b]) + log_distance([b], [c]) + 1e-9
    assert normalised_log_distance([a], [b]) <= 1


def real(name: str) -> list[Gold]:
    path = FOLDER / name
    cases = [package.case for package in read_upload(path.name, path)]
    return [case.gold for case in cases if isinstance(case, CriminalCase) and case.gold]


@needs_real_data
def test_the_measures_hold_on_real_judgments() -> None:
    golds = real("cail_like.jsonl")
    charges = [set(gold.charges or ()) for gold in golds]
    terms = [gold.term_of_imprisonment or Term() for gold in golds]
    assert (len(golds), accuracy(charges, charges), macro_scores(charges, charges).f1) == (199, 1, 1)
    assert normalised_log_distance(terms, terms) == 1
    in_months = [term.imprisonment for term in terms if not term.life_imprisonment]
    assert len(in_months) == 197
    a_year = sum(abs(math.log((number + 1) / 13)) for number in in_months) / 197
    assert log_distance([months(12)] * 199, terms) == pytest.approx(a_year)
    commonest = [["盗窃", "故意伤害"]] * 199
    assert hit_at(2, commonest, charges) == sum(bool({"盗窃", "故意伤害"} & mine) for mine in charges) / 199
    assert sum(term_class(term) == 0 for term in terms) == 2
    assert sum(term_class(term) == 10 for term in terms) == 10


@needs_real_data
def test_the_measures_hold_on_real_questions() -> None:
    choices = [gold.choice or "" for gold in real("lawbench/3-6.jsonl")]
    assert choice_accuracy(choices, choices) == 1
    assert choice_accuracy(["D"] * 200, choices) == 64 / 200
    amounts = [gold.amount or 0 for gold in real("lawbench/3-7.jsonl")]
    assert amount_accuracy(amounts, amounts) == 1
    assert amount_accuracy([None, *amounts[1:]], amounts) == 187 / 188
