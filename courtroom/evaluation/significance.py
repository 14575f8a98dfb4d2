"""Whether arms that answered the same cases really differ: tests of scipy and statsmodels on paired values.

Every function takes values in the order of the cases, the same order for each arm.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Tested:
    """What a test found."""

    test: str
    statistic: float
    p: float
    """Probability of a difference at least this large where there is none; 0 to 1."""
    cases: int
    """Pairs, or rows, that the test rests on."""


def mcnemar(a: Sequence[bool], b: Sequence[bool]) -> Tested:
    """Whether two arms are right equally often (McNemar 1947), by the exact binomial test on the cases where one alone is right.

    The statistic is the smaller of the two counts of such cases.
    """
    from statsmodels.stats.contingency_tables import mcnemar as test  # slow to import

    both, first, second, neither = crossed(a, b)
    found = test([[both, first], [second, neither]], exact=True)
    return Tested("McNemar", float(found.statistic), min(1.0, float(found.pvalue)), len(a))


def cochran(arms: Sequence[Sequence[bool]]) -> Tested:
    """Whether any of several arms is right more often than the others (Cochran 1950); for two arms it is McNemar's test.

    Where every case has the same value in all arms there is nothing to test: Q is 0 and p is 1.

    Args:
        arms: two or more; a sequence of right and wrong for each.
    """
    from statsmodels.stats.contingency_tables import cochrans_q

    cases = [tuple(map(int, row)) for row in zip(*arms, strict=True)]
    if all(len(set(row)) == 1 for row in cases):
        return Tested("Cochran's Q", 0.0, 1.0, len(cases))
    found = cochrans_q(cases)
    return Tested("Cochran's Q", float(found.statistic), float(found.pvalue), len(cases))


def paired_t(a: Sequence[float], b: Sequence[float]) -> Tested:
    """Whether the mean difference is 0 (Student 1908); p is 1 where no pair differs, 0 where all differ by the same."""
    from scipy.stats import ttest_rel

    _two(a)
    differences = {mine - other for mine, other in zip(a, b, strict=True)}
    if len(differences) == 1:  # scipy divides by 0 there
        (one,) = differences
        return Tested("paired t", 0.0 if one == 0 else float("inf") * one, float(one == 0), len(a))
    found = ttest_rel(a, b)
    return Tested("paired t", float(found.statistic), float(found.pvalue), len(a))


def wilcoxon(a: Sequence[float], b: Sequence[float]) -> Tested:
    """Whether differences lie evenly around 0, by their ranks (Wilcoxon 1945); pairs that do not differ are left out."""
    from scipy.stats import wilcoxon as test

    if all(mine == other for mine, other in zip(a, b, strict=True)):
        return Tested("Wilcoxon", 0.0, 1.0, len(a))
    found = test(a, b)
    return Tested("Wilcoxon", float(found.statistic), float(found.pvalue), len(a))


def holm(ps: Sequence[float]) -> list[float]:
    """p-values corrected for how many were looked at (Holm 1979), in the order given.

    Worked out here: statsmodels' own collects garbage each time, half a second where much is in memory.
    """
    found, largest = [0.0] * len(ps), 0.0
    for rank, place in enumerate(sorted(range(len(ps)), key=ps.__getitem__)):
        largest = max(largest, min(1.0, (len(ps) - rank) * ps[place]))
        found[place] = largest
    return found


def crossed(a: Sequence[bool], b: Sequence[bool]) -> tuple[int, int, int, int]:
    """Cases that both, the first alone, the second alone and neither has right."""
    pairs = list(zip(map(bool, a), map(bool, b), strict=True))
    return (
        pairs.count((True, True)),
        pairs.count((True, False)),
        pairs.count((False, True)),
        pairs.count((False, False)),
    )


def _two(values: Sequence[float]) -> None:
    if len(values) < 2:
        raise ValueError("a t test needs two cases")
