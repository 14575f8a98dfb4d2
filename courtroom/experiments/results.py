"""Everything that an experiment shows: its cells, its table, which differences hold, and what stands beside a score:
answers of no case, cases without an answer, and what guessing reaches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import isnan
from statistics import median
from typing import TYPE_CHECKING, Any, TypeVar

from courtroom.cases.criminal import CriminalCase
from courtroom.cases.dispute import Dispute
from courtroom.cases.labelled import Document, LabelledTask
from courtroom.errors import CourtroomError
from courtroom.evaluation.calibration import Forecast
from courtroom.evaluation.intervals import Interval
from courtroom.evaluation.significance import Tested, consistency, krippendorffs_alpha
from courtroom.experiments import table as tables
from courtroom.experiments.breakdown import Breakdown, Feature, breakdown, differing, learning_curve
from courtroom.experiments.hypotheses import Finding, findings
from courtroom.experiments.measures import CaseResult, Measure, measures_of
from courtroom.experiments.measures.criminal import CRIMINAL, is_plain_text
from courtroom.experiments.measures.votes import of_confidence
from courtroom.experiments.mirror import mirror_pairs
from courtroom.experiments.mirror import sentence as mirror_sentence
from courtroom.experiments.outcome import Outcome
from courtroom.experiments.spec import Experiment
from courtroom.experiments.store import StoredExperiment
from courtroom.experiments.table import ArmGroup, TableRow
from courtroom.experiments.written import line_of
from courtroom.language import N_
from courtroom.questions.audit import MEANINGS, Audit
from courtroom.strict import Strict

if TYPE_CHECKING:
    import pandas as pd


class Account(Strict):
    """How the answers of one arm and the cases fit together."""

    arm: str
    cases: int
    """Of the experiment, that the arm has answered."""
    unanswered: int
    """Cases that another arm has answered and this one has not."""
    unknown: int
    """Cases of the predictions that the dataset does not have."""
    unreadable: int
    """Predictions that can't be read as an answer; they count as wrong."""


def accounts(experiment: Experiment, rows: Sequence[CaseResult], measures: Sequence[Measure]) -> tuple[Account, ...]:
    """How each arm's answers and the cases fit together, in the order of the arms; nothing while cells are waiting."""
    if any(row.state == "waiting" for row in rows):
        return ()
    answered = [row for row in rows if row.state == "done"]
    done = {arm.name: {row.row for row in answered if row.arm == arm.name} for arm in experiment.arms}
    every = set().union(*done.values())
    structured = any(measure.name in {one.name for one in CRIMINAL} for measure in measures)
    unreadable = Counter(row.arm for row in answered if not readable(row, structured))
    unknown = {arm.name: arm.unknown for arm in experiment.arms}
    return tuple(
        Account(arm=arm, cases=len(own), unanswered=len(every - own), unknown=unknown[arm], unreadable=unreadable[arm])
        for arm, own in done.items()
    )


def readable(row: CaseResult, structured: bool = False) -> bool:
    """Whether a prediction made elsewhere can be read as an answer; what a procedure came to always can. `structured`:
    whether measures want judgments, choices or amounts; else LawBench's scorers say whether a text is an answer."""
    if row.outcome.raw is None:
        return True
    if isinstance(row.case, CriminalCase):
        abstains = measures_of("criminal")["abstention"].each
        return not (is_plain_text(row) if structured else abstains is not None and abstains(row) == 1.0)
    return bool(row.outcome.raw.strip() if isinstance(row.case, Document) else row.outcome.outcome)


def remarks(found: Sequence[Account], rows: Iterable[CaseResult], training: Sequence[CaseResult]) -> Iterator[str]:
    """Say what of the answers is no matter of course, a sentence each, what trainings went on without, and in which
    arms stand-ins answered."""
    for one in found:
        if one.unknown:
            yield f"{one.arm}: {one.unknown:,} of the answered cases are not in the dataset and count for nothing."
        if one.unreadable:
            yield f"{one.arm}: {one.unreadable:,} answers can't be read and count as wrong."
    if any(one.unanswered for one in found):
        counted = ", ".join(f"{one.arm} {one.cases:,}" for one in found)
        yield f"The arms are not over the same cases ({counted}); a pair is compared on the cases that both have."
    many = Counter(row.arm for row in training)
    for arm, n in Counter(row.arm for row in training if row.state == "failed").items():
        yield f"{arm}: {n:,} of {many[arm]:,} cases that it was to learn from could not be answered and were left out."
    calls, stood_in = Counter[str](), Counter[str]()
    for row in rows:
        calls[row.arm] += row.outcome.calls
        stood_in[row.arm] += row.outcome.stood_in
    yield from (f"{arm}: stand-ins answered {n:,} of {calls[arm]:,} questions." for arm, n in stood_in.items() if n)


GUESSED = (*("accuracy", "macro_f1", "weighted_f1", "macro_recall", "macro_precision", "votes_mae", "votes_rmse"),)
"""Measures that a guess has a value for: they read nothing but the answer and the counts of votes."""
MOST_FREQUENT = N_("Always the most frequent answer")
CHANCE = N_("Chance")


def guesses(groups: Mapping[tuple[str, str], ArmGroup], measures: Sequence[Measure]) -> Iterator[TableRow]:
    """For each group of cases, what guessing reaches there; none where the kind of case has no answer to guess. The
    constant guess knows the most frequent answer of these very cases, and the middle of their votes: it is the best
    that can be had without reading a case. Chance is the accuracy of an even draw among the answers."""
    for name in dict.fromkeys(group for _, group in groups):
        cases = {row.row: row for (_, of), group in groups.items() if of == name for row in group.rows}.values()
        if not (guessed := _constant([*cases])):
            continue
        known = [(one.name, one.value(guessed)) for one in measures if one.name in GUESSED]
        values = {name: Interval(value) for name, value in known if not isnan(value)}
        yield TableRow(MOST_FREQUENT, name, len(cases), values)
        shares = [1 / len(options) for one in cases if (options := _options(one))]
        if shares and any(measure.name == "accuracy" for measure in measures):
            yield TableRow(CHANCE, name, len(cases), {"accuracy": Interval(sum(shares) / len(shares))})


def _options(row: CaseResult) -> Sequence[str]:
    if isinstance(row.case, LabelledTask):
        return row.case.labels
    return ("buyer", "seller") if isinstance(row.case, Dispute) and row.case.jury else ()


def _constant(rows: Sequence[CaseResult]) -> list[CaseResult]:
    """The rows with the same answer in place of each arm's own."""
    tasks = [(row, row.case.items) for row in rows if isinstance(row.case, LabelledTask)]
    labels = Counter(item.label for _, items in tasks for item in items if item.label is not None)
    juries = [row.case.jury for row in rows if isinstance(row.case, Dispute) and row.case.jury]
    if labels:
        label = labels.most_common(1)[0][0]
        given = ((row, [{"id": item.id, "label": label} for item in items]) for row, items in tasks)
        return [replace(row, outcome=Outcome(outcome=label, details={"results": results})) for row, results in given]
    if juries:
        winner = Counter(jury.winner for jury in juries).most_common(1)[0][0]
        share = median(jury.buyer / (jury.buyer + jury.seller) for jury in juries)
        counts = {"buyer": round(1_000 * share), "seller": 1_000 - round(1_000 * share)}
        return [replace(row, outcome=Outcome(outcome=winner, counts=counts)) for row in rows]
    return []


def audit_table(
    rows: Sequence[CaseResult], audited: Collection[str], audits_of: Callable[[str], Sequence[Audit]]
) -> pd.DataFrame:
    """Give for each arm with an audited vote its runs with such, its audited votes, and which share of them has which
    name. `audited`: runs in which something was audited. `audits_of`: the audits of a run."""
    import pandas as pd  # slow to import

    votes = [(row.arm, row.run, one.name) for row in rows if row.run in audited for one in audits_of(row.run)]
    found = pd.DataFrame(votes, columns=["arm", "run", "name"])
    names = [name for name in MEANINGS if name in {*found["name"]}]
    lines = []
    for arm, mine in found.groupby("arm", sort=False):
        shares = mine["name"].value_counts(normalize=True)
        line = {"arm": arm, "runs": mine["run"].nunique(), N_("votes audited"): len(mine)}
        lines.append(line | {name: f"{shares.get(name, 0.0):.0%}" for name in names})
    return pd.DataFrame(lines)


def first_runs(rows: Sequence[CaseResult], each: int) -> list[str]:
    """The first finished runs of each arm, so many each."""
    by_arm: dict[str, list[str]] = {row.arm: [] for row in rows}
    for row in rows:
        if row.run and row.state == "done":
            by_arm[row.arm].append(row.run)
    return [run for runs in by_arm.values() for run in runs[:each]]


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
    """Whether the first measure differs from the arm before, by Student's t over repeats; None without repeats."""


@dataclass(frozen=True)
class ExperimentResults:
    """One experiment as far as it is. Each part is worked out when it is first looked at."""

    kept: StoredExperiment
    rows: Sequence[CaseResult]
    measures: tuple[Measure, ...]
    notes: tuple[str, ...] = ()
    """Which columns are left out, and why."""
    trained: Sequence[CaseResult] = ()
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
        return tables.grouped(self.rows, self.kept.experiment.by_category)

    @cached_property
    def table(self) -> tables.ResultTable:
        made = tables.table(self.groups, self.rows, self.arms, self.measures)
        return replace(made, guesses=tuple(guesses(self.groups, self.measures)))

    @cached_property
    def pairs(self) -> list[tables.Pair]:
        return tables.pairs(self.groups, self.arms, self.measures)

    @cached_property
    def mirror(self) -> list[tables.Pair]:
        """What each change about the parties moved; empty where none was made."""
        return mirror_pairs(self.kept.experiment, self.rows)

    @cached_property
    def findings(self) -> list[Finding]:
        """What the results say of each hypothesis; none where none was locked."""
        now = self.kept.experiment
        return [*findings(now.lock, now.hypotheses, self.pairs, now.digest, self.prompts)] if now.lock else []

    @cached_property
    def overall(self) -> tables.Overall:
        """Cochran's Q where there are three arms or more."""
        return tables.overall(self.groups, self.arms, self.measures)

    @cached_property
    def steady(self) -> Mapping[str, Steady]:
        groups = [self.groups.get((arm, tables.ALL)) for arm in self.arms]
        whole, found = tables.grouped(self.rows, by_category=False), {}
        for arm, group, before in zip(self.arms, groups, [None, *groups], strict=False):
            by_case = whole[arm, tables.ALL].by_case.values() if (arm, tables.ALL) in whole else ()
            shares = [consistency([one.outcome.outcome for one in made]) for made in by_case if len(made) > 1]
            votes = [[*one.outcome.votes.values()] for made in by_case for one in made if one.outcome.votes]
            found[arm] = Steady(
                consistency=sum(shares) / len(shares) if shares else None,
                agreement=krippendorffs_alpha(votes) if votes else None,
                repeats=tables.over_repeats(group, self.measures) if group else None,
                before=tables.over_runs(group, before, self.measures[0])
                if group and before and self.measures
                else None,
            )
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
        """Break a measure down by a feature. Raises `CourtroomError`: the cells do not differ in it."""
        return self._once(("breakdown", feature, measure.name, group), lambda: self._breakdown(feature, measure, group))

    def features(self, group: str = tables.ALL) -> list[Feature]:
        return self._once(("features", group), lambda: differing(self._of(group)))

    def forecasts(self, group: str = tables.ALL) -> dict[str, list[Forecast]]:
        """What members' confidence says of their last votes, by arm; arms in which nobody was asked are left out."""
        given: dict[str, list[Forecast]] = {}
        for row in self._of(group):
            if mine := of_confidence(row):
                given.setdefault(row.arm, []).extend(mine)
        return given

    @cached_property
    def frame(self) -> pd.DataFrame:
        """A line for each cell."""
        import pandas as pd  # slow to import

        return pd.DataFrame([line_of(row, self.measures) for row in self.rows])

    def _of(self, group: str) -> list[CaseResult]:
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
        arms = self.kept.experiment.arms
        curves = {arm.name: ", ".join(filter(None, (arm.procedure, arm.model))) or arm.name for arm in arms}
        return breakdown(self._of(group), self.arms, measure, known[feature], curves)

    def as_data(self) -> dict[str, Any]:
        experiment = self.kept.experiment
        return {
            "experiment": self.kept.id,
            **_named(self.kept, "status", "reason"),
            **{"dataset": experiment.dataset.name, "version": experiment.dataset.version},
            "cells": {one: sum(row.state == one for row in self.rows) for one in ("done", "failed", "waiting")},
            "failures": [{"arm": arm, "reason": reason, "cells": number} for arm, reason, number in self.failures],
            "lines": [
                _named(line, "arm", "group", "cases")
                | {"values": {name: _as_list(one) for name, one in line.values.items()}, "counts": line.counts}
                for line in self.table.lines
            ],
            "guesses": [
                {"name": one.arm, "group": one.group, "values": {name: of.value for name, of in one.values.items()}}
                for one in self.table.guesses
            ],
            "spent": {arm: _named(one, "calls", "tokens", "cost", "failed") for arm, one in self.table.spent.items()},
            "steady": {
                arm: {
                    **_named(one, "consistency", "agreement"),
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
            "mirror": [{**_of_pair(pair), "sentence": mirror_sentence(pair)} for pair in self.mirror],
            "summary": [*tables.summary(self.pairs, self.overall)],
            "pairs": [{**_of_pair(pair), "sentence": tables.sentence(pair)} for pair in self.pairs],
        }


def _of_pair(pair: tables.Pair) -> dict[str, Any]:
    return {
        "measure": pair.measure.name,
        "group": pair.group,
        "arms": [pair.a, pair.b],
        "difference": _as_list(pair.difference),
        "cases": pair.cases,
        **_named(pair.tested, "test", "draws", "p"),
        **_named(pair, "corrected", "holds", "knowable", "effect", "needed"),
        "others": [_named(one, "test", "statistic", "p") for one in pair.others],
    }


def _named(thing: object, *names: str) -> dict[str, Any]:
    return {name: getattr(thing, name) for name in names}


def _as_list(interval: Interval) -> list[float | None]:
    """Value, lower and upper end; None where there is no interval."""
    return [interval.value, *([interval.low, interval.high] if interval.known else [None, None])]
