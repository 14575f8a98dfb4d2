"""Media in object storage, such as S3, by an fsspec URL."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any

from courtroom.errors import MediaError


class ObjectStorage:
    """Files in one place of an object storage, such as `s3://bucket/folder`. Keys and addresses are those that its own library
    reads. Its methods raise `MediaError` where the storage does not answer."""

    def __init__(self, url: str) -> None:
        self.url = url.rstrip("/")

    def names(self) -> list[str]:
        files, root = self._files
        with self._answering():
            entries = files.ls(root, detail=True) if files.exists(root) else []
        return sorted(str(one["name"]).rsplit("/", 1)[-1] for one in entries if one["type"] == "file")

    def size(self, name: str) -> int | None:
        """Bytes of a file; None where it isn't there."""
        files, root = self._files
        with self._answering():
            try:
                return int(files.info(f"{root}/{name}")["size"])
            except FileNotFoundError:
                return None

    def read(self, name: str) -> bytes | None:
        """A file; None where it isn't there."""
        files, root = self._files
        with self._answering():
            try:
                return bytes(files.cat_file(f"{root}/{name}"))
            except FileNotFoundError:
                return None

    def put(self, name: str, data: bytes) -> None:
        """Write a file, in place of one of this name. Object storage shows it when all of it is there."""
        files, root = self._files
        with self._answering():
            files.pipe_file(f"{root}/{name}", data)

    def delete(self, name: str) -> None:
        """Take a file out; one that isn't there does no harm."""
        files, root = self._files
        with self._answering():
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
    def _answering(self) -> Iterator[None]:
        """Each storage's library raises what it is built of."""
        try:
            yield
        except Exception as error:
            raise MediaError(
                f"The storage of pictures and videos at {self.url} does not answer ({type(error).__name__}). "
                "Check the server and the key to it, then try again."
            ) from error
