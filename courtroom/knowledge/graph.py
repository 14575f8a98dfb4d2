"""Many vectors in Chroma's graph: in a folder on this machine, or on a Chroma server."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from math import ceil, sqrt
from pathlib import Path
from typing import Any, NamedTuple, Protocol
from uuid import uuid4

from courtroom.knowledge.chroma_apart import Broken, ChromaApart
from courtroom.knowledge.embedding import Vectors
from courtroom.knowledge.facets import ALL, Facets, Filter
from courtroom.knowledge.sealed import SEAL, Seal, files_of, read_seal, whole, write_seal
from courtroom.settings import Settings

HNSW: dict[str, Any] = {"space": "cosine", "ef_search": 200, "ef_construction": 100, "max_neighbors": 32}
"""With half the neighbours one record in a hundred can't be reached at all, and more after additions."""
AT_ONCE = 1000
"""Vectors in one write, at most."""


class Batch(NamedTuple):
    """Vectors to be written."""

    ids: list[str]
    vectors: Vectors
    """Of shape (ids, dimensions)."""
    facets: list[Facets]


Batches = Callable[[int], Iterator[Batch]]
"""Gives vectors in batches of one size; the last may be smaller."""


class VectorGraph(Protocol):
    """Vectors of records as they were at one version."""

    def seal(self, made_with: str) -> Seal | None:
        """What is there and can be used; None where nothing is."""
        ...

    def wake(self) -> None:
        """Have what reads it start, without waiting for that."""
        ...

    def check(self, seal: Seal) -> None:
        """See whether it can be read.

        Raises:
            Broken: it can't.
        """
        ...

    def nearest(self, seal: Seal, vector: Vectors, k: int, only: Filter = ALL) -> list[tuple[str, float]]:
        """The k nearest by cosine similarity, nearest first.

        Raises:
            Broken: it can't be read.
        """
        ...

    def write(self, seal: Seal, gone: Sequence[str], count: int, batches: Batches) -> None:
        """Take ids out and write so many vectors, on top of what is there.

        Raises:
            Broken: it can't be written.
        """
        ...

    def discard(self) -> None:
        """Throw away what is there."""
        ...

    def close(self) -> None:
        """Let go of it; a look-up opens it again."""
        ...


@cache
def engine() -> str:
    """The engine with its parameters, as a seal names it."""
    from importlib.metadata import version as installed

    return f"chroma {installed('chromadb')}; {', '.join(f'{name} {value}' for name, value in HNSW.items())}"


class DiskGraph:
    """A folder that never changes once it is sealed: what is newer is written to a copy, which then takes its place."""

    def __init__(self, folder: Path, name: str) -> None:
        self._folder, self._name = folder, name
        self._reader = ChromaApart()
        self._opened: Seal | None = None
        if (folder / "chroma.sqlite3").exists():  # of an earlier version, which kept the vectors there
            shutil.rmtree(folder, ignore_errors=True)

    def seal(self, made_with: str) -> Seal | None:
        """What is there and can be used; None where nothing is."""
        seal = read_seal(self._folder)
        if seal is None or seal.made_with != made_with or not (self._folder / seal.folder).is_dir():
            return None
        return seal

    def nearest(self, seal: Seal, vector: Vectors, k: int, only: Filter = ALL) -> list[tuple[str, float]]:
        """The k nearest by cosine similarity, nearest first.

        Raises:
            Broken: its files are not as they were written, or Chroma can't read them.
        """
        self.check(seal)
        found = self._reader.ask(
            "query", vector.astype("f4").tobytes(), min(k, seal.count), list(only.marks), only.days
        )
        return [(name, 1.0 - distance) for name, distance in found]

    def write(self, seal: Seal, gone: Sequence[str], count: int, batches: Batches) -> None:
        """Write to a copy, seal it, and throw away the one before.

        Raises:
            Broken: Chroma failed.
            OSError: the folder can't be written.
        """
        import numpy as np

        before = read_seal(self._folder)
        base = before if before is not None and before.made_with == seal.made_with else None
        self._folder.mkdir(parents=True, exist_ok=True)
        made = self._folder / uuid4().hex[:12]
        writer = ChromaApart()
        try:
            if base is not None and (self._folder / base.folder).is_dir():
                if not whole(self._folder / base.folder, base.files):
                    raise Broken("its files are not as they were written")
                shutil.copytree(self._folder / base.folder, made)
            made.mkdir(exist_ok=True)
            size, every = rhythm(count)
            writer.ask("make", str(made), self._name, HNSW, every)
            for start in range(0, len(gone), AT_ONCE):
                writer.ask("delete", list(gone[start : start + AT_ONCE]))
            for batch in batches(size):
                vectors = np.asarray(batch.vectors, np.float32).tobytes()
                writer.ask("upsert", batch.ids, vectors, [_metadata(facets) for facets in batch.facets])
            held = writer.ask("finish", str(made), self._name)
            sealed = seal.model_copy(update={"folder": made.name, "count": held, "files": files_of(made)})
            write_seal(self._folder, sealed)
        except BaseException:
            shutil.rmtree(made, ignore_errors=True)
            raise
        finally:
            writer.close()
        for path in self._folder.iterdir():  # also what an earlier version, or a process that was killed, has left
            if path.name not in (SEAL, made.name):
                shutil.rmtree(path) if path.is_dir() else path.unlink()

    def discard(self) -> None:
        """Throw away the folder."""
        self.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def wake(self) -> None:
        """Start the process that reads it."""
        self._reader.start()

    def close(self) -> None:
        """End the process that reads it."""
        self._opened = None
        self._reader.close()

    def check(self, seal: Seal) -> None:
        """Open it, where this process has not: only files that are as they were written.

        Raises:
            Broken: they are not, or Chroma can't read them.
        """
        if self._opened == seal and self._reader.running:
            return
        self._opened = None
        self.wake()  # it is ready when the files are checked
        files = self._folder / seal.folder
        if not whole(files, seal.files):
            raise Broken("its files are not as they were written")
        if self._reader.ask("look", str(files.resolve()), self._name) != seal.count:
            raise Broken("it does not hold what it held when it was written")
        self._opened = seal


class ServerGraph:
    """A collection on a Chroma server, which all servers of the app share."""

    def __init__(self, settings: Settings, name: str) -> None:
        self._settings, self._name = settings, name
        self._client: Any = None
        self._collection: Any = None

    def seal(self, made_with: str) -> Seal | None:
        """What is there and can be used; None where nothing is.

        Raises:
            Broken: the server does not answer.
        """
        with _broken():
            if self._name not in self._names():
                return None
            self._collection = self._connected().get_collection(self._name, embedding_function=None)
            data = self._collection.metadata or {}
            if data.get("made_with") != made_with or "version" not in data:
                return None
            return Seal(version=int(data["version"]), count=self._collection.count(), made_with=made_with, files={})

    def wake(self) -> None:
        """Nothing: the server runs."""

    def check(self, seal: Seal) -> None:
        """Nothing: that there is a seal shows that the server answers."""

    def nearest(self, seal: Seal, vector: Vectors, k: int, only: Filter = ALL) -> list[tuple[str, float]]:
        """The k nearest by cosine similarity, nearest first.

        Raises:
            Broken: the server does not answer.
        """
        asked = {"query_embeddings": [vector.tolist()], "n_results": min(k, seal.count), "where": _where(only)}
        with _broken():
            found = self._collection.query(**asked, include=["distances"])
        return [(name, 1.0 - distance) for name, distance in zip(found["ids"][0], found["distances"][0], strict=True)]

    def write(self, seal: Seal, gone: Sequence[str], count: int, batches: Batches) -> None:
        """Write to the collection; the version is put down last.

        Raises:
            Broken: the server does not answer.
        """
        if self.seal(seal.made_with) is None:
            self.discard()
        with _broken():
            self._collection = self._connected().get_or_create_collection(
                self._name, embedding_function=None, configuration={"hnsw": HNSW}
            )
            for start in range(0, len(gone), AT_ONCE):
                self._collection.delete(ids=list(gone[start : start + AT_ONCE]))
            for batch in batches(AT_ONCE // 2):  # each is one request, as text
                metadatas: Any = [_metadata(facets) for facets in batch.facets]
                self._collection.upsert(ids=batch.ids, embeddings=batch.vectors.tolist(), metadatas=metadatas)
            self._collection.modify(metadata={"made_with": seal.made_with, "version": str(seal.version)})

    def discard(self) -> None:
        """Delete the collection.

        Raises:
            Broken: the server does not answer.
        """
        with _broken():
            if self._name in self._names():
                self._connected().delete_collection(self._name)
        self._collection = None

    def close(self) -> None:
        """Let go of the connection."""
        client, self._client, self._collection = self._client, None, None
        if client is not None:
            client.close()

    def _names(self) -> list[str]:
        return [str(known.name) for known in self._connected().list_collections()]

    def _connected(self) -> Any:
        if self._client is None:
            import chromadb  # slow to import: only when something is looked up
            from chromadb.config import Settings as ChromaSettings

            quiet = ChromaSettings(anonymized_telemetry=False)
            host = self._settings.chroma_host or ""
            self._client = chromadb.HttpClient(host, self._settings.chroma_port, settings=quiet)
        return self._client


@contextmanager
def _broken() -> Iterator[None]:
    """Chroma's client raises whatever it is built of."""
    try:
        yield
    except Exception as error:
        raise Broken(str(error)) from error


def rhythm(count: int) -> tuple[int, int]:
    """How many vectors go into one write, and after how many Chroma writes the graph down.

    Each write reads what is in the log and not written down, and each time the graph is written down, all of it is. The
    times grow with the root of the writes, so that neither is quadratic. The last write comes to such a time.
    """
    times = max(1, round(sqrt(count / AT_ONCE)))
    writes = times * max(1, ceil(count / (times * AT_ONCE)))
    size = max(1, ceil(count / writes))
    return size, count - size * (writes - writes // times)


def _metadata(facets: Facets) -> dict[str, Any]:
    return {**dict.fromkeys(facets.marks, True), "day": facets.day}


def _where(only: Filter) -> dict[str, Any] | None:
    """A filter as Chroma reads it."""
    conditions: list[dict[str, Any]] = [{mark: True} for mark in only.marks]
    if only.days is not None:
        conditions += [{"day": {"$gte": only.days[0]}}, {"day": {"$lte": only.days[1]}}]
    if not conditions:
        return None
    return conditions[0] if len(conditions) == 1 else {"$and": conditions}
