"""Whether arms that answered the same cases really differ: tests of scipy and statsmodels on paired values.

Every function takes values in the order of the cases, the same order for each arm.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any, Literal

from courtroom.strict import Strict

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from courtroom.evaluation.intervals import Finish, Sums

ALPHA, POWER = 0.05, 0.8
MOST_CASES = 1_000_000


def cohens_d(a: Sequence[float], b: Sequence[float]) -> float | None:
    """Return Cohen's d of paired values (1988); None where the differences do not vary."""
    differences = [mine - other for mine, other in zip(a, b, strict=True)]
    spread = stdev(differences) if len(differences) > 1 else 0.0
    return fmean(differences) / spread if spread else None


def cohens_g(a: Sequence[float], b: Sequence[float]) -> float | None:
    """Of the cases where one alone is right, the first's share less a half (Cohen 1988); None where there is none."""
    first, second = crossed(a, b)
    return first / (first + second) - 0.5 if first + second else None


def cases_needed(a: Sequence[float], b: Sequence[float]) -> int | None:
    """Cases at which the permutation test would show a difference of this size with `POWER`; None where there is
    none. By statsmodels' power of the paired t test on Cohen's d, which that of the permutation test comes to; never
    fewer than can show any."""
    size = cohens_d(a, b)
    if not size or abs(size) < 2.8 / math.sqrt(MOST_CASES):
        return None
    if abs(size) > 2:  # the solver finds no root there
        return fewest_cases()
    from statsmodels.stats.power import TTestPower

    found = TTestPower().solve_power(effect_size=abs(size), alpha=ALPHA, power=POWER, alternative="two-sided")
    return max(fewest_cases(), math.ceil(float(found)))


def cases_needed_mcnemar(a: Sequence[float], b: Sequence[float]) -> int | None:
    """Cases at which McNemar's exact test would show this difference with `POWER`; None where there is none."""
    (first, second), cases = crossed(a, b), len(a)
    if first == second or abs(first - second) / cases < 2.8 / math.sqrt(MOST_CASES):
        return None
    low, high, shares = 1, 8, (first / cases, second / cases)
    while power_mcnemar(high, *shares) < POWER:
        low, high = high, 2 * high
    return bisect_left(range(high), POWER, lo=low, key=lambda many: power_mcnemar(many, *shares))


def power_mcnemar(cases: int, first: float, second: float) -> float:
    """How probably McNemar's exact test shows a difference, 0 to 1: over how many cases differ, its power given that
    many do. `first`: the probability that the first arm alone has a case right; `second` likewise."""
    import numpy as np  # slow to import
    from scipy.special import bdtr, bdtrik
    from scipy.stats import binom

    differing = min(1.0, first + second)
    spread = 6 * math.sqrt(cases * differing * (1 - differing)) + 9
    many = np.arange(max(0, int(cases * differing - spread)), min(cases, math.ceil(cases * differing + spread)) + 1)
    edge = np.floor(np.nan_to_num(bdtrik(ALPHA / 2, many, 0.5)))
    edge -= bdtr(edge, many, 0.5) > ALPHA / 2  # the most cases of one side with which the test still shows it
    share, reached = first / differing, np.maximum(edge, 0)
    shown = np.where(edge >= 0, bdtr(reached, many, share) + bdtr(reached, many, 1 - share), 0.0)
    return float((binom.pmf(many, cases, differing) * shown).sum())


def fewest_cases(pairs: int = 1) -> int:
    """The fewest cases with which a test of pairs can show anything at all, corrected for so many pairs."""
    return math.floor(math.log2(2 * pairs / ALPHA)) + 1


@dataclass(frozen=True)
class Tested:
    """What a test found."""

    test: str
    statistic: float
    p: float
    """Probability of a difference at least this large where there is none; 0 to 1."""
    cases: int
    """Pairs, or rows, that the test rests on."""
    draws: int = 0
    """How many permutations were drawn; 0 where the p-value is exact."""


def mcnemar(a: Sequence[float], b: Sequence[float]) -> Tested:
    """Whether two arms are right equally often (McNemar 1947), by the exact binomial test on the cases where one alone
    is right. The statistic is the smaller of the two counts of such cases."""
    from scipy.special import bdtr

    first, second = crossed(a, b)
    fewer = min(first, second)
    return Tested("McNemar", float(fewer), min(1.0, 2 * float(bdtr(fewer, first + second, 0.5))), len(a))


ENUMERATED = 14
"""So many cases in which two arms differ are swapped in every way; with more, ways are drawn."""
DRAWS, FOR_EACH, ENOUGH, FIRST = 5_000, 100, 100, 500
"""Permutations at most, or for each corrected pair; so many that are as far apart are enough; the first draw."""
MAX_NUMBERS_AT_ONCE = 2_000_000


def permutation(a: Sums, b: Sums, finish: Finish, pairs: int = 1) -> Tested:
    """Whether two arms differ in a measure, by swapping their answers case by case (Good 2005, section 3.2; Edgington
    and Onghena 2007).

    Where there is no difference, each case's two answers could as well have come from the other arm. A case's repeats
    are swapped together. Of a mean these are the sign flips of the cases' differences. The p-value is exact where few
    cases differ. Else it is (b + 1) / (m + 1) of m random swaps, b of them at least as far apart (Phipson and Smyth
    2010), or h / m where the h-th such swap, h = `ENOUGH`, came as the m-th (Besag and Clifford 1991): no more are
    needed to see that p is not small. `a`: shape (cases, parts), what each case adds to the measure; `b` likewise, the
    same cases in the same order. `pairs`: how many pairs the p-value will be corrected for. Enough swaps are drawn that
    it can then still be below 0.05.
    """
    import numpy as np

    total, other = a.sum(axis=0), b.sum(axis=0)
    differ = (a != b).any(axis=1)
    moved = (b - a)[differ]
    parts = moved.any(axis=0)
    moved = moved[:, parts]
    statistic = float(np.diff(finish(np.stack([other, total])))[0])
    least = abs(statistic) * (1 - 1e-9) - 1e-12

    def as_far(swapped: Sums) -> NDArray[np.bool_]:
        first, second = np.repeat(total[None], len(swapped), axis=0), np.repeat(other[None], len(swapped), axis=0)
        change = swapped @ moved
        first[:, parts] += change
        second[:, parts] -= change
        return ~(np.abs(finish(first) - finish(second)) < least)  # what has no value counts as far

    cases = len(moved)
    if not cases:
        return Tested("permutation", 0.0, 1.0, len(a))
    if cases <= ENUMERATED:  # the first case stays: to swap all changes the sign alone
        ways = np.arange(2 ** (cases - 1))[:, None] >> np.arange(cases) & 1
        return Tested("permutation", statistic, float(as_far(ways.astype(float)).mean()), len(a))
    random = np.random.default_rng(0)
    most, done, far = max(DRAWS, FOR_EACH * pairs), 0, 0
    step = max(1, MAX_NUMBERS_AT_ONCE // max(cases, len(total)))
    while done < most:
        many = min(FIRST if not done else step, most - done)
        found = np.flatnonzero(as_far(random.integers(0, 2, (many, cases), dtype=np.int8).astype(float)))
        if far + len(found) >= ENOUGH:
            last = done + int(found[ENOUGH - far - 1]) + 1
            return Tested("permutation", statistic, ENOUGH / last, len(a), last)
        done, far = done + many, far + len(found)
    return Tested("permutation", statistic, (far + 1) / (done + 1), len(a), done)


MOST_PERMUTED = 1_000
"""Values up to which Cochran's Q is permuted. Beyond, its chi-squared is as good."""


def cochran(arms: Sequence[Sequence[float]]) -> Tested:
    """Whether any of several arms is right more often than the others (Cochran 1950); for two arms it is McNemar's
    test. The p-value is by permuting each case's values among the arms, as chi-squared says too much of few cases.
    Where every case has the same value in all arms there is nothing to test: Q is 0 and p is 1. `arms`: two or more; a
    sequence of right and wrong for each."""
    import numpy as np
    from scipy.stats import permutation_test
    from statsmodels.stats.contingency_tables import cochrans_q

    cases = [tuple(map(int, row)) for row in zip(*arms, strict=True)]
    telling = np.array([row for row in cases if len(set(row)) > 1], dtype=float)
    if not len(telling):
        return Tested("Cochran's Q", 0.0, 1.0, len(cases))
    found = cochrans_q(cases)
    if len(telling) == 1:  # each way to permute one case comes to the same
        return Tested("Cochran's Q", float(found.statistic), 1.0, len(cases))
    if telling.size > MOST_PERMUTED:
        return Tested("Cochran's Q", float(found.statistic), float(found.pvalue), len(cases))

    def apart(*columns: Sums, axis: int) -> Sums:
        squares: Sums = np.square(np.stack(columns).sum(axis=-1)).sum(axis=0)
        return squares

    drawn = permutation_test(
        telling.T, apart, permutation_type="samples", alternative="greater", n_resamples=DRAWS, vectorized=True,
        batch=500, rng=np.random.default_rng(0),
    )  # fmt: skip
    draws = 0 if math.factorial(len(arms)) ** len(telling) <= DRAWS else DRAWS
    return Tested("Cochran's Q", float(found.statistic), float(drawn.pvalue), len(cases), draws)


def paired_t(a: Sequence[float], b: Sequence[float]) -> Tested:
    """Whether the mean difference of two pairs or more is 0 (Student 1908); p is 1 where no pair differs, 0 where all
    differ by the same."""
    from scipy.stats import ttest_rel

    differences = {mine - other for mine, other in zip(a, b, strict=True)}
    if len(differences) == 1:  # scipy divides by 0 there
        (one,) = differences
        return Tested("paired t", 0.0 if one == 0 else float("inf") * one, float(one == 0), len(a))
    found = ttest_rel(a, b)
    return Tested("paired t", float(found.statistic), float(found.pvalue), len(a))


def wilcoxon(a: Sequence[float], b: Sequence[float]) -> Tested:
    """Test whether differences lie evenly around 0, by their ranks (Wilcoxon 1945); pairs that agree are left out."""
    from scipy.stats import wilcoxon as test

    if all(mine == other for mine, other in zip(a, b, strict=True)):
        return Tested("Wilcoxon", 0.0, 1.0, len(a))
    found = test(a, b)
    return Tested("Wilcoxon", float(found.statistic), float(found.pvalue), len(a))


def holm(ps: Sequence[float]) -> list[float]:
    """p-values corrected for how many were looked at (Holm 1979), in the order given. Worked out here: statsmodels' own
    collects garbage each time, half a second where much is in memory."""
    found, largest = [0.0] * len(ps), 0.0
    for rank, place in enumerate(sorted(range(len(ps)), key=ps.__getitem__)):
        largest = max(largest, min(1.0, (len(ps) - rank) * ps[place]))
        found[place] = largest
    return found


def crossed(a: Sequence[float], b: Sequence[float]) -> tuple[int, int]:
    """Cases that the first alone and the second alone has right."""
    found = Counter(zip(map(bool, a), map(bool, b), strict=True))
    return found[True, False], found[False, True]


LEAST = 0.95
"""What is to be shown: a repeat has the same outcome with at least this probability."""
UNSURE = 0.80
"""What it is tested against: this probability or less. Between the two, either answer may come."""
ERROR = 0.05
"""How often a wrong answer may come: `shown` where it is `UNSURE` or less, `refuted` where it is `LEAST` or more."""
CONFIDENCE = 0.95
"""How sure the bound is that goes with an answer."""
State = Literal["shown", "refuted", "open"]

_SAME, _OTHER = math.log(LEAST / UNSURE), math.log((1 - LEAST) / (1 - UNSURE))
_BOUND = math.log((1 - ERROR) / ERROR)


class Series(Strict):
    """Repeats that were looked at, one after the other, until the test ended or there were no more."""

    same: int = 0
    """How many had the same outcome."""
    of: int = 0
    state: State = "open"

    @property
    def fewest(self) -> int:
        """The fewest further repeats after which the test can end; 0 where it has ended."""
        if self.state != "open":
            return 0
        ratio = _ratio(self.same, self.of)
        return min(math.ceil((_BOUND - ratio) / _SAME), math.ceil((_BOUND + ratio) / -_OTHER))


def series(same: Iterable[bool]) -> Series:
    """What the repeats show so far, in their order; those after the test's end are not looked at. The sequential
    probability ratio test of Wald (Sequential Tests of Statistical Hypotheses, Annals of Mathematical Statistics 16,
    1945, section 5.2) for a share: after each repeat, the ratio of the likelihoods of `LEAST` and `UNSURE` is compared
    with (1 - e) / e and e / (1 - e), where e is `ERROR`. Both errors together are at most 2e, and each is at most e /
    (1 - e). Only ratios at these two probabilities count, so looking after each repeat costs nothing. `same`: whether
    each repeat had the same outcome."""
    hits = many = 0
    for many, hit in enumerate(same, start=1):
        hits += hit
        if (state := state_at(hits, many)) != "open":
            return Series(same=hits, of=many, state=state)
    return Series(same=hits, of=many)


def state_at(same: int, of: int) -> State:
    """What the test says where so many repeats were the same, if it did not end before."""
    ratio = _ratio(same, of)
    return "shown" if ratio >= _BOUND else "refuted" if ratio <= -_BOUND else "open"


def bound_of(found: Series) -> float:
    """What a test that has ended shows at 95 %: the least share of same outcomes where it is shown, the greatest where
    refuted. The share at which the test ends in this way, so early or earlier, in 5 % of all series (Siegmund 1985,
    section 3.4). Of 18 the same in 18 it is Clopper's and Pearson's one-sided bound; later it is less sure than theirs,
    which knows of no earlier looks."""
    from scipy.optimize import brentq

    sign = 1 if found.state == "shown" else -1
    return float(brentq(lambda share: sign * (ends(share, found.of)[found.state] - (1 - CONFIDENCE)), 1e-9, 1 - 1e-9))


def ends(share: float, most: int) -> dict[State, float]:
    """How probably the test has ended in each way after so many repeats, where this share has the same outcome."""
    going: dict[int, float] = {0: 1.0}
    found: dict[State, float] = {"shown": 0.0, "refuted": 0.0}
    for number in range(1, most + 1):
        after: dict[int, float] = {}
        for same, probability in going.items():
            for hit, part in ((1, share), (0, 1 - share)):
                if (state := state_at(same + hit, number)) == "open":
                    after[same + hit] = after.get(same + hit, 0.0) + probability * part
                else:
                    found[state] += probability * part
        going = after
    return {**found, "open": sum(going.values())}


def _ratio(same: int, of: int) -> float:
    return same * _SAME + (of - same) * _OTHER


def krippendorffs_alpha(
    units: Sequence[Sequence[str | int | None]], level: Literal["nominal", "interval"] = "nominal"
) -> float | None:
    """Agreement beyond chance among those who chose among names or scores (Krippendorff 2018, chapter 12), by the package
    `krippendorff`. 1 is perfect, 0 chance; None where fewer than two choices can be compared or all are the same.
    `units`: for each case what each member chose; None is no choice. Members need not be the same in each."""
    import krippendorff
    import numpy as np

    names: list[Any] = sorted({choice for unit in units for choice in unit if choice is not None})
    counts = [[Counter(unit)[name] for name in names] for unit in units]
    counts = [row for row in counts if sum(row) > 1]
    if len(names) < 2 or not counts or sum(any(row[n] for row in counts) for n in range(len(names))) < 2:
        return None
    domain = None if level == "nominal" else names
    return float(krippendorff.alpha(value_counts=np.array(counts), value_domain=domain, level_of_measurement=level))


def consistency(outcomes: Sequence[Hashable]) -> float:
    """Return the share of a case's repeats, of which there is one at least, with its most frequent outcome."""
    return max(Counter(outcomes).values()) / len(outcomes)
