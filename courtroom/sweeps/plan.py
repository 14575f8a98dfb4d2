"""What-if sweeps, planned: one recorded run, many variants of it, several seeds. Pure: nothing here drives or stores."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from itertools import product
from typing import Any, Literal

from pydantic import Field, ValidationError

from courtroom.cases.case import Case
from courtroom.cases.explain import explain
from courtroom.engine.changes import changed, value_at
from courtroom.engine.knobs import Widget, fields_drawn
from courtroom.engine.procedure import Procedure
from courtroom.engine.setup import Setup
from courtroom.errors import CourtroomError
from courtroom.strict import Strict

Kind = Literal["base", "knob", "rule", "member", "evidence", "grid"]
KINDS: dict[Kind, str] = {
    "base": "As it was",
    "knob": "Setup",
    "rule": "Rule left out",
    "member": "Member left out",
    "evidence": "Evidence left out",
    "grid": "Together",
}


class Variant(Strict):
    """A run with something changed: values by their path in the setup, parts of the case left out."""

    name: str
    kind: Kind
    set: dict[str, Any] = Field(default_factory=dict)
    without: tuple[str, ...] = ()


BASE = Variant(name="as it was", kind="base")
Axis = tuple[Variant, ...]
"""Variants of one thing, of which a grid takes one at a time."""


class SweepPlan(Strict):
    """What a sweep is: a base run, its variants, the base among them as the first, and the seeds of each."""

    base: str
    variants: tuple[Variant, ...] = Field(min_length=1)
    seeds: tuple[int, ...] = Field(min_length=1)


def values(path: str, given: Iterable[Any]) -> Axis:
    """One knob at each of these values, e.g. `model.temperature` at 0 and 1."""
    return tuple(Variant(name=f"{path}={_short(value)}", kind="knob", set={path: value}) for value in given)


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
        Variant(name=f"without {part}" + (f": {_short(text)}" if text else ""), kind="evidence", without=(part,))
        for part, text in case.parts()
    )


def rules_left_out(setup: Setup) -> Axis:
    """Each rule that members are given in turn, where the setup has any."""
    path = fields_drawn(type(setup)).get(Widget.RULES)
    rules: Sequence[str] = value_at(setup, path) or () if path else ()
    return tuple(
        Variant(
            name=f"without rule {number}: {_short(rule)}",
            kind="rule",
            set={str(path): [*rules[: number - 1], *rules[number:]]},
        )
        for number, rule in enumerate(rules, start=1)
    )


def left_out(procedure: Procedure, setup: Setup, case: Case, seed: int) -> dict[str, Axis]:
    """All that can be left out in turn, by a word for it: a role in the plural, the case's parts, the knob of the rules."""
    complete, members = procedure.prepare(case, setup, seed)
    roles = {member.id: f"{member.role}s" for member in members}
    found: dict[str, Axis] = {}
    for variant, member in zip(
        members_left_out(procedure, setup, case, seed), procedure.without_one(complete), strict=True
    ):
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
    """The setup and the case of a variant; nothing is drawn yet.

    Raises:
        CourtroomError: the variant does not fit this setup or this case.
    """
    try:
        return changed(setup, variant.set), case.without(*variant.without)
    except ValidationError as error:
        raise CourtroomError(f"{variant.name}: {' '.join(explain(error))}") from error


def plan(
    base: str, procedure: Procedure, setup: Setup, case: Case, variants: Sequence[Variant], seeds: Sequence[int]
) -> SweepPlan:
    """A plan with every variant tried against setup and case, and each that comes to another run only once.

    Raises:
        CourtroomError: a variant does not fit, or there is nothing to vary.
    """
    found: dict[str, Variant] = {}
    for variant in variants:
        new, heard = applied(variant, setup, case)
        complete, _ = procedure.prepare(heard, new, seeds[0])
        found.setdefault(f"{complete.model_dump_json()}{heard.content_hash()}", variant)
    seeds = tuple(dict.fromkeys(seeds))
    if len(found) * len(seeds) < 2:
        raise CourtroomError(
            "Nothing would change: choose a value that differs from the run's own, or more seeds than one."
        )
    return SweepPlan(base=base, variants=tuple(found.values()), seeds=seeds)


def affordable(variants: Sequence[Variant], calls: Callable[[Variant], int], budget: int) -> list[tuple[Variant, int]]:
    """Variants with their calls, the cheapest first, as many as fit a budget of calls together."""
    chosen: list[tuple[Variant, int]] = []
    left = budget
    for variant, wanted in sorted(((variant, calls(variant)) for variant in variants), key=lambda pair: pair[1]):
        if wanted <= left:
            chosen.append((variant, wanted))
            left -= wanted
    return chosen


def _together(combination: Sequence[Variant]) -> Variant:
    """All changes at once."""
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


def _short(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:59]}…"
