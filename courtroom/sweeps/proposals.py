"""“What would change this verdict?”: the single changes that a run's own setup and case offer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, get_args, get_origin

from pydantic import ValidationError
from pydantic.fields import FieldInfo

from courtroom.cases.case import Case
from courtroom.engine.changes import changed, value_at
from courtroom.engine.knobs import bounds, leaves, plain
from courtroom.engine.procedure import Procedure
from courtroom.engine.setup import Setup
from courtroom.sweeps.plan import Axis, Variant, evidence_left_out, members_left_out, rules_left_out, values

LEFT_AS_THEY_ARE = frozenset(Setup.model_fields)
"""What all setups share is no question about the matter: how models are reached, what may be spent."""
NEAR = 0.2
"""How far a share, from 0 to 1, is moved up and down."""


def proposals(procedure: Procedure, setup: Setup, case: Case, seed: int) -> Axis:
    """Evidence, members and rules in turn, then every knob at its other or neighbouring values."""
    return (
        *evidence_left_out(case),
        *members_left_out(procedure, setup, case, seed),
        *rules_left_out(setup),
        *knobs_turned(setup),
    )


def knobs_turned(setup: Setup) -> Iterator[Variant]:
    """Each knob at each of its near values."""
    for path, field in leaves(type(setup)):
        if path.partition(".")[0] in LEFT_AS_THEY_ARE:
            continue
        now = value_at(setup, path)
        yield from values(
            path, dict.fromkeys(fit for other in near(field, now) for fit in fitting(setup, path, now, other))
        )


def fitting(setup: Setup, path: str, now: Any, wanted: Any) -> Iterator[Any]:
    """The wanted value if the setup takes it; else, for a whole number, the next one beyond, as where it must be odd."""
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
        wanted = {round(max(0.0, value - NEAR), 6), round(min(1.0, value + NEAR), 6)}
    else:
        wanted = {value / 2, value * 2}
    fits = (other for other in wanted if (low is None or other >= low) and (high is None or other <= high))
    return sorted(other for other in fits if other != value)
