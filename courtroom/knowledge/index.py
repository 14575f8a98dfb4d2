"""A Chroma collection as an index over records that SQLite holds; rebuilt by itself where it does not open."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import shutil
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, TypeVar

from courtroom.knowledge.embedding import Embedding
from courtroom.settings import Settings

log = logging.getLogger(__name__)

T = TypeVar("T")
BATCH = 1000


class VectorIndex:
    """Nearest neighbours by cosine. Deleting its folder loses nothing."""

    def __init__(self, settings: Settings, collection: str, embedding: Embedding) -> None:
        self._settings, self._name, self._embedding = settings, collection, embedding
        self._lock = threading.RLock()
        self._collection: Any = None
        self._client: Any = None
        self._synced: dict[str, str] = {}

    async def sync(self, records: Mapping[str, str]) -> None:
        """Bring the index up to what is on record: texts by id."""
        wanted = {i: hashlib.sha256(text.encode()).hexdigest() for i, text in records.items()}
        if wanted == self._synced:
            return
        known = await asyncio.to_thread(self._safely, self._known)
        changed = [i for i, digest in wanted.items() if known.get(i) != digest]
        gone = [i for i in known if i not in wanted]
        for batch in _batches(changed, BATCH):
            vectors = await self._embedding.embed([records[i] for i in batch])
            digests = [wanted[i] for i in batch]
            await asyncio.to_thread(self._safely, lambda b=batch, v=vectors, d=digests: self._upsert(b, v.tolist(), d))
        if gone:
            await asyncio.to_thread(self._safely, lambda: self._open().delete(ids=gone))
        self._synced = wanted

    async def search(
        self, text: str, k: int, records: Mapping[str, str], exclude: Sequence[str] = ()
    ) -> list[tuple[str, float]]:
        """The k records closest to a text with their cosine similarity, closest first.

        Args:
            records: what is on record now, texts by id; the index is brought up to it first.
        """
        await self.sync(records)
        (vector,) = await self._embedding.embed([text])
        wanted = min(k + len(exclude), len(records))
        if wanted == 0:
            return []
        query = lambda: self._open().query(query_embeddings=[vector.tolist()], n_results=wanted)  # noqa: E731
        try:
            found = await asyncio.to_thread(self._locked, query)
        except Exception:  # noqa: BLE001  whatever is wrong with an index, it is made anew from the record
            log.exception("the index %s is rebuilt", self._name)
            await asyncio.to_thread(self._discard)
            await self.sync(records)
            found = await asyncio.to_thread(self._locked, query)
        pairs = zip(found["ids"][0], found["distances"][0], strict=True)
        return [(i, round(1.0 - distance, 6)) for i, distance in pairs if i not in exclude][:k]

    # --- within; blocking, called in threads ----------------------------------------------------------------

    def _locked(self, work: Callable[[], T]) -> T:
        with self._lock:
            return work()

    def _safely(self, work: Callable[[], T]) -> T:
        """Do it; if the index is broken, discard it and do it on a new one."""
        with self._lock:
            try:
                return work()
            except Exception:  # noqa: BLE001  see above
                log.exception("the index %s is made anew", self._name)
                self._discard()
                return work()

    def _known(self) -> dict[str, str]:
        got = self._open().get(include=["metadatas"])
        return {i: str(data["digest"]) for i, data in zip(got["ids"], got["metadatas"], strict=True)}

    def _upsert(self, ids: list[str], vectors: list[list[float]], digests: list[str]) -> None:
        self._open().upsert(ids=ids, embeddings=vectors, metadatas=[{"digest": digest} for digest in digests])

    def _open(self) -> Any:
        if self._collection is None:
            self._client = self._client or self._connect()
            self._collection = self._client.get_or_create_collection(
                self._name,
                embedding_function=None,
                configuration={"hnsw": {"space": "cosine", "ef_search": 200, "max_neighbors": 32}},
                metadata={"embedding": self._embedding.name},
            )
            if (self._collection.metadata or {}).get("embedding") != self._embedding.name:
                self._client.delete_collection(self._name)
                self._collection = None
                return self._open()
        return self._collection

    def _connect(self) -> Any:
        import chromadb  # slow to import: only when something is looked up
        from chromadb.config import Settings as ChromaSettings

        quiet = ChromaSettings(anonymized_telemetry=False)
        if self._settings.chroma_host:
            return chromadb.HttpClient(self._settings.chroma_host, self._settings.chroma_port, settings=quiet)
        self._settings.chroma.mkdir(parents=True, exist_ok=True)
        return chromadb.PersistentClient(str(self._settings.chroma), settings=quiet)

    def _discard(self) -> None:
        with self._lock:
            if self._settings.chroma_host:
                if self._client is not None and self._name in [c.name for c in self._client.list_collections()]:
                    self._client.delete_collection(self._name)
            else:
                from chromadb.api.shared_system_client import SharedSystemClient

                SharedSystemClient.clear_system_cache()
                shutil.rmtree(self._settings.chroma, ignore_errors=True)
                self._client = None
            self._collection = None
            self._synced = {}


def _batches(items: list[str], size: int) -> Iterator[list[str]]:
    source = iter(items)
    while batch := list(islice(source, size)):
        yield batch
