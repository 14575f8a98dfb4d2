"""A collection: records in SQLite, found again by meaning (Chroma), by words (tantivy), or by both."""

import asyncio
import hashlib
import json
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, Literal, Protocol, Self, TypeVar

from courtroom.errors import Unreadable
from courtroom.knowledge import index
from courtroom.knowledge.embedding import DEFAULT, Embedding
from courtroom.knowledge.index_folders import IndexFolders
from courtroom.store.connection import StoredRow, read, read_all
from courtroom.store.database import Database, insert
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


def ranked(dense: index.Ranking, by_words: index.Ranking, mode: Mode, weights: Weights = EQUAL) -> dict[str, Scores]:
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
        name: under which its records are kept: a `Name`, with the knowledge base behind a full stop unless that is the
            bundled one.
        kind: the records' class; it has an `id`.
        text_of: what of a record is searched: a text, or one in each language, of which the nearest counts.
    """

    def __init__(
        self,
        database: Database,
        folders: IndexFolders,
        embedding: Embedding,
        name: str,
        kind: type[R],
        text_of: Callable[[R], str | tuple[str, ...]],
    ) -> None:
        self.name = name
        self._database, self._kind, self._text_of = database, kind, text_of
        # Each embedding has its own indexes, so that none has to give way to another.
        other = "" if embedding.name.startswith(DEFAULT) else hashlib.sha256(embedding.name.encode()).hexdigest()[:12]
        self.index_name = f"{name}-{other}" if other else name
        self.vectors = index.VectorIndex(folders, self.index_name, embedding)
        self.words = index.WordIndex(folders, self.index_name)
        database.execute("INSERT INTO collections (name) VALUES (?) ON CONFLICT DO NOTHING", (name,))

    # --- records --------------------------------------------------------------------------------------------

    def all(self, start: int = 0, count: int = ALL_OF_THEM) -> list[R]:
        """Return all records, or so many, that can be read, in the order in which they came."""
        return self.page(start, count)[0]

    def page(self, start: int = 0, count: int = ALL_OF_THEM) -> tuple[list[R], list[Unreadable]]:
        """Return records as `all` does, and those whose row is damaged."""
        rows = self._database.execute(
            "SELECT id, body FROM knowledge WHERE collection = ? ORDER BY added, seq LIMIT ? OFFSET ?",
            (self.name, count, start),
        )
        return read_all(rows, self._record)

    def named(self, names: Sequence[str]) -> dict[str, R]:
        """Return those of these records that can be read, by id, in the order in which they came."""
        rows = self._database.execute(
            "SELECT id, body FROM knowledge WHERE collection = ? AND id IN (SELECT value FROM json_each(?, '$'))"
            " ORDER BY added, seq",
            (self.name, json.dumps([*names])),
        )
        return dict(read_all(rows, lambda row: (row["id"], self._record(row)))[0])

    def __len__(self) -> int:
        return int(self._database.row("SELECT count(*) FROM knowledge WHERE collection = ?", (self.name,))[0])

    def get(self, name: str) -> R | None:
        row = self._database.row("SELECT id, body FROM knowledge WHERE collection = ? AND id = ?", (self.name, name))
        return self._record(row) if row else None

    def _record(self, row: StoredRow) -> R:
        return read(f"record of “{self.name}”", row["id"], lambda: self.parse(row["body"]))

    def parse(self, body: str) -> R:
        return self._kind.model_validate_json(body)

    def add(self, records: Iterable[R], *, added: float | None = None) -> None:
        """Add, or put in place of what has the same id; all or none."""
        self.write(self.ready(records), added=added)

    def ready(self, records: Iterable[R]) -> list[Ready]:
        """Work out what is to be written of records, so that the transaction in which that is done is short."""
        return [(one.id, one.model_dump_json(), index.line("\n".join(self.texts_of(one)))) for one in records]

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
        gone = list(names)
        with self._database.transaction() as db:
            version = self._next_version()
            db.executemany("DELETE FROM knowledge WHERE collection = ? AND id = ?", [(self.name, one) for one in gone])
            rows = ({"collection": self.name, "id": one, "version": version} for one in gone)
            insert(db, "knowledge_removed", rows, key=["collection", "id"])

    def seed(self, records: Callable[[], Iterable[R]]) -> None:
        """Put in what is bundled, once: what is deleted stays deleted."""
        if self._database.row("SELECT seeded FROM collections WHERE name = ?", (self.name,))["seeded"]:
            return
        with self._database.transaction() as db:
            if db.execute("UPDATE collections SET seeded = 1 WHERE name = ? AND seeded = 0", (self.name,)).rowcount:
                self.add(records(), added=0.0)

    def version(self) -> int:
        """Grows as soon as a record has changed."""
        return int(self._database.row("SELECT changes FROM collections WHERE name = ?", (self.name,))["changes"])

    def changed(self, since: int) -> index.Changed:
        """Return what was written or deleted after a version; a damaged row counts as gone."""
        rows = self._database.execute(
            "SELECT id, body, added, words FROM knowledge WHERE collection = ? AND version > ? ORDER BY seq",
            (self.name, since),
        )
        records = read_all(rows, lambda row: (self._record(row), row["added"], row["words"]))[0]
        found: dict[str, index.Entry | None] = {
            record.id: index.Entry(texts=self.texts_of(record), words=words, facets=index.facets_of(record, added))
            for record, added, words in records
        }
        touched = self._database.execute(
            "SELECT id FROM knowledge WHERE collection = ? AND version > ?"
            " UNION SELECT id FROM knowledge_removed WHERE collection = ? AND version > ?",
            (self.name, since) * 2,
        )
        return found | {row["id"]: None for row in touched if row["id"] not in found}

    # --- finding --------------------------------------------------------------------------------------------

    async def search(
        self,
        text: str,
        k: int,
        mode: Mode = "hybrid",
        exclude: Sequence[str] = (),
        under: str = "",
        weights: Weights = EQUAL,
        only: index.Filter = index.ALL,
    ) -> list[Found[R]]:
        """The k records closest to a text, best first, each with its place in every ranking.

        Args:
            mode: by which ranking; the others are shown too.
            under: only records whose id begins with this; their own order by cosine is then the only ranking.
            weights: of both rankings where they are fused.
            only: which records may be found.
        """
        by_words: index.Ranking = ()
        if under:
            mode, dense = "dense", await self.vectors.nearest(self, text, k, exclude, only, under)
        else:
            depth = max(DEPTH, k)
            dense, by_words = await asyncio.gather(
                self.vectors.nearest(self, text, depth, exclude, only),
                self.words.closest(self, text, depth + len(exclude), only),
            )
            by_words = [(name, score) for name, score in by_words if name not in exclude][:depth]
        order = ranked(dense, by_words, mode, weights)
        names = [*order][:k]
        there = await asyncio.to_thread(self.named, names)
        return [Found(there[name], order[name]) for name in names if name in there]

    def names_under(self, under: str) -> list[str]:
        """Return the ids that begin with a text, in the order in which their records came."""
        rows = self._database.execute(
            "SELECT id FROM knowledge WHERE collection = ? AND substr(id, 1, ?) = ? ORDER BY seq",
            (self.name, len(under), under),
        )
        return [row["id"] for row in rows]

    async def warm(self, progress: index.Progress = lambda done, total: None) -> None:
        """Open both indexes and bring them up to date."""
        await self.vectors.bring_up(self, progress)
        await self.words.bring_up(self)

    def close(self) -> None:
        self.vectors.close()
        self.words.close()

    # --- within ---------------------------------------------------------------------------------------------

    def texts_of(self, record: R) -> tuple[str, ...]:
        """What is searched of a record: a text, or one in each language."""
        text = self._text_of(record)
        return (text,) if isinstance(text, str) else text

    def _next_version(self) -> int:
        """Count one change. Versions are moments: a store put back from a backup never comes to an old one again."""
        now = time.time_ns() // 1000
        row = self._database.execute(
            "UPDATE collections SET changes = CASE WHEN changes < ? THEN ? ELSE changes + 1 END WHERE name = ?"
            " RETURNING changes",
            (now, now, self.name),
        )
        return int(row.fetchone()["changes"])
