"""Terms of imprisonment: their classes, and how far a predicted term is from the real one."""

import math
from itertools import pairwise

import pytest

from courtroom.evaluation.lawbench import term_score
from courtroom.law import LONGEST, Term, term_class

LIFE, DEATH = Term(life_imprisonment=True), Term(death_penalty=True)


def months(number: int) -> Term:
    return Term(imprisonment=number)


@pytest.mark.parametrize(
    ("predicted", "real", "distance"),
    [
        (11, 11, 0.0),
        (5, 11, math.log(2)),
        (23, 11, math.log(2)),
        (None, 11, math.log(216)),
        (0, LONGEST, math.log(301)),
    ],
)
def test_the_log_distance_is_that_of_lawbench(predicted: int | None, real: int, distance: float) -> None:
    """ln(12 / 6) = ln(24 / 12) = ln 2; without a prediction ln 216, and farther off than that is below 0."""
    assert term_score(predicted, months(real)) == pytest.approx(1 - distance / math.log(216))


def test_life_and_death_have_no_log_distance() -> None:
    assert term_score(11, LIFE) is None
    assert term_score(None, DEATH) is None


@pytest.mark.parametrize(
    ("term", "expected"),
    [
        (DEATH, 0), (LIFE, 0), (months(300), 1), (months(121), 1), (months(120), 2), (months(85), 2), (months(84), 3),
        (months(61), 3), (months(60), 4), (months(37), 4), (months(36), 5), (months(25), 5), (months(24), 6), (months(13), 6),
        (months(12), 7), (months(10), 7), (months(9), 8), (months(7), 8), (months(6), 9), (months(1), 9), (months(0), 10),
    ],
)  # fmt: skip
def test_there_are_eleven_classes_of_terms(term: Term, expected: int) -> None:
    assert term_class(term) == expected


def test_a_longer_term_is_never_in_a_lighter_class() -> None:
    classes = [term_class(months(number)) for number in range(LONGEST + 1)]
    assert all(longer <= shorter for shorter, longer in pairwise(classes))
    assert set(classes) == set(range(1, 11))
