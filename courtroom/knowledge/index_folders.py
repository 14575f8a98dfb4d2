"""Where the indexes are: Chroma's folder and tantivy's, which belong to one opened store alone, or a Chroma server."""

import ctypes
import hashlib
import shutil
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from itertools import count
from pathlib import Path
from typing import Any, Literal

from filelock import FileLock, Timeout

from courtroom.errors import CourtroomError
from courtroom.settings import Settings

M_PERTURB, FREED_BYTE = -6, 0xFF
"""A setting of glibc's `malloc.h`: memory that is freed is overwritten by this byte, new memory by its complement."""
WHOLE = "whole"
"""The file in Chroma's folder that is there while nothing is being written or opened. It holds `sums`."""


def sums(*folders: Path) -> bytes:
    """Name the files of the indexes with their check sums: neither library always notices that one is damaged, and
    Chroma may end its process where it reads junk."""
    files = sorted(path for folder in folders for path in folder.glob("*/*"))
    return "\n".join(f"{path.parent.name}/{path.name} {_sum(path, path.stat().st_mtime_ns)}" for path in files).encode()


@lru_cache(maxsize=1024)
def _sum(path: Path, written_ns: int) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def keep_freed_memory_out() -> None:
    """Have memory come empty. Chroma saves the room that its graph has yet to fill too, and in it would stand whatever
    was freed there before, such as the header of a request with its key."""
    if sys.platform == "linux" and hasattr(libc := ctypes.CDLL(None), "mallopt"):
        libc.mallopt(M_PERTURB, FREED_BYTE)


class Broken(Exception):
    """An index failed; what it holds can be built again."""


@contextmanager
def broken() -> Iterator[None]:
    """Turn whatever an index's library raises into `Broken`: a panic of its Rust is no `Exception`."""
    try:
        yield
    except (KeyboardInterrupt, SystemExit, CourtroomError, Broken):
        raise
    except BaseException as error:
        raise Broken(f"{type(error).__name__}: {error}") from error


class IndexFolders:
    """Chroma and tantivy in folders that nobody else has open.

    Two processes that write to one folder of Chroma lose vectors in silence: each saves its own graph over the other's.
    So the first store that is opened has `chroma` and `words`, a second one at the same time `chroma-2` and `words-2`.
    A folder in which a process was killed while it wrote, or that another program made, is deleted:
    the database has it all.
    """

    def __init__(self, settings: Settings) -> None:
        self.home = settings.home
        self.server = f"{settings.chroma_host}:{settings.chroma_port}" if settings.chroma_host else ""
        """The address of a Chroma server that holds the vectors."""
        self._settings = settings
        self._lock = threading.RLock()
        self._taken: Any = None  # a file lock, which ends with its process
        self._suffix = ""
        self._writers = 0
        self._client: Any = None  # Chroma's own types don't name all of its public methods

    @property
    def chroma(self) -> Path:
        return self.home / f"chroma{self._suffix}"

    @property
    def words(self) -> Path:
        return self.home / f"words{self._suffix}"

    @property
    def where(self) -> str:
        """The address of the Chroma server, or the folder that Chroma has, as soon as something was looked up."""
        return f"http://{self.server}" if self.server else str(self.chroma)

    def state(self) -> Literal["in use", "whole", "damaged"]:
        """Return whether another process has the first folders; if not, whether they are as they were left, or not there."""
        with self._lock:
            if self._taken is None:
                self._first_free().release()
            if self._suffix:
                return "in use"
            with suppress(Broken):
                if self._is_whole() and (not self.chroma.exists() or self.client()):
                    return "whole"
            return "damaged"

    def client(self) -> Any:
        """Return Chroma's client, opened when it is first asked for. Raises `Broken`: it can't be opened."""
        with self._lock, broken():
            if self._client is None:
                import chromadb  # slow to import: the app does so while its first page is drawn
                from chromadb.config import Settings as ChromaSettings

                quiet, given = ChromaSettings(anonymized_telemetry=False), self._settings
                if self.server:
                    self._client = chromadb.HttpClient(given.chroma_host or "", given.chroma_port, settings=quiet)
                else:
                    keep_freed_memory_out()
                    self.begin_writing()
                    try:
                        self._client = chromadb.PersistentClient(str(self.chroma), settings=quiet)
                    finally:
                        self.end_writing()
            return self._client

    def begin_writing(self) -> None:
        """Take the mark away while something is written or opened: a process that dies of it leaves none."""
        with self._lock:
            self.take()
            self.chroma.mkdir(exist_ok=True)
            (self.chroma / WHOLE).unlink(missing_ok=True)
            self._writers += 1

    def end_writing(self) -> None:
        """Mark the folders as whole. Blocks: it reads what was written."""
        with self._lock:
            self._writers -= 1
            if not self._writers and self.chroma.is_dir():
                (self.chroma / WHOLE).write_bytes(sums(self.chroma, self.words))

    def take(self) -> None:
        """Take the first folders that are free, and delete what is in them unless it is whole."""
        with self._lock:
            if self._taken is None:
                self._taken = self._first_free()
                if not self._is_whole():
                    self.discard()

    def discard(self) -> None:
        """Delete the folders with all that is indexed; what a server holds stays."""
        with self._lock:
            self.take()
            self._close_client()
            for folder in (self.chroma, self.words):
                shutil.rmtree(folder, ignore_errors=True)

    def close(self) -> None:
        """Let go of the folders; a look-up takes them, or the next that are free."""
        with self._lock:
            self._close_client()
            if self._taken is not None:
                self._taken.release()
                self._taken = None

    def _is_whole(self) -> bool:
        mark = self.chroma / WHOLE
        return not self.chroma.exists() or (mark.is_file() and mark.read_bytes() == sums(self.chroma, self.words))

    def _close_client(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            client.close()

    def _first_free(self) -> Any:
        self.home.mkdir(parents=True, exist_ok=True)
        self._suffix, others = "", count(2)
        while True:
            lock = FileLock(self.chroma.with_name(f"{self.chroma.name}.lock"), thread_local=False)
            with suppress(Timeout):
                lock.acquire(timeout=0)
                return lock
            self._suffix = f"-{next(others)}"
