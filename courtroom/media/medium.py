"""A picture or a video, as a case names it."""

from collections.abc import Callable, Mapping
from typing import Literal, TypeVar, cast

from pydantic import BaseModel, Field

from courtroom.strict import Strict, option

FRAMES_OF_A_VIDEO = 30
"""Frames that are looked at and sent of a video, at most (section 5 of the CyberJurors paper)."""
MediumKind = Literal["image", "video"]
T = TypeVar("T")


class Medium(Strict):
    """A picture or a video that belongs to a piece of evidence."""

    id: str = Field(min_length=1, max_length=80, description="Unique within the case, e.g. `buyer-1-photo`.")
    kind: MediumKind
    file: str = Field(min_length=1, max_length=255, description="Path inside the case's folder, with `/`.")
    description: str = Field(default="", max_length=4_000, description="What it shows, for members that can't see.")
    sha256: str | None = Field(default=None, pattern=r"^[0-9a-f]{64}$", description="Content hash once taken in.")
    views: int | None = option(
        None, "Of a picture that is not sent as one plain copy: as how many pictures, its parts or frames.", ge=1
    )
    moments: tuple[float, ...] = option(
        (), "Seconds of a video; where given, only the frames nearest to them are shown."
    )
    most_frames: int | None = option(None, "Of a video: so many frames are shown at most; not set: all.", ge=1)

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


def with_kept(value: T, kept: Mapping[str, KeptFile]) -> T:
    """Return a record with the content hash of each medium whose file was taken in under its path."""
    return _changed(value, lambda one: one.model_copy(update=dict(kept[one.file])) if one.file in kept else one)


def without_media(value: T) -> T:
    """Return a record with no picture or video in it, nor any description of one; itself where there was none."""
    return _changed(value, lambda medium: None)


def _changed(value: T, change: Callable[[Medium], Medium | None]) -> T:
    """A case, a question, or any record, with each medium changed, or taken out of its tuple; itself where all stay."""
    if isinstance(value, tuple):
        made = [change(old) if isinstance(old, Medium) else _changed(old, change) for old in value]
        new = tuple(one for one, old in zip(made, value, strict=True) if one is not None or old is None)
        same = len(new) == len(value) and all(one is old for one, old in zip(new, value, strict=True))
        return value if same else cast(T, new)
    if isinstance(value, BaseModel):
        fields = {name: getattr(value, name) for name in type(value).model_fields}
        changed = {name: one for name, old in fields.items() if (one := _changed(old, change)) is not old}
        return value.model_copy(update=changed) if changed else value
    return value
