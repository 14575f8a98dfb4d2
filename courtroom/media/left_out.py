"""Cases and questions without their pictures and videos."""

from __future__ import annotations

from typing import Any, TypeVar, cast

from pydantic import BaseModel

from courtroom.media.medium import Medium

T = TypeVar("T")


def without_media(value: T) -> T:
    """A record with no picture or video in it, nor any description of one; itself where there was none.

    Args:
        value: a case, a question, or any record; its media stand in tuples, as everywhere.
    """
    if isinstance(value, tuple):
        kept = tuple(without_media(one) for one in value if not isinstance(one, Medium))
        same = len(kept) == len(value) and all(one is old for one, old in zip(kept, value, strict=True))
        return value if same else cast(T, kept)
    if isinstance(value, BaseModel):
        changed: dict[str, Any] = {}
        for name in type(value).model_fields:
            old = getattr(value, name)
            if (new := without_media(old)) is not old:
                changed[name] = new
        return value.model_copy(update=changed) if changed else value
    return value
