"""Tests of differences, effect sizes, intervals and agreement: by hand, and against scipy, statsmodels and scikit-learn."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
from scipy.stats import binomtest, bootstrap
from sklearn.metrics import ndcg_score
from statsmodels.stats.inter_rater import fleiss_kappa
from statsmodels.stats.multitest import multipletests

from courtroom.evaluation.agreement import consistency, krippendorffs_alpha
from courtroom.evaluation.bootstrap import draw
from courtroom.evaluation.calibration import brier, expected_calibration_error
from courtroom.evaluation.effects import cases_needed, cases_needed_mcnemar, cohens_d, cohens_g, odds_ratio
from courtroom.evaluation.retrieval import hit_at, ndcg_at
from courtroom.evaluation.significance import cochran, holm, mcnemar, paired_t, wilcoxon

RANDOM = random.Random(4)
A = [True] * 8 + [False] * 2 + [True] * 3
B = [True] * 2 + [False] * 8 + [True] * 3
"""Both right 5 times, the first alone 6, the second alone never, neither 2."""


def test_mcnemar_is_the_binomial_test_on_cases_where_one_alone_is_right() -> None:
    found = mcnemar(A, B)
    assert (found.statistic, found.cases) == (0, 13)
    assert found.p == pytest.approx(binomtest(0, 6).pvalue, abs=1e-12)
    assert mcnemar(A, A).p == 1.0


def test_cochrans_q_by_hand() -> None:
    """Cochran 1950 by his formula: k = 3 arms with 4, 3 and 1 right; rows with 3, 2, 2, 1 and 0 right."""
    arms = [[1, 1, 1, 1, 0], [1, 1, 1, 0, 0], [1, 0, 0, 0, 0]]
    found = cochran([[bool(one) for one in arm] for arm in arms])
    columns, rows = [4, 3, 1], [3, 2, 2, 1, 0]
    q = 2 * (3 * sum(c * c for c in columns) - 8**2) / (3 * 8 - sum(r * r for r in rows))
    assert found.statistic == pytest.approx(q, abs=1e-12)
    assert found.p == pytest.approx(math.exp(-q / 2), abs=1e-12), "chi squared with two degrees of freedom"
    assert cochran([[True, False], [True, False], [True, False]]).p == 1.0


def test_a_t_test_and_ranks_on_pairs_by_hand() -> None:
    a, b = [3.0, 5.0, 4.0, 8.0], [1.0, 4.0, 4.0, 3.0]
    differences = np.subtract(a, b)
    t = differences.mean() / (differences.std(ddof=1) / 2)
    assert paired_t(a, b).statistic == pytest.approx(t, abs=1e-12)
    assert paired_t(a, a).p == 1.0
    assert paired_t([2.0, 3.0], [1.0, 2.0]).p == 0.0
    found = wilcoxon([1.0, 2.0, 3.0, 4.0, 5.0], [0.0, 0.0, 0.0, 0.0, 0.0])
    assert (found.statistic, found.p) == (0.0, 2 / 2**5)
    assert wilcoxon(a, a).p == 1.0


def test_holm_multiplies_the_smallest_by_all_and_never_falls() -> None:
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    some = [RANDOM.random() ** 3 for _ in range(28)]
    assert holm(some) == pytest.approx(multipletests(some, method="holm")[1], abs=1e-12)
    assert holm([]) == []


def test_effect_sizes_by_hand() -> None:
    assert cohens_g(A, B) == 0.5
    assert odds_ratio(A, B) is None
    assert odds_ratio(B, A) == 0
    assert cohens_d([3.0, 5.0], [1.0, 1.0]) == pytest.approx(3 / math.sqrt(2))
    assert cohens_d([2.0, 2.0], [1.0, 1.0]) is None


def test_so_many_cases_would_show_a_difference() -> None:
    """Connor 1987: 20 % against 10 % of cases where one alone is right."""
    a = [True] * 20 + [False] * 80
    b = [False] * 20 + [True] * 10 + [False] * 70
    wanted = (1.959963984540054 * math.sqrt(0.3) + 0.8416212335729143 * math.sqrt(0.3 - 0.01)) / 0.1
    assert cases_needed_mcnemar(a, b) == math.ceil(wanted**2)
    assert cases_needed_mcnemar(a, a) is None
    values = [RANDOM.gauss(0.5, 1.0) for _ in range(200)]
    d = cohens_d(values, [0.0] * 200)
    needed = cases_needed(values, [0.0] * 200)
    assert d is not None
    assert needed is not None
    assert needed == pytest.approx((2.8016 / d) ** 2 + 2, abs=1.5), "the normal approximation and its usual correction"
    assert cases_needed([1.0, 1.0], [1.0, 1.0]) is None


def mean(sums: np.ndarray) -> np.ndarray:
    found: np.ndarray = sums[:, 0] / sums[:, 1]
    return found


def test_intervals_are_those_of_scipys_percentile_bootstrap() -> None:
    values = np.array([RANDOM.gauss(0.0, 1.0) for _ in range(60)])
    (found,) = draw([np.column_stack([values, np.ones(60)])], mean)
    known = bootstrap((values,), np.mean, n_resamples=10_000, method="percentile", rng=1).confidence_interval
    assert found.value == pytest.approx(values.mean())
    assert (found.interval.low, found.interval.high) == pytest.approx((known.low, known.high), abs=0.02)


def test_repeats_of_a_case_are_drawn_together() -> None:
    """Ten repeats of each case, all alike, say no more than one: the interval is as wide."""
    values = np.array([float(RANDOM.random() < 0.5) for _ in range(40)])
    (one,) = draw([np.column_stack([values, np.ones(40)])], mean)
    (ten,) = draw([np.column_stack([10 * values, np.full(40, 10.0)])], mean)
    assert (ten.interval.low, ten.interval.high) == (one.interval.low, one.interval.high)


def test_a_difference_is_drawn_on_the_same_cases() -> None:
    values = np.array([RANDOM.random() for _ in range(50)])
    first, second = draw([np.column_stack([values + 0.1, np.ones(50)]), np.column_stack([values, np.ones(50)])], mean)
    less = first.less(second)
    assert (less.interval.low, less.interval.high) == pytest.approx((0.1, 0.1))
    assert less.p == pytest.approx(2 / 10_001)
    assert first.less(first).p == 1.0
    with pytest.raises(ValueError, match="nothing to measure"):
        draw([np.zeros((0, 2))], mean)


def test_krippendorffs_alpha_by_hand() -> None:
    """Two members, four cases, one disagreement: observed 1/4; expected 30/56 from 3 and 5 choices in 8."""
    units = [["x", "x"], ["x", "y"], ["y", "y"], ["y", "y"]]
    assert krippendorffs_alpha(units) == pytest.approx(1 - (2 / 8) / (2 * 3 * 5 / (8 * 7)))
    assert krippendorffs_alpha([*units, ["x", None]]) == pytest.approx(1 - (2 / 8) / (2 * 3 * 5 / (8 * 7)))
    assert krippendorffs_alpha([["x", "x"], ["x", "x"]]) is None
    assert krippendorffs_alpha([]) is None


def test_alpha_comes_close_to_fleiss_kappa_where_there_are_many_cases() -> None:
    choices = [[RANDOM.choice("aab") for _ in range(5)] for _ in range(400)]
    counts = [[row.count("a"), row.count("b")] for row in choices]
    assert krippendorffs_alpha(choices) == pytest.approx(fleiss_kappa(counts), abs=1e-3)


def test_consistency_is_the_share_of_the_most_frequent_outcome() -> None:
    assert consistency(["buyer", "buyer", "seller"]) == 2 / 3
    with pytest.raises(ValueError, match="no repeat"):
        consistency([])


def test_calibration_by_hand() -> None:
    shares, right = [0.95, 0.95, 0.65, 0.55], [True, False, True, True]
    assert brier(shares, right) == pytest.approx((0.05**2 + 0.95**2 + 0.35**2 + 0.45**2) / 4)
    assert expected_calibration_error(shares, right) == pytest.approx((abs(1.9 - 1) + 0.35 + 0.45) / 4)


def test_ndcg_is_scikit_learns_where_all_records_are_ranked() -> None:
    relevance = {f"r{n}": float(RANDOM.randrange(4)) for n in range(12)}
    ranked = RANDOM.sample(sorted(relevance), 12)
    scores = [[12.0 - ranked.index(name) for name in relevance]]
    for k in (1, 3, 5, 12):
        known = ndcg_score([list(relevance.values())], scores, k=k)
        assert ndcg_at(k, ranked, relevance) == pytest.approx(known, abs=1e-12)
    assert ndcg_at(5, ranked, {}) == 0.0
    assert hit_at(2, ["a", "b"], {"b": 2.0}) == 1.0
    assert hit_at(1, ["a", "b"], {"b": 2.0}) == 0.0
    with pytest.raises(ValueError, match="at least 1"):
        hit_at(0, [], {})
