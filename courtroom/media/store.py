"""A store of pictures and videos by content, and the check that a file is what it is listed as."""

from __future__ import annotations

import hashlib
import os
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path

from courtroom.errors import MediaError
from courtroom.media.medium import MediumKind
from courtroom.media.pictures import ImageFacts, inspect_image, small_jpeg
from courtroom.media.types import ENDINGS, sniff
from courtroom.media.videos import MAX_FRAMES, Frame, VideoFacts, clock, inspect_video, sample_frames

__all__ = [
    "MAX_FRAMES",
    "Frame",
    "ImageFacts",
    "MediaStore",
    "VideoFacts",
    "check_medium",
    "clock",
    "inspect_image",
    "inspect_video",
]

_PICTURE, _VIDEO = threading.Lock(), threading.Lock()
"""All members of a panel ask for the same media at once; one of them decodes, the others wait for what it has found."""


class MediaStore:
    """Media files under their SHA-256, with the ending of what they really are."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @contextmanager
    def taking(self, files: Mapping[str, bytes]) -> Iterator[Mapping[str, str]]:
        """Keep all files or none, each whole; the same content is kept once. Gives their SHA-256, by the files' names.

        They are there while the block is worked on; where it fails, those that were not there before are gone again.

        Raises:
            MediaError: a file is neither a picture nor a video.
        """
        targets = {name: self._target(data, Path(name).name) for name, data in files.items()}
        new = {target: files[name] for name, target in targets.items() if not target.exists()}
        placed: list[Path] = []
        try:
            if new:
                self.folder.mkdir(parents=True, exist_ok=True)
                with tempfile.TemporaryDirectory(dir=self.folder) as folder:
                    for target, data in new.items():
                        (Path(folder) / target.name).write_bytes(data)
                    for target in new:
                        os.replace(Path(folder) / target.name, target)
                        placed.append(target)
            yield {name: target.name.partition(".")[0] for name, target in targets.items()}
        except BaseException:
            for target in placed:
                target.unlink(missing_ok=True)
            raise

    def take(self, data: bytes, name: str) -> str:
        """Keep one file and return its SHA-256; see `taking`."""
        with self.taking({name: data}) as kept:
            return kept[name]

    def _target(self, data: bytes, name: str) -> Path:
        found = sniff(data[:16])
        if found is None or found[1] not in ENDINGS:
            raise MediaError(f"{name} is neither a picture nor a video that can be read. Save it as PNG, JPEG or MP4.")
        return self.folder / f"{hashlib.sha256(data).hexdigest()}{ENDINGS[found[1]][0]}"

    def path(self, sha256: str) -> Path:
        """Where a file is kept.

        Raises:
            MediaError: it isn't there.
        """
        for endings in ENDINGS.values():
            if (path := self.folder / f"{sha256}{endings[0]}").is_file():
                return path
        raise MediaError("A picture or video of this case is missing from the store. Upload the case again.")

    def check(self, kind: MediumKind, sha256: str, name: str) -> None:
        """Check a kept file; decoded once, as its content never changes.

        Raises:
            MediaError: a sentence that names the file and the mend.
        """
        if problem := _problem(kind, self.path(sha256), name):
            raise MediaError(problem)

    def image(self, sha256: str, max_side: int = 1024) -> bytes:
        """A picture as JPEG, upright (EXIF orientation), RGB, no side longer than `max_side` pixels.

        Raises:
            MediaError: it isn't there, or can't be read.
        """
        with _PICTURE:
            return _image(self.path(sha256), max_side)

    def frames(self, sha256: str, count: int = MAX_FRAMES) -> tuple[Frame, ...]:
        """At most 30 frames spread evenly over a video, each with its time.

        Raises:
            MediaError: it isn't there, or can't be read.
        """
        with _VIDEO:
            return _frames(self.path(sha256), count)


def check_medium(kind: MediumKind, source: Path | bytes, name: str) -> None:
    """Check a picture or a video, from a file or from memory.

    Raises:
        MediaError: a sentence that names the file and the mend.
    """
    if kind == "image":
        inspect_image(source, name)
    elif isinstance(source, Path):
        inspect_video(source, name)
    else:
        with tempfile.NamedTemporaryFile() as file:
            file.write(source)
            file.flush()
            inspect_video(Path(file.name), name)


@lru_cache(maxsize=256)
def _image(path: Path, max_side: int) -> bytes:
    return small_jpeg(path.read_bytes(), path.name, max_side)


@lru_cache(maxsize=32)
def _frames(path: Path, count: int) -> tuple[Frame, ...]:
    return sample_frames(path, path.name, count)


@lru_cache(maxsize=4096)
def _problem(kind: MediumKind, path: Path, name: str) -> str | None:
    try:
        check_medium(kind, path, name)
    except MediaError as error:
        return str(error)
    return None
