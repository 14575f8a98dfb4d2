"""Pictures and videos by their content, in a folder or in object storage such as S3, checked for what they are."""

import hashlib
import os
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from courtroom.errors import MediaError
from courtroom.media import pictures
from courtroom.media.medium import FRAMES_OF_A_VIDEO, KeptFile, MediumKind
from courtroom.media.videos import Frame, inspect_video, sample_frames
from courtroom.settings import Settings
from courtroom.store.writer import plainly

IDLE_S = 24 * 3600.0
"""Seconds after which no upload that has brought in a file is still under way."""
_PICTURE, _VIDEO = threading.Lock(), threading.Lock()
"""All members of a panel ask for the same media at once; one of them decodes, the others wait for what it has found."""


class ObjectStorage:
    """Files in one place of an object storage, such as `s3://bucket/folder`. Keys and addresses are those that its
    own library reads. Its methods raise `MediaError` where the storage does not answer."""

    def __init__(self, url: str) -> None:
        self.url = url.rstrip("/")

    def names(self) -> list[str]:
        with self._answering() as (files, root):
            entries = files.ls(root, detail=True) if files.exists(root) else []
        return sorted(str(one["name"]).rsplit("/", 1)[-1] for one in entries if one["type"] == "file")

    def size(self, name: str) -> int | None:
        """Bytes of a file; None where it isn't there."""
        with self._answering() as (files, root), suppress(FileNotFoundError):
            return int(files.info(f"{root}/{name}")["size"])
        return None

    def read(self, name: str) -> bytes | None:
        """A file; None where it isn't there."""
        with self._answering() as (files, root), suppress(FileNotFoundError):
            return bytes(files.cat_file(f"{root}/{name}"))
        return None

    def put(self, name: str, data: bytes) -> None:
        """Write a file, in place of one of this name. Object storage shows it when all of it is there."""
        with self._answering() as (files, root):
            files.pipe_file(f"{root}/{name}", data)

    def delete(self, name: str) -> None:
        """Take a file out; one that isn't there does no harm."""
        with self._answering() as (files, root):
            if files.exists(f"{root}/{name}"):
                files.rm_file(f"{root}/{name}")

    @cached_property
    def _files(self) -> tuple[Any, str]:
        import fsspec  # slow to import: only where media are kept so

        try:
            # What other servers of the app put there must be seen.
            files, root = fsspec.core.url_to_fs(self.url, use_listings_cache=False)
        except ImportError as error:
            kind = self.url.partition(":")[0]
            raise MediaError(f"COURTROOM_MEDIA needs a package for {kind}: {error}.") from error
        except ValueError as error:
            raise MediaError(f"COURTROOM_MEDIA names a kind of storage that is not known: {error}.") from error
        return files, str(root).rstrip("/")

    @contextmanager
    def _answering(self) -> Iterator[tuple[Any, str]]:
        """Each storage's library raises what it is built of."""
        files = self._files
        try:
            yield files
        except Exception as error:
            raise MediaError(
                f"The storage of pictures and videos at {self.url} does not answer ({type(error).__name__}). "
                "Check the server and the key to it, then try again."
            ) from error


class MediaStore:
    """Media files under their SHA-256, with the ending of what they really are.

    What is not there, can't be read or isn't what it is listed as raises `MediaError`. With a storage they are kept
    there; the folder then holds copies of what was used here, and may be deleted.
    """

    def __init__(self, folder: Path, storage: ObjectStorage | None = None) -> None:
        self.folder = folder
        self.storage = storage
        self._stored: set[str] = set()  # names that are known to be in the storage
        self._checked: set[Path] = set()

    def keep(self, files: Mapping[str, bytes]) -> Mapping[str, KeptFile]:
        """Keep files, each whole; the same content is kept once. Gives what is known of them, by their names.

        Nothing is taken out again where the case then fails: another's may name the same picture by now.
        """
        targets = {name: self._target(data, Path(name).name) for name, data in files.items()}
        contents = {target: files[name] for name, target in targets.items()}
        if (storage := self.storage) is not None:
            for target, data in contents.items():
                # It may be half a file there, of a writer that broke off.
                if target.name not in self._stored and storage.size(target.name) != len(data):
                    storage.put(target.name, data)
                self._stored.add(target.name)
        self._place({target: data for target, data in contents.items() if not _is_renewed(target)})
        return {
            name: KeptFile(sha256=target.name.partition(".")[0], views=pictures.views_of(files[name], name))
            for name, target in targets.items()
        }

    def _place(self, new: Mapping[Path, bytes]) -> None:
        if not new:
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=self.folder) as folder:
            for target, data in new.items():
                (Path(folder) / target.name).write_bytes(data)
            for target in new:
                os.replace(Path(folder) / target.name, target)

    def take(self, data: bytes, name: str) -> str:
        """Keep one file and return its SHA-256; see `keep`."""
        return self.keep({name: data})[name].sha256

    def _target(self, data: bytes, name: str) -> Path:
        medium = pictures.sniff(data[:16])
        if medium is None or medium[1] not in pictures.ENDINGS:
            raise MediaError(f"{name} is neither a picture nor a video that can be read. Save it as PNG, JPEG or MP4.")
        return self.folder / f"{hashlib.sha256(data).hexdigest()}{pictures.ENDINGS[medium[1]][0]}"

    def path(self, sha256: str) -> Path:
        """Where a file is on this machine; it is copied there from the storage, if there is one."""
        names = [f"{sha256}{endings[0]}" for endings in pictures.ENDINGS.values()]
        for name in names:
            if (path := self.folder / name).is_file() and self._whole(path, sha256):
                return path
        for name in names if self.storage is not None else ():
            if (data := self.read(name)) is not None:
                if hashlib.sha256(data).hexdigest() != sha256:
                    why = "A picture or video of this case is damaged in the storage. `courtroom doctor` names it."
                    raise MediaError(why)
                with plainly("then try again"):
                    self._place({self.folder / name: data})
                return self.folder / name
        raise MediaError("A picture or video of this case is missing from the store. Upload the case again.")

    def _whole(self, path: Path, sha256: str) -> bool:
        """Whether a copy can be used: compared once, as the original is elsewhere and can be copied again."""
        if self.storage is not None and path not in self._checked:
            with path.open("rb") as file:
                if hashlib.file_digest(file, "sha256").hexdigest() != sha256:
                    return False
            self._checked.add(path)
        return True

    def names(self) -> list[str]:
        """The names of all files that are kept, also of damaged ones."""
        if self.storage is not None:
            return self.storage.names()
        return sorted(path.name for path in self.folder.glob("*") if path.is_file())

    def read(self, name: str) -> bytes | None:
        """A file as it is kept, whole or not; None where it isn't there."""
        if self.storage is not None:
            return self.storage.read(name)
        path = self.folder / name
        return path.read_bytes() if path.is_file() else None

    def set_aside(self, name: str, under: str) -> None:
        """Give a kept file another name, so that it is not used."""
        if self.storage is None:
            (self.folder / under).parent.mkdir(exist_ok=True)
            (self.folder / name).rename(self.folder / under)
        elif (data := self.storage.read(name)) is not None:
            self.storage.put(under, data)
            self.storage.delete(name)
            self._stored.discard(name)

    def is_idle(self, name: str) -> bool:
        """Whether nobody has brought in this file for a day; never of a storage, which need not know."""
        return self.storage is None and time.time() - (self.folder / name).stat().st_mtime > IDLE_S

    def check(self, kind: MediumKind, sha256: str, name: str) -> tuple[str, ...]:
        """Check a kept file, see `check_medium`; decoded once, as its content never changes."""
        problem, remarks = _checked(kind, _Media(sha256, self.path(sha256)), name)
        if problem:
            raise MediaError(problem)
        return remarks

    def sent(self, sha256: str) -> pictures.SentPicture:
        """Give what is sent of a picture: all of it, its frames or its parts."""
        with _PICTURE:
            return _sent(_Media(sha256, self.path(sha256)))

    def image(self, sha256: str, max_side: int = pictures.MAX_SIDE_PX) -> bytes:
        """A picture as JPEG, upright (EXIF orientation), RGB, no side longer than `max_side` pixels."""
        with _PICTURE:
            return _image(_Media(sha256, self.path(sha256)), max_side)

    def frames(self, sha256: str, count: int = FRAMES_OF_A_VIDEO) -> tuple[Frame, ...]:
        """At most 30 frames spread evenly over a video, each with its time."""
        with _VIDEO:
            return _frames(_Media(sha256, self.path(sha256)), count)


def _is_renewed(target: Path) -> bool:
    """Whether a file is there; if so it counts as brought in just now."""
    with suppress(FileNotFoundError):
        os.utime(target)
        return True
    return False


def media_of(settings: Settings) -> MediaStore:
    url = settings.media_storage
    if url.startswith("memory:"):
        why = "COURTROOM_MEDIA=memory:// keeps files as long as one process lives. Name a folder or a storage."
        raise MediaError(why)
    return MediaStore(settings.media_folder, ObjectStorage(url) if url else None)


def check_medium(kind: MediumKind, source: Path | bytes, name: str) -> tuple[str, ...]:
    """Check a picture or a video; gives what somebody should know who wants it to be seen."""
    if kind == "image":
        return pictures.inspect_image(source, name)
    if isinstance(source, Path):
        return inspect_video(source, name)
    with tempfile.NamedTemporaryFile() as file:
        file.write(source)
        file.flush()
        return inspect_video(Path(file.name), name)


@dataclass(frozen=True)
class _Media:
    """A file, known by its content wherever it lies."""

    sha256: str
    path: Path = field(compare=False)


@lru_cache(maxsize=256)
def _image(kept: _Media, max_side: int) -> bytes:
    return pictures.small_jpeg(kept.path.read_bytes(), kept.path.name, max_side)


@lru_cache(maxsize=32)
def _sent(kept: _Media) -> pictures.SentPicture:
    return pictures.sent_picture(kept.path.read_bytes(), kept.path.name)


@lru_cache(maxsize=32)
def _frames(kept: _Media, count: int) -> tuple[Frame, ...]:
    return sample_frames(kept.path, kept.path.name, count)


@lru_cache(maxsize=4096)
def _checked(kind: MediumKind, kept: _Media, name: str) -> tuple[str, tuple[str, ...]]:
    try:
        return "", check_medium(kind, kept.path, name)
    except MediaError as error:
        return str(error), ()
