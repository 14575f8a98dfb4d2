"""What a setup's field can hold, read from its type and bounds: for forms, and for what-if variants."""

from __future__ import annotations

import types
from collections.abc import Iterator
from typing import Any, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo


def plain(annotation: Any) -> tuple[Any, bool]:
    """The type without None, and whether None is allowed."""
    if get_origin(annotation) in (Union, types.UnionType):
        kinds = [kind for kind in get_args(annotation) if kind is not type(None)]
        return kinds[0], True
    return annotation, False


def bounds(field: FieldInfo) -> tuple[float | None, float | None]:
    """The least and the largest number that a field takes; None is no bound."""
    low = high = None
    for rule in field.metadata:
        low = getattr(rule, "ge", None) if getattr(rule, "ge", None) is not None else low
        high = getattr(rule, "le", None) if getattr(rule, "le", None) is not None else high
        if getattr(rule, "gt", None) is not None:
            low = rule.gt
    return low, high


def is_group(field: FieldInfo) -> bool:
    """Whether a field holds several knobs of its own."""
    return isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel)


def leaves(kind: type[BaseModel], prefix: str = "") -> Iterator[tuple[str, FieldInfo]]:
    """Path and field of every knob, those in groups as `group.knob`."""
    for name, field in kind.model_fields.items():
        if is_group(field):
            yield from leaves(field.annotation, f"{prefix}{name}.")  # type: ignore[arg-type]
        else:
            yield prefix + name, field
