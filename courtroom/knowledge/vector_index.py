"""The nearest by meaning, from Chroma: one collection for each kind of knowledge. It is built again where it fails."""

import asyncio
import hashlib
import logging
from collections.abc import Awaitable, Callable, Sequence
from functools import cache, partial
from importlib.metadata import version as installed
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from courtroom.errors import CourtroomError
from courtroom.knowledge.embedding import DEFAULT, Embedding
from courtroom.knowledge.index_folders import Broken, IndexFolders, broken
from courtroom.knowledge.indexed_records import ALL, FACETS, NOTHING, Changed, Filter, Records

log = logging.getLogger(__name__)

T = TypeVar("T")
Progress = Callable[[int, int], None]
OTHER = "@2"
"""Stands behind the id of a record's second text, in its other language."""
HNSW: dict[str, Any] = {"space": "cosine", "ef_search": 200, "ef_construction": 100, "max_neighbors": 48}
"""With a third of the neighbours one record in a hundred can't be reached at all, and more after additions."""
BATCH = 500
"""Vectors in one write, at most: a server gets each as one request."""


def index_name(collection: str, embedding: str) -> str:
    """Return the name of a Chroma collection: each embedding has its own, so that none has to give way to another."""
    if embedding.startswith(DEFAULT):
        return collection
    return f"{collection}-{hashlib.sha256(embedding.encode()).hexdigest()[:12]}"


@cache
def _engine() -> str:
    return f"chroma {installed('chromadb')}; {', '.join(f'{name} {value}' for name, value in HNSW.items())}; {FACETS}"


async def _in_thread(work: Callable[[], T]) -> T:
    """Have Chroma do something. Raises `Broken`: it can't."""

    def done() -> T:
        with broken():
            return work()

    return await asyncio.to_thread(done)


class VectorIndex:
    """Nearest neighbours by cosine, in a Chroma collection. Deleting it loses nothing.

    The collection's metadata say at which version of the records it is, and with what it was made.
    """

    def __init__(self, folders: IndexFolders, name: str, embedding: Embedding) -> None:
        self._folders, self._name, self._embedding = folders, name, embedding
        self._collection: Any = None
        self._version = NOTHING
        self._syncing: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock] = WeakKeyDictionary()

    async def search(
        self, text: str, k: int, records: Records, exclude: Sequence[str] = (), only: Filter = ALL, under: str = ""
    ) -> list[tuple[str, float]]:
        """Return the k records closest to a text with their cosines, closest first, as the records are now."""

        async def search() -> list[tuple[str, float]]:
            # At once: a new process loads the embedding's tables while Chroma reads its files.
            _, (vector,) = await asyncio.gather(self._bring_up(records), self._embedding.embed([text]))
            asked = {"query_embeddings": [vector], "n_results": k + len(exclude), "where": _where(only, under)}
            found = await _in_thread(partial(self._collection.query, include=["distances"], **asked))
            pairs = zip(found["ids"][0], found["distances"][0], strict=True)
            nearest = [(name, round(1.0 - distance, 6)) for name, distance in pairs if name not in exclude]
            # Of equals the smaller id comes first, in whatever order they were written.
            return sorted(nearest, key=lambda pair: (-pair[1], pair[0]))[:k]

        return await self._with_repair(search)

    async def bring_up(self, records: Records, progress: Progress = lambda done, total: None) -> None:
        """Index what has changed, so that no search has to wait for that."""
        await self._with_repair(lambda: self._bring_up(records, progress))

    def close(self) -> None:
        """Forget what was opened; a look-up opens it again."""
        self._collection, self._version = None, NOTHING

    async def _bring_up(self, records: Records, progress: Progress = lambda done, total: None) -> None:
        # One search brings it up to date, and the others wait: hundreds of runs may begin at once.
        async with self._syncing.setdefault(asyncio.get_running_loop(), asyncio.Lock()):
            version = await asyncio.to_thread(records.version)
            if version == self._version:
                return
            if self._collection is None or self._folders.at_server:  # to which another process may have written
                await _in_thread(self._open)
            if self._version == NOTHING or self._version > version:  # where an older store was put back
                await _in_thread(self._make)
            if self._version < version:
                await self._write(await asyncio.to_thread(records.changed, self._version), version, progress)
            self._version = version

    @property
    def _made_with(self) -> str:
        return f"{_engine()}; {self._embedding.name}"

    def _open(self) -> None:
        """Open the collection if it is there and made as it would be now."""
        first = self._collection is None
        self.close()
        with self._folders.writing():
            client = self._folders.client()
            if any(one.name == self._name for one in client.list_collections()):
                collection = client.get_collection(self._name, embedding_function=None)
                about = collection.metadata or {}
                if about.get("made_with") == self._made_with:
                    if first:
                        collection.get(limit=1, include=["embeddings"])  # reads all: where Chroma dies of it, no mark
                    self._collection, self._version = collection, int(about["version"])

    def _make(self) -> None:
        self._discard()
        with self._folders.writing():
            self._collection = self._folders.client().get_or_create_collection(
                self._name, embedding_function=None, configuration={"hnsw": HNSW}
            )

    def _discard(self) -> None:
        """Delete the collection; where Chroma can't do that, its folder."""
        self.close()
        try:
            with broken(), self._folders.writing():
                if any(one.name == self._name for one in self._folders.client().list_collections()):
                    self._folders.client().delete_collection(self._name)
        except Broken:
            self._folders.discard()

    async def _write(self, changed: Changed, version: int, progress: Progress) -> None:
        names, collection = list(changed.texts), self._collection
        gone = [] if self._version == NOTHING else [name + mark for name in changed.touched for mark in ("", OTHER)]
        with self._folders.writing():
            for start in range(0, len(gone), BATCH):
                await _in_thread(partial(collection.delete, ids=gone[start : start + BATCH]))
            for start in range(0, len(names), BATCH):
                progress(start, len(names))
                some = names[start : start + BATCH]
                rows = {
                    "ids": some,
                    "embeddings": await self._embedding.embed([changed.texts[name] for name in some]),
                    "metadatas": [changed.facets[name] for name in some],
                }
                await _in_thread(partial(collection.upsert, **rows))
            await _in_thread(partial(collection.get, limit=1, include=["embeddings"]))
            about = {"made_with": self._made_with, "version": str(version)}
            await _in_thread(partial(collection.modify, metadata=about))

    async def _with_repair(self, work: Callable[[], Awaitable[T]]) -> T:
        """Do the work. Where Chroma fails, open it again and retry; where it fails again, build it again and retry."""
        failed: Exception | None = None
        for repair in (None, self.close, self._discard, self._folders.discard):
            try:
                if repair:
                    self.close()
                    await asyncio.to_thread(repair)
                return await work()
            except (Broken, OSError) as error:
                log.exception("the index %s failed", self._name)
                failed = error
        where = self._folders.where.removeprefix("http://")
        raise CourtroomError(
            f"The Chroma server at {where} does not answer. Start it, then try again."
            if self._folders.at_server
            else "The search index can't be written. Check that the disk has space and that the folder "
            f"{where} may be written to, then try again."
        ) from failed


def _where(only: Filter, under: str) -> dict[str, Any] | None:
    conditions: list[dict[str, Any]] = [{mark: True} for mark in (*only.marks, *([f"under={under}"] if under else []))]
    if only.days is not None:
        conditions += [{"day": {"$gte": only.days[0]}}, {"day": {"$lte": only.days[1]}}]
    return {"$and": conditions} if len(conditions) > 1 else conditions[0] if conditions else None
