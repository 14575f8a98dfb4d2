"""A picture or a video, as a case names it."""

from collections.abc import Mapping
from typing import Any, Literal, TypeVar, cast

from pydantic import BaseModel, Field

from courtroom.strict import Strict

FRAMES_OF_A_VIDEO = 30
"""Frames that are sent of a video, at most."""
MediumKind = Literal["image", "video"]


class Medium(Strict):
    """A picture or a video that belongs to a piece of evidence."""

    id: str = Field(min_length=1, max_length=80, description="Unique within the case, e.g. `buyer-1-photo`.")
    kind: MediumKind
    file: str = Field(min_length=1, max_length=255, description="Path inside the case's folder, with `/`.")
    description: str = Field(default="", max_length=4_000, description="What it shows, for members that can't see.")
    sha256: str | None = Field(default=None, pattern=r"^[0-9a-f]{64}$", description="Content hash once taken in.")
    views: int | None = Field(
        default=None,
        ge=1,
        description="Of a picture that is not sent as one plain copy: as how many pictures, its parts or frames.",
        exclude_if=lambda views: views is None,
    )
    moments: tuple[float, ...] = Field(
        default=(),
        description="Seconds of a video; where given, only the frames nearest to them are shown.",
        exclude_if=lambda moments: not moments,
    )

    most_frames: int | None = Field(
        default=None,
        ge=1,
        description="Of a video: so many frames are shown at most; not set: all.",
        exclude_if=lambda most: most is None,
    )

    @property
    def shown(self) -> str:
        """What is shown of it: equal exactly where the same pictures are."""
        moments = f"@{','.join(map(str, self.moments))}" if self.moments else ""
        views = f"#{self.views}" if self.views else ""
        return f"{self.sha256}{views}{moments}" + (f"/{self.most_frames}" if self.most_frames else "")

    @property
    def pictures(self) -> int:
        """How many pictures of it are sent, at most."""
        frames = len(self.moments) or FRAMES_OF_A_VIDEO
        return self.views or 1 if self.kind == "image" else min(frames, self.most_frames or frames)


class KeptFile(Strict):
    """What is known of a file once it is in the store; the fields are those of `Medium`."""

    sha256: str
    views: int | None = None


def with_kept(medium: Medium, kept: Mapping[str, KeptFile]) -> Medium:
    """Return a medium with its content hash, where its file was taken in under its path."""
    return medium.model_copy(update=dict(kept[medium.file])) if medium.file in kept else medium


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
