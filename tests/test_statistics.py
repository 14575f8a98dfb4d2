"""Tests of differences, effect sizes, intervals and agreement: by hand, and against scipy, statsmodels and
scikit-learn.

What tables claim by them holds, and what guessing reaches stands there: simulated with a fixed seed, small enough for
the suite; `tests.benchmarks.bench_claims` has it whole.
"""

import math
import random
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import binom, binomtest, norm, permutation_test
from statsmodels.stats.contingency_tables import cochrans_q
from statsmodels.stats.inter_rater import fleiss_kappa
from statsmodels.stats.multitest import multipletests

from courtroom import Case, Courthouse
from courtroom.cases.labelled import Labelled, LabelledTask
from courtroom.evaluation import significance
from courtroom.evaluation.intervals import CaseSums, Interval, of_difference, of_measure, of_share
from courtroom.evaluation.lawbench import term_score
from courtroom.experiments.measures import CaseResult, measure, measures_of
from courtroom.experiments.outcome import Outcome
from courtroom.experiments.results import CHANCE, MOST_FREQUENT, guesses
from courtroom.experiments.table import grouped, pairs, table
from courtroom.experiments.written import latex, markdown
from courtroom.law import LONGEST, Term, term_class
from tests.benchmarks import bench_claims as bench

RANDOM = random.Random(4)
A = [True] * 8 + [False] * 2 + [True] * 3
B = [True] * 2 + [False] * 8 + [True] * 3
"""Both right 5 times, the first alone 6, the second alone never, neither 2."""


def test_mcnemar_is_the_binomial_test_with_its_exact_power() -> None:
    found = significance.mcnemar(A, B)
    assert (found.statistic, found.cases, found.p) == pytest.approx((0, 13, binomtest(0, 6).pvalue), abs=1e-12)
    assert significance.mcnemar(A, A).p == 1.0
    known = 0.0
    for many in range(41):
        shown = [x for x in range(many + 1) if many and binomtest(x, many).pvalue <= 0.05]
        known += binom.pmf(many, 40, 0.5) * sum(binom.pmf(x, many, 0.8) for x in shown)
    assert significance.power_mcnemar(40, 0.4, 0.1) == pytest.approx(known, abs=1e-12)
    assert significance.power_mcnemar(5, 1.0, 0.0) == 0.0
    for many in (1, 3, 28, 276):
        least = significance.fewest_cases(pairs=many)
        assert many * significance.mcnemar([True] * least, [False] * least).p < 0.05
        assert many * significance.mcnemar([True] * (least - 1), [False] * (least - 1)).p >= 0.05


def test_cochrans_q_and_holms_correction_are_statsmodels() -> None:
    """Cochran 1950 by his formula: k = 3 arms with 4, 3 and 1 right; rows with 3, 2, 2, 1 and 0 right."""
    arms = [[1, 1, 1, 1, 0], [1, 1, 1, 0, 0], [1, 0, 0, 0, 0]]
    found = significance.cochran([[bool(one) for one in arm] for arm in arms])
    columns, rows = [4, 3, 1], [3, 2, 2, 1, 0]
    q = 2 * (3 * sum(c * c for c in columns) - 8**2) / (3 * 8 - sum(r * r for r in rows))
    assert found.statistic == pytest.approx(q, abs=1e-12)
    assert found.p == pytest.approx(1 / 3 * 2 / 3, abs=1e-12), "both rows lack the same arm, and the third has another"
    assert significance.cochran([[True, False], [True, False], [True, False]]).p == 1.0
    arms = [[RANDOM.random() < 0.5 + 0.1 * arm for _ in range(800)] for arm in range(3)]
    known = cochrans_q(np.array(arms, dtype=int).T)
    assert significance.cochran(arms).p == pytest.approx(known.pvalue, abs=1e-12)
    assert significance.holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06]), "which never falls"
    some = [RANDOM.random() ** 3 for _ in range(28)]
    assert significance.holm(some) == pytest.approx(multipletests(some, method="holm")[1], abs=1e-12)
    assert significance.holm([]) == []


def test_a_t_test_and_ranks_on_pairs_by_hand() -> None:
    a, b = [3.0, 5.0, 4.0, 8.0], [1.0, 4.0, 4.0, 3.0]
    differences = np.subtract(a, b)
    t = differences.mean() / (differences.std(ddof=1) / 2)
    assert significance.paired_t(a, b).statistic == pytest.approx(t, abs=1e-12)
    assert significance.paired_t(a, a).p == 1.0
    assert significance.paired_t([2.0, 3.0], [1.0, 2.0]).p == 0.0
    found = significance.wilcoxon([1.0, 2.0, 3.0, 4.0, 5.0], [0.0, 0.0, 0.0, 0.0, 0.0])
    assert (found.statistic, found.p) == (0.0, 2 / 2**5)
    assert significance.wilcoxon(a, a).p == 1.0


def test_so_many_cases_would_show_a_difference() -> None:
    a = [True] * 20 + [False] * 80
    b = [False] * 20 + [True] * 10 + [False] * 70
    needed = significance.cases_needed_mcnemar(a, b)
    assert significance.power_mcnemar(needed - 1, 0.2, 0.1) < 0.8 <= significance.power_mcnemar(needed, 0.2, 0.1)
    assert significance.cases_needed_mcnemar(a, a) is None
    assert significance.cases_needed_mcnemar([True] * 3, [False] * 3) == 6, "with fewer, the test can't show anything"
    assert significance.cases_needed([3.0, 5.0, 4.0], [0.0, 2.0, 0.9]) == 6
    assert significance.cases_needed([1.0, 1.0], [1.0, 1.0]) is None
    values = [RANDOM.gauss(0.5, 1.0) for _ in range(200)]
    usual = (2.8016 / significance.cohens_d(values, [0.0] * 200)) ** 2 + 2  # the normal approximation, corrected
    assert significance.cases_needed(values, [0.0] * 200) == pytest.approx(usual, abs=1.5)


def mean(sums: np.ndarray) -> np.ndarray:
    return sums[:, 0] / sums[:, 1]


def counted(values: np.ndarray) -> np.ndarray:
    return np.column_stack([values, np.ones(len(values))])


def right(shares: np.ndarray, repeats: int = 1) -> CaseSums:
    """Cases that are right in these shares of their repeats."""
    return CaseSums(repeats * counted(shares), np.full(len(shares), float(repeats)), True, mean)


def share(shares: np.ndarray, repeats: int = 1) -> Interval:
    return of_measure(right(shares, repeats), (0.0, 1.0), True)


def unbounded(values: np.ndarray, each: bool = True) -> Interval:
    return of_measure(CaseSums(counted(values), np.ones(len(values)), False, mean), None, each)


@pytest.mark.parametrize("cases", [4, 9, 13])
def test_the_permutation_test_of_a_mean_is_scipys(cases: int) -> None:
    a, b = (np.array([RANDOM.random() for _ in range(cases)]) for _ in range(2))
    given = {"permutation_type": "samples", "n_resamples": 20_000}
    known = permutation_test((a, b), lambda x, y, axis: np.mean(x - y, axis=axis), **given)
    found = significance.permutation(counted(a), counted(b), mean)
    assert (found.draws, found.cases) == (0, cases)
    assert (found.statistic, found.p) == pytest.approx((known.statistic, known.pvalue), abs=1e-12)


def test_permutations_of_right_and_wrong_are_mcnemars() -> None:
    for _ in range(20):
        a, b = ([RANDOM.random() < 0.6 for _ in range(14)] for _ in range(2))
        found = significance.permutation(counted(np.array(a, dtype=float)), counted(np.array(b, dtype=float)), mean)
        assert found.p == pytest.approx(significance.mcnemar(a, b).p, abs=1e-12)
    drawn = random.Random(1)
    a, b = (np.array([drawn.random() for _ in range(60)]) for _ in range(2))
    found = significance.permutation(counted(a), counted(b), mean)
    known = 2 * norm.sf(abs((a - b).sum()) / np.sqrt(((a - b) ** 2).sum()))
    assert found.p == pytest.approx(known, rel=0.25)
    assert found.draws < 5_000, "no more are drawn than are needed to see that it is not small"
    far = significance.permutation(counted(a + 2), counted(b), mean, pairs=276)
    assert far.draws == 27_600
    assert 276 * far.p < 0.05
    assert significance.permutation(counted(a), counted(a), mean).p == 1.0


def test_a_share_has_scipys_exact_interval() -> None:
    for hits, trials in ((0, 1), (1, 1), (5, 5), (18, 20), (35, 50)):
        known = binomtest(hits, trials).proportion_ci(method="exact")
        found = of_share(hits, trials)
        assert (found.low, found.high) == pytest.approx((known.low, known.high), abs=1e-9)
        assert share((np.arange(trials) < hits).astype(float)) == found
    values = np.array([float(RANDOM.random() < 0.5) for _ in range(40)])
    one, ten = share(values), share(values, 10)
    assert (ten.low, ten.high) == pytest.approx((one.low, one.high), abs=1e-12)
    less = share(np.array([RANDOM.choice((0.4, 0.5, 0.6)) for _ in range(40)]), 10)
    assert less.high - less.low < 0.6 * (one.high - one.low), "repeats that differ say more"
    values = np.array([RANDOM.expovariate(1.0) for _ in range(20)])
    assert unbounded(values).known
    assert not unbounded(values[:19]).known
    assert not unbounded(np.ones(30)).known, "cases that are all alike"
    assert not unbounded(values, False).known


def test_the_interval_of_a_difference_is_tangos() -> None:
    """His own example (1998, table 2): of 44 cases 0 and 1 are right under one arm alone: -0.118 to 0.060 is the first
    less the second."""
    a, b = right(np.array([1.0] * 43 + [0.0])), right(np.ones(44))
    found = of_difference(a, b, (0.0, 1.0), True)
    score = (-1 - 44 * found.low) / np.sqrt(44 * (2 * _nuisance(0, 1, 44, found.low) + found.low * (1 - found.low)))
    assert found.value == pytest.approx(-1 / 44)
    assert score == pytest.approx(norm.ppf(0.975), abs=1e-6)
    same = of_difference(b, b, (0.0, 1.0), True)
    bound = norm.ppf(0.975) ** 2 / (44 + norm.ppf(0.975) ** 2)
    assert (same.low, same.high) == pytest.approx((-bound, bound), abs=1e-9), "also where none differs"


def _nuisance(first: int, second: int, cases: int, gap: float) -> float:
    """The probability that the second alone is right, most likely for this difference: Tango's quadratic's root."""
    b, c = (2 * cases - first + second) * gap - first - second, -second * gap * (1 - gap)
    return float(max(np.roots([2 * cases, b, c]).real))


def test_agreement_by_hand_and_beside_fleiss_kappa() -> None:
    """Two members, four cases, one disagreement: observed 1/4; expected 30/56 from 3 and 5 choices in 8."""
    units = [["x", "x"], ["x", "y"], ["y", "y"], ["y", "y"]]
    for more in ([], [["x", None]]):
        assert significance.krippendorffs_alpha(units + more) == pytest.approx(1 - (2 / 8) / (2 * 3 * 5 / (8 * 7)))
    assert significance.krippendorffs_alpha([["x", "x"], ["x", "x"]]) is None
    assert significance.krippendorffs_alpha([]) is None
    choices = [[RANDOM.choice("aab") for _ in range(5)] for _ in range(400)]
    counts = [[row.count("a"), row.count("b")] for row in choices]
    assert significance.krippendorffs_alpha(choices) == pytest.approx(fleiss_kappa(counts), abs=1e-3)
    assert significance.consistency(["buyer", "buyer", "seller"]) == 2 / 3


LIFE, DEATH = Term(life_imprisonment=True), Term(death_penalty=True)


@pytest.mark.parametrize(
    ("predicted", "real", "distance"),
    [(11, 11, 0), (5, 11, math.log(2)), (23, 11, math.log(2)), (None, 11, math.log(216)), (0, LONGEST, math.log(301))],
)
def test_the_log_distance_is_that_of_lawbench(predicted: int | None, real: int, distance: float) -> None:
    """ln(12 / 6) = ln(24 / 12) = ln 2; without a prediction ln 216, and farther off than that is below 0."""
    assert term_score(predicted, Term(imprisonment=real)) == pytest.approx(1 - distance / math.log(216))
    assert term_score(predicted, LIFE) is term_score(predicted, DEATH) is None, "left out"


CLASSES = ((300, 121), (120, 85), (84, 61), (60, 37), (36, 25), (24, 13), (12, 10), (9, 7), (6, 1), (0, 0))
"""The longest and the shortest term of each class after the first, in months."""


def test_there_are_eleven_classes_of_terms() -> None:
    assert term_class(DEATH) == term_class(LIFE) == 0
    found = [tuple(term_class(Term(imprisonment=end)) for end in ends) for ends in CLASSES]
    assert found == [(n, n) for n in range(1, 11)]


def at_most(share: float, experiments: int) -> float:
    """A share with twice the simulation's error."""
    return share + 2 * math.sqrt(share * (1 - share) / experiments)


@pytest.mark.parametrize("kind", bench.SAME, ids=[kind.title for kind in bench.SAME])
@pytest.mark.parametrize(
    ("arms", "cases", "experiments"),
    [*(pytest.param(2, cases, 150, marks=pytest.mark.slow) for cases in (3, 8, 20)), (8, 12, 20)],
)
def test_equal_arms_are_rarely_said_to_differ(kind: bench.Kind, arms: int, cases: int, experiments: int) -> None:
    assert bench.false_claims(kind, arms, cases, experiments) <= at_most(0.05, experiments)


@pytest.mark.parametrize("kind", [*bench.ONE, *bench.GAPS], ids=[kind.title for kind in (*bench.ONE, *bench.GAPS)])
@pytest.mark.slow
def test_intervals_hold_the_truth(kind: bench.Kind) -> None:
    covered, experiments = (bench.coverage, 200) if kind in bench.ONE else (bench.coverage_of_gap, 100)
    found = covered(kind, 20, experiments)
    assert found is not None
    assert found >= 1 - at_most(0.07, experiments)


def test_a_table_in_latex_says_what_its_marks_mean() -> None:
    rows = bench.experiment(np.array([[[1.0]] * 20, [[0.0]] * 17 + [[2.0]] * 3]))
    part = measure.mean("s", "Share", "made up", lambda row: v if (v := float(row.relevance["value"])) < 2 else None)
    names = ["arm 00", "arm 01"]
    of = grouped(rows, False)
    text = latex(table(of, rows, names, [part]), pairs(of, names, [part]))
    assert r"\textbf{100.0 \% (83.2 to 100.0)}$^{>\!1}$ & 20" in text
    assert r"0.0 \% (0.0 to 19.5; n = 17) & 20" in text
    assert "to be better: p below 0.05 by McNemar's exact test, with Holm's correction" in text


def test_arms_of_unequal_repeats_are_compared_case_by_case() -> None:
    """One arm has each case once, the other five times: neither is better."""
    random = np.random.default_rng(0)
    claims = 0
    for _ in range(100):
        easy = random.beta(2, 1, 20)
        once, often = random.random((1, 20, 1)) < easy[:, None], random.random((1, 20, 5)) < easy[:, None]
        rows = [*bench.experiment(once.astype(float))]
        rows += [replace(row, arm="arm 01") for row in bench.experiment(often.astype(float))]
        (pair,) = pairs(grouped(rows, False), ["arm 00", "arm 01"], [bench.SHARE])
        claims += pair.holds
    assert claims / 100 <= at_most(0.05, 100)


def test_labels_of_one_arm_alone_are_swapped_too() -> None:
    """An arm that answers with a label that no other has: the two arms' parts still mean the same."""
    gold = np.zeros((10, 1))
    rows = bench.experiment(np.stack([np.zeros((10, 1)), np.full((10, 1), 2.0)]), gold)
    (pair,) = pairs(grouped(rows, False), ["arm 00", "arm 01"], [bench.LABELS])
    assert (pair.of_a, pair.of_b) == (1.0, 0.0)
    assert pair.tested.p == 2 / 2**10


def row(number: int, case: Case, outcome: Outcome) -> CaseResult:
    return CaseResult(case, "", outcome, number=number, arm="arm", row=case.id)


def test_values_below_a_guess_are_marked() -> None:
    rows = []
    for number, (label, answer) in enumerate(zip("aaaabbc", "abcabca", strict=True)):
        item = Labelled(id=f"t-{number}", text="It rains.", label=label)
        case = LabelledTask(id=item.id, title="t", labels=("a", "b", "c"), items=(item,))
        details = {"results": [{"id": item.id, "label": answer}]}
        rows.append(row(number, case, Outcome(outcome=answer, details=details)))
    measures = [measures_of("labelled")[name] for name in ("accuracy", "macro_f1")]
    groups = grouped(rows, False)
    found = {one.arm: {name: of.value for name, of in one.values.items()} for one in guesses(groups, measures)}
    assert found[MOST_FREQUENT]["accuracy"] == pytest.approx(4 / 7)
    of_a = 2 * 4 / 7 / (1 + 4 / 7)  # the two other labels have an F1 of 0
    assert found[MOST_FREQUENT]["macro_f1"] == pytest.approx(of_a / 3)
    assert found[CHANCE] == {"accuracy": pytest.approx(1 / 3)}
    made = replace(table(groups, rows, ["arm"], measures), guesses=tuple(guesses(groups, measures)))
    (line,) = made.lines
    assert line.values["accuracy"].value == pytest.approx(3 / 7)
    assert made.below(line, measures[0])
    text = markdown(SimpleNamespace(table=made, pairs=(), overall={}, notes=(), steady={}))
    assert "42.9 %" in text
    assert " ↓ |" in text
    assert f"| {MOST_FREQUENT} | 57.1 % |" in text
    assert MOST_FREQUENT in latex(made)
    assert "↓" not in latex(made)


def test_disputes_are_guessed_by_winner_and_middle_vote(house: Courthouse) -> None:
    cases = [house.library.case(name) for name in ("oak-table", "phone-battery", "camera-fungus")]
    rows = [row(n, case, Outcome(outcome="buyer")) for n, case in enumerate(cases)]
    measures = [measures_of("dispute")[name] for name in ("accuracy", "votes_mae")]
    most, chance = guesses(grouped(rows, False), measures)
    juries = [case.jury for case in cases]
    buyer = sum(jury.winner == "buyer" for jury in juries)
    assert most.values["accuracy"].value == pytest.approx(max(buyer, 3 - buyer) / 3)
    middle = sorted(jury.buyer for jury in juries)[1]
    assert most.values["votes_mae"].value == pytest.approx(
        sum(abs(jury.buyer - middle) for jury in juries) / 3, abs=0.01
    )
    assert chance.values["accuracy"].value == 0.5
