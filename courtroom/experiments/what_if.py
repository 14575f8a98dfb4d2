"""“What would have changed?”: a run's variants, as an experiment whose arms are its forks, and what these show."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, product
from statistics import fmean
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin

from pydantic import ValidationError
from pydantic.fields import FieldInfo

from courtroom.access import acting_account
from courtroom.cases.case import Case
from courtroom.cases.checks import explain
from courtroom.declarations.changes import changed, differences, value_at
from courtroom.declarations.knobs import Widget, bounds, fields_drawn, leaves, path_in_words, plain, setting_in_words
from courtroom.declarations.setup import ScriptedSetup, Setup
from courtroom.engine.procedure import Procedure
from courtroom.engine.record import Record
from courtroom.errors import CourtroomError
from courtroom.evaluation.intervals import Interval, of_share
from courtroom.experiments.outcome import Outcome
from courtroom.experiments.plan import Cell, Progress, finished
from courtroom.experiments.spec import Arm, Change, Experiment, Variant, parsed

if TYPE_CHECKING:
    from courtroom.courthouse import Courthouse
from courtroom.text.words import short

CHANGES: dict[Change, str] = {
    "base": "As it was",
    "knob": "Setup",
    "rule": "Rule left out",
    "member": "Member left out",
    "evidence": "Evidence left out",
    "grid": "Together",
    "again": "Heard again",
    "mirror": "The parties",
}
FORKS_AT_ONCE = 2
"""Forks under way at once: enough to keep a model's server busy, few enough to leave room for a person."""
MAX_ARM_NAME_CHARACTERS = 400
LEFT_AS_THEY_ARE = frozenset(ScriptedSetup.model_fields)
"""What setups share is no question about the matter: how models are reached, what may be spent, who is scripted."""
SHARE_STEP = 0.2

BASE = Variant(name="as it was", kind="base")
Axis = tuple[Variant, ...]
"""Variants of one thing, of which a grid takes one at a time."""


def values(kind: type[Setup], path: str, given: Iterable[Any]) -> Axis:
    """One knob of a kind of setup at each of these values, e.g. `model.temperature` at 0 and 1."""
    return tuple(Variant(name=short(setting_in_words(kind, path, one)), kind="knob", set={path: one}) for one in given)


def members_left_out(procedure: Procedure, setup: Setup, case: Case, seed: int) -> Axis:
    """Each member that the procedure can do without, in turn."""
    complete, members = procedure.prepare(case, setup, seed)
    names = {member.id: member.name for member in members}
    return tuple(
        Variant(name=f"without {member} ({names[member]})", kind="member", set=dict(change))
        for member, change in procedure.without_one(complete).items()
    )


def evidence_left_out(case: Case) -> Axis:
    """Each part of the case that can be left out, in turn."""
    return tuple(
        Variant(name=f"without {part}" + (f": {short(text)}" if text else ""), kind="evidence", without=(part,))
        for part, text in case.parts()
    )


def rules_left_out(setup: Setup) -> Axis:
    """Each rule that members are given in turn, where the setup has any."""
    path = fields_drawn(type(setup)).get(Widget.RULES)
    rules: Sequence[str] = value_at(setup, path) or () if path else ()
    left = {f"without rule {n}: {short(rule)}": [*rules[: n - 1], *rules[n:]] for n, rule in enumerate(rules, start=1)}
    return tuple(Variant(name=name, kind="rule", set={str(path): kept}) for name, kept in left.items())


def left_out(procedure: Procedure, setup: Setup, case: Case, seed: int) -> dict[str, Axis]:
    """Find all that can be left out in turn, by a word for it: a role in the plural, the case's parts, the rules."""
    complete, members = procedure.prepare(case, setup, seed)
    roles = {member.id: f"{member.role}s" for member in members}
    found: dict[str, Axis] = {}
    without = members_left_out(procedure, setup, case, seed)
    for variant, member in zip(without, procedure.without_one(complete), strict=True):
        found[roles[member]] = (*found.get(roles[member], ()), variant)
    found[case.parts_title] = evidence_left_out(case)
    found[fields_drawn(type(setup)).get(Widget.RULES, "")] = rules_left_out(setup)
    return {word: axis for word, axis in found.items() if axis}


def singly(*axes: Axis) -> Axis:
    """The base, then one change at a time."""
    return BASE, *(variant for axis in axes for variant in axis)


def grid(*axes: Axis) -> Axis:
    """The base, then every combination of one variant of each axis."""
    return BASE, *(_together(combination) for combination in product(*axes))


def applied(variant: Variant, setup: Setup, case: Case) -> tuple[Setup, Case]:
    """Apply a variant to setup and case; nothing is drawn yet. Raises `CourtroomError`: it does not fit them."""
    try:
        return changed(setup, variant.set), variant.heard(case)
    except ValidationError as error:
        raise CourtroomError(f"{variant.name}: {' '.join(explain(error))}") from error


def _of_forks(base: Record, arms: Iterable[Arm], repeats: int, seeds: Sequence[int] = ()) -> Experiment:
    """An experiment whose arms are forks of a run. Two people who ask the same have one each."""
    person = acting_account()
    whose = f"-{hashlib.sha256(person.id.encode()).hexdigest()[:6]}" if person else ""
    given = {"name": f"what-if{whose}", "title": base.case.title[:200], "dataset": {"run": base.run.id}}
    forks = {"arms": [arm.model_dump() for arm in arms], "at_once": FORKS_AT_ONCE}
    return parsed({**given, **forks, "seeds": seeds, "repeats": repeats}, "The what-if")


def redrawn(before: Setup, after: Setup, variant: Variant) -> str:
    """What a variant draws anew beside what it sets, in words; empty where all else is held. A list that only grows or
    shrinks is held, and what a group of knobs draws belongs to each knob of the group."""
    own = {path.partition(".")[0] for path in variant.set}
    drawn = [
        path
        for path, old, new in differences(before, after)
        if path.partition(".")[0] not in own and (isinstance(old, list) or "." in path) and not _held(old, new)
    ]
    return ", ".join(dict.fromkeys(path_in_words(type(after), path).lower() for path in drawn))


def _held(old: Any, new: Any) -> bool:
    """Whether one of two values has all of the other; what one side does not have at all has come or gone."""
    if not isinstance(old, list) or not isinstance(new, list):
        return old is None or new is None
    shorter, longer = sorted((old, new), key=len)
    return all(one in longer for one in shorter)


def _together(combination: Sequence[Variant]) -> Variant:
    if len(combination) == 1:
        return combination[0]
    changes: dict[str, Any] = {}
    for variant in combination:
        for path, value in variant.set.items():
            if path in changes and changes[path] != value:
                raise CourtroomError(f"“{path}” is varied twice; in a grid each thing is varied once.")
            changes[path] = value
    without = tuple(dict.fromkeys(part for variant in combination for part in variant.without))
    return Variant(name=", ".join(variant.name for variant in combination), kind="grid", set=changes, without=without)


def proposals(procedure: Procedure, setup: Setup, case: Case, seed: int) -> Axis:
    """Evidence, members and rules in turn, then every knob at its other or neighbouring values."""
    members = members_left_out(procedure, setup, case, seed)
    return *evidence_left_out(case), *members, *rules_left_out(setup), *knobs_turned(setup)


def knobs_turned(setup: Setup) -> Iterator[Variant]:
    """Each knob at each of its near values."""
    for path, field in leaves(type(setup)):
        if path.partition(".")[0] in LEFT_AS_THEY_ARE:
            continue
        now = value_at(setup, path)
        fits = dict.fromkeys(fit for other in near(field, now) for fit in fitting(setup, path, now, other))
        yield from values(type(setup), path, fits)


def fitting(setup: Setup, path: str, now: Any, wanted: Any) -> Iterator[Any]:
    """Give the wanted value if the setup takes it; else the next whole number beyond, as where it must be odd."""
    beyond = [2 * wanted - now] if isinstance(wanted, int) and not isinstance(wanted, bool) and wanted else []
    for value in (wanted, *beyond):
        try:
            changed(setup, {path: value})
        except ValidationError:
            continue
        yield value
        return


def near(field: FieldInfo, value: Any) -> list[Any]:
    """Other values of a knob: the other choices; for a number the next ones, and none at all where that is a value."""
    kind, _ = plain(field.annotation)
    if get_origin(kind) is Literal:
        return [other for other in get_args(kind) if other != value]
    if kind is bool:
        return [not value]
    if kind not in (int, float) or value is None:
        return []
    low, high = bounds(field)
    if kind is int:
        wanted = {value - 1, value + 1, *([0] if low == 0 else [])}
    elif low == 0 and high == 1:
        wanted = {round(max(0.0, value - SHARE_STEP), 6), round(min(1.0, value + SHARE_STEP), 6)}
    else:
        wanted = {value / 2, value * 2}
    fits = (other for other in wanted if (low is None or other >= low) and (high is None or other <= high))
    return sorted(other for other in fits if other != value)


@dataclass(frozen=True)
class Result:
    """One variant over its seeds."""

    name: str
    kind: Change | None
    runs: tuple[str, ...]
    """Ids, by seed; also of runs that are not made or not done."""
    planned: int
    outcomes: Mapping[str, int]
    """How many runs came to each outcome."""
    shares: Mapping[str, Interval]
    """Of the runs that are done, by outcome; for every outcome of all variants, the most frequent first."""
    votes: float | None
    """Mean share of the votes cast for what the base decided; None where nobody votes."""
    swing: float | None
    """Mean change of support against the base under the same seed: of that share of the votes, or, where nobody votes,
    of the share of runs; None where there is no pair yet."""
    flips: int
    """Seeds under which the outcome differs from the base's."""
    pairs: int
    """Seeds under which both this and the base are done."""

    @property
    def done(self) -> int:
        return sum(self.outcomes.values())

    @property
    def outcome(self) -> str:
        """The most frequent outcome; empty before there is any."""
        return max(self.outcomes, key=lambda name: self.outcomes[name], default="")


@dataclass(frozen=True)
class WhatIf:
    """All variants, in the order of the plan; the base is the first."""

    decided: str
    """What the base decided most often; all support is for or against it."""
    rows: tuple[Result, ...]

    def influential(self, *kinds: Change) -> list[Result]:
        """Variants of these kinds (default: all) that moved the support, those that moved it most first."""
        rows = [row for row in self.rows[1:] if row.swing is not None and (not kinds or row.kind in kinds)]
        return sorted(rows, key=lambda row: (-(row.flips / row.pairs), -abs(row.swing or 0.0)))


def results(experiment: Experiment, cells: Iterable[Cell]) -> WhatIf:
    runs: dict[int, list[str]] = {}
    outcomes: dict[tuple[int, int], Outcome] = {}
    for cell in cells:
        runs.setdefault(cell.arm, []).append(cell.run or experiment.dataset.run)
        if cell.outcome is not None:
            outcomes[cell.arm, cell.seed] = cell.outcome
    found = Counter(outcome.outcome for outcome in outcomes.values())
    base = {seed: outcomes[0, seed] for seed in experiment.seeds if (0, seed) in outcomes}
    of_base = [outcome.outcome for outcome in base.values()]
    decided = max(of_base, key=of_base.count, default="")
    names = sorted(found, key=lambda name: (-found[name], name))
    rows = []
    for place, arm in enumerate(experiment.arms):
        done = {seed: outcomes[place, seed] for seed in experiment.seeds if (place, seed) in outcomes}
        counts = Counter(outcome.outcome for outcome in done.values())
        paired = [(done[seed], base[seed]) for seed in done if seed in base]
        moved = [support(changed, decided) - support(before, decided) for changed, before in paired]
        cast = [share for outcome in done.values() if (share := outcome.share(decided)) is not None]
        rows.append(
            Result(
                name=arm.name,
                kind=arm.kind,
                runs=tuple(runs.get(place, ())),
                planned=experiment.repeats,
                outcomes=dict(counts),
                shares={name: of_share(counts[name], len(done)) for name in names} if done else {},
                votes=fmean(cast) if cast else None,
                swing=fmean(moved) if moved else None,
                flips=sum(changed.outcome != before.outcome for changed, before in paired),
                pairs=len(paired),
            )
        )
    return WhatIf(decided, tuple(rows))


def support(found: Outcome, choice: str) -> float:
    """Share of the votes for a choice; where nobody votes, 1 or 0 by what was decided."""
    share = found.share(choice)
    return float(found.outcome == choice) if share is None else share


def stood_in(house: Courthouse, setup: Setup, stand_in: str) -> dict[str, Any]:
    """Return what a stand-in changes in a setup, by paths; empty where none is named."""
    changed_setup = house.with_stand_in(setup, stand_in) if stand_in else setup
    return {path: after for path, _, after in differences(setup, changed_setup)}


class WhatIfs:
    """Makes experiments of what could change one run."""

    def __init__(self, house: Courthouse) -> None:
        self._house = house

    def experiment(self, run: str, variants: Sequence[Variant], seeds: Sequence[int], stand_in: str = "") -> Experiment:
        """An experiment whose arms are forks of a run, every variant tried under these seeds, and each that comes to the
        same setup and case only once. `stand_in`: who answers in all of them where a model can't be asked here. Raises
        `CourtroomError`: a variant does not fit, or there is nothing to vary."""
        base, seeds = finished(run, self._house), tuple(dict.fromkeys(seeds))
        more, procedure = stood_in(self._house, base.setup, stand_in), self._house.procedures[base.run.procedure]
        arms, names = dict[str, Arm](), Counter[str]()
        before, _ = procedure.prepare(base.case, base.setup, seeds[0])
        for one in variants:
            variant = one.model_copy(update={"set": {**more, **one.set}})
            new, heard = applied(variant, base.setup, base.case)
            complete, _ = procedure.prepare(heard, new, seeds[0])
            key = f"{complete.model_dump_json()}{heard.content_hash()}"
            if key not in arms:
                too = redrawn(before, complete, variant)
                name = f"{variant.name}, with {too} drawn anew" if too else variant.name
                names[name] += 1
                again = f" ({names[name]})" if names[name] > 1 else ""
                given = variant.model_dump(mode="json") | {"name": name[: MAX_ARM_NAME_CHARACTERS - len(again)] + again}
                arms[key] = Arm(**given, procedure=base.run.procedure)
        if len(arms) * len(seeds) < 2:
            raise CourtroomError(
                "Nothing would change: choose a value that differs from the run's own, or more seeds than one."
            )
        return _of_forks(base, arms.values(), len(seeds), seeds)

    def as_it_was(self, run: str, seeds: int, stand_in: str = "") -> Experiment:
        """An experiment that hears a run's case again under so many seeds, from the run's own on: what `with_mirror`
        adds changes about the parties to."""
        base = finished(run, self._house)
        values = stood_in(self._house, base.setup, stand_in)
        arm = Arm(name=BASE.name, procedure=base.run.procedure, set=values, seed=base.run.seed)
        return _of_forks(base, [arm], seeds)

    def propose(self, run: str, budget: int, notify: Progress) -> list[tuple[Variant, int]]:
        """What could change this verdict: single changes with the calls that each asks for, the cheapest first, as many
        as fit a budget together. `notify`: is called with how far the rehearsals are."""
        base = finished(run, self._house)
        offered = proposals(self._house.procedures[base.run.procedure], base.setup, base.case, base.run.seed)
        cheapest: list[tuple[Variant, int]] = []
        for number, variant in enumerate(offered):
            notify(number, len(offered))
            setup, case = applied(variant, base.setup, base.case)
            takes = self._house.estimate(base.run.procedure, case, setup, base.run.seed, run)
            cheapest.append((variant, takes.calls - takes.on_record))
        notify(len(offered), len(offered))
        cheapest.sort(key=lambda pair: pair[1])
        together = accumulate(calls for _, calls in cheapest)
        return [one for one, needed in zip(cheapest, together, strict=True) if needed <= budget]
