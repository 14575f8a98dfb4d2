"""How large a difference is, and how many cases it would take to show it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean, stdev

from courtroom.evaluation.significance import crossed

ALPHA, POWER = 0.05, 0.8
MOST = 1_000_000


def cohens_d(a: Sequence[float], b: Sequence[float]) -> float | None:
    """Mean difference by the differences' standard deviation (Cohen 1988, d of paired values); None where they do not vary."""
    differences = [mine - other for mine, other in zip(a, b, strict=True)]
    spread = stdev(differences) if len(differences) > 1 else 0.0
    return fmean(differences) / spread if spread else None


def cohens_g(a: Sequence[bool], b: Sequence[bool]) -> float | None:
    """Of the cases where one alone is right, the first's share less a half (Cohen 1988); None where there is none."""
    _, first, second, _ = crossed(a, b)
    return first / (first + second) - 0.5 if first + second else None


def odds_ratio(a: Sequence[bool], b: Sequence[bool]) -> float | None:
    """Cases that the first alone has right by those that the second alone has right; None where the second has none."""
    _, first, second, _ = crossed(a, b)
    return first / second if second else None


def cases_needed(a: Sequence[float], b: Sequence[float], alpha: float = ALPHA, power: float = POWER) -> int | None:
    """Cases at which a paired t test would show a difference of this size with this power; None where there is none.

    By statsmodels' power of the t test, two-sided, on Cohen's d of the pairs.
    """
    from statsmodels.stats.power import TTestPower

    size = cohens_d(a, b)
    if not size or abs(size) < 2.8 / math.sqrt(MOST):
        return None
    if abs(size) > 3:
        return 3  # a handful: the solver finds no root there
    found = TTestPower().solve_power(effect_size=abs(size), alpha=alpha, power=power, alternative="two-sided")
    return math.ceil(float(found))


def cases_needed_mcnemar(
    a: Sequence[bool], b: Sequence[bool], alpha: float = ALPHA, power: float = POWER
) -> int | None:
    """Cases at which McNemar's test would show this difference with this power (Connor 1987); None where there is none."""
    from scipy.stats import norm

    _, first, second, _ = crossed(a, b)
    cases = len(a)
    differing, gap = (first + second) / cases, abs(first - second) / cases
    if not gap:
        return None
    wanted = norm.ppf(1 - alpha / 2) * math.sqrt(differing) + norm.ppf(power) * math.sqrt(differing - gap**2)
    return math.ceil((float(wanted) / gap) ** 2)
