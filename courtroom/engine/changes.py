"""What differs between two setups, as paths with both values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from courtroom.engine.setup import Setup

Change = tuple[str, Any, Any]
"""Path such as `jury.5.traits` (positions from 1), value before, value after; None where there is none."""


def differences(before: Setup, after: Setup) -> list[Change]:
    """Every leaf that differs, in the order of the fields."""
    return list(_walk("", before.model_dump(mode="json"), after.model_dump(mode="json")))


def _walk(path: str, old: Any, new: Any) -> Iterator[Change]:
    if old == new:
        return
    if isinstance(old, dict) and isinstance(new, dict):
        for name in dict.fromkeys((*old, *new)):
            yield from _walk(f"{path}.{name}" if path else name, old.get(name), new.get(name))
    elif isinstance(old, list) and isinstance(new, list) and any(isinstance(x, dict | list) for x in (*old, *new)):
        for place in range(max(len(old), len(new))):
            yield from _walk(
                f"{path}.{place + 1}",
                old[place] if place < len(old) else None,
                new[place] if place < len(new) else None,
            )
    else:
        yield path, old, new
