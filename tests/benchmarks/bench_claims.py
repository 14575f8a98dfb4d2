"""How often a table claims what is not so: `python -m tests.benchmarks.bench_claims` (about 15 minutes).

Experiments are made up, many of each kind, and go through the same table and the same pairs as any other.
"""

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from courtroom.cases.labelled import Labelled, LabelledTask
from courtroom.evaluation.intervals import Interval
from courtroom.evaluation.significance import fewest_cases
from courtroom.experiments.measures import CaseResult, Measure
from courtroom.experiments.measures.measure import mean, over_labels
from courtroom.experiments.outcome import Outcome
from courtroom.experiments.table import ALL, Pair, grouped, pairs, table
from tests.benchmarks.tables import Row, Table, share, show

Values = NDArray[np.float64]
"""Shape (arms, cases, repeats)."""
Random = np.random.Generator
Draw = Callable[[Random, int, int], Values]
"""From a number of arms and of cases to what each arm comes to."""
CASE = LabelledTask(id="t", title="t", labels=("a", "b"), items=(Labelled(id="t", text="x", label="a"),))
OUTCOME = Outcome()
ONE_OF = {float(label): frozenset({label}) for label in range(3)}
CASES = (2, 3, 5, 8, 12, 20, 50, 200)


def many_of(arms: int, cases: int) -> int:
    """Experiments that are made up for a figure: fewer of large ones, which take long, and of those too small to claim
    anything."""
    if arms < 3:
        return max(1_000, min(2_000, 50_000 // cases))
    if cases < fewest_cases(pairs=arms * (arms - 1) // 2):
        return 20
    return max(30, min(100, 3_000 // cases)) * (5 if arms < 24 else 1)


SHARE = mean("share", "Share", "made up", lambda row: row.relevance["value"])
UNBOUNDED = mean("unbounded", "Unbounded", "made up", lambda row: row.relevance["value"], percent=False, bounds=None)
LABELS = over_labels(
    "f1", "Macro F1", "made up",
    lambda row: ((ONE_OF[row.relevance["value"]], ONE_OF[row.relevance["gold"]]),), "macro F1",
)  # fmt: skip


@dataclass(frozen=True)
class Kind:
    """Answers of one kind, and what they come to over all cases that there could be."""

    title: str
    measure: Measure
    draw: Draw
    truth: float = 0.0
    """Of one arm, or of the first of two less the second."""
    gold: bool = False
    """Whether the first of the drawn arms is not one, but has the right labels."""


def right(level: float, spread: float = 1e6, repeats: int = 1) -> Draw:
    """Answers that are right so often, more often on some cases under some arms where the spread is small."""

    def draw(random: Random, arms: int, cases: int) -> Values:
        easy = random.beta(spread * level, spread * (1 - level), (arms, cases, 1))
        return (random.random((arms, cases, repeats)) < easy).astype(float)

    return draw


def labels(level: float) -> Draw:
    """Two labels, equally frequent, so often right; before the arms stand the right labels."""

    def draw(random: Random, arms: int, cases: int) -> Values:
        gold = random.integers(0, 2, (1, cases, 1))
        wrong = random.random((arms, cases, 1)) >= level
        return np.concatenate([gold, np.where(wrong, 1 - gold, gold)]).astype(float)

    return draw


def apart(first: float, second: float, spread: float = 1e6, repeats: int = 1) -> Draw:
    """Two arms that are right with these probabilities."""

    def draw(random: Random, arms: int, cases: int) -> Values:
        return np.concatenate([right(level, spread, repeats)(random, 1, cases) for level in (first, second)])

    return draw


def exponential(random: Random, arms: int, cases: int) -> Values:
    """Skewed to the right, mean 1."""
    return random.exponential(1.0, (arms, cases, 1))


def squares(random: Random, arms: int, cases: int) -> Values:
    """Of standard normal errors, more skewed still, mean 1."""
    return np.square(random.standard_normal((arms, cases, 1)))


def bounded(random: Random, arms: int, cases: int) -> Values:
    """Between 0 and 1, skewed to the left, mean 0.9."""
    return random.beta(4.5, 0.5, (arms, cases, 1))


SAME = (
    Kind("right or wrong", SHARE, right(0.7)),
    Kind("three repeats", SHARE, right(0.7, 2.0, 3)),
    Kind("skewed", UNBOUNDED, exponential),
    Kind("macro F1", LABELS, labels(0.7), gold=True),
)
"""Arms between which there is no difference."""
ONE = (
    *(Kind(f"share of {level}", SHARE, right(level), level) for level in (0.5, 0.7, 0.9, 0.95)),
    Kind("0.9, three repeats", SHARE, right(0.9, 2.0, 3), 0.9),
    Kind("macro F1 of 0.8", LABELS, labels(0.8), 0.8, gold=True),
    Kind("skewed, 0 to 1", SHARE, bounded, 0.9),
    Kind("exponential", UNBOUNDED, exponential, 1.0),
    Kind("squared errors", UNBOUNDED, squares, 1.0),
)
"""What one arm comes to."""
GAPS = (
    Kind("0.7 against 0.7", SHARE, right(0.7), 0.0),
    Kind("0.9 against 0.6", SHARE, apart(0.9, 0.6), 0.3),
    Kind("0.95 against 0.5", SHARE, apart(0.95, 0.5), 0.45),
    Kind("0.9 against 0.6, three repeats", SHARE, apart(0.9, 0.6, 2.0, 3), 0.3),
    Kind("macro F1", LABELS, labels(0.8), 0.0, gold=True),
    Kind("skewed, 0 to 1", SHARE, bounded, 0.0),
    Kind("exponential", UNBOUNDED, exponential, 0.0),
)
"""How far two arms are apart."""


def experiment(values: Values, gold: Values | None = None) -> list[CaseResult]:
    """The cells of an experiment in which arms came to these values; what they came to stands where relevance else
    does."""
    right_ = itertools.repeat(0.0) if gold is None else gold[:, 0].tolist()
    return [
        CaseResult(
            CASE, "", OUTCOME, {"value": one, "gold": real}, repeat=repeat, arm=f"arm {arm:02}", row=f"case-{case:03}"
        )
        for arm, of_arm in enumerate(values.tolist())
        for case, (several, real) in enumerate(zip(of_arm, right_, strict=False))
        for repeat, one in enumerate(several)
    ]  # fmt: skip


def made(kind: Kind, arms: int, cases: int, experiments: int) -> Iterator[tuple[list[CaseResult], list[str]]]:
    """Made-up experiments of a kind, the same each time."""
    random = np.random.default_rng([arms, cases, len(kind.title)])
    for _ in range(experiments):
        values = kind.draw(random, arms, cases)
        gold, values = (values[0], values[1:]) if kind.gold else (None, values)
        yield experiment(values, gold), [f"arm {arm:02}" for arm in range(len(values))]


def found_pairs(kind: Kind, arms: int, cases: int, experiments: int) -> Iterator[list[Pair]]:
    """What each made-up experiment says of its pairs."""
    for rows, names in made(kind, arms, cases, experiments):
        yield pairs(grouped(rows, False), names, [kind.measure])


def false_claims(kind: Kind, arms: int, cases: int, experiments: int) -> float:
    """The share of experiments that claim any difference; there is none."""
    return fmean(any(pair.holds for pair in found) for found in found_pairs(kind, arms, cases, experiments))


def held(intervals: Iterable[Interval], truth: float) -> float | None:
    """How many of the intervals that there are hold the truth; None where there is none."""
    known = [one.low - 1e-9 <= truth <= one.high + 1e-9 for one in intervals if one.known]
    return fmean(known) if known else None


def coverage(kind: Kind, cases: int, experiments: int) -> float | None:
    """How often the interval of one arm holds the truth."""
    several = made(kind, 1, cases, experiments)
    found = (table(grouped(rows, False), rows, names, [kind.measure]) for rows, names in several)
    return held((one.line("arm 00", ALL).values[kind.measure.name] for one in found), kind.truth)


def coverage_of_gap(kind: Kind, cases: int, experiments: int) -> float | None:
    """How often the interval of a difference holds the truth."""
    return held((found[0].difference for found in found_pairs(kind, 2, cases, experiments)), kind.truth)


def all_against_nothing(arms: int, cases: int) -> Mapping[str, float]:
    """By measure, the corrected p of an arm that is right on all cases against one that is wrong on all, among many at
    70 %."""
    random = np.random.default_rng(0)
    drawn = labels(0.7)(random, arms, cases)
    gold, values = drawn[0], drawn[1:]
    values[0], values[1] = gold, 1 - gold
    names = [f"arm {arm:02}" for arm in range(arms)]
    exact = mean("accuracy", "Accuracy", "made up", lambda row: row.relevance["value"] == row.relevance["gold"])
    found = pairs(grouped(experiment(values, gold), False), names, [exact, LABELS])
    return {pair.measure.title: pair.corrected for pair in found if [pair.a, pair.b] == names[:2]}


def _table(title: str, kinds: Iterable[Kind], figure: Callable[[Kind, int], float | None]) -> Table:
    def figures(many: int) -> Iterator[str]:
        found = (figure(kind, many) for kind in kinds)
        return ("–" if value is None else share(value) for value in found)

    head = ("cases", *(kind.title for kind in kinds))
    return Table(title, head, tuple(Row(f"{many}", partial(figures, many)) for many in CASES))


def tables() -> Iterator[Table]:
    for arms in (2, 8, 24):
        title = f"False claims among {arms} arms without a difference"
        claims = lambda kind, cases, a=arms: false_claims(kind, a, cases, many_of(a, cases))  # noqa: E731
        yield _table(title, SAME, claims)
    one = "The interval of one arm holds the truth"
    yield _table(one, ONE, lambda kind, cases: coverage(kind, cases, many_of(1, cases)))
    two = "The interval of a difference holds the truth"
    yield _table(two, GAPS, lambda kind, cases: coverage_of_gap(kind, cases, many_of(2, cases)))

    def corrected(arms: int) -> Iterator[str]:
        found = all_against_nothing(arms, 60)
        return (f"{found[title]:.2g}" for title in ("Accuracy", "Macro F1"))

    yield Table(
        "All of 60 texts right against none: p, corrected",
        ("arms", "accuracy", "macro F1"),
        tuple(Row(f"{arms}", partial(corrected, arms)) for arms in (2, 8, 24)),
    )


main = partial(show, tables)
if __name__ == "__main__":
    main()
