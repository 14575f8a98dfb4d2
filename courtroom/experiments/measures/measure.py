"""What a measure is: sums over cases, which can be left out, drawn again and swapped, and what they come to."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypedDict, Unpack

import numpy as np

from courtroom.cases.case import Case, CaseT
from courtroom.evaluation.intervals import Bounds, Finish, Sums
from courtroom.experiments.outcome import Outcome, State


@dataclass(frozen=True)
class CaseResult:
    """One cell: what an arm came to on a case, beside what is known of it. The row of all exports."""

    case: Case
    category: str
    """Of the case in its dataset."""
    outcome: Outcome
    """An empty one as long as there is none."""
    relevance: Mapping[str, int] = field(default_factory=dict)
    """How relevant other rows of its dataset are to it, by their ids; empty where nobody has judged that."""
    single: Outcome | None = None
    """What the single model came to on the case that the arm's gain is over."""
    repeat: int = 0
    """In which of the arm's runs over all cases."""
    number: int = 0
    arm: str = ""
    row: str = ""
    """The case's id in its dataset."""
    run: str = ""
    """Empty for a prediction made elsewhere."""
    state: State = "done"
    reason: str = ""


Each = Callable[[CaseResult], float | None]
"""A case's own value; None where it is left out."""
Labels = Callable[[CaseResult], Sequence[tuple[frozenset[Hashable], frozenset[Hashable]]]]
"""Predicted and real labels of a case, for each thing in it that has any."""


@dataclass(frozen=True)
class Measure:
    """One column of a table."""

    name: str
    title: str
    source: str
    """Where it is defined."""
    parts: Callable[[Sequence[CaseResult]], Sums]
    """What each of these adds to each part, shape (as many as are given, parts)."""
    finish: Finish
    each: Each | None = None
    """The value of one case, where the measure is a mean of such."""
    better: Literal["higher", "lower"] = "higher"
    usual: bool = False
    """Whether it is in a table for which nobody chose measures."""
    percent: bool = True
    """Whether it is printed as a percentage."""
    bounds: Bounds | None = (0.0, 1.0)
    """The least and greatest value that it can have; None where it has none."""
    ratio: bool = False
    """Whether its two parts are the sums of a ratio that `finish` grows with, as a mean is."""
    missing: Callable[[Sequence[CaseResult]], str] = lambda rows: ""
    """Why it can't be worked out for these on this machine, in a sentence; empty where it can."""

    def value(self, rows: Sequence[CaseResult]) -> float:
        """Return what it comes to over all of these; not a number where none has a value."""
        return float(self.finish(self.parts(rows).sum(axis=0, keepdims=True))[0])

    @property
    def is_of_each_run(self) -> bool:
        """Return whether each run over all cases has a value of its own, so that an arm has the mean of its runs."""
        return self.each is None and not self.ratio


def quotient(tops: Sums, unders: Sums) -> Sums:
    """What is divided by 0 is not a number."""
    found: Sums = np.divide(tops, unders, out=np.full(len(tops), np.nan), where=unders != 0)
    return found


class Printed(TypedDict, total=False):
    """How a measure is named in tables and kept between bounds; see `Measure`."""

    better: Literal["higher", "lower"]
    usual: bool
    percent: bool
    bounds: Bounds | None
    missing: Callable[[Sequence[CaseResult]], str]


def mean(name: str, title: str, source: str, each: Each, *, root: bool = False, **printed: Unpack[Printed]) -> Measure:
    """A measure that is the mean of the cases' own values, or the root of the mean of their squares."""

    def parts(rows: Sequence[CaseResult]) -> Sums:
        values, power = [each(row) for row in rows], 2 if root else 1
        known = [((value or 0.0) ** power, float(value is not None)) for value in values]
        return np.array(known, dtype=float).reshape(-1, 2)

    def finish(sums: Sums) -> Sums:
        found = quotient(sums[:, 0], sums[:, 1])
        return np.sqrt(found) if root else found

    return Measure(name, title, source, parts, finish, each=None if root else each, ratio=True, **printed)


def of(kind: type[CaseT], value: Callable[[CaseT, Outcome], float | None]) -> Each:
    """Return a case's own value by a function of the case, which is of this kind, and of what it came to."""

    def each(row: CaseResult) -> float | None:
        assert isinstance(row.case, kind)
        return value(row.case, row.outcome)

    return each


def share(part: float, whole: float) -> float | None:
    """Return a part of a whole; None where the whole is nothing."""
    return part / whole if whole else None


Average = Literal["macro precision", "macro recall", "macro F1", "weighted F1"]


def over_labels(
    name: str, title: str, source: str, labels: Labels, average: Average, *, usual: bool = False
) -> Measure:
    """Precision, recall or F1 averaged over labels; equal to scikit-learn's with `zero_division=0`. Labels count that
    are seen in a prediction or in the gold; one that a draw has not drawn counts for nothing in it."""

    def parts(rows: Sequence[CaseResult]) -> Sums:
        pairs = [labels(row) for row in rows]
        seen = list(dict.fromkeys(label for row in pairs for sides in row for side in sides for label in side))
        number = {label: place for place, label in enumerate(seen)}
        counts = np.zeros((len(rows), 3, max(1, len(seen))))
        for at, row in enumerate(pairs):
            for predicted, real in row:
                for part, side in enumerate((predicted & real, predicted, real)):
                    for label in side:
                        counts[at, part, number[label]] += 1
        return counts.reshape(len(rows), -1)

    def finish(sums: Sums) -> Sums:
        hits, predicted, real = sums.reshape(len(sums), 3, -1).transpose(1, 0, 2)
        over = {"macro precision": predicted, "macro recall": real}.get(average, (predicted + real) / 2)
        value = np.divide(hits, over, out=np.zeros_like(hits), where=over > 0)
        seen = (predicted + real) > 0
        weight = real if average == "weighted F1" else seen.astype(float)
        total = weight.sum(axis=1)
        found: Sums = np.divide((value * weight).sum(axis=1), total, out=np.zeros(len(sums)), where=total > 0)
        return found

    return Measure(name, title, source, parts, finish, usual=usual)
