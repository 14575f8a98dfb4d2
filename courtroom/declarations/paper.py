"""What a paper says of the settings of its system, one row each."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from courtroom.declarations.changes import put, value_at
from courtroom.declarations.knobs import path_in_words
from courtroom.declarations.setup import Setup
from courtroom.models.spec import ModelSpec


@dataclass(frozen=True)
class PaperSetting:
    """One setting of the published system."""

    knob: str
    """Its path in the setup, e.g. `rounds`, `model.temperature` or `roles.clerk.max_tokens`."""
    value: Any
    source: str
    """Section, table or equation, e.g. `4.1` or `Table 9`."""
    note: str = ""
    """What else must be known, in a sentence: how a range was read, or why the value is ours."""


def changes(settings: Iterable[PaperSetting]) -> dict[str, Any]:
    """Return the settings as nested changes of a setup; a preset is made of them."""
    made: dict[str, Any] = {}
    for setting in settings:
        put(made, setting.knob, setting.value)
    return made


def departures(setup: Setup, settings: Iterable[PaperSetting]) -> dict[str, Any]:
    """Return the knobs that stand otherwise than in the paper; a role without a model of its own has the run's."""
    return {one.knob: value for one in settings if (value := _value(setup, one.knob)) != one.value}


def title_of(kind: type[Setup], knob: str) -> str:
    """A knob as a page calls it: `Model · Temperature`, `Rounds at most (T)`."""
    if role := _ROLE.fullmatch(knob):
        return f"{role[1].replace('-', ' ').capitalize()} · {path_in_words(ModelSpec, role[2])}"
    return " · ".join(path_in_words(kind, path) for path in accumulate(knob.split("."), "{}.{}".format))


_ROLE = re.compile(r"roles\.([^.]+)\.([^.]+)")


def _value(setup: Setup, knob: str) -> Any:
    role = _ROLE.fullmatch(knob)
    return value_at(setup, f"model.{role[2]}" if role and role[1] not in setup.roles else knob)
