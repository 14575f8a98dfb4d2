"""The questions a procedure may put to the knowledge base, as data, so that the engine can record them."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from courtroom.case import Strict
from courtroom.database import Database
from courtroom.knowledge.embedding import embedding_of
from courtroom.knowledge.precedents import PrecedentBase
from courtroom.precedent import Precedent
from courtroom.settings import Settings


class Search(Strict):
    """What in a collection is most similar to a text?"""

    kind: Literal["search"] = "search"
    collection: Literal["precedents"]
    text: str
    k: int = Field(ge=1)
    exclude: tuple[str, ...] = ()


class Rank(Strict):
    """Which of these candidates are most similar to a text?"""

    kind: Literal["rank"] = "rank"
    text: str
    candidates: tuple[str, ...]
    k: int = Field(ge=1)


class Hit(Strict):
    """Something found. `similarity` is a cosine, at most 1."""

    id: str
    similarity: float
    record: dict[str, Any] = Field(default_factory=dict)


class Knowledge:
    """All collections behind one door."""

    def __init__(self, database: Database, settings: Settings) -> None:
        self.embedding = embedding_of(settings.embedding)
        self.precedents = PrecedentBase(database, settings, self.embedding)

    async def answer(self, query: Search | Rank) -> tuple[Hit, ...]:
        """Look something up; best first."""
        if isinstance(query, Search):
            found = await self.precedents.search(query.text, query.k, query.exclude)
            return tuple(Hit(id=p.id, similarity=s, record=p.model_dump(mode="json")) for p, s in found)
        vectors = await self.embedding.embed([query.text, *query.candidates])
        similarities = vectors[1:] @ vectors[0]
        best = sorted(range(len(query.candidates)), key=lambda i: (-similarities[i], i))[: query.k]
        return tuple(
            Hit(id=str(i), similarity=round(float(similarities[i]), 6), record={"text": query.candidates[i]})
            for i in best
        )

    def learn(self, record: dict[str, Any]) -> None:
        """Add a precedent, or put it in place of the one with its id."""
        self.precedents.add([Precedent.model_validate(record)])

    async def warm(self) -> None:
        """Load what a look-up needs."""
        await self.precedents.warm()
