"""The table of an experiment: a line for each arm and group of cases, with intervals. Pure functions over what cells came to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from courtroom.cases.case import Case
from courtroom.evaluation.bootstrap import Drawn, Interval, draw
from courtroom.experiments.measures import Measure, Scored
from courtroom.experiments.outcome import Outcome

if TYPE_CHECKING:
    from courtroom.evaluation.bootstrap import Sums

ALL = "all cases"


@dataclass(frozen=True)
class CellRow:
    """One cell, as far as it is: the row of all exports."""

    number: int
    arm: str
    row: str
    """The case's id in its dataset."""
    case: Case
    category: str
    repeat: int
    run: str
    """Empty for a prediction made elsewhere."""
    state: str
    """`waiting`, `done` or `failed`."""
    reason: str
    outcome: Outcome | None
    relevance: Mapping[str, int] = field(default_factory=dict)
    """How relevant other rows are to the case, by their ids."""

    @property
    def scored(self) -> Scored | None:
        """What measures read; None where there is no outcome."""
        return Scored(self.case, self.category, self.outcome, self.relevance) if self.outcome else None


@dataclass(frozen=True)
class ArmSpending:
    """What the cells of an arm took."""

    done: int
    failed: int
    waiting: int
    calls: int
    tokens: int
    cost: float | None
    """US dollars; None where a price is not known."""
    seconds: float


@dataclass
class ArmGroup:
    """One arm's done cells within a group of cases."""

    arm: str
    group: str
    rows: Sequence[CellRow]
    _drawn: dict[tuple[str, frozenset[str]], Drawn] = field(default_factory=dict)
    _values: dict[str, dict[str, float | None]] = field(default_factory=dict)

    @cached_property
    def by_case(self) -> Mapping[str, Sequence[Scored]]:
        """What it came to, by case."""
        found: dict[str, list[Scored]] = {}
        for row in self.rows:
            if scored := row.scored:
                found.setdefault(row.row, []).append(scored)
        return found

    def sums(self, measure: Measure, cases: Sequence[str]) -> Sums:
        """What each case adds to a measure, its repeats together, shape (cases, parts)."""
        import numpy as np

        several = [self.by_case[case] for case in cases]
        parts = measure.parts([one for repeats in several for one in repeats])
        ends = np.cumsum([len(repeats) for repeats in several])
        return np.stack([chunk.sum(axis=0) for chunk in np.split(parts, ends[:-1])])

    def values(self, measure: Measure, cases: Sequence[str]) -> list[float | None]:
        """Each case's own value, the mean over its repeats; None where the measure leaves it out."""
        if measure.name not in self._values:
            self._values[measure.name] = {case: _mean_of(measure, several) for case, several in self.by_case.items()}
        return [self._values[measure.name][case] for case in cases]


@dataclass(frozen=True)
class TableRow:
    """One arm in one group."""

    arm: str
    group: str
    cases: int
    values: Mapping[str, Interval]
    """By the measure's name; a measure that no case has a value for is left out."""


@dataclass(frozen=True)
class ResultTable:
    """All lines, arms in the order of the experiment, for each group in turn."""

    measures: tuple[Measure, ...]
    arms: tuple[str, ...]
    groups: tuple[str, ...]
    lines: tuple[TableRow, ...]
    spent: Mapping[str, ArmSpending]

    def line(self, arm: str, group: str) -> TableRow | None:
        """One line, where the arm has done any case of the group."""
        return next((line for line in self.lines if (line.arm, line.group) == (arm, group)), None)


def grouped(rows: Iterable[CellRow], by_category: bool) -> dict[tuple[str, str], ArmGroup]:
    """The done cells by arm and group; a single group where cases are not distinguished."""
    found: dict[tuple[str, str], list[CellRow]] = {}
    for row in rows:
        if row.outcome is not None:
            found.setdefault((row.arm, row.category if by_category else ALL), []).append(row)
    return {(arm, group): ArmGroup(arm, group, cells) for (arm, group), cells in found.items()}


def drawn_together(groups: Sequence[ArmGroup], measure: Measure, cases: Sequence[str]) -> list[Drawn]:
    """A measure of several arms on the same cases; what was drawn before is not drawn again."""
    key = (measure.name, frozenset(cases))
    missing = [group for group in groups if key not in group._drawn]
    if missing:
        fresh = draw([group.sums(measure, cases) for group in missing], measure.finish)
        for group, one in zip(missing, fresh, strict=True):
            group._drawn[key] = one
    return [group._drawn[key] for group in groups]


def table(
    rows: Sequence[CellRow], arms: Sequence[str], measures: Sequence[Measure], by_category: bool = False
) -> ResultTable:
    """The table of these cells."""
    return of_groups(grouped(rows, by_category), rows, arms, measures)


def of_groups(
    groups: Mapping[tuple[str, str], ArmGroup],
    rows: Sequence[CellRow],
    arms: Sequence[str],
    measures: Sequence[Measure],
) -> ResultTable:
    """The table of cells that are grouped already."""
    names = tuple(sorted({group for _, group in groups}))
    lines = []
    for name in names:
        here = [groups[arm, name] for arm in arms if (arm, name) in groups]
        for group in here:
            cases = sorted(group.by_case)
            same = [other for other in here if other.by_case.keys() == group.by_case.keys()]
            values = {}
            for measure in measures:
                drawn = drawn_together(same, measure, cases)[same.index(group)]
                if drawn.value == drawn.value:  # not a number where no case has a value
                    values[measure.name] = drawn.interval
            lines.append(TableRow(group.arm, name, len(cases), values))
    return ResultTable(tuple(measures), tuple(arms), names, tuple(lines), {arm: spent(rows, arm) for arm in arms})


def _mean_of(measure: Measure, several: Sequence[Scored]) -> float | None:
    """The mean of a measure over a case's repeats."""
    assert measure.each is not None
    known = [value for one in several if (value := measure.each(one)) is not None]
    return sum(known) / len(known) if known else None


def spent(rows: Iterable[CellRow], arm: str) -> ArmSpending:
    """What an arm took so far."""
    mine = [row for row in rows if row.arm == arm]
    done = [row.outcome for row in mine if row.outcome is not None]
    costs = [one.cost for one in done]
    return ArmSpending(
        done=len(done),
        failed=sum(row.state == "failed" for row in mine),
        waiting=sum(row.state == "waiting" for row in mine),
        calls=sum(one.calls for one in done),
        tokens=sum(one.prompt_tokens + one.completion_tokens for one in done),
        cost=None if None in costs else sum(cost for cost in costs if cost is not None),
        seconds=sum(one.latency_s for one in done),
    )
