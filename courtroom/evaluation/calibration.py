"""Are members as sure as they are right? Confidence against outcomes that are known."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import fmean
from typing import TYPE_CHECKING

from courtroom.cases.case import Case
from courtroom.models.beside import HIGHEST_CONFIDENCE

if TYPE_CHECKING:
    import pandas as pd

BINS = 10
Forecast = tuple[float, bool]
"""A probability that was given to an outcome, and whether it came true."""


def bin_of(share: float) -> int:
    """In which bin a share lies: the first is [0, 1 / BINS], each other one open below and closed above."""
    return next((number for number in range(BINS) if share <= (number + 1) / BINS), BINS - 1)


def forecasts(case: Case, votes: Iterable[tuple[str | None, int | None]]) -> tuple[Forecast, ...]:
    """Return what members' confidence says of their own votes; empty where what is right is not known.

    A confidence of 0 means that it could as well be otherwise, which is 1 / k with k choices, and 100 is certain.
    `votes`: each member's choice and confidence."""
    if case.right is None:
        return ()
    right, choices = case.right
    return tuple(
        (1 / choices + (1 - 1 / choices) * confidence / HIGHEST_CONFIDENCE, choice == right)
        for choice, confidence in votes
        if choice is not None and confidence is not None
    )


def brier(given: Sequence[Forecast]) -> float:
    """Return the mean squared distance between probability and what came true, 0 to 1; there must be one."""
    return fmean((probability - is_right) ** 2 for probability, is_right in given)


def reliability(given: Iterable[Forecast]) -> pd.DataFrame:
    """Return the forecasts in bins a tenth wide, from the least sure, with their mean, the share that came true and their
    number; empty bins are left out."""
    import pandas as pd  # slow to import

    frame = pd.DataFrame(given, columns=["probability", "right"], dtype=float)
    by_bin = frame.groupby(frame["probability"].map(bin_of))
    return by_bin.agg(probability=("probability", "mean"), right=("right", "mean"), n=("right", "size"))
