"""Measures of terms of penalty and of amounts."""

from __future__ import annotations

import math
from collections.abc import Sequence

from courtroom.evaluation.labels import paired
from courtroom.law.judgment import Term

FARTHEST = math.log(216)
"""LawBench's distance of a case without a prediction, and its normaliser."""
CLASSES = (
    "life or death",
    "over 10 years",
    "over 7 to 10 years",
    "over 5 to 7 years",
    "over 3 to 5 years",
    "over 2 to 3 years",
    "over 1 to 2 years",
    "over 9 to 12 months",
    "over 6 to 9 months",
    "up to 6 months",
    "no imprisonment",
)
"""The eleven classes (VERDICT, section 3.1) by number."""
_ABOVE = (120, 84, 60, 36, 24, 12, 9, 6, 0)
"""Months that a term of class 1, 2 ... 9 exceeds."""


def term_class(term: Term) -> int:
    """Which of the eleven classes a term falls into, 0 to 10.

    As LADAN (Xu et al. 2020) cuts CAIL-small, by its published preparation of the data: 0 death or life; in months
    1: 121 and more, 2: 85-120, 3: 61-84, 4: 37-60, 5: 25-36, 6: 13-24, 7: 10-12, 8: 7-9, 9: 1-6, 10: 0.
    """
    if term.death_penalty or term.life_imprisonment:
        return 0
    return next((number for number, months in enumerate(_ABOVE, start=1) if term.imprisonment > months), 10)


def log_distance(predicted: Sequence[Term | None], gold: Sequence[Term]) -> float:
    """Mean of |ln(gold + 1) - ln(predicted + 1)| in months; 0 is right to the month.

    As LawBench's own script scores the tasks 3-4 and 3-5 (`compute_ljp_imprison`): cases whose real term is life or
    death are left out; a prediction without months, which is none, life or death, has the distance ln 216.

    Raises:
        ValueError: the two differ in length, or no case has a real term in months.
    """
    paired(predicted, gold)
    distances = [_distance(mine, real) for mine, real in zip(predicted, gold, strict=True) if _in_months(real)]
    if not distances:
        raise ValueError("no case has a real term in months")
    return sum(distances) / len(distances)


def normalised_log_distance(predicted: Sequence[Term | None], gold: Sequence[Term]) -> float:
    """1 - `log_distance` / ln 216: 1 is right to the month, lower is farther off (JurisAgents, section 4.1).

    As LawBench's script normalises the distance. It falls below 0 where predictions are farther off than none at all, e.g.
    300 months where the real term is none.

    Raises:
        ValueError: as `log_distance`.
    """
    return 1 - log_distance(predicted, gold) / FARTHEST


def amount_accuracy(predicted: Sequence[float | None], gold: Sequence[float], tolerance: float = 0.005) -> float:
    """Share of crime amounts that are met to the fen (LawBench, task 3-7), 0 to 1; None, no answer, is wrong.

    Args:
        predicted: yuan, as is the gold.
        tolerance: yuan by which a prediction may be off; half a fen, for sums of floats.

    Raises:
        ValueError: the two differ in length, or are empty.
    """
    paired(predicted, gold)
    met = (mine is not None and abs(mine - real) <= tolerance for mine, real in zip(predicted, gold, strict=True))
    return sum(met) / len(gold)


def _distance(predicted: Term | None, gold: Term) -> float:
    if predicted is None or not _in_months(predicted):
        return FARTHEST
    return abs(math.log(gold.imprisonment + 1) - math.log(predicted.imprisonment + 1))


def _in_months(term: Term) -> bool:
    return not (term.death_penalty or term.life_imprisonment)
