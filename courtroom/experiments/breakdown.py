"""Results by what cases and runs are like: the figures of the papers as numbers."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from courtroom.cases.dispute import SIDES, Dispute
from courtroom.datasets.row import BANDS, margin_of
from courtroom.evaluation.calibration import BINS, bin_of
from courtroom.evaluation.intervals import Interval
from courtroom.experiments.measures import CaseResult, Measure
from courtroom.experiments.measures.votes import of_votes
from courtroom.experiments.table import ArmGroup, case_sums, interval_of

MARGINS = ("near tie", "clear margin", "large margin")
TEXTS = {False: "clear text", True: "ambiguous text"}
EASY_FIRST = (*reversed(MARGINS), *TEXTS.values())
DIFFICULTY = "CyberJurors, figure 5 (b); Courtroom-LLM, figure 6"
BLOCKS, TOGETHER = 10, 5
"""A learning curve has so many points at most, each of so many cases at least where that leaves three points."""


@dataclass(frozen=True)
class Feature:
    """What cells differ in."""

    name: str
    title: str
    source: str
    """Which figure it is."""
    of: Callable[[CaseResult], str | None]
    """The class of a cell; None where it is not known."""
    order: Callable[[str], object] | None = None
    """By what classes are sorted; by their names without one, and then no line joins them."""
    joins: bool = False
    """Whether arms of one procedure and one model are one curve, as far as none of them is in another's class."""
    of_case: bool = False
    """Whether it is the case's own: where an arm's cell does not tell, another arm's cell of the same case does."""


@dataclass(frozen=True)
class Point:
    """One arm in one class."""

    arm: str
    label: str
    """The class."""
    value: Interval
    cases: int
    cells: int
    share: float
    """Of the arm's cells whose class is known."""


@dataclass(frozen=True)
class Breakdown:
    """A measure of each arm in each class."""

    title: str
    measure: Measure
    labels: tuple[str, ...]
    """In the order in which they are drawn."""
    ordered: bool
    """Whether the order of the classes means something."""
    points: tuple[Point, ...]
    """Arm by arm, each in this order."""

    def rows(self) -> list[dict[str, str | float]]:
        """The same as a table: a line for each class and arm."""
        rows = []
        for one in sorted(self.points, key=lambda point: self.labels.index(point.label)):
            row: dict[str, str | float] = {self.title: one.label, "arm": one.arm, **one.value.named(self.measure.title)}
            rows.append(row | {"cases": one.cases, "cells": one.cells, "share of cells": one.share})
        return rows


def breakdown(
    rows: Sequence[CaseResult], arms: Sequence[str], measure: Measure, feature: Feature, curves: Mapping[str, str] = {}
) -> Breakdown:
    """A measure by a feature, with intervals over the cases of each class. `curves`: by arm, what the curve is called
    that arms are joined in where the feature joins them."""
    found: dict[tuple[str, str], list[CaseResult]] = {}
    own = [(row, feature.of(row)) for row in rows if row.state == "done"]
    of_cases = {row.row: label for row, label in reversed(own) if label is not None} if feature.of_case else {}
    for row, label in own:
        if (label := of_cases.get(row.row) if label is None else label) is not None:
            found.setdefault((row.arm, label), []).append(row)
    if feature.joins and curves and len({(curves[arm], label) for arm, label in found}) == len(found):
        found = {(curves[arm], label): cells for (arm, label), cells in found.items()}
        arms = list(dict.fromkeys(curves.values()))
    labels = sorted({label for _, label in found}, key=feature.order or str)  # type: ignore[arg-type]
    points = _points(found, arms, labels, measure)
    return Breakdown(feature.title, measure, tuple(labels), feature.order is not None, points)


def learning_curve(trained: Sequence[CaseResult], arms: Sequence[str], measure: Measure) -> Breakdown:
    """A measure of the cases that an arm learned from, by how many it had learned from before (VERDICT, section 3.4).
    Each such case is judged before it is learned from, so its judgment rests on what came before it alone. Cases are
    taken together in blocks of equal size, in the order in which they came."""
    found: dict[tuple[str, str], list[CaseResult]] = {}
    labels: dict[str, int] = {}
    for arm in arms:
        mine = sorted((row for row in trained if row.arm == arm and row.state == "done"), key=lambda row: row.number)
        size = max(-(-len(mine) // BLOCKS), TOGETHER if len(mine) >= 3 * TOGETHER else 1)
        for first in range(0, len(mine), size):
            block = mine[first : first + size]
            label = f"{first}" if len(block) == 1 else f"{first} to {first + len(block) - 1}"
            labels[label], found[arm, label] = first, block
    order = sorted(labels, key=labels.__getitem__)
    return Breakdown("Cases learned from before", measure, tuple(order), True, _points(found, arms, order, measure))


def differing(rows: Sequence[CaseResult]) -> list[Feature]:
    """The features by which these cells fall into two classes or more."""
    done = [row for row in rows if row.state == "done"]
    return [one for one in FEATURES.values() if len({one.of(row) for row in done} - {None}) > 1]


def _points(
    found: Mapping[tuple[str, str], Sequence[CaseResult]], arms: Sequence[str], labels: Sequence[str], measure: Measure
) -> tuple[Point, ...]:
    points = []
    for arm in arms:
        total = sum(len(cells) for (of, _), cells in found.items() if of == arm)
        for label in labels:
            if cells := found.get((arm, label), ()):
                (given,) = case_sums([ArmGroup(arm, label, cells)], measure)
                if value := interval_of(measure, given):
                    points.append(Point(arm, label, value, len(given.cases), len(cells), len(cells) / total))
    return tuple(points)


def _difficulty(row: CaseResult) -> str | None:
    """Of a dispute by the margin of the votes on record; of a text by whether its preliminary hearings disagreed."""
    margin = margin_of(row.case)
    if margin is not None:
        return MARGINS[sum(margin > band for band in BANDS)]
    match row.outcome.details.get("results"):
        case [{"ambiguous": bool(ambiguous)}]:
            return TEXTS[ambiguous]
    return None


def _real_votes(row: CaseResult) -> str | None:
    if not isinstance(row.case, Dispute) or row.case.jury is None:
        return None
    return f"{row.case.jury.buyer}:{row.case.jury.seller}"


def _split(row: CaseResult) -> str | None:
    """Of a dispute the votes on record, those of the majority first."""
    votes = _real_votes(row)
    return votes and ":".join(sorted(votes.split(":"), key=int, reverse=True))


def _votes(row: CaseResult) -> str | None:
    """Of a dispute buyer's and seller's votes; else the votes for the choice with most, of all."""
    counts, cast = row.outcome.counts, row.outcome.cast
    if not cast:
        return None
    if isinstance(row.case, Dispute):
        return ":".join(str(counts.get(side, 0)) for side in SIDES)
    return f"{max(counts.values())} of {cast}"


def _scripted(row: CaseResult) -> str | None:
    """How many members were scripted, where the setup has a script."""
    return f"{len(row.outcome.scripted)} of {len(row.outcome.votes)}" if row.outcome.held else None


def _share(row: CaseResult) -> str | None:
    """In which bin the outcome's share of the votes lies: what the calibration error is summed over."""
    if not (found := of_votes(row)):
        return None
    number = bin_of(found[0][0])
    return f"{100 * number // BINS} to {100 * (number + 1) // BINS} %"


def _numbers(label: str) -> tuple[float, ...]:
    """Sort splits from all for the first side to none, then by panel; majorities and bins from the smallest share."""
    if ":" in label:
        first, second = map(int, label.split(":"))
        return (-first / ((first + second) or 1), first + second)
    most, _, every = label.partition(" of ")
    return (int(most) / int(every), int(every)) if every else (int(most.split()[0]), 0)


FEATURES: Mapping[str, Feature] = {
    one.name: one
    for one in (
        Feature("category", "Category", "CyberJurors, figure 5 (c)", lambda row: row.category or None),
        Feature("difficulty", "Difficulty", DIFFICULTY, _difficulty, EASY_FIRST.index, of_case=True),
        Feature(
            "rounds", "Rounds", "CyberJurors, figure 5 (a)", lambda row: str(row.outcome.rounds or "") or None, _numbers
        ),
        Feature("split", "Majority to minority on record", "CyberJurors, figure 5 (b)", _split, _numbers),
        Feature("real-votes", "Votes on record, buyer to seller", "CyberJurors, figure 7 (a)", _real_votes, _numbers),
        Feature("share", "Share of votes for the outcome", "Guo et al. 2017, figure 1", _share, _numbers),
        Feature("scripted", "Scripted members", "Centola et al. 2018", _scripted, _numbers, joins=True),
        Feature("model", "Model", "Who voted", lambda row: ", ".join(row.outcome.models) or None),
        Feature("votes", "Votes of the run", "CyberJurors, figure 7 (b)", _votes, _numbers),
    )
}
"""By their names, as the shell takes them."""
