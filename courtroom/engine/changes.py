"""What differs between two setups, or between any plain data, as paths with all values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from courtroom.engine.setup import Setup

Change = tuple[str, Any, Any]
"""Path such as `jury.5.traits` (positions from 1), value before, value after; None where there is none."""


def differences(before: Setup, after: Setup) -> list[Change]:
    """Every leaf that differs, in the order of the fields."""
    both = before.model_dump(mode="json"), after.model_dump(mode="json")
    return [(path, old, new) for path, (old, new) in leaves(both)]


def leaves(values: Sequence[Any], path: str = "") -> Iterator[tuple[str, tuple[Any, ...]]]:
    """Every leaf that is not the same in all of several values, with its path.

    Records in a list are found by their `id` where all have one, else by their position from 1. A list of anything else
    is one leaf, and so is what some have in the same form and others not at all.
    """
    there = [value for value in values if value is not None]
    if not there or (len(there) == len(values) and _alike(there)):
        return
    if _alike(there):
        yield path, tuple(values)
    elif all(isinstance(value, dict) for value in there):
        yield from _parts(values, path)
    elif all(isinstance(value, list) for value in there) and any(isinstance(x, dict) for value in there for x in value):
        named = all(isinstance(x, dict) and "id" in x for value in there for x in value)
        yield from _parts([_by_name(value, named) if value is not None else None for value in values], path)
    else:
        yield path, tuple(values)


def _alike(values: Sequence[Any]) -> bool:
    return all(value == values[0] for value in values)


def _parts(values: Sequence[dict[str, Any] | None], path: str) -> Iterator[tuple[str, tuple[Any, ...]]]:
    for name in dict.fromkeys(name for value in values for name in value or ()):
        parts = [None if value is None else value.get(name) for value in values]
        yield from leaves(parts, f"{path}.{name}" if path else name)


def _by_name(items: list[Any], named: bool) -> dict[str, Any]:
    return {str(item["id"]) if named else str(place): item for place, item in enumerate(items, start=1)}
