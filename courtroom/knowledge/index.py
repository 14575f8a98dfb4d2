"""A Chroma collection as an index over records that SQLite holds; rebuilt by itself where it does not open."""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import shutil
import threading
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import Any, Protocol, TypeVar
from weakref import WeakKeyDictionary

from courtroom.errors import CourtroomError
from courtroom.knowledge.embedding import DEFAULT, Embedding, Vectors
from courtroom.knowledge.filled_memory import filled_memory
from courtroom.settings import Settings

log = logging.getLogger(__name__)

T = TypeVar("T")
BATCH = 1000
SLICE = 25
"""Records in one call: Chroma lets no other thread of the process run while it takes them in."""
PAGE = 10_000
HNSW: dict[str, Any] = {"space": "cosine", "ef_search": 200, "ef_construction": 200, "max_neighbors": 32}
LIGHT = HNSW | {"ef_construction": 100, "max_neighbors": 16}
"""Of a large collection: its graph is made in a fraction of the time, and of the ten nearest it still finds nearly all."""
LARGE = 10_000
"""Records."""
# Chroma reads its own graph files unchecked: a damaged one kills the process or gives wrong neighbours. In process,
# vectors therefore stay in its SQLite log, which is checked, and the graph is made when it opens (5,000 in 2 s).
NEVER_ON_DISK = {"sync_threshold": 1_000_000_000}


class _Broken(Exception):
    """Chroma failed; what it holds can be made anew."""


class Records(Protocol):
    """What an index is over."""

    def version(self) -> int:
        """Differs as soon as a record has changed; cheap."""
        ...

    def texts(self) -> Mapping[str, str]:
        """All records' texts by id."""
        ...


def index_name(collection: str, embedding: str) -> str:
    """The name of a collection's index: each embedding has its own, so that none has to give way to another."""
    if embedding.startswith(DEFAULT):
        return collection
    return f"{collection}-{hashlib.sha256(embedding.encode()).hexdigest()[:12]}"


class VectorIndex:
    """Nearest neighbours by cosine. Deleting its folder loses nothing; several processes may share it."""

    def __init__(self, settings: Settings, collection: str, embedding: Embedding) -> None:
        self._settings, self._name, self._embedding = settings, collection, embedding
        self._folder = settings.chroma / collection  # its own: mending one collection leaves the others alone
        self._hnsw: dict[str, Any] = {}
        self._fit(0)
        self._lock = threading.RLock()
        self._collection: Any = None
        self._client: Any = None
        self._left: dict[str, str] | None = None  # digests by id, as this process left the index
        self._version = -1  # of the records, when it did
        self._sample: list[float] = []  # any vector
        self._syncing: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock] = WeakKeyDictionary()

    async def search(self, text: str, k: int, records: Records, exclude: Sequence[str] = ()) -> list[tuple[str, float]]:
        """The k records closest to a text with their cosine similarity, closest first.

        Args:
            records: what is on record; the index is brought up to it first.

        Raises:
            CourtroomError: Chroma fails even on an index made anew.
        """
        (vector,) = await self._embedding.embed([text])
        self._sample = vector.tolist()

        async def look() -> Any:
            await self._sync(records)
            wanted = min(k + len(exclude), len(self._left or ()))
            if wanted == 0:
                return {"ids": [[]], "distances": [[]]}
            return await self._do(lambda: self._open().query(query_embeddings=[vector.tolist()], n_results=wanted))

        found = await self._mending(look)
        pairs = zip(found["ids"][0], found["distances"][0], strict=True)
        # Another process may have put in what is not among these records yet.
        here = self._left or {}
        return [(i, round(1.0 - distance, 6)) for i, distance in pairs if i in here and i not in exclude][:k]

    async def held(self, count: int) -> dict[str, str]:
        """What it holds now: digests of texts by id; nothing is brought up to date.

        Args:
            count: of texts that it should hold: an index over many is made in another way.

        Raises:
            CourtroomError: it does not open.
        """
        try:
            await self._do(partial(self._fit, count))
            return await self._do(self._known)
        except _Broken as error:
            raise CourtroomError(f"The index {self._name} does not open. Look something up, or mend it.") from error

    def close(self) -> None:
        """Let go of Chroma; a search opens it again."""
        with self._lock:
            if self._client is not None:
                self._close()

    async def _sync(self, records: Records) -> None:
        # One search brings it up to date, and those beside it wait: hundreds of runs may begin at once.
        async with self._syncing.setdefault(asyncio.get_running_loop(), asyncio.Lock()):
            version = await asyncio.to_thread(records.version)
            if self._left is not None and version == self._version:
                return
            texts = await asyncio.to_thread(records.texts)
            await self._bring_up_to(texts)
            self._version = version

    async def _bring_up_to(self, records: Mapping[str, str]) -> None:
        await self._do(partial(self._fit, len(records)))
        known = await self._do(self._known)
        if self._left is not None and known != self._left:
            await self._do(self._close)  # another process wrote: Chroma's queries show that only when opened anew
        wanted, changed, gone = await asyncio.to_thread(_differences, records, known)
        for batch in _batches(changed, BATCH):
            vectors = await self._embedding.embed([records[i] for i in batch])
            for start in range(0, len(batch), SLICE):
                some = batch[start : start + SLICE]
                await self._do(partial(self._upsert, some, vectors[start : start + SLICE], [wanted[i] for i in some]))
        for batch in _batches(gone, SLICE):
            await self._do(partial(self._delete, batch))
        if len(changed) > SLICE:
            await self._do(
                self._close
            )  # what was added to the graph is made into one by the next query, not the next upsert
        self._left = wanted

    async def _mending(self, work: Callable[[], Awaitable[T]]) -> T:
        """Do all of it; where Chroma fails, do all of it again on an index opened anew, then on one made anew."""
        broken: _Broken | None = None
        for mend in (None, self._close, self._discard):
            try:
                if mend:
                    await self._do(mend)
                return await work()
            except _Broken as error:
                log.exception("the index %s failed", self._name)
                broken = error
        host, port = self._settings.chroma_host, self._settings.chroma_port
        if host:
            raise CourtroomError(
                f"The Chroma server at {host}:{port} does not answer. Start it, then try again."
            ) from broken
        raise CourtroomError(
            "The search index can't be written. Check that the disk has space and that the folder "
            f"{self._folder} may be written to, then try again."
        ) from broken

    async def _do(self, work: Callable[[], T]) -> T:
        return await asyncio.to_thread(self._guarded, work)

    # --- within; blocking, called in threads ----------------------------------------------------------------

    def _guarded(self, work: Callable[[], T]) -> T:
        with self._lock:
            try:
                with filled_memory():
                    return work()
            except BaseException as error:  # noqa: BLE001  a panic in Chroma's Rust is no Exception
                raise _Broken(str(error)) from error

    def _fit(self, count: int) -> None:
        """Take the graph's parameters for so many records; a collection made with others is made anew."""
        hnsw = LIGHT if count > LARGE else HNSW
        hnsw = hnsw if self._settings.chroma_host else hnsw | NEVER_ON_DISK
        if hnsw != self._hnsw:
            self._hnsw, self._collection, self._left = hnsw, None, None
            self._made_with = {"embedding": self._embedding.name, "hnsw": json.dumps(hnsw, sort_keys=True)}

    def _known(self) -> dict[str, str]:
        known: dict[str, str] = {}
        collection = self._open()
        for start in range(0, collection.count(), PAGE):  # at once they would be more than SQLite takes variables
            got = collection.get(include=["metadatas"], limit=PAGE, offset=start)
            known |= {i: str(data["digest"]) for i, data in zip(got["ids"], got["metadatas"], strict=True)}
        return known

    def _upsert(self, ids: list[str], vectors: Vectors, digests: list[str]) -> None:
        metadatas = [{"digest": digest} for digest in digests]
        self._open().upsert(ids=ids, embeddings=vectors.tolist(), metadatas=metadatas)

    def _delete(self, ids: list[str]) -> None:
        self._open().delete(ids=ids)

    def _open(self) -> Any:
        if self._collection is None:
            self._client = self._client or self._connect()
            collection = self._make()
            if collection.metadata != self._made_with:
                self._discard()  # the whole folder: deleting many records at once is more than SQLite takes variables
                self._client = self._client or self._connect()
                collection = self._make()
            self._collection = collection
            self._make_graph()
        return self._collection

    def _make_graph(self) -> None:
        """Chroma makes the graph of an opened collection at its first use. A query lets other threads run meanwhile, a write
        does not, for minutes on end.
        """
        if self._sample and not self._settings.chroma_host:
            self._collection.query(query_embeddings=[self._sample], n_results=1)

    def _make(self) -> Any:
        return self._client.get_or_create_collection(
            self._name, embedding_function=None, configuration={"hnsw": self._hnsw}, metadata=self._made_with
        )

    def _connect(self) -> Any:
        import chromadb  # slow to import: only when something is looked up
        from chromadb.config import Settings as ChromaSettings

        quiet = ChromaSettings(anonymized_telemetry=False)
        if self._settings.chroma_host:
            return chromadb.HttpClient(self._settings.chroma_host, self._settings.chroma_port, settings=quiet)
        self._folder.mkdir(parents=True, exist_ok=True)
        try:
            return chromadb.PersistentClient(str(self._folder), settings=quiet)
        except BaseException:
            _forgotten(str(self._folder))
            raise

    def _close(self) -> None:
        client, self._client, self._collection, self._left = self._client, None, None, None
        if client is not None:
            client.close()
            _forgotten(client._identifier)

    def _discard(self) -> None:
        self._close()
        if self._settings.chroma_host:
            self._client = self._connect()
            if self._name in [known.name for known in self._client.list_collections()]:
                self._client.delete_collection(self._name)
        else:
            shutil.rmtree(self._folder, ignore_errors=True)


def _forgotten(identifier: str) -> None:
    """Have Chroma open it anew next time: it gives out again what another client has open, or what could not be opened."""
    from chromadb.api.shared_system_client import SharedSystemClient

    SharedSystemClient._identifier_to_system.pop(identifier, None)
    SharedSystemClient._identifier_to_refcount.pop(identifier, None)


def _batches(items: list[str], size: int) -> Iterator[list[str]]:
    source = iter(items)
    while batch := list(islice(source, size)):
        yield batch


def _differences(records: Mapping[str, str], known: Mapping[str, str]) -> tuple[dict[str, str], list[str], list[str]]:
    """Digests of all records, and the ids that are new or changed, and that are gone."""
    wanted = {i: hashlib.sha256(text.encode()).hexdigest() for i, text in records.items()}
    changed = [i for i, digest in wanted.items() if known.get(i) != digest]
    return wanted, changed, [i for i in known if i not in wanted]
