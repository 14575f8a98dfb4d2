"""The questions a procedure may put to the knowledge base, as data, so that the engine can record them."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Callable, Iterable
from functools import cached_property
from itertools import islice
from typing import Annotated, Any, Literal
from uuid import uuid4

from pydantic import Field

from courtroom.cases.case import Case
from courtroom.cases.criminal import CriminalCase
from courtroom.cases.labelled import Example, LabelledTask
from courtroom.errors import CourtroomError
from courtroom.knowledge import legal
from courtroom.knowledge.bases import BUNDLED, KINDS, BaseName, Kind, kept_as, known_bases
from courtroom.knowledge.collection import Collection, Name
from courtroom.knowledge.embeddings import embedding_of
from courtroom.knowledge.fusion import EQUAL, Weights
from courtroom.knowledge.jurisprudence import Directive, Standard
from courtroom.knowledge.lessons import Lesson, Lessons, Put, Remove
from courtroom.knowledge.memory import Due, Memory, Parts, Recall
from courtroom.knowledge.precedents import PrecedentBase
from courtroom.knowledge.ranking import Found, Mode, Scores
from courtroom.knowledge.snapshots import Frozen, Snapshots
from courtroom.knowledge.states import States
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
    base: BaseName = Field(
        default=BUNDLED,
        description="In which knowledge base, where the collection is of criminal law.",
        exclude_if=lambda base: base == BUNDLED,
    )
    weights: Weights = Field(
        default=EQUAL,
        description="Of the ranking by meaning and of the one by words, where both are fused.",
        exclude_if=lambda weights: weights == EQUAL,
    )
    itself: bool = Field(
        default=True,
        description="Whether a record with the very text that is searched for may be found.",
        exclude_if=lambda itself: itself,
    )


class Draw(Strict):
    """Some records, drawn at random; a record with the text itself is never among them."""

    kind: Literal["draw"] = "draw"
    collection: Name
    text: str
    k: int = Field(ge=1)
    seed: str = Field(description="The same seed draws the same records from the same collection.")
    exclude: tuple[str, ...] = ()
    under: str = Field(default="", description="Only records whose id begins with this.")


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
    base: BaseName = Field(default=BUNDLED, exclude_if=lambda base: base == BUNDLED)


Query = Annotated[Search | Draw | Rank | Fetch | Recall | Due | Frozen, Field(discriminator="kind")]


class Hit(Strict):
    """Something found. `similarity` is a cosine, at most 1; 0 where only its words were found, or where it was drawn."""

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
        self._opened: dict[str, Collection[Any]] = {}  # of bases other than the bundled one
        self._warm: set[Name] = set()  # collections that are loaded
        self._others: dict[str, Knowledge] = {}  # the same records, compared by other embeddings

    def using(self, embedding: str) -> Knowledge:
        """The same records, compared by another embedding; without a name, by the server's own.

        Each embedding has its own indexes. The first look-up with an embedding makes them, which takes long where a
        collection is large; vectors that were made once are kept.
        """
        if embedding in ("", self._settings.embedding):
            return self
        if embedding not in self._others:
            self._others[embedding] = Knowledge(
                self._database, self._settings.model_copy(update={"embedding": embedding})
            )
        return self._others[embedding]

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
            self._states,
        )

    @cached_property
    def snapshots(self) -> Snapshots:
        """Named, frozen snapshots of the memory."""
        return Snapshots(self._database, self._states)

    def snapshot(self, name: str) -> str:
        """Name the memory as it is now, and give its digest; for the same memory once more the same.

        Raises:
            CourtroomError: the name can't be used, or stands for another memory.
        """
        return self.snapshots.take(name).digest

    def restore(self, name: str) -> None:
        """Bring the memory back to a snapshot; one more step of learning, which can be undone.

        Raises:
            CourtroomError: there is none of this name.
        """
        known, ops = self.snapshots.named(name), list[Put | Remove]()
        for collection, record, body in self._states.differences(known.at):
            taken_out = Remove(collection=collection, id=record)
            ops.append(taken_out if body is None else Put(collection=collection, record=json.loads(body)))
        if ops:
            lesson = Lesson(phase="restore", why=f"Brought back to the snapshot {name}.", ops=tuple(ops))
            self.lessons.teach("", f"restore/{name}/{uuid4().hex}", lesson)

    @cached_property
    def examples(self) -> Collection[Example]:
        """Labelled texts of the tasks that were heard."""
        return Collection(*self._shared, "examples", Example, lambda example: example.whole)

    @property
    def collections(self) -> dict[Name, Collection[Any]]:
        """All collections by name."""
        return {name: opened() for name, opened in self._bundled.items()}

    @property
    def _bundled(self) -> dict[Name, Callable[[], Collection[Any]]]:
        """What opens each collection: the first time, it is filled."""
        return {
            "precedents": lambda: self.precedents.collection,
            "statutes": lambda: self.statutes,
            "charges": lambda: self.charges,
            "cases": lambda: self.cases,
            "standards": lambda: self.memory.standards,
            "directives": lambda: self.memory.directives,
            "buffer": lambda: self.memory.buffer,
            "examples": lambda: self.examples,
        }

    def of(self, name: Name, base: str = BUNDLED) -> Collection[Any]:
        """A collection of a knowledge base; one of a base that is not there is empty.

        Raises:
            CourtroomError: only collections of criminal law are in other bases than the bundled one.
        """
        if base == BUNDLED:
            return self._bundled[name]()
        if name not in KINDS:
            raise CourtroomError(f"The collection “{name}” is in the knowledge base “{BUNDLED}” alone.")
        kept = kept_as(name, base)
        if kept not in self._opened:
            kind, text_of = _OF_KIND[name]
            self._opened[kept] = Collection(*self._shared, kept, kind, text_of)
        return self._opened[kept]

    def kept_under(self, name: str) -> Collection[Any]:
        """The collection whose records are kept under a name, e.g. `statutes` or `statutes.imported`.

        Raises:
            KeyError: there is none of this kind.
        """
        kind, _, base = name.partition(".")
        return self.of(kind, base or BUNDLED)  # type: ignore[arg-type]

    def bases(self) -> tuple[str, ...]:
        """The names of all knowledge bases, the bundled one first."""
        return known_bases(self._database)

    @property
    def everything(self) -> dict[str, Collection[Any]]:
        """All collections of all knowledge bases, by the name under which their records are kept."""
        others = {kept_as(kind, base): self.of(kind, base) for base in self.bases()[1:] for kind in KINDS}
        return {**{str(name): collection for name, collection in self.collections.items()}, **others}

    @cached_property
    def lessons(self) -> Lessons:
        """What was taught, step by step."""
        return Lessons(self._database, self.collections)

    async def answer(self, query: Query, embedding: str = "") -> tuple[Hit, ...]:
        """Look something up, best first; texts are compared by this embedding, or by the server's own where it is empty."""
        return await self.using(embedding)._answer(query)

    async def _answer(self, query: Query) -> tuple[Hit, ...]:
        match query:
            case Search():
                return tuple(
                    Hit(
                        id=one.record.id,
                        similarity=one.scores.similarity or 0.0,
                        record=one.record.model_dump(mode="json"),
                        scores=one.scores,
                    )
                    for one in await self._search(query)
                )
            case Draw():
                drawn = await asyncio.to_thread(self._draw, query)
                return tuple(Hit(id=one.id, similarity=0.0, record=one.model_dump(mode="json")) for one in drawn)
            case Rank():
                return await self._rank(query)
            case Fetch():
                records = (self._there(query.collection, query.base).get(name) for name in query.ids)
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
            case Frozen():
                snapshot = await asyncio.to_thread(self.snapshots.frozen, query)
                return (Hit(id=snapshot.digest, similarity=0.0, record=snapshot.model_dump(mode="json")),)
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
        """Load what look-ups in these collections need, once. What changes later is taken in by the look-up that needs it."""
        for name in collections:
            if name not in self._warm:
                await self.of(name).warm()
                self._warm.add(name)

    def close(self) -> None:
        """Let go of the indexes; a look-up opens them again."""
        self._warm.clear()
        opened = self.__dict__  # opening one only to close it would fill it
        found = [opened[name] for name in ("statutes", "charges", "cases", "examples") if name in opened]
        found += [self.precedents.collection] if "precedents" in opened else []
        found += [self.memory.standards, self.memory.directives, self.memory.buffer] if "memory" in opened else []
        for collection in (*found, *self._opened.values()):
            collection.close()
        for other in self._others.values():
            other.close()

    def _there(self, name: Name, base: str) -> Collection[Any]:
        """A collection of a base that holds something.

        Raises:
            CourtroomError: there is no such base.
        """
        if base != BUNDLED and base not in (bases := self.bases()):
            raise CourtroomError(
                f"There is no knowledge base “{base}”. Known: {', '.join(bases)}. Import into it first, or choose another."
            )
        return self.of(name, base)

    @cached_property
    def _states(self) -> States:
        return States(self._database)

    @property
    def _shared(self) -> tuple[Database, Settings, Remembered]:
        return self._database, self._settings, self.embedding

    async def _search(self, query: Search) -> list[Found[Any]]:
        """What is found; where a record has the text itself and must not, it is left out and the next one comes up."""
        collection, left_out = self._there(query.collection, query.base), query.exclude
        while True:
            found = await collection.search(query.text, query.k, query.mode, left_out, query.under, query.weights)
            same = tuple(one.record.id for one in found if _says(collection, one.record, query.text))
            if query.itself or not same:
                return found
            left_out += same

    def _draw(self, query: Draw) -> list[Any]:
        """Records in an order by lot, the first k that may be drawn."""
        collection = self.collections[query.collection]
        names = [name for name in sorted(collection.names_under(query.under)) if name not in query.exclude]
        random.Random(query.seed).shuffle(names)
        records = (record for name in names if (record := collection.get(name)) is not None)
        return list(islice((record for record in records if not _says(collection, record, query.text)), query.k))

    async def _rank(self, query: Rank) -> tuple[Hit, ...]:
        vectors = await self.embedding.embed([query.text, *query.candidates])
        similarities = vectors[1:] @ vectors[0]
        best = sorted(range(len(query.candidates)), key=lambda i: (-similarities[i], i))[: query.k]
        return tuple(
            Hit(id=str(i), similarity=round(float(similarities[i]), 6), record={"text": query.candidates[i]})
            for i in best
        )


_OF_KIND: dict[Kind, tuple[type[Any], Any]] = {
    "statutes": (Statute, legal.statute_text),
    "charges": (Charge, legal.charge_text),
    "cases": (CriminalCase, legal.case_text),
}


def _says(collection: Collection[Any], record: Any, text: str) -> bool:
    """Whether a record has this very text, case and white space apart."""
    return text.casefold().split() in (own.casefold().split() for own in collection.texts_of(record))
