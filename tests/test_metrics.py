"""The measures, on values worked out by hand and on real records."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from courtroom.case_files import read_upload
from courtroom.criminal import CriminalCase
from courtroom.evaluation.labels import accuracy, hit_at, macro
from courtroom.evaluation.terms import CLASSES, amount_accuracy, log_distance, normalised_log_distance, term_class
from courtroom.judgment import Term
from tests.real import FOLDER, needs_real_data

PREDICTED = [{264}, {266, 280}, {234}, {293}]
GOLD = [{264}, {266}, {293}, {293}]


def months(number: int) -> Term:
    return Term(imprisonment=number)


def test_accuracy_asks_for_the_whole_set() -> None:
    assert accuracy(PREDICTED, GOLD) == 2 / 4


def test_macro_scores_weigh_every_label_alike() -> None:
    """264: P 1 R 1. 266: P 1 R 1. 280: P 0 R 0. 234: P 0 R 0. 293: P 1 R 1/2."""
    scores = macro(PREDICTED, GOLD)
    assert scores.precision == pytest.approx((1 + 1 + 0 + 0 + 1) / 5)
    assert scores.recall == pytest.approx((1 + 1 + 0 + 0 + 1 / 2) / 5)
    assert scores.f1 == pytest.approx((1 + 1 + 0 + 0 + 2 / 3) / 5)


def test_hit_at_2_looks_at_the_first_two() -> None:
    ranked = [["a", "b", "c"], ["b", "c", "a"], []]
    assert hit_at(1, ranked, [{"a"}] * 3) == pytest.approx(1 / 3)
    assert hit_at(2, ranked, [{"a"}] * 3) == pytest.approx(1 / 3)
    assert hit_at(3, ranked, [{"a"}] * 3) == pytest.approx(2 / 3)


def test_the_log_distance_is_that_of_lawbench() -> None:
    assert log_distance(5, 11) == pytest.approx(math.log(2))
    assert log_distance(0, 0) == 0
    close, far = [11, 11], [11, 23]
    assert normalised_log_distance(close, [months(11), months(11)]) == 1
    assert normalised_log_distance(far, [months(11), months(11)]) == pytest.approx(1 - math.log(2) / 2 / math.log(216))
    assert normalised_log_distance([None], [months(11)]) == pytest.approx(0)
    life = Term(life_imprisonment=True)
    assert normalised_log_distance([11, None], [months(11), life]) == 1  # a life sentence is left out


@pytest.mark.parametrize(
    ("term", "expected"),
    [
        (months(0), 0), (months(1), 1), (months(6), 1), (months(7), 2), (months(9), 2), (months(12), 3), (months(13), 4),
        (months(24), 4), (months(36), 5), (months(60), 6), (months(84), 7), (months(120), 8), (months(121), 9),
        (Term(life_imprisonment=True), 10), (Term(death_penalty=True), 10),
    ],
)  # fmt: skip
def test_there_are_eleven_classes_of_terms(term: Term, expected: int) -> None:
    assert len(CLASSES) == 11
    assert term_class(term) == expected


def test_an_amount_must_be_met_to_the_fen() -> None:
    assert amount_accuracy([8500.0, 100.0, None], [8500.0, 100.5, 3.0]) == pytest.approx(1 / 3)


def test_nothing_to_measure_is_told() -> None:
    for measure in (accuracy, macro):
        with pytest.raises(ValueError, match="nothing to measure"):
            measure([], [])
        with pytest.raises(ValueError, match="1 predictions for 2 cases"):
            measure([{1}], [{1}, {2}])
    with pytest.raises(ValueError, match="no case has a real term in months"):
        normalised_log_distance([3], [Term(death_penalty=True)])


sets = st.lists(st.frozensets(st.integers(1, 9), max_size=4), min_size=1, max_size=12)


@given(sets)
def test_a_perfect_prediction_scores_1(gold: list[frozenset[int]]) -> None:
    assert accuracy(gold, gold) == 1
    if any(gold):
        assert macro(gold, gold).f1 == pytest.approx(1)


@given(st.integers(0, 300), st.integers(0, 300), st.integers(0, 300))
def test_the_log_distance_is_a_distance(a: int, b: int, c: int) -> None:
    assert log_distance(a, b) == log_distance(b, a)
    assert log_distance(a, c) <= log_distance(a, b) + log_distance(b, c) + 1e-9


@needs_real_data
def test_the_measures_hold_on_real_records() -> None:
    path = FOLDER / "cail_like.jsonl"
    cases = [package.case for package in read_upload(path.name, path)]
    golds = [case.gold for case in cases if isinstance(case, CriminalCase) and case.gold]
    charges = [set(gold.charges or ()) for gold in golds]
    terms = [gold.term_of_imprisonment or Term() for gold in golds]
    assert (len(golds), accuracy(charges, charges), macro(charges, charges).f1) == (199, 1, 1)
    assert normalised_log_distance([term.imprisonment for term in terms], terms) == 1
    always_a_year = normalised_log_distance([12] * len(terms), terms)
    assert 0.7 < always_a_year < 0.95
    commonest = hit_at(2, [["盗窃", "故意伤害"]] * len(charges), charges)
    assert commonest == sum(bool({"盗窃", "故意伤害"} & mine) for mine in charges) / 199
    assert {term_class(term) for term in terms} >= {1, 3, 4, 5, 6, 10}
