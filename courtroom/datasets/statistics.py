"""What is in a dataset, in numbers: of all rows and of each split."""

import json
import statistics
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from courtroom.datasets.row import DatasetInfo
from courtroom.datasets.selection import BANDS
from courtroom.datasets.store import Datasets
from courtroom.strict import Strict

LENGTHS = (100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000)
"""Where classes of length begin, in characters."""
NUMBERS = (0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000)
"""Where classes of other numbers begin, where they go beyond `EACH`."""
EACH = 20
"""Up to this, each whole number is a class of its own."""
MARGINS = ("near tie", "clear", "large")
ALL = "all"


class Spread(Strict):
    """How a number is spread over rows."""

    rows: int
    least: float
    median: float
    mean: float
    most: float
    total: float


class SplitCounts(Strict):
    """Numbers of one split, or of all rows."""

    rows: int
    known: int
    """Rows whose outcome is known."""
    categories: dict[str, int]
    """By size, the largest first; so too outcomes."""
    outcomes: dict[str, int]
    languages: dict[str, int]
    length: Spread
    lengths: tuple[int, ...]
    """Rows of each class of `LENGTHS`, one more than there are bounds."""
    margins: dict[str, int]
    """Rows by band of the margin on record; empty where there are no votes."""
    numbers: dict[str, Spread]
    """What else is counted in cases of this kind, such as articles, months, pictures."""
    classes: dict[str, dict[str, int]]
    """Rows by class of each of these numbers, in the order of the classes, which are the same for all splits."""


class Statistics(Strict):
    """A dataset in numbers; `all` has all rows."""

    info: DatasetInfo
    counts: dict[str, SplitCounts]

    def rows(self) -> list[dict[str, str | float]]:
        """A line for each split, as a table shows it."""
        lines: list[dict[str, str | float]] = []
        for split, counts in self.counts.items():
            line: dict[str, str | float] = {
                "split": split,
                "rows": counts.rows,
                "outcome known": counts.known,
                "categories": len(counts.categories),
                "characters (mean)": round(counts.length.mean, 1),
                "characters (median)": counts.length.median,
                "characters (most)": counts.length.most,
            }
            lines.append(line | {f"{name} (mean)": round(spread.mean, 2) for name, spread in counts.numbers.items()})
        return lines


def measure(datasets: Datasets, name: str, version: str | None = None) -> Statistics:
    """A dataset's statistics. Raises `CourtroomError`: there is no such dataset."""
    info = datasets.info(name, version)
    by_split: dict[str, list[tuple[str, str, str, int, float | None, str]]] = defaultdict(list)
    for split, *rest in datasets.columns(
        name, info.version, ("category", "outcome", "language", "length", "margin", "numbers")
    ):
        by_split[split].append((rest[0], rest[1], rest[2], rest[3], rest[4], rest[5]))
    everything = [row for rows in by_split.values() for row in rows]
    named = {split: rows for split in info.splits if (rows := by_split[split])}
    most: dict[str, float] = defaultdict(float)
    for *_, text in everything:
        for number, value in json.loads(text).items():
            most[number] = max(most[number], value)
    counts = {split: _counts(rows, most) for split, rows in {ALL: everything, **named}.items()}
    return Statistics(info=info, counts=counts)


def _counts(rows: Sequence[tuple[str, str, str, int, float | None, str]], most: Mapping[str, float]) -> SplitCounts:
    lengths = [length for _, _, _, length, _, _ in rows]
    classes = Counter(bisect_right(LENGTHS, length) for length in lengths)
    margins = Counter(MARGINS[sum(margin > band for band in BANDS)] for *_, margin, _ in rows if margin is not None)
    numbers: dict[str, list[float]] = defaultdict(list)
    for *_, text in rows:
        for name, value in json.loads(text).items():
            numbers[name].append(value)
    return SplitCounts(
        rows=len(rows),
        known=sum(bool(outcome) for _, outcome, *_ in rows),
        categories=_counted(category for category, *_ in rows if category),
        outcomes=_counted(outcome for _, outcome, *_ in rows if outcome),
        languages=_counted(language for _, _, language, *_ in rows),
        length=_spread(lengths),
        lengths=tuple(classes[number] for number in range(len(LENGTHS) + 1)),
        margins={name: margins[name] for name in MARGINS} if margins else {},
        numbers={name: _spread(values) for name, values in numbers.items()},
        classes={name: _classes(numbers.get(name, []), top) for name, top in most.items()},
    )


def _classes(values: Iterable[float], most: float) -> dict[str, int]:
    """Rows of each class, from the smallest to that of the largest number there is."""
    if most <= EACH:
        found = Counter(int(value) for value in values)
        return {str(number): found[number] for number in range(int(most) + 1)}
    places = Counter(bisect_right(NUMBERS, value) - 1 for value in values)
    names = [str(low) if high - low == 1 else f"{low:,} to {high - 1:,}" for low, high in pairwise(NUMBERS)] + [
        f"{NUMBERS[-1]:,} and more"
    ]
    return {names[place]: places[place] for place in range(bisect_right(NUMBERS, most))}


def _counted(values: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(values).items(), key=lambda pair: (-pair[1], pair[0])))


def _spread(values: Sequence[float]) -> Spread:
    return Spread(
        rows=len(values),
        least=min(values),
        median=statistics.median(values),
        mean=statistics.fmean(values),
        most=max(values),
        total=sum(values),
    )
