"""Lessons: what was taught, step by step, so that a step can be undone; the memory's states, and snapshots of them."""

import hashlib
import json
import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal, cast

from pydantic import Field

from courtroom.access import Access, needs
from courtroom.errors import CourtroomError, Unreadable
from courtroom.knowledge.bases import MEMORY_PARTS, MemoryPart, kept_as
from courtroom.knowledge.collection import Collection
from courtroom.store.connection import read, read_all
from courtroom.store.database import Database, insert, marks
from courtroom.strict import Strict

State = dict[tuple[MemoryPart, str], str]
"""Records as JSON text, by collection and id."""
EMPTY = 0
"""The state in which nothing was learned yet."""

_DIFFERING = """
    SELECT t.id, k.body, s.body FROM (
        SELECT id, 0 AS gone FROM knowledge WHERE collection = :collection AND version > :version
        UNION SELECT id, 1 FROM knowledge_removed WHERE collection = :collection AND version > :version
        UNION SELECT id, 1 FROM memory_states WHERE collection = :collection AND until IS NULL AND :version < 0
    ) AS t
    LEFT JOIN knowledge AS k ON k.collection = :collection AND k.id = t.id
    LEFT JOIN memory_states AS s ON s.until IS NULL AND s.collection = :collection AND s.id = t.id
    ORDER BY t.gone, k.seq
"""
"""Records that were written or deleted after a version, and, before all versions, those of the newest state."""


class Contents:
    """The records of one state by their hashes, brought forward by what is new."""

    def __init__(self) -> None:
        self.at = EMPTY
        self._hashes: dict[tuple[MemoryPart, str], int] = {}
        self._counts: Counter[str] = Counter()
        self._sum = 0

    def bring_forward(
        self, changed: Mapping[tuple[MemoryPart, str], str | None], at: int
    ) -> tuple[str, Mapping[str, int]]:
        """Put in what another state has, None where a record is gone.

        Returns:
            The sum of the records' hashes, and how many records each collection has.
        """
        self.at = at
        for key, body in changed.items():
            if key in self._hashes:
                self._sum -= self._hashes.pop(key)
                self._counts[key[0]] -= 1
            if body is not None:
                hashed = hashlib.sha256("\n".join((*key, body)).encode())
                self._hashes[key] = int.from_bytes(hashed.digest())
                self._sum += self._hashes[key]
                self._counts[key[0]] += 1
        return f"{self._sum % 2**256:064x}", dict(self._counts)


class States:
    """All states of all memories, numbered together; a state never changes. The store's own memory has no name."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.put_back = 0
        """How often the store lacked a state that was there: a transaction was undone, or an older store is back."""
        self._newest: dict[str, int] = {}
        """By the memory's name."""
        self._adding = threading.Lock()
        self._seen: dict[str, Mapping[str, int]] = {}
        """The versions of a memory's collections when it was last looked for changes."""
        self._contents, self._of_state = dict[str, Contents](), dict[int, tuple[str, Mapping[str, int]]]()

    def now(self, memory: str = "") -> int:
        """The number of the state in which a memory is. What has changed since its last state becomes a new one."""
        newest = self._newest.get(memory, EMPTY)
        if newest and self._last(memory, newest - 1) == EMPTY:
            self.put_back += 1
            self._newest, self._seen, self._contents, self._of_state = {}, {}, {}, {}
        kept = [kept_as(part, memory) for part in MEMORY_PARTS]
        rows = self._database.execute(f"SELECT name, changes FROM collections WHERE name IN ({marks(kept)})", kept)
        versions = {row["name"]: row["changes"] for row in rows}
        if versions != self._seen.get(memory):
            seen = self._seen.get(memory, {})
            since = {name: seen.get(name, -1) for name in kept if seen.get(name, -1) != versions.get(name)}
            if self._differing(since):
                with self._database.transaction():
                    self._write(self._differing(since))
            self._seen[memory] = versions
            self._newest[memory] = self._last(memory, self._newest.get(memory, EMPTY) - 1)
        return self._newest[memory]

    def memory_of(self, at: int) -> str:
        """Return the name of the memory that a state is of."""
        row = self._database.row("SELECT collection FROM memory_states WHERE seq = ?", (at,))
        return str(row["collection"]).partition(".")[2] if row is not None else ""

    def changes(self, since: int, to: int) -> dict[tuple[MemoryPart, str], str | None]:
        """Return what differs between two states of a memory, as it changed: the later one's records, or None for what
        is gone."""
        if since == EMPTY:
            return dict(self.records(to))
        return self._read("seq > ? AND seq <= ?", (since, to), "seq", to)

    def records(self, at: int) -> State:
        """All records of a state, in the order of collection and id."""
        there = "seq <= ? AND body IS NOT NULL AND (until IS NULL OR until > ?)"
        return cast(State, self._read(there, (at, at), "collection, id", at))

    def _last(self, memory: str, after: int) -> int:
        """Return the number of a memory's last state behind another one."""
        kept = [kept_as(part, memory) for part in MEMORY_PARTS]
        row = self._database.row(
            f"SELECT coalesce(max(seq), 0) FROM memory_states WHERE seq > ? AND collection IN ({marks(kept)})",
            (after, *kept),
        )
        return int(row[0])

    def _read(self, where: str, values: Sequence[int], order: str, at: int) -> dict[tuple[MemoryPart, str], str | None]:
        """Return what the rows of a state's memory say, by part and id."""
        parts = {kept_as(part, self.memory_of(at)): part for part in MEMORY_PARTS}
        rows = self._database.execute(
            f"SELECT collection, id, body FROM memory_states WHERE {where} AND collection IN ({marks([*parts])})"
            f" ORDER BY {order}",
            (*values, *parts),
        )
        return {(parts[row["collection"]], row["id"]): row["body"] for row in rows}

    def contents(self, at: int) -> tuple[str, Mapping[str, int]]:
        """Return a state's SHA-256, the same in every store that has learned the same, and its records' numbers."""
        with self._adding:
            if at not in self._of_state:
                memory = self.memory_of(at)
                contents = self._contents.setdefault(memory, Contents())
                contents = contents if contents.at <= at else Contents()
                self._of_state[at] = contents.bring_forward(self.changes(contents.at, at), at)
            return self._of_state[at]

    def differences(self, at: int, memory: str) -> Iterator[tuple[MemoryPart, str, str | None]]:
        """Give what makes a memory as it, or another one, was in a state: records to put, None for those to take out."""
        wanted, there = self.records(at), self.records(self.now(memory))
        yield from ((*key, None) for key in there if key not in wanted)
        yield from ((*key, body) for key, body in wanted.items() if there.get(key) != body)

    def _differing(self, since: Mapping[str, int]) -> list[tuple[str, str, str | None]]:
        """Records of collections that are newer than a version and not as in the newest state, None where one is gone."""
        found: dict[tuple[str, str], str | None] = {}
        for kept, version in since.items():
            values = {"collection": kept, "version": version}
            for name, body, newest in map(tuple, self._database.execute(_DIFFERING, values)):
                if body != newest:
                    found[kept, name] = body
        return [(*key, body) for key, body in found.items()]

    def _write(self, changed: Sequence[tuple[str, str, str | None]]) -> None:
        """All changes of one look are one state: nobody saw the memory between them."""
        db = self._database.connection
        first = int(db.execute("SELECT coalesce(max(seq), 0) + 1 FROM memory_states").fetchone()[0])
        for collection, name, body in changed:
            db.execute(
                "UPDATE memory_states SET until = ? WHERE collection = ? AND id = ? AND until IS NULL",
                (first, collection, name),
            )
            until = None if body is not None else first
            insert(db, "memory_states", [{"collection": collection, "id": name, "body": body, "until": until}])


NOTHING = "empty"
"""The snapshot that is always there: nothing was learned yet."""
_NAME = re.compile(r"[\w.-]{1,60}")


class Frozen(Strict):
    """Which memory does a run see? The snapshot of this name, or the memory that the run teaches, as it is now, frozen."""

    kind: Literal["memory"] = "memory"
    name: str = Field(default="", description="A snapshot; empty: the memory as it is now.")


class Snapshot(Strict):
    """The learned memory at one time. It never changes."""

    name: str = Field(default="", description="Empty where nobody has named it.")
    at: int = Field(description="Number of the memory's state in this store.")
    digest: str = Field(description="Of all its records: the same in every store that has learned the same.")
    made: float = Field(default=0.0, description="When it was named, in seconds since 1970.")
    standards: int = 0
    directives: int = 0
    buffer: int = 0


class Snapshots:
    """All snapshots of one store. `memory`: the name of the one that is taken; empty is the store's own."""

    def __init__(self, database: Database, states: States, memory: str) -> None:
        self._database, self._states, self._memory = database, states, memory

    @needs(Access.RUN)
    def take(self, name: str) -> Snapshot:
        """Name the memory as it is now. A name that stands for the same memory already is no error."""
        if not _NAME.fullmatch(name) or name == NOTHING:
            raise CourtroomError(
                f"A snapshot can't be named “{name[:80]}”. Use letters, digits, points, hyphens and underscores, at "
                f"most 60, and not “{NOTHING}”."
            )
        at = self._states.now(self._memory)
        digest, _ = self._states.contents(at)
        with self._database.transaction() as db:
            row = {"name": name, "at": at, "digest": digest, "made": time.time()}
            insert(db, "memory_snapshots", [row], or_keep=True)
        kept = self.named(name)
        if kept.digest != digest:
            raise CourtroomError(
                f"The snapshot “{name}” holds another memory, and stays as it is. Choose another name."
            )
        return kept

    def named(self, name: str) -> Snapshot:
        if name == NOTHING:
            return self._counted(name, EMPTY, 0.0)
        row = self._database.row("SELECT * FROM memory_snapshots WHERE name = ?", (name,))
        if row is None:
            raise CourtroomError(
                f"There is no snapshot “{name[:80]}” of the memory. "
                "See all with `python -m courtroom knowledge snapshots`."
            )
        return self._counted(row["name"], row["at"], row["made"])

    def all(self) -> list[Snapshot]:
        """All named snapshots, the oldest first; the one that is always there before them."""
        rows = self._database.execute("SELECT name FROM memory_snapshots ORDER BY made, name")
        return [self.named(name) for name in (NOTHING, *(row["name"] for row in rows))]

    @needs(Access.RUN)
    def forget(self, name: str) -> None:
        """Take a name away; the memory itself stays as it is. What is not there is forgotten already."""
        self._database.execute("DELETE FROM memory_snapshots WHERE name = ?", (name,))

    def frozen(self, query: Frozen) -> Snapshot:
        if query.name and query.name != self._memory:
            return self.named(query.name)
        return self._counted("", self._states.now(self._memory), 0.0)

    def _counted(self, name: str, at: int, made: float) -> Snapshot:
        digest, counts = self._states.contents(at)
        return Snapshot(name=name, at=at, digest=digest, made=made, **dict[str, Any](counts))


Phase = Literal["norms", "archive", "buffer", "induction", "refinement", "confidence", "merge", "pruning", "restore"]


class Put(Strict):
    """Add a record, or put it in place of the one with its id."""

    op: Literal["put"] = "put"
    collection: str = Field(description="Under which name its records are kept: `precedents`, `precedents.mine` ...")
    record: dict[str, Any]


class Remove(Strict):
    """Take a record out."""

    op: Literal["remove"] = "remove"
    collection: str
    id: str


class Adjust(Strict):
    """Move a directive's confidence; it stays between 0 and `most`. A directive that is gone by now stays gone."""

    op: Literal["adjust"] = "adjust"
    id: str
    by: float
    most: float = 1.0


class Lesson(Strict):
    """One step of learning, as a procedure gives it."""

    phase: Phase
    why: str = ""
    ops: tuple[Put | Remove | Adjust, ...] = Field(min_length=1)


class RecordChange(Strict):
    """What a lesson did to one record; None where there was, or is, none."""

    collection: str
    id: str
    before: dict[str, Any] | None
    after: dict[str, Any] | None


class Taught(Strict):
    """A lesson on record."""

    seq: int
    run: str
    path: str
    at: float
    phase: Phase
    why: str
    changes: tuple[RecordChange, ...]
    undone: float | None = None


class Lessons:
    """All lessons, in order. `collection`: what is kept under a name."""

    def __init__(self, database: Database, collection: Callable[[str], Collection[Any]]) -> None:
        self._database, self._collection = database, collection

    @needs(Access.OWN)
    def teach(self, run: str, path: str, lesson: Lesson) -> None:
        """Apply a lesson and put it on record, both or neither. A path of a run teaches once."""
        with self._database.transaction() as db:
            if db.execute("SELECT 1 FROM lessons WHERE run = ? AND path = ?", (run, path)).fetchone():
                return
            changes = [change.model_dump(mode="json") for op in lesson.ops if (change := self._apply(op))]
            body = {"phase": lesson.phase, "why": lesson.why, "changes": changes}
            row = {"run": run, "path": path, "at": time.time(), "body": json.dumps(body, ensure_ascii=False)}
            insert(db, "lessons", [row])

    def all(self) -> list[Taught]:
        """All lessons that can be read, oldest first, undone ones too; `unreadable` has the others."""
        return self._read_all()[0]

    def unreadable(self) -> list[Unreadable]:
        return self._read_all()[1]

    def _read_all(self) -> tuple[list[Taught], list[Unreadable]]:
        return read_all(self._database.execute("SELECT * FROM lessons ORDER BY seq"), taught)

    def of(self, record: str) -> list[Taught]:
        """The life of one record: the lessons that touched it, or in which another one took its place."""
        return [taught for taught in self.all() if any(change.id == record for change in taught.changes)]

    @needs(Access.OWN)
    def undo(self, seq: int) -> None:
        """Put back what a lesson changed."""
        with self._database.transaction() as db:
            lessons = self.all()
            taught = next((lesson for lesson in lessons if lesson.seq == seq), None)
            if taught is None:
                raise CourtroomError(
                    f"There is no learning step {seq}. See all with `python -m courtroom knowledge lessons`."
                )
            if taught.undone is not None:
                raise CourtroomError("This learning step is undone already.")
            touched = {(change.collection, change.id) for change in taught.changes}
            after = (lesson for lesson in lessons if lesson.seq > seq and lesson.undone is None)
            if later := [one for one in after if touched & {(change.collection, change.id) for change in one.changes}]:
                raise CourtroomError(
                    f"{len(later)} later learning steps build on this one. Undo those first, the latest one first."
                )
            for change in taught.changes:
                _set(self._collection(change.collection), change.id, change.before)
            db.execute("UPDATE lessons SET undone = ? WHERE seq = ?", (time.time(), seq))

    # --- within a transaction -------------------------------------------------------------------------------

    def _apply(self, op: Put | Remove | Adjust) -> RecordChange | None:
        known = self._collection("directives" if isinstance(op, Adjust) else op.collection)
        name = str(op.record["id"]) if isinstance(op, Put) else op.id
        record = known.get(name)
        before = None if record is None else record.model_dump(mode="json")
        after: dict[str, Any] | None = op.record if isinstance(op, Put) else None
        if isinstance(op, Adjust):
            if before is None:
                return None
            after = before | {"confidence": round(min(op.most, max(0.0, before["confidence"] + op.by)), 6)}
        return RecordChange(collection=known.name, id=name, before=before, after=_set(known, name, after))


def _set(known: Collection[Any], name: str, body: dict[str, Any] | None) -> dict[str, Any] | None:
    """Put a record, or take it out where there is none. Return it as it is kept."""
    if body is None:
        known.remove([name])
        return None
    record = known.parse(json.dumps(body))
    known.add([record])
    return cast(dict[str, Any], record.model_dump(mode="json"))


def taught(row: Any) -> Taught:
    fields = dict(row)
    return read("lesson", row["seq"], lambda: Taught.model_validate({**json.loads(fields.pop("body")), **fields}))
