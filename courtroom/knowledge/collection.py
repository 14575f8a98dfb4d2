"""A collection: records in SQLite, found again by meaning (Chroma), by words (tantivy), or by both."""

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Generic, Literal, Protocol, Self, TypeVar

from courtroom.errors import Unreadable
from courtroom.knowledge.embedding import Embedding, Vectors
from courtroom.knowledge.indexed_records import ALL, FEW, Changed, ChangedWords, Filter, facets_of
from courtroom.knowledge.vector_index import OTHER, Progress, VectorIndex, index_name
from courtroom.knowledge.word_index import WordIndex, line
from courtroom.settings import Settings
from courtroom.store.connection import StoredRow, read, read_all
from courtroom.store.database import Database
from courtroom.strict import Strict

DAMPING = 60
"""k of the paper: how little the first ranks outweigh the next."""
Weights = tuple[float, float]
"""Of the ranking by meaning (dense) and of the one by words (BM25)."""
EQUAL: Weights = (1.0, 1.0)


def fuse(rankings: Sequence[Sequence[str]], weights: Sequence[float]) -> dict[str, float]:
    """Fused scores by id, best first: the sum over the rankings of weight / (60 + rank), ranks from 1.

    A ranking of weight 0 adds nothing: what only it found is left out.
    """
    scores: dict[str, float] = {}
    for ranking, weight in zip(rankings, weights, strict=True):
        for rank, name in enumerate(ranking if weight else (), start=1):
            scores[name] = scores.get(name, 0.0) + weight / (DAMPING + rank)
    return dict(sorted(scores.items(), key=lambda pair: -pair[1]))


Mode = Literal["dense", "bm25", "hybrid"]
Ranking = Sequence[tuple[str, float]]
"""Ids with scores, best first."""


class Storable(Protocol):
    """What a record must offer; pydantic models with an `id` do."""

    @property
    def id(self) -> str: ...

    def model_dump_json(self) -> str: ...

    @classmethod
    def model_validate_json(cls, json_data: str, /) -> Self: ...


R = TypeVar("R", bound=Storable)


class Scores(Strict):
    """Where a record stood in each ranking; None where it was not among the first 100."""

    similarity: float | None = None
    """Cosine, at most 1."""
    dense_rank: int | None = None
    bm25: float | None = None
    bm25_rank: int | None = None
    fused: float | None = None
    """Reciprocal rank fusion of both."""


@dataclass(frozen=True)
class Found(Generic[R]):
    """A record with how it was found."""

    record: R
    scores: Scores


def ranked(dense: Ranking, by_words: Ranking, mode: Mode, weights: Weights = EQUAL) -> dict[str, Scores]:
    """What two rankings found, in the order of one of them or of both fused, each with all its scores."""
    cosines, bm25 = dict(dense), dict(by_words)
    fused = fuse((list(cosines), list(bm25)), weights)
    order = {"dense": cosines, "bm25": bm25, "hybrid": fused}[mode]
    dense_ranks = {name: rank for rank, name in enumerate(cosines, 1)}
    word_ranks = {name: rank for rank, name in enumerate(bm25, 1)}
    return {
        name: Scores(
            similarity=cosines.get(name),
            dense_rank=dense_ranks.get(name),
            bm25=bm25.get(name),
            bm25_rank=word_ranks.get(name),
            fused=round(fused.get(name, 0.0), 6),
        )
        for name in order
    }


Name = Literal["precedents", "statutes", "charges", "cases", "standards", "directives", "buffer", "examples"]
Ready = tuple[str, str, str]
"""A record's id, its JSON, and its words for the word index."""
ALL_OF_THEM = 2**62
"""More records than there can be."""
DEPTH = 100
"""How far down each ranking is read before both are fused."""


class Collection(Generic[R]):
    """Records of one kind.

    Args:
        name: under which its records are kept: a `Name`, with the knowledge base behind a full stop where it is of another
            than the bundled one.
        kind: the records' class; it has an `id`.
        text_of: what of a record is searched: a text, or one in each language, of which the nearest counts.
        few: up to so many records have no index on disk.
    """

    def __init__(
        self,
        database: Database,
        settings: Settings,
        embedding: Embedding,
        name: str,
        kind: type[R],
        text_of: Callable[[R], str | tuple[str, ...]],
        few: int = FEW,
    ) -> None:
        self.name = name
        self._database, self._kind, self._text_of, self._embedding = database, kind, text_of, embedding
        self.index_name = index_name(name, embedding.name)
        self._index = VectorIndex(settings, self.index_name, embedding, few)
        self._words = WordIndex(settings.words / name, few)
        self._small: dict[tuple[str, int], tuple[list[str], Vectors]] = {}
        database.execute("INSERT INTO collections (name) VALUES (?) ON CONFLICT DO NOTHING", (name,))

    # --- records --------------------------------------------------------------------------------------------

    def all(self) -> list[R]:
        """All records that can be read, in the order in which they came; `unreadable` has the others."""
        return self.page(0, ALL_OF_THEM)

    def page(self, start: int, count: int) -> list[R]:
        """Some records, in the order in which they came; without those that can't be read."""
        return self._page(start, count)[0]

    def unreadable(self, start: int = 0, count: int = ALL_OF_THEM) -> list[Unreadable]:
        """The records whose row is damaged, of all or of one page."""
        return self._page(start, count)[1]

    def _page(self, start: int, count: int) -> tuple[list[R], list[Unreadable]]:
        rows = self._database.execute(
            "SELECT id, body FROM knowledge WHERE collection = ? ORDER BY added, seq LIMIT ? OFFSET ?",
            (self.name, count, start),
        )
        return read_all(rows, self._record)

    def __len__(self) -> int:
        row = self._database.execute("SELECT count(*) FROM knowledge WHERE collection = ?", (self.name,))
        return int(row.fetchone()[0])

    def get(self, name: str) -> R | None:
        row = self._database.row("SELECT id, body FROM knowledge WHERE collection = ? AND id = ?", (self.name, name))
        return self._record(row) if row else None

    def _readable(self, name: str) -> R | None:
        row = self._database.row("SELECT id, body FROM knowledge WHERE collection = ? AND id = ?", (self.name, name))
        return next(iter(read_all([row] if row else [], self._record)[0]), None)

    def _record(self, row: StoredRow) -> R:
        return read(f"record of “{self.name}”", row["id"], lambda: self.parse(row["body"]))

    def parse(self, body: str) -> R:
        return self._kind.model_validate_json(body)

    def add(self, records: Iterable[R], *, added: float | None = None) -> None:
        """Add, or put in place of what has the same id; all or none."""
        self.write(self.ready(records), added=added)

    def ready(self, records: Iterable[R]) -> list[Ready]:
        """Work out what is to be written of records, so that the transaction in which that is done is short."""
        return [(record.id, record.model_dump_json(), line("\n".join(self.texts_of(record)))) for record in records]

    def write(self, ready: Iterable[Ready], *, added: float | None = None) -> None:
        """Write records, all or none."""
        with self._database.transaction() as db:
            version = self._next_version()
            db.executemany(
                "INSERT INTO knowledge (collection, id, body, added, words, version) VALUES (?, ?, ?, ?, ?, ?)"
                " ON CONFLICT (collection, id) DO UPDATE"
                " SET body = excluded.body, words = excluded.words, version = excluded.version",
                [
                    (self.name, name, body, time.time() if added is None else added, words, version)
                    for name, body, words in ready
                ],
            )

    def remove(self, names: Iterable[str]) -> None:
        """Delete records. `add` brings them back."""
        gone = [(self.name, name) for name in names]
        with self._database.transaction() as db:
            version = self._next_version()
            db.executemany("DELETE FROM knowledge WHERE collection = ? AND id = ?", gone)
            db.executemany(
                "INSERT INTO knowledge_removed VALUES (?, ?, ?)"
                " ON CONFLICT (collection, id) DO UPDATE SET version = excluded.version",
                [(*one, version) for one in gone],
            )

    def seed(self, records: Callable[[], Iterable[R]]) -> None:
        """Put in what is bundled, once: what is deleted stays deleted."""
        db = self._database.connection
        if db.execute("SELECT seeded FROM collections WHERE name = ?", (self.name,)).fetchone()["seeded"]:
            return
        with self._database.transaction():
            if not db.execute("SELECT seeded FROM collections WHERE name = ?", (self.name,)).fetchone()["seeded"]:
                self.add(records(), added=0.0)
                db.execute("UPDATE collections SET seeded = 1 WHERE name = ?", (self.name,))

    def version(self) -> int:
        """Grows as soon as a record has changed."""
        row = self._database.execute("SELECT changes FROM collections WHERE name = ?", (self.name,))
        return int(row.fetchone()["changes"])

    count = __len__

    def changed(self, since: int) -> Changed:
        """What was written or deleted after a version, for the vector index."""
        rows = self._database.execute(
            "SELECT id, body, added FROM knowledge WHERE collection = ? AND version > ? ORDER BY seq",
            (self.name, since),
        )
        records = read_all(rows, lambda row: (self._record(row), row["added"]))[0]
        texts, facets = {}, {}
        for record, added in records:
            for number, text in enumerate(self.texts_of(record)):
                texts[record.id + OTHER * number] = text
                facets[record.id + OTHER * number] = facets_of(record, added)
        return Changed(self._removed(since) | {record.id for record, _ in records}, texts, facets)

    def changed_words(self, since: int) -> ChangedWords:
        """The same for the word index; a damaged row is not in it."""
        rows = self._database.execute(
            "SELECT id, body, added, words FROM knowledge WHERE collection = ? AND version > ?", (self.name, since)
        )
        found = read_all(rows, lambda row: (row["id"], (row["words"], facets_of(self._record(row), row["added"]))))[0]
        lines = dict(found)
        return ChangedWords(self._removed(since) | lines.keys(), lines)

    def _removed(self, since: int) -> frozenset[str]:
        rows = self._database.execute(
            "SELECT id FROM knowledge_removed WHERE collection = ? AND version > ?", (self.name, since)
        )
        return frozenset(row["id"] for row in rows)

    # --- finding --------------------------------------------------------------------------------------------

    async def search(
        self,
        text: str,
        k: int,
        mode: Mode = "hybrid",
        exclude: Sequence[str] = (),
        under: str = "",
        weights: Weights = EQUAL,
        only: Filter = ALL,
    ) -> list[Found[R]]:
        """The k records closest to a text, best first, each with its place in every ranking.

        Args:
            mode: by which ranking; the others are shown too.
            under: only records whose id begins with this; their own order by cosine is then the only ranking.
            weights: of both rankings where they are fused.
            only: which records may be found.
        """
        if under:
            return await self._nearest_under(under, text, k, exclude)
        depth = max(DEPTH, k)
        dense, by_words = await asyncio.gather(
            self.nearest(text, depth, exclude, only),
            asyncio.to_thread(self.closest, text, depth + len(exclude), only),
        )
        by_words = [(name, score) for name, score in by_words if name not in exclude][:depth]
        found = []
        for name, scores in islice(ranked(dense, by_words, mode, weights).items(), k):
            record = await asyncio.to_thread(self._readable, name)
            if record is not None:
                found.append(Found(record, scores))
        return found

    async def _nearest_under(self, under: str, text: str, k: int, exclude: Sequence[str]) -> list[Found[R]]:
        """Each of a small set is compared: an index over all would have to be searched far down."""
        import numpy as np

        version = await asyncio.to_thread(self.version)
        if (under, version) not in self._small:
            names = await asyncio.to_thread(self.names_under, under)
            vectors = await self.vectors(names)
            names = [name for name in names if name in vectors]
            rows = np.asarray([vectors[name] for name in names], np.float32)
            self._small = {key: kept for key, kept in self._small.items() if key[1] == version}
            self._small[under, version] = (names, rows)
        names, rows = self._small[under, version]
        if not names:
            return []
        (asked,) = await self._embedding.embed([text])
        cosines = rows @ asked
        order = sorted(range(len(names)), key=lambda i: (-cosines[i], names[i]))
        best = (i for i in order if names[i] not in exclude)
        found = []
        for rank, i in enumerate(islice(best, k), 1):
            record = self.get(names[i])
            assert record is not None
            found.append(Found(record, Scores(similarity=round(float(cosines[i]), 6), dense_rank=rank)))
        return found

    def names_under(self, under: str) -> list[str]:
        """Ids that begin with a text, in the order in which their records came."""
        rows = self._database.execute(
            "SELECT id FROM knowledge WHERE collection = ? AND substr(id, 1, ?) = ? ORDER BY seq",
            (self.name, len(under), under),
        )
        return [row["id"] for row in rows]

    async def nearest(
        self, text: str, k: int, exclude: Sequence[str] = (), only: Filter = ALL
    ) -> list[tuple[str, float]]:
        """The k records nearest by cosine, ids with cosines; of a record in two languages the nearer text counts."""
        left_out = [name + mark for name in exclude for mark in ("", OTHER)]
        found: dict[str, float] = {}
        for name, similarity in await self._index.search(text, 2 * k, self, left_out, only):
            found.setdefault(name.removesuffix(OTHER), similarity)
        return list(found.items())[:k]

    def closest(self, text: str, k: int, only: Filter = ALL) -> list[tuple[str, float]]:
        """The k best by their words (BM25), ids with scores above 0, best first."""
        return self._words.closest(self, text, k, only)

    async def vectors(self, names: Sequence[str]) -> Mapping[str, Sequence[float]]:
        """The vectors of records by id, each of length 1."""
        texts = {name: self.texts_of(record)[0] for name in names if (record := self._readable(name)) is not None}
        rows = await self._embedding.embed(list(texts.values()))
        return dict(zip(texts, rows, strict=True))

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Vectors of texts, to be compared with those of the records; shape (texts, dimensions)."""
        return await self._embedding.embed(texts)

    async def warm(self, progress: Progress = lambda done, total: None) -> None:
        """Open both indexes and bring them up to date."""
        await self._index.bring_up(self, progress)
        await asyncio.to_thread(self.closest, "warm", 1)

    def faults(self) -> tuple[str, str]:
        """What is wrong with the files of the word index and of the vector index; empty where nothing is."""
        return self._words.fault(self), self._index.fault(self)

    def discard_indexes(self) -> None:
        """Delete both indexes; the next look-up builds them again."""
        self._words.discard()
        self._index.discard()

    def close(self) -> None:
        self._index.close()
        self._words.close()

    # --- within ---------------------------------------------------------------------------------------------

    def texts_of(self, record: R) -> tuple[str, ...]:
        """What is searched of a record: a text, or one in each language."""
        text = self._text_of(record)
        return (text,) if isinstance(text, str) else text

    def _next_version(self) -> int:
        """Count one change. Versions are moments: a store that was put back from a backup never comes to an old one again."""
        now = time.time_ns() // 1000
        row = self._database.execute(
            "UPDATE collections SET changes = CASE WHEN changes < ? THEN ? ELSE changes + 1 END WHERE name = ? RETURNING changes",
            (now, now, self.name),
        )
        return int(row.fetchone()["changes"])
