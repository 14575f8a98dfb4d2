"""Measures of terms of penalty and of amounts."""

from __future__ import annotations

import math
from collections.abc import Sequence

from courtroom.judgment import Term

FARTHEST = math.log(216)
"""LawBench's normaliser."""
CLASSES = (
    "no imprisonment",
    "up to 6 months",
    "over 6 to 9 months",
    "over 9 to 12 months",
    "over 1 to 2 years",
    "over 2 to 3 years",
    "over 3 to 5 years",
    "over 5 to 7 years",
    "over 7 to 10 years",
    "over 10 years",
    "life or death",
)
"""The eleven classes (VERDICT, section 3.1), as the literature on CAIL-small draws them (Zhong et al. 2018, Xu et al. 2020)."""
_BORDERS = (0, 6, 9, 12, 24, 36, 60, 84, 120)


def term_class(term: Term) -> int:
    """Which of the eleven classes a term falls into, 0 to 10; a border belongs to the class below it."""
    if term.death_penalty or term.life_imprisonment:
        return 10
    return next((number for number, most in enumerate(_BORDERS) if term.imprisonment <= most), 9)


def log_distance(predicted: int, gold: int) -> float:
    """|ln(gold + 1) - ln(predicted + 1)| of two terms in months (LawBench, tasks 3-4 and 3-5).

    Raises:
        ValueError: a term is negative.
    """
    if predicted < 0 or gold < 0:
        raise ValueError("a term can't be negative")
    return abs(math.log(gold + 1) - math.log(predicted + 1))


def normalised_log_distance(predicted: Sequence[int | None], gold: Sequence[Term]) -> float:
    """1 - mean distance / ln 216: 1 is right to the month, lower is farther off, and very far is below 0.

    As LawBench scores the tasks 3-4 and 3-5 (`ljp_imprison`): cases whose real term is life or death are left out, and
    one without a prediction counts with the distance ln 216.

    Args:
        predicted: months; None where nothing was predicted.

    Raises:
        ValueError: the two differ in length, or no case has a real term in months.
    """
    if len(predicted) != len(gold):
        raise ValueError(f"{len(predicted)} predictions for {len(gold)} cases")
    distances = [
        FARTHEST if mine is None else log_distance(mine, real.imprisonment)
        for mine, real in zip(predicted, gold, strict=True)
        if not (real.life_imprisonment or real.death_penalty)
    ]
    if not distances:
        raise ValueError("no case has a real term in months")
    return 1 - sum(distances) / len(distances) / FARTHEST


def amount_accuracy(predicted: Sequence[float | None], gold: Sequence[float], tolerance: float = 0.01) -> float:
    """Share of crime amounts that are met to the fen (LawBench, task 3-7), 0 to 1.

    Args:
        predicted: yuan; None where nothing was predicted.
        tolerance: yuan by which a prediction may be off.

    Raises:
        ValueError: the two differ in length, or are empty.
    """
    if len(predicted) != len(gold) or not gold:
        raise ValueError(f"{len(predicted)} predictions for {len(gold)} amounts")
    met = (mine is not None and abs(mine - real) <= tolerance for mine, real in zip(predicted, gold, strict=True))
    return sum(met) / len(gold)
