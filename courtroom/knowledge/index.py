"""What finds a collection's records: Chroma by their vectors, tantivy by their words. Each is made again from the store."""

import asyncio
import logging
import re
import shutil
import threading
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import cache, lru_cache, partial
from importlib.metadata import version as installed
from pathlib import Path
from typing import Any, Protocol, TypeVar

import tantivy
from pydantic import Field

from courtroom.errors import CourtroomError
from courtroom.knowledge.embedding import Embedding
from courtroom.knowledge.index_folders import Broken, IndexFolders, broken
from courtroom.strict import Strict
from courtroom.text.words import words

log = logging.getLogger(__name__)

T = TypeVar("T")
Ranking = Sequence[tuple[str, float]]
"""Ids with scores, best first."""
Facets = Mapping[str, bool | int]
"""What a record is filtered by, as Chroma takes it: marks such as `category=theft` and `law=264`, and the `day` on which
it came, as the number 20261122; 0 where it was bundled."""
Progress = Callable[[int, int], None]
NOTHING = -1
"""The version of an index that holds nothing."""
FACETS = "facets, 3"
"""An index with other facets is built again."""
OTHER = "@2"
"""Stands behind the id of a record's second text, in its other language."""
HNSW: dict[str, Any] = {"space": "cosine", "ef_search": 200, "ef_construction": 100, "max_neighbors": 80}
"""With half of the neighbours two or three records in a hundred can't be reached at all, however long one searches."""
VECTORS_AT_ONCE = 500
"""In one write, at most: a server gets each as one request."""
WRITER_BYTES = 15_000_000
"""What tantivy asks for at least, for each thread."""
RECORDS_PER_OUTDATED = 1_000
"""Where more than one in so many was replaced or removed, all are indexed again: until tantivy merges, these still
count for how rare a word is."""
VERSION = "version"
"""The file that says at which version of its records a word index is, and with what it was made."""
WAIT_S = 0.005
_CHINESE = re.compile(r"[\u3400-\u9fff]+")


class Filter(Strict):
    """Only records of this category, under this law, that came in this time, with norms; an empty field admits all."""

    category: str = ""
    law: str = ""
    since: date | None = None
    until: date | None = None
    with_norms: bool = Field(default=False, description="Only precedents that norms were distilled from.")

    @property
    def marks(self) -> tuple[str, ...]:
        values = (("category", self.category), ("law", self.law), ("norms", self.with_norms))
        return tuple(facet_key(name, value) for name, value in values if value)

    @property
    def days(self) -> tuple[int, int] | None:
        """The first and the last day, both included; None where each day is admitted."""
        if self.since is None and self.until is None:
            return None
        return day_number(self.since) if self.since else 0, day_number(self.until) if self.until else 9999_12_31


ALL = Filter()
"""Each record may be found."""


def facet_key(name: str, value: object) -> str:
    return f"{name}={str(value).strip().casefold()}"


def day_number(at: date) -> int:
    """A day as the number 20261122."""
    return at.year * 10_000 + at.month * 100 + at.day


def facets_of(record: Any, added: float) -> Facets:
    """Return what a record is filtered by.

    Disputes have a category; criminal cases their charges as categories and their articles as laws; charges and
    statutes their articles; and each has what its id stands under. `added`: when it came, in seconds since 1970; 0
    where it was bundled."""
    parts = record.id.split("/")  # what stands together, such as the examples of one label
    marks = {f"under={'/'.join(parts[:n])}/" for n in range(1, len(parts))}
    if category := getattr(record, "category", ""):
        marks.add(facet_key("category", category))
    if getattr(record, "norms", ()):
        marks.add(facet_key("norms", True))
    if gold := getattr(record, "gold", None):
        marks |= {facet_key("category", charge) for charge in gold.charges or ()}
        marks |= {facet_key("law", article) for article in gold.relevant_articles or ()}
    marks |= {facet_key("law", article) for article in getattr(record, "articles", ())}
    if (number := getattr(record, "number", None)) is not None:
        marks |= {facet_key("law", number), facet_key("law", record.id)}
    day = day_number(datetime.fromtimestamp(added, UTC).date()) if added else 0
    return {**dict.fromkeys(sorted(marks), True), "day": day}


def terms(text: str) -> list[str]:
    """Return words and, in Chinese, pairs of neighbouring characters too.

    On 199 real cases against the statutes both together found the right article more often than either alone.
    """
    pairs = [run[i : i + 2] for run in _CHINESE.findall(text) for i in range(len(run) - 1)]
    return [*words(text), *pairs]


@lru_cache(maxsize=2048)
def line(text: str) -> str:
    """Return the terms of a text in one line. What is learned is often written again with the same text."""
    return " ".join(terms(text))


@dataclass(frozen=True)
class Entry:
    """What is indexed of a record."""

    texts: tuple[str, ...]
    """One, or one in each language."""
    words: str
    facets: Facets


Changed = Mapping[str, Entry | None]
"""What differs from a version: the records that were written or deleted by their ids, None for what is gone."""


class Records(Protocol):
    """What an index is over."""

    def version(self) -> int:
        """Grows as soon as a record has changed; cheap."""

    def changed(self, since: int) -> Changed: ...


async def _in_thread(work: Callable[..., T], *args: Any, **named: Any) -> T:
    """Have a library do something. Raises `Broken`: it can't."""
    return await asyncio.to_thread(broken()(work), *args, **named)


class Index(ABC):
    """What both indexes have in common: they follow the records, and are made again where they fail.

    Deleting one loses nothing. Each says on disk at which version of the records it is, and with what it was made.
    """

    _server = ""
    """The address of the server that holds it, where one does."""

    def __init__(self, folders: IndexFolders, name: str, library: str, *how: str) -> None:
        self._folders, self._name = folders, name
        self._made_with = _made_with(library, *how)
        self._opened: Any = None
        self._version = NOTHING
        self._lock = threading.Lock()

    async def bring_up(self, records: Records, progress: Progress = lambda done, total: None) -> None:
        """Open the index and index what has changed, so that no search has to wait for that."""
        await self._repaired(lambda: self._follow(records, progress))

    def close(self) -> None:
        """Forget what was opened; a look-up opens it again."""
        self._opened, self._version = None, NOTHING

    async def _repaired(self, work: Callable[[], Awaitable[T]]) -> T:
        """Do the work. Where that fails, open the index again; where it fails again, make it anew."""
        failed: Exception | None = None
        for repair in (None, self.close, self._discard):
            try:
                if repair:
                    await asyncio.to_thread(repair)
                return await work()
            except (Broken, OSError) as error:
                log.exception("the index %s failed", self._name)
                failed = error
        where = self._server or self._folders.home
        complaint = f"The Chroma server at {where} does not answer. Start it, then try again."
        if not self._server:
            complaint = (
                f"The search index can't be written. Check that the disk has space and that the folder {where} may be "
                "written to, then try again."
            )
        raise CourtroomError(complaint) from failed

    async def _follow(self, records: Records, progress: Progress = lambda done, total: None) -> None:
        if await asyncio.to_thread(records.version) != self._version:
            # To its end: what a stopped run leaves half written, the next look-up would stumble over.
            await asyncio.shield(self._bring_up_alone(records, progress))

    async def _bring_up_alone(self, records: Records, progress: Progress) -> None:
        # One brings it up to date, and the others wait: hundreds of runs may begin at once, in several loops.
        while not self._lock.acquire(blocking=False):  # noqa: ASYNC110  an event belongs to one loop
            await asyncio.sleep(WAIT_S)
        try:
            version = await asyncio.to_thread(records.version)
            if version == self._version:
                return
            await asyncio.to_thread(self._folders.begin_writing)
            try:
                await _in_thread(self._open, version)
                if self._version < version:
                    await self._write(records, version, progress)
                self._version = version
            finally:
                await asyncio.to_thread(self._folders.end_writing)
        finally:
            self._lock.release()

    @abstractmethod
    def _open(self, newest: int) -> None:
        """Open what is there where it was made as it would be now and is no newer than this version; else make it."""

    @abstractmethod
    async def _write(self, records: Records, version: int, progress: Progress) -> None:
        """Index what has changed, and note the version."""

    @abstractmethod
    def _discard(self) -> None:
        """Delete it."""


class VectorIndex(Index):
    """Nearest neighbours by cosine, in a Chroma collection."""

    def __init__(self, folders: IndexFolders, name: str, embedding: Embedding) -> None:
        super().__init__(folders, name, "chromadb", str(HNSW), embedding.name)
        self._embedding, self._server = embedding, folders.server

    async def nearest(
        self, records: Records, text: str, k: int, exclude: Sequence[str] = (), only: Filter = ALL, under: str = ""
    ) -> Ranking:
        """Return the k records closest to a text with their cosines; of one in two languages the nearer text counts."""
        where, count = _where(only, under), 2 * (k + len(exclude))

        async def asked() -> Any:
            # At once: a new process loads the embedding's tables while Chroma reads its files.
            _, (vector,) = await asyncio.gather(self._follow(records), self._embedding.embed([text]))
            query = {"query_embeddings": [vector], "n_results": count, "where": where, "include": ["distances"]}
            return await _in_thread(lambda: self._opened.query(**query))

        found = await self._repaired(asked)
        pairs = zip(found["ids"][0], found["distances"][0], strict=True)
        # Of equals the smaller id comes first, in whatever order they were written.
        nearest = sorted((round(distance, 6), name) for name, distance in pairs)
        best: dict[str, float] = {}
        for distance, name in nearest:
            best.setdefault(name.removesuffix(OTHER), round(1.0 - distance, 6))
        return [(name, cosine) for name, cosine in best.items() if name not in exclude][:k]

    def _open(self, newest: int) -> None:
        if self._opened is not None and NOTHING < self._version <= newest and not self._server:
            return  # one that is half made is made again: it may hold what was deleted since
        is_first = self._opened is None
        self.close()
        client = self._folders.client()
        made = partial(
            client.get_or_create_collection, self._name, embedding_function=None, configuration={"hnsw": HNSW}
        )
        self._opened = made()
        about = self._opened.metadata or {}
        if about.get("made_with") == self._made_with and int(about["version"]) <= newest:
            if is_first:
                self._opened.get(limit=1, include=["embeddings"])  # reads all: where Chroma dies of it, no mark
            self._version = int(about["version"])
            return
        client.delete_collection(self._name)
        self._opened = made()

    async def _write(self, records: Records, version: int, progress: Progress) -> None:
        changed = await asyncio.to_thread(records.changed, self._version)
        collection = self._opened
        new = [
            (name + OTHER * number, text, entry.facets)
            for name, entry in changed.items()
            if entry is not None
            for number, text in enumerate(entry.texts)
        ]
        gone = [name + mark for name in changed for mark in ("", OTHER)] if self._version > NOTHING else []
        for start in range(0, len(gone), VECTORS_AT_ONCE):
            await _in_thread(collection.delete, ids=gone[start : start + VECTORS_AT_ONCE])
        for start in range(0, len(new), VECTORS_AT_ONCE):
            progress(start, len(new))
            names, texts, facets = zip(*new[start : start + VECTORS_AT_ONCE], strict=True)
            vectors = await self._embedding.embed(texts)
            rows = {"ids": list(names), "embeddings": vectors, "metadatas": list(facets)}
            await _in_thread(collection.upsert, **rows)
        await _in_thread(collection.get, limit=1, include=["embeddings"])
        about = {"made_with": self._made_with, "version": str(version)}
        await _in_thread(collection.modify, metadata=about)

    def _discard(self) -> None:
        self.close()
        if self._server:
            with suppress(Broken), broken():
                self._folders.client().delete_collection(self._name)
        else:
            self._folders.discard()


@cache
def _made_with(library: str, *how: str) -> str:
    return "; ".join((f"{library} {installed(library)}", *how, FACETS))


def _where(only: Filter, under: str) -> dict[str, Any] | None:
    conditions: list[dict[str, Any]] = [{mark: True} for mark in (*only.marks, *([f"under={under}"] if under else []))]
    if only.days is not None:
        conditions += [{"day": {"$gte": only.days[0]}}, {"day": {"$lte": only.days[1]}}]
    return {"$and": conditions} if len(conditions) > 1 else conditions[0] if conditions else None


SCHEMA = (
    tantivy.SchemaBuilder()
    .add_text_field("id", stored=True, tokenizer_name="raw", index_option="basic")
    .add_text_field("words", tokenizer_name="whitespace", index_option="freq")
    .add_text_field("marks", tokenizer_name="raw", index_option="basic")
    .add_integer_field("day", indexed=True, fast=True)
    .build()
)


class WordIndex(Index):
    """The best by their words (BM25), in a folder of tantivy's."""

    def __init__(self, folders: IndexFolders, name: str) -> None:
        super().__init__(folders, name, "tantivy", "words and pairs, 1")

    async def closest(self, records: Records, text: str, k: int, only: Filter = ALL) -> Ranking:
        """Return the k best records by BM25 (k1 = 1.2, b = 0.75), ids with scores above 0, best first."""

        async def asked() -> Ranking:
            await self._follow(records)
            return await _in_thread(self._closest, text, k, only)

        return await self._repaired(asked)

    def _closest(self, text: str, k: int, only: Filter) -> Ranking:
        searcher = self._opened.searcher()
        one_of = [
            (tantivy.Occur.Should, tantivy.Query.term_query(SCHEMA, "words", term))
            for term in dict.fromkeys(terms(text))
        ]
        if not one_of:
            return []
        query = _narrowed(tantivy.Query.boolean_query(one_of), only)
        hits = ((searcher.doc(place)["id"][0], round(score, 6)) for score, place in searcher.search(query, k).hits)
        return sorted(hits, key=lambda pair: (-pair[1], pair[0]))  # equals, in whatever order they were written

    def _open(self, newest: int) -> None:
        if self._opened is not None and self._version <= newest:
            return
        self.close()
        written = (self._folder / VERSION).read_text() if (self._folder / VERSION).is_file() else ""
        version, _, made_with = written.partition(" ")
        if made_with == self._made_with and int(version) <= newest:
            index = tantivy.Index.open(str(self._folder))
            index.searcher()
            self._opened, self._version = index, int(version)
            return
        shutil.rmtree(self._folder, ignore_errors=True)
        self._folder.mkdir(parents=True)
        self._opened = tantivy.Index(SCHEMA, str(self._folder), reuse=False)

    async def _write(self, records: Records, version: int, progress: Progress) -> None:
        changed = await asyncio.to_thread(records.changed, self._version)
        if await _in_thread(self._is_outdated, changed):
            await _in_thread(self._open, NOTHING)
            changed = await asyncio.to_thread(records.changed, NOTHING)
        await _in_thread(self._put, changed, version)

    def _is_outdated(self, changed: Changed) -> bool:
        """Whether too many of the records that are indexed were replaced or removed."""
        searcher = self._opened.searcher()
        outdated = sum(searcher.doc_freq("id", name) for name in changed)
        return bool(outdated * RECORDS_PER_OUTDATED > searcher.num_docs)

    def _put(self, changed: Changed, version: int) -> None:
        writer = self._opened.writer(WRITER_BYTES, 1)
        for name, entry in changed.items():
            writer.delete_documents_by_term("id", name)
            if entry is not None:
                marks = [mark for mark in entry.facets if mark != "day"]
                row = {"id": [name], "words": [entry.words], "marks": marks, "day": [entry.facets["day"]]}
                writer.add_document(tantivy.Document(**row))
        writer.commit()
        writer.wait_merging_threads()
        (self._folder / VERSION).write_text(f"{version} {self._made_with}")
        self._opened.reload()

    def _discard(self) -> None:
        self.close()
        self._folders.take()  # that of nobody else is deleted
        shutil.rmtree(self._folder, ignore_errors=True)

    @property
    def _folder(self) -> Path:
        return self._folders.words / self._name


def _narrowed(query: Any, only: Filter) -> Any:
    """Return a query whose scores stay as they are, over the records that a filter admits."""
    must = tantivy.Occur.Must
    conditions = [tantivy.Query.term_query(SCHEMA, "marks", mark) for mark in only.marks]
    if only.days is not None:
        conditions.append(tantivy.Query.range_query(SCHEMA, "day", tantivy.FieldType.Integer, *only.days))
    silent = [(must, tantivy.Query.const_score_query(one, 0.0)) for one in conditions]
    return tantivy.Query.boolean_query([(must, query), *silent]) if silent else query
