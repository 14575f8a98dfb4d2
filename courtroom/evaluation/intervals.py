"""95 % intervals of measures over cases. How often they hold the truth, at which n, is simulated in docs/figures.md.

A measure within bounds, as every share is, has the exact interval of a share at the number of cases that its spread
comes to. A mean without bounds has the studentised bootstrap's, from `FEWEST` cases on. What has no interval that keeps
its promise has none.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Self

import numpy as np
from numpy.typing import NDArray

Sums = NDArray[np.float64]
"""Shape (cases, parts): what each case adds to each part of a measure. Or (draws, parts): their sums."""
Finish = Callable[[Sums], NDArray[np.float64]]
"""From sums, shape (draws, parts), to the measure's values, shape (draws,)."""
MISS_RATE = 0.05
FEWEST = 20
"""Cases from which on a mean without bounds has an interval: below, a skewed one's misses the truth too often."""
TOGETHER = 4_000_000
"""Cases times draws that are worked out together: bounds the memory that many cases take, to some 30 MB."""
Bounds = tuple[float, float]


@dataclass(frozen=True)
class Interval:
    """A value with its 95 % interval; the ends are not a number where there is none."""

    value: float
    low: float = math.nan
    high: float = math.nan

    @property
    def known(self) -> bool:
        return not math.isnan(self.low)

    def named(self, title: str) -> dict[str, str | float]:
        """Return it as a row of a table has it; the ends are empty where there is none."""
        low, high = (self.low, self.high) if self.known else ("", "")
        return {title: self.value, "from": low, "to": high}


@dataclass(frozen=True)
class CaseSums:
    """What each case adds to a measure under one arm, its repeats together."""

    sums: Sums
    cells: NDArray[np.float64]
    """How many repeats each case has, shape (cases,)."""
    binary: bool
    """Whether the measure is a mean, and each repeat is right or wrong."""
    finish: Finish
    """How the measure is worked out of sums of these."""
    cases: tuple[str, ...] = ()
    """Their ids, where they have any."""

    def only(self, cases: Sequence[str]) -> Self:
        """Return what these of its cases add, in this order."""
        places = [*map({case: place for place, case in enumerate(self.cases)}.__getitem__, cases)]
        return replace(self, sums=self.sums[places], cells=self.cells[places], cases=tuple(cases))


def of_share(hits: float, trials: float) -> Interval:
    """A share with its exact interval (Clopper and Pearson 1934); hits and trials need not be whole numbers."""
    from scipy.special import betaincinv

    missed = trials - hits
    low = float(betaincinv(hits, missed + 1, MISS_RATE / 2)) if hits > 0 else 0.0
    high = float(betaincinv(hits + 1, missed, 1 - MISS_RATE / 2)) if missed > 0 else 1.0
    return Interval(hits / trials, low, high)


def of_measure(given: CaseSums, bounds: Bounds | None, ratio: bool) -> Interval:
    """A measure of one arm with its interval over cases.

    Args:
        given: cases for which the measure has a value, at least one.
        bounds: the least and greatest value that the measure can have; None where it has none.
        ratio: whether its two parts are the sums of a ratio that `finish` grows with, as a mean is.
    """
    finish = given.finish
    value = float(finish(given.sums.sum(axis=0, keepdims=True))[0])
    cases = len(given.sums)
    if value != value:
        return Interval(value)
    if bounds is None:
        return _studentised(given.sums, finish, value) if ratio and cases >= FEWEST else Interval(value)
    low, high = bounds
    share = min(1.0, max(0.0, (value - low) / (high - low)))
    weights = given.sums[:, 1] if ratio else given.cells
    fewest = float(weights.sum() ** 2 / (weights**2).sum()) if ratio else 0.0
    most = float(given.cells.sum()) if given.binary else math.inf if ratio else float(cases)
    spread = deviations(given.sums, finish) / (high - low)
    trials = effective(share * (1 - share), spread, fewest, most)
    found = of_share(min(trials, share * trials), trials)
    return Interval(value, low + found.low * (high - low), low + found.high * (high - low))


def of_difference(a: CaseSums, b: CaseSums, bounds: Bounds | None, ratio: bool, plain: bool = True) -> Interval:
    """One arm's value less another's on the same cases, with its interval.

    Of a measure within bounds it is the score interval of a difference of paired shares (Tango 1998) at the effective
    number of cases.

    Args:
        a: the first arm's sums, divided by the case's repeats: each case counts once.
        ratio: see `of_measure`.
        plain: whether the ratio is a mean, so that the difference is the mean of the cases' differences.
    """
    finish = a.finish
    value = float(np.diff(finish(np.stack([b.sums.sum(axis=0), a.sums.sum(axis=0)])))[0])
    cases = len(a.sums)
    if bounds is None:
        if not (ratio and plain and cases >= FEWEST):
            return Interval(value)
        gaps = np.column_stack([a.sums[:, 0] - b.sums[:, 0], np.ones(cases)])
        return _studentised(gaps, lambda sums: sums[:, 0] / sums[:, 1], value)
    width = bounds[1] - bounds[0]
    least, far = value / width, (deviations(a.sums, finish) - deviations(b.sums, finish)) / width
    apart = min(1.0, max(abs(least), float(np.abs(least + far).mean())))
    most = float(np.minimum(a.cells, b.cells).sum()) if a.binary and b.binary else math.inf if ratio else float(cases)
    trials = effective(apart - least**2, far, float(cases) if ratio else 0.0, most)
    low, high = _tango(trials * (apart + least) / 2, trials * (apart - least) / 2, trials)
    return Interval(value, low * width, high * width)


def deviations(sums: Sums, finish: Finish) -> Sums:
    """Return by how much each case moves a measure (the jackknife; Efron and Tibshirani 1993, chapter 11)."""
    cases = len(sums)
    if cases == 1:
        return np.zeros(1)
    total = sums.sum(axis=0, keepdims=True)
    moved: Sums = (cases - 1) * (finish(total) - finish(total - sums))
    return moved


def effective(of_one: float, moved: Sums, fewest: float, most: float) -> float:
    """How many independent answers, right or wrong, would be as sure as these cases are (Korn and Graubard 1998,
    section 4).

    Args:
        of_one: the variance of one such answer.
        moved: by how much each case moves the measure.
        fewest: where cases are all alike, their spread says nothing, and this many are taken, or the number of cases.
    """
    from scipy.special import ndtri, stdtrit

    cases = len(moved)
    variance = float(np.var(moved, ddof=1)) / cases if cases > 1 else 0.0
    if variance <= 1e-14:
        return fewest or float(cases)
    unsure = float(ndtri(1 - MISS_RATE / 2) / stdtrit(cases - 1, 1 - MISS_RATE / 2)) ** 2
    return max(fewest, min(most, of_one / variance * unsure), 1e-9)


def _tango(first: float, second: float, cases: float) -> tuple[float, float]:
    """Ends of the score interval of a difference of paired shares (Tango 1998, Eq. 9 and 10), by halving. `first`:
    cases where the first alone is right; `second` likewise."""
    from scipy.special import ndtri

    bound = float(ndtri(1 - MISS_RATE / 2))

    def score(gap: float) -> float:
        linear = (2 * cases - first + second) * gap - first - second
        root = math.sqrt(max(0.0, linear**2 + 8 * cases * second * gap * (1 - gap)))
        variance = cases * ((root - linear) / (2 * cases) + gap * (1 - gap))
        off = first - second - cases * gap
        return off / math.sqrt(variance) if variance > 1e-12 else math.copysign(math.inf, off) if off else 0.0

    def end(sign: float) -> float:
        inner, outer = (first - second) / cases, sign
        for _ in range(40):
            middle = (inner + outer) / 2
            inner, outer = (middle, outer) if abs(score(middle)) <= bound else (inner, middle)
        return outer

    return end(-1.0), end(1.0)


def _studentised(sums: Sums, finish: Finish, value: float) -> Interval:
    """The bootstrap's interval of a ratio by draws of its t (Efron and Tibshirani 1993, section 12.5), nowhere narrower
    than Student's. The first alone misses too often where a few values lie far off on both sides, as differences of
    skewed ones do. None where too few cases differ."""
    from scipy.special import stdtrit

    top, under = sums[:, 0], sums[:, 1]
    ratio = top.sum() / under.sum()
    error = math.sqrt(((top - ratio * under) ** 2).sum()) / under.sum()
    if error <= 1e-9 * abs(ratio):
        return Interval(value)
    products = np.column_stack([top, under, top**2, top * under, under**2])
    with np.errstate(invalid="ignore", divide="ignore"):
        tops, unders, squares, mixed, under_squares = (drawn(len(sums)) @ products).T
        ratios = tops / unders
        errors = np.sqrt(np.maximum(0.0, squares - 2 * ratios * mixed + ratios**2 * under_squares)) / unders
        t = (ratios - ratio) / np.where(errors > 1e-9 * abs(top).max(), errors, 0.0)
    t = np.where(np.isnan(t), np.inf, t)
    below, above = np.quantile(t, [MISS_RATE / 2, 1 - MISS_RATE / 2], method="inverted_cdf")
    student = float(stdtrit(len(sums) - 1, 1 - MISS_RATE / 2)) * math.sqrt(len(sums) / (len(sums) - 1))
    ends = ratio + error * np.array([-max(above, student), max(-below, student)])
    if not np.isfinite(ends).all():
        return Interval(value)
    if (top >= 0).all():
        ends = np.maximum(0.0, ends)
    low, high = finish(np.column_stack([ends, np.ones(2)]))
    return Interval(value, float(low), float(high))


@lru_cache(maxsize=1)
def drawn(cases: int, seed: int = 0) -> Sums:
    """Draw how often each case is in each of 2,000 bootstrap draws or fewer, shape (draws, cases)."""
    draws = max(1_000, min(2_000, TOGETHER // cases))
    random = np.random.default_rng(seed)
    return random.multinomial(cases, np.full(cases, 1 / cases), size=draws).astype(np.float64)
