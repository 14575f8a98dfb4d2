"""Everything that an experiment shows: its cells, its table, which differences hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from courtroom.errors import CourtroomError
from courtroom.evaluation.agreement import consistency, krippendorffs_alpha
from courtroom.evaluation.significance import Tested
from courtroom.experiments.breakdown import Breakdown, Feature, breakdown, differing, learning_curve
from courtroom.experiments.comparison import Overall, Pair, over_repeats, overall, pairs
from courtroom.experiments.frames import frame_of
from courtroom.experiments.measures import Measure
from courtroom.experiments.store import StoredExperiment
from courtroom.experiments.table import ALL, ArmGroup, CellRow, ResultTable, grouped, of_groups
from courtroom.experiments.words import sentence, summary

if TYPE_CHECKING:
    import pandas as pd

T = TypeVar("T")
LEARNING = "learning"
"""A learning curve, by the name under which it is asked for."""


@dataclass(frozen=True)
class Steady:
    """How far an arm comes to the same again, and how far its members agree."""

    consistency: float | None
    """Mean share of a case's repeats with its most frequent outcome; None without repeats."""
    agreement: float | None
    """Krippendorff's alpha over the members' last votes; None where nobody votes."""
    repeats: Tested | None
    """Whether any repeat is right more often than the others, by Cochran's Q; None without repeats."""


@dataclass(frozen=True)
class ExperimentResults:
    """One experiment as far as it is. Each part is worked out when it is first looked at."""

    kept: StoredExperiment
    rows: Sequence[CellRow]
    measures: tuple[Measure, ...]
    notes: tuple[str, ...] = ()
    """Which columns are left out, and why."""
    trained: Sequence[CellRow] = ()
    """Cells that taught an arm's memory; they count in no table."""
    _kept: dict[object, Any] = field(default_factory=dict, repr=False)
    """What was worked out for one choice of several: a page asks for it at each rerun."""

    @property
    def arms(self) -> tuple[str, ...]:
        """The arms' names, in their order."""
        return tuple(arm.name for arm in self.kept.experiment.arms)

    @property
    def failures(self) -> tuple[tuple[str, str, int], ...]:
        """Why cells failed: arm, reason, and how many of the arm's cells; the most frequent first."""
        counted = Counter((row.arm, row.reason) for row in self.rows if row.state == "failed")
        return tuple((arm, reason, number) for (arm, reason), number in counted.most_common())

    @cached_property
    def groups(self) -> Mapping[tuple[str, str], ArmGroup]:
        """The done cells by arm and group of cases."""
        return grouped(self.rows, self.kept.experiment.by_category)

    @cached_property
    def table(self) -> ResultTable:
        """The table."""
        return of_groups(self.groups, self.rows, self.arms, self.measures)

    @cached_property
    def pairs(self) -> list[Pair]:
        """Every pair of arms."""
        return pairs(self.groups, self.arms, self.measures)

    @cached_property
    def overall(self) -> list[Overall]:
        """Cochran's Q where there are three arms or more."""
        return overall(self.groups, self.arms, self.measures)

    @cached_property
    def steady(self) -> Mapping[str, Steady]:
        """Consistency and agreement, by arm."""
        return {
            arm: _steady(
                [row for row in self.rows if row.arm == arm],
                over_repeats(group, self.measures) if (group := self.groups.get((arm, ALL))) else None,
            )
            for arm in self.arms
        }

    def breakdown(self, feature: str, measure: Measure, group: str = ALL) -> Breakdown:
        """A measure by a feature, of all cases or of those of one group.

        Raises:
            CourtroomError: the cells do not differ in this.
        """
        return self._once(("breakdown", feature, measure.name, group), lambda: self._breakdown(feature, measure, group))

    def features(self, group: str = ALL) -> list[Feature]:
        """In what the cells of a group of cases differ."""
        return self._once(("features", group), lambda: differing(self._of(group)))

    @cached_property
    def frame(self) -> pd.DataFrame:
        """A row for each cell."""
        return frame_of(self.rows, self.measures)

    def _of(self, group: str) -> list[CellRow]:
        return [row for row in self.rows if group in (ALL, row.category)]

    def _once(self, what: object, work: Callable[[], T]) -> T:
        if what not in self._kept:
            self._kept[what] = work()
        return self._kept[what]  # type: ignore[no-any-return]

    def _breakdown(self, feature: str, measure: Measure, group: str) -> Breakdown:
        if feature == LEARNING and self.trained:
            return learning_curve(self.trained, self.arms, measure)
        known = {one.name: one for one in self.features(group)}
        if feature not in known:
            names = [*known, *([LEARNING] if self.trained else [])]
            raise CourtroomError(
                f"The results do not differ by “{feature}”. Choose among: {', '.join(names) or 'nothing yet'}."
            )
        return breakdown(self._of(group), self.arms, measure, known[feature])

    def as_data(self) -> dict[str, Any]:
        """As plain data, for `--json`."""
        experiment = self.kept.experiment
        return {
            "experiment": self.kept.id,
            "status": self.kept.status,
            "reason": self.kept.reason,
            "dataset": experiment.dataset.name,
            "version": experiment.dataset.version,
            "cells": {
                state: sum(row.state == state for row in self.rows) for state in ("done", "failed", "waiting")
            },  # fmt: skip
            "failures": [{"arm": arm, "reason": reason, "cells": number} for arm, reason, number in self.failures],
            "lines": [
                {
                    "arm": line.arm,
                    "group": line.group,
                    "cases": line.cases,
                    "values": {name: [one.value, one.low, one.high] for name, one in line.values.items()},
                }
                for line in self.table.lines
            ],
            "spent": {
                arm: {"calls": one.calls, "tokens": one.tokens, "cost": one.cost, "failed": one.failed}
                for arm, one in self.table.spent.items()
            },
            "steady": {
                arm: {
                    "consistency": one.consistency,
                    "agreement": one.agreement,
                    "repeats": {"q": one.repeats.statistic, "p": one.repeats.p} if one.repeats else None,
                }
                for arm, one in self.steady.items()
            },
            "notes": list(self.notes),
            "summary": summary(self.pairs, self.overall),
            "pairs": [
                {
                    "measure": pair.measure.name,
                    "group": pair.group,
                    "arms": [pair.a, pair.b],
                    "difference": [pair.difference.value, pair.difference.low, pair.difference.high],
                    "test": pair.test,
                    "p": pair.p,
                    "corrected": pair.corrected,
                    "holds": pair.holds,
                    "effect": pair.effect,
                    "needed": pair.needed,
                    "sentence": sentence(pair),
                }
                for pair in self.pairs
            ],
        }


def _steady(rows: Sequence[CellRow], repeats: Tested | None) -> Steady:
    by_case: dict[str, list[str]] = {}
    votes = []
    for row in rows:
        if row.outcome is not None:
            by_case.setdefault(row.row, []).append(row.outcome.outcome)
            if row.outcome.votes:
                votes.append(list(row.outcome.votes.values()))
    shares = [consistency(outcomes) for outcomes in by_case.values() if len(outcomes) > 1]
    share = sum(shares) / len(shares) if shares else None
    return Steady(share, krippendorffs_alpha(votes) if votes else None, repeats)
