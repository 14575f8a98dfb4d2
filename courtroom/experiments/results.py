"""Everything that an experiment shows: its cells, its table, which differences hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

from courtroom.errors import CourtroomError
from courtroom.evaluation.intervals import Interval
from courtroom.evaluation.significance import Tested, consistency, krippendorffs_alpha
from courtroom.experiments import table as tables
from courtroom.experiments.accounts import Account
from courtroom.experiments.breakdown import Breakdown, Feature, breakdown, differing, learning_curve
from courtroom.experiments.chance import guesses
from courtroom.experiments.hypotheses import Finding, findings
from courtroom.experiments.measures import Measure
from courtroom.experiments.store import StoredExperiment
from courtroom.experiments.written import frame_of
from courtroom.questions.audit import Audit, Name, shares

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class ArmAudits:
    """The audited votes of one arm."""

    arm: str
    runs: int
    """Runs of the arm in which a vote was audited."""
    audits: tuple[Audit, ...]

    @property
    def shares(self) -> dict[Name, float]:
        """Which share of them has which name, the largest first."""
        return shares(self.audits)


def arm_audits(
    rows: Sequence[tables.CellRow], audited: Collection[str], audits_of: Callable[[str], Sequence[Audit]]
) -> list[ArmAudits]:
    """What was found in each arm, in the order of the arms; arms without an audited vote are left out. `audited`: runs in which
    something was audited. `audits_of`: the audits of a run."""
    found: dict[str, list[tuple[Audit, ...]]] = {}
    for row in rows:
        if row.run in audited and (audits := tuple(audits_of(row.run))):
            found.setdefault(row.arm, []).append(audits)
    return [ArmAudits(arm, len(runs), tuple(one for run in runs for one in run)) for arm, runs in found.items()]


def first_runs(rows: Sequence[tables.CellRow], each: int) -> list[str]:
    """The first finished runs of each arm, so many each."""
    arms = dict.fromkeys(row.arm for row in rows)
    done = (((row.run for row in rows if row.arm == arm and row.run and row.state == "done")) for arm in arms)
    return [run for runs in done for run in islice(runs, each)]


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
    before: Tested | None = None
    """Whether the first measure differs from that of the arm before, by Student's t over repeats; None without repeats."""


@dataclass(frozen=True)
class ExperimentResults:
    """One experiment as far as it is. Each part is worked out when it is first looked at."""

    kept: StoredExperiment
    rows: Sequence[tables.CellRow]
    measures: tuple[Measure, ...]
    notes: tuple[str, ...] = ()
    """Which columns are left out, and why."""
    trained: Sequence[tables.CellRow] = ()
    """Cells that taught an arm's memory; they count in no table."""
    prompts: str = ""
    """The hash of the prompts as they are now, where hypotheses are locked."""
    accounts: tuple[Account, ...] = ()
    """How each arm's answers and the cases fit together."""
    _kept: dict[object, Any] = field(default_factory=dict, repr=False)
    """What was worked out for one choice of several: a page asks for it at each rerun."""

    @property
    def arms(self) -> tuple[str, ...]:
        return tuple(arm.name for arm in self.kept.experiment.arms)

    @property
    def failures(self) -> tuple[tuple[str, str, int], ...]:
        """Why cells failed: arm, reason, and how many of the arm's cells; the most frequent first."""
        counted = Counter((row.arm, row.reason) for row in self.rows if row.state == "failed")
        return tuple((arm, reason, number) for (arm, reason), number in counted.most_common())

    @cached_property
    def groups(self) -> Mapping[tuple[str, str], tables.ArmGroup]:
        """The done cells by arm and group of cases."""
        return tables.grouped(self.rows, self.kept.experiment.by_category)

    @cached_property
    def table(self) -> tables.ResultTable:
        made = tables.table(self.groups, self.rows, self.arms, self.measures)
        repeats = {
            arm: (f"{one.repeats.p:.3g}" if one.repeats else "–", f"{one.before.statistic:.3g}" if one.before else "–")
            for arm, one in self.steady.items()
            if one.repeats or one.before
        }
        return replace(made, guesses=tuple(guesses(self.groups, self.measures)), over_repeats=repeats)

    @cached_property
    def pairs(self) -> list[tables.Pair]:
        return tables.pairs(self.groups, self.arms, self.measures)

    @cached_property
    def findings(self) -> list[Finding]:
        """What the results say of each hypothesis; none where none was locked."""
        now = self.kept.experiment
        return findings(now.lock, now.hypotheses, self.pairs, now.digest, self.prompts) if now.lock else []

    @cached_property
    def overall(self) -> list[tables.Overall]:
        """Cochran's Q where there are three arms or more."""
        return tables.overall(self.groups, self.arms, self.measures)

    @cached_property
    def steady(self) -> Mapping[str, Steady]:
        """Consistency and agreement, by arm."""
        groups = [self.groups.get((arm, tables.ALL)) for arm in self.arms]
        found = {}
        for arm, group, before in zip(self.arms, groups, [None, *groups], strict=False):
            rows = [row for row in self.rows if row.arm == arm]
            one = _steady(rows, tables.over_repeats(group, self.measures) if group else None)
            runs = tables.over_runs(group, before, self.measures[0]) if group and before and self.measures else None
            found[arm] = replace(one, before=runs)
        return found

    @property
    def repeats_told(self) -> list[str]:
        """A sentence for each arm with repeats: P over its repeats, and T against the arm before."""
        told = []
        for before, (arm, one) in zip((None, *self.steady), self.steady.items(), strict=False):
            parts = [f"P {one.repeats.p:.3g} by Cochran's Q"] if one.repeats else []
            parts += [f"T {one.before.statistic:.3g} against {before}, p {one.before.p:.3g}"] if one.before else []
            if parts:
                told.append(f"Over repeats, {arm}: {'; '.join(parts)}.")
        return told

    def breakdown(self, feature: str, measure: Measure, group: str = tables.ALL) -> Breakdown:
        """A measure by a feature, of all cases or of those of one group. Raises `CourtroomError`: the cells do not differ in this."""
        return self._once(("breakdown", feature, measure.name, group), lambda: self._breakdown(feature, measure, group))

    def features(self, group: str = tables.ALL) -> list[Feature]:
        return self._once(("features", group), lambda: differing(self._of(group)))

    @cached_property
    def frame(self) -> pd.DataFrame:
        return frame_of(self.rows, self.measures)

    def _of(self, group: str) -> list[tables.CellRow]:
        return [row for row in self.rows if group in (tables.ALL, row.category)]

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
                    "values": {name: _as_list(one) for name, one in line.values.items()},
                    "counts": line.counts,
                }
                for line in self.table.lines
            ],
            "guesses": [{"name": one.name, "group": one.group, "values": one.values} for one in self.table.guesses],
            "spent": {
                arm: {"calls": one.calls, "tokens": one.tokens, "cost": one.cost, "failed": one.failed}
                for arm, one in self.table.spent.items()
            },
            "steady": {
                arm: {
                    "consistency": one.consistency,
                    "agreement": one.agreement,
                    "before": {"t": one.before.statistic, "p": one.before.p} if one.before else None,
                    "repeats": {"q": one.repeats.statistic, "p": one.repeats.p, "draws": one.repeats.draws}
                    if one.repeats
                    else None,
                }
                for arm, one in self.steady.items()
            },
            "notes": [*tables.without_interval(self.table), *self.notes],
            "hypotheses": [one.model_dump(mode="json") for one in self.findings],
            "canaries": [one.model_dump(mode="json") for one in experiment.canaries],
            "accounts": [one.model_dump() for one in self.accounts],
            "summary": tables.summary(self.pairs, self.overall),
            "pairs": [
                {
                    "measure": pair.measure.name,
                    "group": pair.group,
                    "arms": [pair.a, pair.b],
                    "difference": _as_list(pair.difference),
                    "cases": pair.cases,
                    "test": pair.tested.test,
                    "draws": pair.tested.draws,
                    "p": pair.tested.p,
                    "corrected": pair.corrected,
                    "holds": pair.holds,
                    "knowable": pair.knowable,
                    "effect": pair.effect,
                    "needed": pair.needed,
                    "others": [{"test": one.test, "statistic": one.statistic, "p": one.p} for one in pair.others],
                    "sentence": tables.sentence(pair),
                }
                for pair in self.pairs
            ],
        }


def _as_list(interval: Interval) -> list[float | None]:
    """Value, lower and upper end; None where there is no interval."""
    return [interval.value, *([interval.low, interval.high] if interval.known else [None, None])]


def _steady(rows: Sequence[tables.CellRow], repeats: Tested | None) -> Steady:
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
