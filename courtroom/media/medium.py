"""A picture or a video, as a case names it."""

from collections.abc import Mapping
from typing import Any, Literal, TypeVar, cast

from pydantic import BaseModel, Field

from courtroom.strict import Strict

MediumKind = Literal["image", "video"]


class Medium(Strict):
    """A picture or a video that belongs to a piece of evidence."""

    id: str = Field(min_length=1, max_length=80, description="Unique within the case, e.g. `buyer-1-photo`.")
    kind: MediumKind
    file: str = Field(min_length=1, max_length=255, description="Path inside the case's folder, with `/`.")
    description: str = Field(default="", max_length=4_000, description="What it shows, for members that can't see.")
    sha256: str | None = Field(default=None, pattern=r"^[0-9a-f]{64}$", description="Content hash once taken in.")
    moments: tuple[float, ...] = Field(
        default=(),
        description="Seconds of a video; where given, only the frames nearest to them are shown.",
        exclude_if=lambda moments: not moments,
    )

    @property
    def shown(self) -> str:
        """What is shown of it: equal exactly where the same pictures are."""
        return f"{self.sha256}" + (f"@{','.join(map(str, self.moments))}" if self.moments else "")


def hashed(medium: Medium, hashes: Mapping[str, str]) -> Medium:
    """A medium with its content hash, where there is one for its path."""
    return medium.model_copy(update={"sha256": hashes.get(medium.file, medium.sha256)})


T = TypeVar("T")


def without_media(value: T) -> T:
    """A record with no picture or video in it, nor any description of one; itself where there was none. `value`: a case, a
    question, or any record; its media stand in tuples, as everywhere."""
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
