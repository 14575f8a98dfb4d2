"""The questions a procedure may put to the knowledge base, as data, so that the engine can record them."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from itertools import islice
from typing import Annotated, Any, Literal

from pydantic import Field

from courtroom.cases.case import Case
from courtroom.cases.criminal import CriminalCase
from courtroom.cases.labelled import Example, LabelledTask
from courtroom.knowledge import legal
from courtroom.knowledge.collection import Collection, Mode, Name, Scores
from courtroom.knowledge.embedding import embedding_of
from courtroom.knowledge.jurisprudence import Directive, Standard
from courtroom.knowledge.lessons import Lesson, Lessons
from courtroom.knowledge.memory import Due, Memory, Parts, Recall
from courtroom.knowledge.precedents import PrecedentBase
from courtroom.knowledge.vectors import Remembered
from courtroom.law.charge import Charge
from courtroom.law.statute import Statute
from courtroom.settings import Settings
from courtroom.store.database import Database
from courtroom.strict import Strict

TAKEN_AT_ONCE = 500


class Search(Strict):
    """What in a collection is most similar to a text?"""

    kind: Literal["search"] = "search"
    collection: Name
    text: str
    k: int = Field(ge=1)
    exclude: tuple[str, ...] = ()
    mode: Mode = "dense"
    under: str = Field(
        default="", description="Only records whose id begins with this.", exclude_if=lambda under: not under
    )


class Rank(Strict):
    """Which of these candidates are most similar to a text?"""

    kind: Literal["rank"] = "rank"
    text: str
    candidates: tuple[str, ...]
    k: int = Field(ge=1)


class Fetch(Strict):
    """These records, by id; those that are not there are left out."""

    kind: Literal["fetch"] = "fetch"
    collection: Name
    ids: tuple[str, ...]


Query = Annotated[Search | Rank | Fetch | Recall | Due, Field(discriminator="kind")]


class Hit(Strict):
    """Something found. `similarity` is a cosine, at most 1; 0 where only its words were found."""

    id: str
    similarity: float
    record: dict[str, Any] = Field(default_factory=dict)
    scores: Scores | None = None
    parts: Parts | None = None


class Knowledge:
    """All collections behind one door."""

    def __init__(self, database: Database, settings: Settings) -> None:
        self.embedding = Remembered(embedding_of(settings.embedding), database)
        self._database, self._settings = database, settings

    @cached_property
    def precedents(self) -> PrecedentBase:
        """Earlier disputes with their norms."""
        return PrecedentBase(self._database, self._settings, self.embedding)

    @cached_property
    def statutes(self) -> Collection[Statute]:
        """Articles of the criminal law."""
        base = Collection(*self._shared, "statutes", Statute, legal.statute_text)
        base.seed(legal.bundled_statutes)
        return base

    @cached_property
    def charges(self) -> Collection[Charge]:
        """The list of charges."""
        base = Collection(*self._shared, "charges", Charge, legal.charge_text)
        base.seed(legal.bundled_charges)
        return base

    @cached_property
    def cases(self) -> Collection[CriminalCase]:
        """Referred criminal precedents."""
        base = Collection(*self._shared, "cases", CriminalCase, legal.case_text)
        base.seed(legal.bundled_cases)
        return base

    @cached_property
    def memory(self) -> Memory:
        """Standards and micro-directives."""
        return Memory(
            Collection(*self._shared, "standards", Standard, lambda standard: standard.text),
            Collection(*self._shared, "directives", Directive, lambda directive: directive.text),
            Collection(*self._shared, "buffer", Standard, lambda standard: standard.text),
        )

    @cached_property
    def examples(self) -> Collection[Example]:
        """Labelled texts of the tasks that were heard."""
        return Collection(*self._shared, "examples", Example, lambda example: example.whole)

    @property
    def collections(self) -> dict[Name, Collection[Any]]:
        """All collections by name."""
        return {
            "precedents": self.precedents.collection,
            "statutes": self.statutes,
            "charges": self.charges,
            "cases": self.cases,
            "standards": self.memory.standards,
            "directives": self.memory.directives,
            "buffer": self.memory.buffer,
            "examples": self.examples,
        }

    @cached_property
    def lessons(self) -> Lessons:
        """What was taught, step by step."""
        return Lessons(self._database, self.collections)

    async def answer(self, query: Query) -> tuple[Hit, ...]:
        """Look something up; best first."""
        match query:
            case Search():
                collection = self.collections[query.collection]
                found = await collection.search(query.text, query.k, query.mode, query.exclude, query.under)
                return tuple(
                    Hit(
                        id=one.record.id,
                        similarity=one.scores.similarity or 0.0,
                        record=one.record.model_dump(mode="json"),
                        scores=one.scores,
                    )
                    for one in found
                )
            case Rank():
                return await self._rank(query)
            case Fetch():
                records = (self.collections[query.collection].get(name) for name in query.ids)
                return tuple(
                    Hit(id=record.id, similarity=0.0, record=record.model_dump(mode="json"))
                    for record in records
                    if record is not None
                )
            case Recall():
                return tuple(
                    Hit(id=unit.id, similarity=parts.semsim, record=unit.model_dump(mode="json"), parts=parts)
                    for unit, parts in await self.memory.recall(query)
                )
            case Due():
                return tuple(
                    Hit(id=unit.id, similarity=0.0, record=unit.model_dump(mode="json"))
                    for unit in await self.memory.due(query)
                )

    def learn(self, run: str, path: str, lesson: Lesson) -> None:
        """Take a lesson in; under one path of a run it is taken in once."""
        self.lessons.teach(run, path, lesson)

    def offer(self, case: Case) -> None:
        """Take in what a case brings along to be found in its hearing; once."""
        if isinstance(case, LabelledTask) and not (case.pool and not case.examples):
            self.take_examples(case.under(), case.known())

    def take_examples(self, under: str, examples: Iterable[Example]) -> None:
        """Take in the examples of one pool that are not there yet.

        Args:
            under: what the ids of the pool's examples begin with.
        """
        there = set(self.examples.names_under(under))
        new = (example for example in examples if example.id not in there)
        while some := list(islice(new, TAKEN_AT_ONCE)):
            self.examples.add(some)

    async def warm(self, collections: tuple[Name, ...]) -> None:
        """Load what look-ups in these collections need."""
        for name in collections:
            await self.collections[name].warm()

    def close(self) -> None:
        """Let go of the indexes; a look-up opens them again."""
        opened = self.__dict__  # opening one only to close it would fill it
        found = [opened[name] for name in ("statutes", "charges", "cases", "examples") if name in opened]
        found += [self.precedents.collection] if "precedents" in opened else []
        found += [self.memory.standards, self.memory.directives, self.memory.buffer] if "memory" in opened else []
        for collection in found:
            collection.close()

    @property
    def _shared(self) -> tuple[Database, Settings, Remembered]:
        return self._database, self._settings, self.embedding

    async def _rank(self, query: Rank) -> tuple[Hit, ...]:
        vectors = await self.embedding.embed([query.text, *query.candidates])
        similarities = vectors[1:] @ vectors[0]
        best = sorted(range(len(query.candidates)), key=lambda i: (-similarities[i], i))[: query.k]
        return tuple(
            Hit(id=str(i), similarity=round(float(similarities[i]), 6), record={"text": query.candidates[i]})
            for i in best
        )
