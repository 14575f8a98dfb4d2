"""Whether members agree with each other, a panel with the truth, and a run with its repeats."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence


def krippendorffs_alpha(units: Sequence[Sequence[str | None]]) -> float | None:
    """Agreement beyond chance among those who chose among names (Krippendorff 2018, chapter 12), by the package `krippendorff`.

    Args:
        units: for each case what each member chose; None is no choice. Members need not be the same in each.

    Returns:
        1 is perfect, 0 chance; None where fewer than two choices can be compared or all are the same.
    """
    import krippendorff
    import numpy as np

    names = sorted({choice for unit in units for choice in unit if choice is not None})
    counts = [[Counter(unit)[name] for name in names] for unit in units]
    counts = [row for row in counts if sum(row) > 1]
    if len(names) < 2 or not counts or sum(any(row[n] for row in counts) for n in range(len(names))) < 2:
        return None
    return float(krippendorff.alpha(value_counts=np.array(counts), level_of_measurement="nominal"))


def consistency(outcomes: Sequence[Hashable]) -> float:
    """Share of a case's repeats that came to its most frequent outcome, 1 / repeats to 1.

    Raises:
        ValueError: there is no repeat.
    """
    if not outcomes:
        raise ValueError("there is no repeat")
    return max(Counter(outcomes).values()) / len(outcomes)
