"""Intervals by drawing cases again and again: the cluster bootstrap (Field and Welsh 2007), in which a case is a cluster.

All repeats of a case are drawn together, as they are not independent of each other. What is drawn are sums over a case, from
which a measure is worked out: a mean from values and their number, F1 from hits and misses by label.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Sums = NDArray[np.float64]
    """Shape (cases, parts): what each case adds to each part of a measure. Or (draws, parts): their sums."""
    Finish = Callable[[Sums], NDArray[np.float64]]
    """From sums, shape (draws, parts), to the measure's values, shape (draws,)."""

FEWEST, MOST = 2_000, 10_000
TOGETHER = 4_000_000
"""Cases times draws that are worked out together: bounds the memory that many cases take, to about 32 MB."""


@dataclass(frozen=True)
class Interval:
    """A value with its 95 % interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Drawn:
    """A measure's value over all cases, and over each draw of cases."""

    value: float
    draws: Sums

    @property
    def interval(self) -> Interval:
        """The value with its percentile interval; not a number where no draw has one."""
        import numpy as np

        known = self.draws[~np.isnan(self.draws)]
        low, high = np.quantile(known, [0.025, 0.975]) if len(known) else (np.nan, np.nan)
        return Interval(self.value, float(low), float(high))

    def less(self, other: Drawn) -> Drawn:
        """The difference to another arm of the same cases, drawn together."""
        return Drawn(self.value - other.value, self.draws - other.draws)

    @property
    def p(self) -> float:
        """How probable a value this far from 0 is where the truth is 0: twice the smaller share of draws on one side of 0.

        At least 2 in the number of draws and one (Davison and Hinkley 1997, section 4.2).
        """
        import numpy as np

        known = self.draws[~np.isnan(self.draws)]
        below, above = int((known <= 0).sum()), int((known >= 0).sum())
        return min(1.0, 2 * (min(below, above) + 1) / (len(known) + 1))


def draw(arms: Sequence[Sums], finish: Finish, draws: int | None = None, seed: int = 0) -> list[Drawn]:
    """A measure of several arms, over the same draws of their cases.

    Args:
        arms: shape (cases, parts) each, the same cases in the same order.
        draws: by default 10,000, fewer where there are more than 1,000 cases.

    Raises:
        ValueError: there is no case.
    """
    import numpy as np

    cases = len(arms[0])
    if not cases:
        raise ValueError("there is nothing to measure")
    draws = draws or max(FEWEST, min(MOST, MOST * 1_000 // cases))
    random = np.random.default_rng(seed)
    found: list[list[Sums]] = [[] for _ in arms]
    step = max(1, TOGETHER // cases)
    for at in range(0, draws, step):
        rows = min(step, draws - at)
        drawn = random.integers(0, cases, size=(rows, cases)) + cases * np.arange(rows)[:, None]
        often = np.bincount(drawn.ravel(), minlength=rows * cases).reshape(rows, cases).astype(float)
        for arm, sums in enumerate(arms):
            found[arm].append(finish(often @ sums))
    return [
        Drawn(float(finish(sums.sum(axis=0, keepdims=True))[0]), np.concatenate(one))
        for sums, one in zip(arms, found, strict=True)
    ]
