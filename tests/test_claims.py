"""What tables claim holds, and what guessing reaches stands in them: simulated with a fixed seed, small enough for the suite; `tests.benchmarks.bench_claims` has it whole."""

import math
from dataclasses import replace

import numpy as np
import pytest

from courtroom.cases.case import Case
from courtroom.cases.labelled import Labelled, LabelledTask
from courtroom.courthouse import Courthouse
from courtroom.experiments.measures import measures_of
from courtroom.experiments.measures.measure import mean
from courtroom.experiments.outcome import Outcome
from courtroom.experiments.results import CHANCE, MOST_FREQUENT, guesses
from courtroom.experiments.table import (
    ALL,
    ArmGroup,
    CellRow,
    grouped,
    pairs,
    sentence,
    summary,
    table,
    without_interval,
)
from courtroom.experiments.written import latex, markdown
from tests.benchmarks.bench_claims import (
    GAPS,
    LABELS,
    ONE,
    SAME,
    SHARE,
    UNBOUNDED,
    Kind,
    coverage,
    coverage_of_gap,
    experiment,
    exponential,
    false_claims,
)


def at_most(share: float, experiments: int) -> float:
    """A share with twice the simulation's error."""
    return share + 2 * math.sqrt(share * (1 - share) / experiments)


@pytest.mark.parametrize("kind", SAME, ids=[kind.title for kind in SAME])
@pytest.mark.parametrize(
    ("arms", "cases", "experiments"),
    [*(pytest.param(2, cases, 150, marks=pytest.mark.slow) for cases in (3, 8, 20)), (8, 12, 20)],
)
def test_arms_without_a_difference_are_rarely_said_to_differ(
    kind: Kind, arms: int, cases: int, experiments: int
) -> None:
    assert false_claims(kind, arms, cases, experiments) <= at_most(0.05, experiments)


@pytest.mark.parametrize("kind", [*ONE, *GAPS], ids=[kind.title for kind in (*ONE, *GAPS)])
@pytest.mark.parametrize("cases", [5, 20])
@pytest.mark.slow
def test_the_interval_of_an_arm_and_that_of_a_difference_hold_the_truth(kind: Kind, cases: int) -> None:
    covered, experiments = (coverage, 200) if kind in ONE else (coverage_of_gap, 100)
    found = covered(kind, cases, experiments)
    if cases < kind.fewest:
        assert found is None
    elif cases >= 20 or kind not in ONE or "skewed" not in kind.title:
        assert found is not None
        assert found >= 1 - at_most(0.07, experiments)


@pytest.mark.parametrize("cases", [1, 2])
def test_so_few_cases_are_not_enough_to_know_and_the_table_says_so(cases: int) -> None:
    rows = experiment(np.array([[[1.0]] * cases, [[0.0]] * cases]))
    (pair,) = pairs(grouped(rows, False), ["arm 00", "arm 01"], [SHARE])
    assert not pair.knowable
    assert sentence(pair) == (
        f"Share: whether arm 00 and arm 01 differ can't be known from so few cases (100.0 % against 0.0 %; {cases} cases; at least 6 are needed)."
    )
    assert summary([pair]) == ["Share: there are too few cases to know of any difference."]


def test_a_table_in_latex_says_its_intervals_the_n_of_a_column_and_what_its_marks_mean() -> None:
    rows = experiment(np.array([[[1.0]] * 20, [[0.0]] * 17 + [[2.0]] * 3]))
    part = mean("share", "Share", "made up", lambda row: v if (v := float(row.relevance["value"])) < 2 else None)
    names = ["arm 00", "arm 01"]
    of = grouped(rows, False)
    text = latex(table(of, rows, names, [part]), pairs(of, names, [part]))
    assert r"\textbf{100.0 \% (83.2 to 100.0)}$^{>\!1}$ & 20" in text
    assert r"0.0 \% (0.0 to 19.5; n = 17) & 20" in text
    assert "to be better: p below 0.05 by McNemar's exact test, with Holm's correction" in text


def test_a_measure_without_an_interval_says_why() -> None:
    rows = experiment(exponential(np.random.default_rng(0), (1, 19, 1)))
    found = table(grouped(rows, False), rows, ["arm 00"], [UNBOUNDED])
    assert not found.lines[0].values["unbounded"].known
    why = "Unbounded has no interval on fewer than 20 cases, or where too few of them differ: none would hold."
    assert without_interval(found) == [why]


def test_arms_with_more_repeats_than_others_are_compared_case_by_case() -> None:
    """One arm has each case once, the other five times: neither is better."""
    random = np.random.default_rng(0)
    claims = 0
    for _ in range(100):
        easy = random.beta(2, 1, 20)
        once, often = random.random((1, 20, 1)) < easy[:, None], random.random((1, 20, 5)) < easy[:, None]
        rows = [*experiment(once.astype(float))]
        rows += [replace(row, arm="arm 01") for row in experiment(often.astype(float))]
        (pair,) = pairs(grouped(rows, False), ["arm 00", "arm 01"], [SHARE])
        claims += pair.holds
    assert claims / 100 <= at_most(0.05, 100)


def test_labels_that_another_arm_alone_gives_are_swapped_with_its_answers() -> None:
    """An arm that answers with a label that no other has: the two arms' parts still mean the same."""
    gold = np.zeros((10, 1))
    rows = experiment(np.stack([np.zeros((10, 1)), np.full((10, 1), 2.0)]), gold)
    (pair,) = pairs(grouped(rows, False), ["arm 00", "arm 01"], [LABELS])
    assert (pair.of_a, pair.of_b) == (1.0, 0.0)
    assert pair.tested.p == 2 / 2**10


def row(number: int, case: Case, outcome: Outcome) -> CellRow:
    return CellRow(number, "arm", case.id, case, "", 0, "", "done", "", outcome)


def test_the_most_frequent_answer_and_chance_have_a_row_and_what_is_below_is_marked() -> None:
    rows = []
    for number, (label, answer) in enumerate(zip("aaaabbc", "abcabca", strict=True)):
        item = Labelled(id=f"t-{number}", text="It rains.", label=label)
        case = LabelledTask(id=item.id, title="t", labels=("a", "b", "c"), items=(item,))
        details = {"results": [{"id": item.id, "label": answer}]}
        rows.append(row(number, case, Outcome(outcome=answer, details=details)))
    measures = [measures_of("labelled")[name] for name in ("accuracy", "macro_f1")]
    groups = {("arm", ALL): ArmGroup("arm", ALL, rows)}
    found = {one.name: one.values for one in guesses(groups, measures)}
    assert found[MOST_FREQUENT]["accuracy"] == pytest.approx(4 / 7)
    of_a = 2 * 4 / 7 / (1 + 4 / 7)  # the two other labels have an F1 of 0
    assert found[MOST_FREQUENT]["macro_f1"] == pytest.approx(of_a / 3)
    assert found[CHANCE] == {"accuracy": pytest.approx(1 / 3)}
    made = replace(table(groups, rows, ["arm"], measures), guesses=tuple(guesses(groups, measures)))
    (line,) = made.lines
    assert line.values["accuracy"].value == pytest.approx(3 / 7)
    assert made.below(line, measures[0])
    text = markdown(made)
    assert "42.9 %" in text
    assert " ↓ |" in text
    assert f"| {MOST_FREQUENT} | 57.1 % |" in text
    assert MOST_FREQUENT in latex(made)
    assert "↓" not in latex(made)


def test_disputes_are_guessed_by_the_most_frequent_winner_and_the_middle_of_their_votes(house: Courthouse) -> None:
    cases = [house.library.case(name) for name in ("oak-table", "phone-battery", "camera-fungus")]
    rows = [row(n, case, Outcome(outcome="buyer")) for n, case in enumerate(cases)]
    measures = [measures_of("dispute")[name] for name in ("accuracy", "votes_mae")]
    most, chance = guesses({("arm", ALL): ArmGroup("arm", ALL, rows)}, measures)
    juries = [case.jury for case in cases]
    buyer = sum(jury.winner == "buyer" for jury in juries)
    assert most.values["accuracy"] == pytest.approx(max(buyer, 3 - buyer) / 3)
    middle = sorted(jury.buyer for jury in juries)[1]
    assert most.values["votes_mae"] == pytest.approx(sum(abs(jury.buyer - middle) for jury in juries) / 3, abs=0.01)
    assert chance.values == {"accuracy": 0.5}
