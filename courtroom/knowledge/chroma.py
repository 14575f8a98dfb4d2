"""Many vectors in Chroma: in a folder on this machine, or on a Chroma server.

The database is the source of truth. What Chroma holds is an index, which is built again from it whenever it can't be used.
"""

import os
import shutil
import tempfile
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from functools import cache
from math import sqrt
from pathlib import Path
from typing import Any, NamedTuple, TypeVar
from uuid import uuid4

from courtroom.knowledge.embedding import Vectors
from courtroom.knowledge.indexed_records import ALL, SEAL, Facets, Filter, Seal, files_of, read_seal, whole, write_seal
from courtroom.settings import Settings

T = TypeVar("T")
HNSW: dict[str, Any] = {"space": "cosine", "ef_search": 200, "ef_construction": 100, "max_neighbors": 32}
"""With half the neighbours one record in a hundred can't be reached at all, and more after additions."""
BATCH = 1000
"""Vectors in one write, at most."""
OPEN_S = 20.0
"""A folder that Chroma has not opened after so many seconds is built again: a damaged one may hang."""
VIEW = "courtroom-chroma-"
"""How the names of its copies in the folder for temporary files begin."""


class Broken(Exception):
    """Chroma failed; what it holds can be built again."""


class Batch(NamedTuple):
    """Vectors to be written."""

    ids: list[str]
    vectors: Vectors
    """Of shape (ids, dimensions)."""
    facets: list[Facets]


Batches = Callable[[int], Iterator[Batch]]
"""Gives vectors in batches of one size; the last may be smaller."""


@cache
def engine() -> str:
    """Chroma's version and parameters, as a seal names them."""
    from importlib.metadata import version as installed

    return f"chroma {installed('chromadb')}; {', '.join(f'{name} {value}' for name, value in HNSW.items())}"


class ChromaVectors(ABC):
    """The vectors of a collection's records as they were at one version."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._client: Any = None  # Chroma's own types don't name all of its public methods
        self._collection: Any = None

    @abstractmethod
    def seal(self, made_with: str) -> Seal | None:
        """Which version is there; None where nothing is, or where it was built with another engine or embedding."""

    @abstractmethod
    def open(self, seal: Seal) -> None:
        """Open what is there, unless it is open. Raises `Broken`: it can't be read."""

    @abstractmethod
    def write(self, seal: Seal, removed: Sequence[str], count: int, batches: Batches) -> None:
        """Remove ids and write so many vectors, on top of what is there. The seal is written last. Raises `Broken`: Chroma failed; `OSError`:
        the folder can't be written."""

    @abstractmethod
    def discard(self) -> None:
        """Delete what is there."""

    def nearest(self, seal: Seal, vector: Vectors, k: int, only: Filter = ALL) -> list[tuple[str, float]]:
        """The k nearest by cosine similarity, nearest first."""
        self.open(seal)
        with _broken():
            result = self._collection.query(
                query_embeddings=[vector], n_results=min(k, seal.count), where=_where(only), include=["distances"]
            )
        return [(name, 1.0 - distance) for name, distance in zip(result["ids"][0], result["distances"][0], strict=True)]

    def close(self) -> None:
        """Close it; a look-up opens it again."""
        client, self._client, self._collection = self._client, None, None
        if client is not None:
            client.close()


class ChromaFolder(ChromaVectors):
    """A folder that never changes once it is sealed: what is newer is written to a copy, which then replaces it."""

    def __init__(self, folder: Path, name: str) -> None:
        super().__init__(name)
        self._folder = folder
        self._opened: Seal | None = None
        self._view: _View | None = None

    def seal(self, made_with: str) -> Seal | None:
        seal = read_seal(self._folder)
        if seal is None or seal.made_with != made_with or not (self._folder / seal.folder).is_dir():
            return None
        return seal

    def open(self, seal: Seal) -> None:
        if self._opened == seal:
            return
        self.close()
        files = self._folder / seal.folder
        if not whole(files, seal.files):
            raise Broken("its files are not as they were written")
        self._view = _View(files.resolve())
        path = self._view.path
        self._client, self._collection = within(OPEN_S, lambda: self._loaded(path))
        with _broken():
            if self._collection.count() != seal.count:
                raise Broken("it does not hold what it held when it was written")
        self._opened = seal

    def write(self, seal: Seal, removed: Sequence[str], count: int, batches: Batches) -> None:
        base = self.seal(seal.made_with)
        self._folder.mkdir(parents=True, exist_ok=True)
        new = self._folder / uuid4().hex[:12]
        try:
            if base is not None:
                if not whole(self._folder / base.folder, base.files):
                    raise Broken("its files are not as they were written")
                shutil.copytree(self._folder / base.folder, new)
            with self._writing(new, save_after(count)) as collection:
                _change(collection, removed, batches, BATCH)
            with self._writing(new, 2) as collection:  # the fewest that Chroma allows: what is not saved is saved now
                collection.get(limit=1, include=["embeddings"])
                held = collection.count()
            written = {"folder": new.name, "count": held, "files": files_of(new)}
            write_seal(self._folder, seal.model_copy(update=written))
        except BaseException:
            shutil.rmtree(new, ignore_errors=True)
            raise
        for path in self._folder.iterdir():  # also what a process that was killed has left
            if path.name not in (SEAL, new.name):
                shutil.rmtree(path) if path.is_dir() else path.unlink()

    def discard(self) -> None:
        self.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def close(self) -> None:
        super().close()
        self._opened = None
        if self._view is not None:
            self._view.close()
            self._view = None

    def _loaded(self, path: str) -> tuple[Any, Any]:
        client = _persistent(path)
        collection = client.get_collection(self._name, embedding_function=None)
        collection.get(limit=1, include=["embeddings"])  # reading one vector loads all
        return client, collection

    @contextmanager
    def _writing(self, path: Path, threshold: int) -> Iterator[Any]:
        """The collection in a folder, saved by Chroma whenever so many changes were made. The setting holds once reopened."""
        with _broken():
            client = _persistent(str(path))
            collection = _made(client, self._name)
            _unlocked(lambda: collection.modify(configuration={"hnsw": {"sync_threshold": threshold}}))
            client.close()
            client = _persistent(str(path))
        try:
            with _broken():
                collection = client.get_collection(self._name, embedding_function=None)
            yield collection
        finally:
            client.close()


class ChromaServer(ChromaVectors):
    """A collection on a Chroma server, which all servers of the app share. Its metadata are its seal."""

    def __init__(self, settings: Settings, name: str) -> None:
        super().__init__(name)
        self._settings = settings

    def seal(self, made_with: str) -> Seal | None:
        with _broken():
            if not self._exists():
                return None
            self._collection = self._connected().get_collection(self._name, embedding_function=None)
            data = self._collection.metadata or {}
            if data.get("made_with") != made_with or "version" not in data:
                return None
            return Seal(version=int(data["version"]), count=self._collection.count(), made_with=made_with, files={})

    def open(self, seal: Seal) -> None:
        if self._collection is None:
            raise Broken("the connection was closed")

    def write(self, seal: Seal, removed: Sequence[str], count: int, batches: Batches) -> None:
        if self.seal(seal.made_with) is None:
            self.discard()
        with _broken():
            self._collection = _made(self._connected(), self._name)
        _change(self._collection, removed, batches, BATCH // 2)  # each is one request, as text
        with _broken():
            self._collection.modify(metadata={"made_with": seal.made_with, "version": str(seal.version)})

    def discard(self) -> None:
        with _broken():
            if self._exists():
                self._connected().delete_collection(self._name)
        self._collection = None

    def _exists(self) -> bool:
        return self._name in [collection.name for collection in self._connected().list_collections()]

    def _connected(self) -> Any:
        if self._client is None:
            import chromadb  # slow to import: only when something is looked up

            self._client = chromadb.HttpClient(
                self._settings.chroma_host or "", self._settings.chroma_port, settings=_quiet()
            )
        return self._client


def within(seconds: float, work: Callable[[], T]) -> T:
    """What a function of Chroma returns. The thread of one that hangs is left behind. Raises `Broken`: it failed, or took longer."""
    result: Future[T] = Future()

    def run() -> None:
        try:
            result.set_result(work())
        except BaseException as error:  # noqa: BLE001  raised below
            result.set_exception(error)

    threading.Thread(target=run, name="chroma-open", daemon=True).start()
    with _broken():
        return result.result(seconds)


def save_after(count: int) -> int:
    """After how many of so many changes Chroma saves its graph.

    Each write reads again what is not saved yet, and each save writes all of the graph. The saves grow with the root of the
    changes, so that neither cost is quadratic.
    """
    return BATCH * max(1, round(sqrt(count / BATCH)))


def _unlocked(work: Callable[[], None]) -> None:
    """Does it, again where the file is locked: Chroma still ends a write of the client that was closed before."""
    deadline = time.monotonic() + 5
    while True:
        try:
            work()
            return
        except Exception as error:
            if "database is locked" not in str(error) or time.monotonic() > deadline:
                raise
        time.sleep(0.05)


def _change(collection: Any, removed: Sequence[str], batches: Batches, size: int) -> None:
    for start in range(0, len(removed), BATCH):
        with _broken():
            collection.delete(ids=list(removed[start : start + BATCH]))
    for batch in batches(size):
        metadatas: Any = [{**dict.fromkeys(facets.marks, True), "day": facets.day} for facets in batch.facets]
        with _broken():
            collection.upsert(ids=batch.ids, embeddings=batch.vectors, metadatas=metadatas)


class _View:
    """A folder with links to all files of another, but with a copy of its SQLite file: Chroma writes to that even to read.

    A process holds a lock next to it, so that the copies of killed processes can be recognised: the next one deletes them.
    """

    def __init__(self, folder: Path) -> None:
        from filelock import FileLock  # only where an index is on disk

        _delete_views_of_killed_processes()
        self._folder = tempfile.TemporaryDirectory(prefix=VIEW)
        self.path = self._folder.name
        self._lock = FileLock(f"{self.path}.lock", thread_local=False)
        self._lock.acquire()
        for path in folder.rglob("*"):
            linked = Path(self.path) / path.relative_to(folder)
            if path.is_dir():
                linked.mkdir()
            elif path.suffix == ".sqlite3":
                shutil.copyfile(path, linked)
            else:
                os.symlink(path, linked)

    def close(self) -> None:
        self._folder.cleanup()
        self._lock.release()
        Path(self._lock.lock_file).unlink(missing_ok=True)


def _delete_views_of_killed_processes() -> None:
    from filelock import FileLock, Timeout

    for path in Path(tempfile.gettempdir()).glob(f"{VIEW}*.lock"):
        try:
            with FileLock(path, timeout=0):
                shutil.rmtree(path.with_suffix(""), ignore_errors=True)
                path.unlink(missing_ok=True)
        except (Timeout, OSError):  # in use, or another user's
            continue


def _persistent(path: str) -> Any:
    import chromadb  # slow to import: only when something is looked up

    return chromadb.PersistentClient(path, settings=_quiet())


def _made(client: Any, name: str) -> Any:
    return client.get_or_create_collection(name, embedding_function=None, configuration={"hnsw": HNSW})


def _quiet() -> Any:
    from chromadb.config import Settings as ChromaSettings

    return ChromaSettings(anonymized_telemetry=False)


@contextmanager
def _broken() -> Iterator[None]:
    """Turns whatever Chroma raises into `Broken`: a panic of its Rust is no `Exception`."""
    try:
        yield
    except (KeyboardInterrupt, SystemExit, Broken):
        raise
    except BaseException as error:
        raise Broken(f"{type(error).__name__}: {error}") from error


def _where(only: Filter) -> dict[str, Any] | None:
    conditions: list[dict[str, Any]] = [{mark: True} for mark in only.marks]
    if only.days is not None:
        conditions += [{"day": {"$gte": only.days[0]}}, {"day": {"$lte": only.days[1]}}]
    return conditions[0] if len(conditions) == 1 else {"$and": conditions} if conditions else None
