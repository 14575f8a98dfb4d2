"""What a paper says of the settings of its system, one row each."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from courtroom.engine.setup import Setup
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
    """The settings as nested changes of a setup; a preset is made of them."""
    made: dict[str, Any] = {}
    for setting in settings:
        *groups, last = setting.knob.split(".")
        place = made
        for group in groups:
            place = place.setdefault(group, {})
        place[last] = setting.value
    return made


def departures(setup: Setup, settings: Iterable[PaperSetting]) -> dict[str, Any]:
    """The knobs that stand otherwise than in the paper, with their values. The model of a role that has none of its own is the run's."""
    values = setup.model_dump(mode="json")
    return {one.knob: value for one in settings if (value := _at(values, one.knob)) != one.value}


def title_of(kind: type[Setup], knob: str) -> str:
    """A knob as a page calls it: `Model · Temperature`, `Rounds at most (T)`."""
    *groups, last = knob.split(".")
    titles = list[str]()
    at: type[BaseModel] = kind
    if groups[:1] == ["roles"] and len(groups) == 2:
        titles, groups, at = [groups[1].replace("-", " ").capitalize()], [], ModelSpec
    for name in (*groups, last):
        field = at.model_fields[name]
        titles.append(field.title or name)
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            at = field.annotation
    return " · ".join(titles)


def _at(values: Mapping[str, Any], knob: str) -> Any:
    parts = knob.split(".")
    if parts[0] == "roles" and len(parts) == 3 and parts[1] not in values["roles"]:
        parts = ["model", parts[2]]
    found: Any = values
    for part in parts:
        found = found.get(part) if isinstance(found, Mapping) else None
    return found
