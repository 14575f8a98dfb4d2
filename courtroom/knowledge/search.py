"""The questions a procedure may put to the knowledge base, as data, so that the engine can record them."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import cached_property, partial
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any, Literal
from uuid import uuid4

from pydantic import Field

from courtroom.cases.criminal import CriminalCase
from courtroom.cases.dispute import Precedent
from courtroom.cases.labelled import Example
from courtroom.errors import CourtroomError
from courtroom.knowledge import bases
from courtroom.knowledge.bases import BUNDLED, IN_BASES, MEMORY_PARTS, BaseName, kept_as
from courtroom.knowledge.collection import EQUAL, Collection, Found, Mode, Name, Scores, Weights
from courtroom.knowledge.index import ALL, Filter
from courtroom.knowledge.index_folders import Broken, IndexFolders
from courtroom.knowledge.lessons import Frozen, Lesson, Lessons, Put, Remove, Snapshots, States
from courtroom.knowledge.memory import Directive, Due, Parts, Recall, Standard
from courtroom.law import Charge, Statute, charges_of
from courtroom.settings import DATA, Settings
from courtroom.store.database import Database, marks
from courtroom.strict import Strict, option

if TYPE_CHECKING:
    from courtroom.knowledge.memory_view import Memory

EXAMPLES_AT_ONCE = 500


class Search(Strict):
    """What in a collection is most similar to a text?"""

    kind: Literal["search"] = "search"
    collection: Name
    text: str
    k: int = Field(ge=1)
    exclude: tuple[str, ...] = ()
    mode: Mode = "dense"
    under: str = option("", "Only records whose id begins with this.")
    base: BaseName = option(BUNDLED, "In which knowledge base, where the collection is in each of them.")
    weights: Weights = option(EQUAL, "Of the ranking by meaning and of the one by words, where both are fused.")
    only: Filter = option(ALL)
    itself: bool = option(True, "Whether a record with the very text that is searched for may be found.")


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
    """These records, by id; those that are not there are left out.

    With `under`, each is followed by those put in after it, whose ids go on with a hyphen: `264-1` after `264`.
    """

    kind: Literal["fetch"] = "fetch"
    collection: Name
    ids: tuple[str, ...]
    under: bool = option(False)
    base: BaseName = option(BUNDLED)


Query = Annotated[Search | Draw | Rank | Fetch | Recall | Due | Frozen, Field(discriminator="kind")]


class Hit(Strict):
    """Something found. `similarity`: a cosine; 0 where only its words were found, or where it was drawn."""

    id: str
    similarity: float
    record: dict[str, Any] = Field(default_factory=dict)
    scores: Scores | None = None
    parts: Parts | None = None


class Knowledge:
    """All collections, and what a procedure may ask of them. `memory`: the name of the memory that is taught; empty is
    the store's own."""

    def __init__(
        self, database: Database, settings: Settings, folders: IndexFolders | None = None, memory: str = ""
    ) -> None:
        from courtroom.knowledge.vectors import CachedEmbedding, embedding_of  # numpy comes with it

        self.folders = folders or IndexFolders(settings)
        self.embedding = CachedEmbedding(embedding_of(settings.embedding), database)
        self._database, self._settings, self._memory = database, settings, memory
        self._opened: dict[str, Collection[Any]] = {}  # by the name under which its records are stored
        self._warm: set[Name] = set()  # collections that are loaded
        self._others: dict[str, Knowledge] = {}  # the same records, compared by other embeddings
        self._memories: dict[str, Knowledge] = {}  # the same records with other memories

    def using(self, embedding: str) -> Knowledge:
        """The same records, compared by another embedding; without a name, by the server's own.

        Each embedding has its own indexes. The first look-up with an embedding makes them, which takes long where a
        collection is large; vectors that were made once are kept.
        """
        if embedding in ("", self._settings.embedding):
            return self
        if embedding not in self._others:
            settings = self._settings.model_copy(update={"embedding": embedding})
            self._others[embedding] = Knowledge(self._database, settings, self.folders, self._memory)
        return self._others[embedding]

    def with_memory(self, name: str) -> Knowledge:
        """The same records with the memory of this name, which is empty at first; without a name, the store's own."""
        if name == self._memory:
            return self
        if name not in self._memories:
            other = self._memories[name] = Knowledge(self._database, self._settings, self.folders, name)
            other.embedding = self.embedding
        return self._memories[name]

    def taught_by(self, name: str) -> Knowledge:
        """Return with which memory a run goes whose setup names one: this one, if it was made and is no snapshot yet;
        else the store's own."""
        frozen = self._database.row("SELECT 1 FROM memory_snapshots WHERE name = ?", (name,))
        return self.with_memory(name) if self.is_made(name) and not frozen else self

    def is_made(self, memory: str) -> bool:
        kept = kept_as("standards", memory)
        return self._database.row("SELECT 1 FROM collections WHERE name = ?", (kept,)) is not None

    def make_memory(self, name: str, like: str) -> None:
        """Make a memory of this name that holds what a snapshot does; what it held before is gone."""
        self._memories.pop(name, None)
        own = self.with_memory(name)
        for part in MEMORY_PARTS:
            own.of(part)
        own.restore(like)

    def forget_memory(self, name: str) -> None:
        """Take the records of a memory out, and its name; states that a snapshot names stay."""
        kept = [kept_as(part, name) for part in MEMORY_PARTS]
        with self._database.transaction() as db:
            for table in ("knowledge", "knowledge_removed", "collections"):
                column = "name" if table == "collections" else "collection"
                db.execute(f"DELETE FROM {table} WHERE {column} IN ({marks(kept)})", kept)
        self._memories.pop(name, None)

    @cached_property
    def memory(self) -> Memory:
        from courtroom.knowledge.memory_view import Memory  # numpy comes with it

        return Memory(self.of, self.embedding, self._states, self._memory)

    @cached_property
    def snapshots(self) -> Snapshots:
        return Snapshots(self._database, self._states, self._memory)

    def restore(self, name: str) -> None:
        """Bring the memory back to a snapshot; one more step of learning, which can be undone."""
        differing = self._states.differences(self.snapshots.named(name).at, self._memory)
        ops = tuple(
            Remove(collection=part, id=record) if body is None else Put(collection=part, record=json.loads(body))
            for part, record, body in differing
        )
        if ops:
            lesson = Lesson(phase="restore", why=f"Brought back to the snapshot {name}.", ops=ops)
            self.lessons.teach("", f"restore/{name}/{uuid4().hex}", lesson)

    @property
    def collections(self) -> dict[Name, Collection[Any]]:
        """All collections of the bundled knowledge base, by name."""
        return {name: self.of(name) for name in _KINDS}

    def of(self, name: Name, base: str = BUNDLED) -> Collection[Any]:
        """A collection of a knowledge base, with what is bundled; one of a base that does not exist is empty."""
        if name in MEMORY_PARTS and base == BUNDLED:
            base = self._memory or BUNDLED
        if base != BUNDLED and name not in (*IN_BASES, *MEMORY_PARTS):
            raise CourtroomError(f"The collection “{name}” is in the knowledge base “{BUNDLED}” alone.")
        stored_as = kept_as(name, base)
        if stored_as not in self._opened:
            record, text_of, bundled = _KINDS[name]
            collection = Collection(self._database, self.folders, self.embedding, stored_as, record, text_of)
            if base == BUNDLED and bundled is not None:
                collection.seed(bundled)
            self._opened.setdefault(stored_as, collection)
        return self._opened[stored_as]

    def kept_under(self, name: str) -> Collection[Any]:
        """The collection whose records are kept under a name, e.g. `statutes` or `statutes.imported`."""
        kind, _, base = name.partition(".")
        return self.of(kind, base or BUNDLED)  # type: ignore[arg-type]

    def bases(self) -> tuple[str, ...]:
        """All knowledge bases that hold something, the bundled one first."""
        rows = self._database.execute(
            "SELECT name FROM collections WHERE instr(name, '.') > 0"
            " AND EXISTS (SELECT 1 FROM knowledge WHERE collection = name)"
        )
        kept = (row["name"].partition(".") for row in rows)
        return (BUNDLED, *sorted({base for kind, _, base in kept if kind in IN_BASES}))

    @cached_property
    def lessons(self) -> Lessons:
        return Lessons(self._database, self.kept_under)

    def there(self, name: Name, base: str) -> Collection[Any]:
        """A collection of a base that holds something. Raises `CourtroomError`: there is no such base."""
        if base != BUNDLED and base not in (bases := self.bases()):
            raise CourtroomError(
                f"There is no knowledge base “{base}”. Known: {', '.join(bases)}. "
                "Import into it first, or choose another."
            )
        return self.of(name, base)

    async def answer(self, query: Query, embedding: str = "") -> tuple[Hit, ...]:
        """Look something up, best first; texts are compared by this embedding, or by the server's own."""
        if (other := self.using(embedding)) is not self:
            return await other.answer(query)
        match query:
            case Search():
                found = await self._search(query)
                return tuple(_hit(one.record, one.scores.similarity or 0.0, scores=one.scores) for one in found)
            case Draw():
                return tuple(map(_hit, await asyncio.to_thread(self._draw, query)))
            case Rank():
                vectors = await self.embedding.embed([query.text, *query.candidates])
                near = vectors[1:] @ vectors[0]
                best = sorted(range(len(query.candidates)), key=lambda i: (-near[i], i))[: query.k]
                texts = ((i, {"text": query.candidates[i]}) for i in best)
                return tuple(Hit(id=str(i), similarity=round(float(near[i]), 6), record=text) for i, text in texts)
            case Fetch():
                collection = self.there(query.collection, query.base)
                after = {name: collection.names_under(f"{name}-") if query.under else [] for name in query.ids}
                records = (collection.get(one) for name in query.ids for one in (name, *after[name]))
                return tuple(_hit(record) for record in records if record is not None)
            case Recall():
                memory = await asyncio.to_thread(self._states.memory_of, query.at) if query.at else self._memory
                recalled = await self.with_memory(memory).memory.recall(query)
                return tuple(_hit(unit, parts.semsim, parts=parts) for unit, parts in recalled)
            case Frozen():
                snapshot = await asyncio.to_thread(self.snapshots.frozen, query)
                return (Hit(id=snapshot.digest, similarity=0.0, record=snapshot.model_dump(mode="json")),)
            case Due():
                return tuple(map(_hit, await self.memory.due(query)))

    def take_examples(self, under: str, examples: Iterable[Example]) -> None:
        """Add the examples that are not there yet of a pool, whose ids begin with `under`."""
        there = set(self.of("examples").names_under(under))
        new = (example for example in examples if example.id not in there)
        while some := list(islice(new, EXAMPLES_AT_ONCE)):
            self.of("examples").add(some)

    async def warm(self, collections: tuple[Name, ...]) -> None:
        """Load what look-ups in these collections need, once. What changes later the look-up reads that needs it."""
        for name in (one for one in collections if one not in self._warm):
            await self.of(name).warm()
            self._warm.add(name)

    def load(self) -> None:
        """Load Chroma and open its folder. Where that fails, the first look-up says so."""
        with suppress(Broken):
            self.folders.client()

    def close(self) -> None:
        self._warm.clear()
        for collection in self._opened.values():
            collection.close()
        for other in (*self._others.values(), *self._memories.values()):
            other.close()
        self.folders.close()

    @cached_property
    def _states(self) -> States:
        return States(self._database)

    async def _search(self, query: Search) -> list[Found[Any]]:
        """What is found; where a record has the text itself and must not, it is left out and the next one comes up."""
        collection, left_out = self.there(query.collection, query.base), query.exclude
        while True:
            how = (query.mode, left_out, query.under, query.weights, query.only)
            found = await collection.search(query.text, query.k, *how)
            same = tuple(one.record.id for one in found if _says(collection, one.record, query.text))
            if query.itself or not same:
                return found
            left_out += same

    def _draw(self, query: Draw) -> list[Any]:
        collection = self.of(query.collection)
        names = [name for name in sorted(collection.names_under(query.under)) if name not in query.exclude]
        random.Random(query.seed).shuffle(names)
        records = (record for name in names if (record := collection.get(name)) is not None)
        return list(islice((record for record in records if not _says(collection, record, query.text)), query.k))


_KINDS: dict[Name, tuple[type[Any], Callable[[Any], str | tuple[str, ...]], Callable[[], list[Any]] | None]] = {
    "precedents": (Precedent, bases.precedent_text, partial(bases.bundled, DATA / "precedents.jsonl", Precedent)),
    "statutes": (Statute, bases.statute_text, bases.bundled_statutes),
    "charges": (Charge, bases.charge_text, lambda: charges_of(bases.bundled_statutes())),
    "cases": (CriminalCase, lambda case: case.facts, bases.bundled_cases),  # they are all that a new case has
    "standards": (Standard, lambda standard: standard.text, None),
    "directives": (Directive, lambda directive: directive.text, None),
    "buffer": (Standard, lambda standard: standard.text, None),
    "examples": (Example, lambda example: example.whole, None),
}
"""The records' class, what of a record is searched, and what is bundled."""


def _says(collection: Collection[Any], record: Any, text: str) -> bool:
    return text.casefold().split() in (own.casefold().split() for own in collection.texts_of(record))


def _hit(record: Any, similarity: float = 0.0, **how: Any) -> Hit:
    return Hit(id=record.id, similarity=similarity, record=record.model_dump(mode="json"), **how)
