"""What differs between setups, or any plain data, as paths with values; and a setup with something changed."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeVar

from courtroom.declarations.setup import Setup
from courtroom.errors import CourtroomError
from courtroom.models.spec import RECORDED

S = TypeVar("S", bound=Setup)
Difference = tuple[str, Any, Any]
"""Path such as `jury.5.traits` (positions from 1), value before, value after; None where there is none."""


def differences(before: Setup, after: Setup) -> list[Difference]:
    """Every leaf that differs, in the order of the fields."""
    both = before.model_dump(mode="json"), after.model_dump(mode="json")
    return [(path, old, new) for path, (old, new) in leaves(both)]


def changed(setup: S, changes: Mapping[str, Any], *, recorded: bool = False) -> S:
    """A setup with values put in at their paths; what was drawn from them is left to be drawn again. `recorded`: whether
    the changes are on record: what they ask for is refused only when it would be asked. Raises `CourtroomError`: a path
    leads nowhere. Raises `ValidationError`: a value does not fit."""
    values = setup.model_dump(mode="json")
    for path, value in changes.items():
        put(values, path, value)
    return type(setup).model_validate(values, context=RECORDED if recorded else None).undrawn(changes)


def merged(values: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Values with changes put in; what is a group in both is merged in the same way, anything else is replaced."""
    made = dict(values)
    for name, change in changes.items():
        both = isinstance(change, Mapping) and isinstance(made.get(name), Mapping)
        made[name] = merged(made[name], change) if both else change
    return made


def value_at(setup: Setup, path: str) -> Any:
    """The value at a path, as plain data; None where there is none."""
    at: Any = setup.model_dump(mode="json")
    for name in path.split("."):
        if not isinstance(at, list | dict):
            return None
        at = at[_key(at, name, path)] if isinstance(at, list) else at.get(name)
    return at


def read_value(text: str) -> Any:
    """JSON, or else taken as a plain string."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def read_values(text: str) -> list[Any]:
    """Several values with commas: `1,2` as numbers, `ring,complete` as words, `[1],[1,2]` as JSON."""
    try:
        return list(json.loads(f"[{text}]"))
    except (ValueError, RecursionError):
        return [read_value(part.strip()) for part in text.split(",") if part.strip()]


def put(values: dict[str, Any], path: str, value: Any) -> None:
    """Put a value into plain data, in place. A path has names and, in lists, positions from 1."""
    *way, last = path.split(".")
    at: Any = values
    for name in way:
        key = _key(at, name, path)
        at = at[key] if isinstance(at, list) else at.setdefault(key, {})
    at[_key(at, last, path)] = value


def _key(items: Any, name: str, path: str) -> Any:
    """Return where a name of a path leads within plain data: to a place of a list, counted from 0, or to itself."""
    if isinstance(items, dict):
        return name
    if not isinstance(items, list):
        raise CourtroomError(f"“{path}” leads into something that has no parts.")
    if not name.isdigit() or not 1 <= int(name) <= len(items):
        raise CourtroomError(f"“{path}”: {name} must be a position from 1 to {len(items)}.")
    return int(name) - 1


def leaves(values: Sequence[Any], path: str = "") -> Iterator[tuple[str, tuple[Any, ...]]]:
    """Every leaf that is not the same in all of several values, with its path.

    Records in a list are found by their `id` where all have one, else by their position from 1. A list of anything else
    is one leaf, and so is what some have in the same form and others not at all.
    """
    there = [value for value in values if value is not None]
    alike = all(value == there[0] for value in there)
    if not there or (len(there) == len(values) and alike):
        return
    if alike:
        yield path, tuple(values)
    elif all(isinstance(value, dict) for value in there):
        yield from _parts(values, path)
    elif all(isinstance(value, list) for value in there) and any(isinstance(x, dict) for value in there for x in value):
        named = all(isinstance(x, dict) and "id" in x for value in there for x in value)
        yield from _parts([_by_name(value, named) if value is not None else None for value in values], path)
    else:
        yield path, tuple(values)


def _parts(values: Sequence[dict[str, Any] | None], path: str) -> Iterator[tuple[str, tuple[Any, ...]]]:
    for name in dict.fromkeys(name for value in values for name in value or ()):
        parts = [None if value is None else value.get(name) for value in values]
        yield from leaves(parts, f"{path}.{name}" if path else name)


def _by_name(items: list[Any], named: bool) -> dict[str, Any]:
    return {str(item["id"]) if named else str(place): item for place, item in enumerate(items, start=1)}
