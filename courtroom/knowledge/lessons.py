"""What was taught to the knowledge base, step by step: the record from which it can be replayed, or a step undone; the states of the learned memory, each of which can be read again, and snapshots: the names that people give to states."""

import hashlib
import json
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, Literal

from pydantic import Field, TypeAdapter

from courtroom.access import Access, needs
from courtroom.errors import CourtroomError, Unreadable
from courtroom.knowledge.collection import Collection
from courtroom.store.connection import read, read_all
from courtroom.store.database import Database
from courtroom.strict import Strict

Part = Literal["standards", "directives", "buffer"]
PARTS: tuple[Part, ...] = ("standards", "directives", "buffer")
"""The collections that are the learned memory."""
State = dict[tuple[Part, str], str]
"""Records as JSON text, by collection and id."""
EMPTY = 0
"""The state in which nothing was learned yet."""

_LEARNED = "collection IN ('standards', 'directives', 'buffer')"
_CHANGED = f"""
    SELECT k.collection, k.id, k.body FROM knowledge AS k WHERE k.{_LEARNED} AND NOT EXISTS (
        SELECT 1 FROM memory_states AS s
        WHERE s.until IS NULL AND s.collection = k.collection AND s.id = k.id AND s.body = k.body
    ) ORDER BY k.seq
"""
_GONE = """
    SELECT s.collection, s.id FROM memory_states AS s WHERE s.until IS NULL AND NOT EXISTS (
        SELECT 1 FROM knowledge AS k WHERE k.collection = s.collection AND k.id = s.id
    ) ORDER BY s.seq
"""


class States:
    """All states of the memory, numbered; a state never changes."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._digests: dict[int, str] = {}

    def now(self) -> int:
        """The number of the state in which the memory is. What has changed since the last state becomes a new one."""
        db = self._database.connection
        if db.execute(_CHANGED).fetchone() or db.execute(_GONE).fetchone():
            with self._database.transaction():
                self._write()
        return int(db.execute("SELECT coalesce(max(seq), 0) FROM memory_states").fetchone()[0])

    def records(self, at: int) -> State:
        """All records of a state, in the order of collection and id."""
        rows = self._database.execute(
            "SELECT collection, id, body FROM memory_states"
            " WHERE seq <= ? AND body IS NOT NULL AND (until IS NULL OR until > ?) ORDER BY collection, id",
            (at, at),
        )
        return {(row["collection"], row["id"]): row["body"] for row in rows}

    def digest(self, at: int) -> str:
        """SHA-256 of a state's records: the same in every store that has learned the same."""
        if at not in self._digests:
            whole = hashlib.sha256()
            for (collection, name), body in self.records(at).items():
                whole.update(hashlib.sha256("\n".join((collection, name, body)).encode()).digest())
            self._digests[at] = whole.hexdigest()
        return self._digests[at]

    def differences(self, at: int) -> Iterator[tuple[Part, str, str | None]]:
        """What must be done to the memory so that it is as in a state: records to put, and those to take out as None."""
        wanted, there = self.records(at), self.records(self.now())
        yield from ((*key, None) for key in there if key not in wanted)
        yield from ((*key, body) for key, body in wanted.items() if there.get(key) != body)

    def _write(self) -> None:
        """All changes of one look are one state: nobody saw the memory between them."""
        db = self._database.connection
        changed = [*db.execute(_CHANGED), *((row["collection"], row["id"], None) for row in db.execute(_GONE))]
        first = int(db.execute("SELECT coalesce(max(seq), 0) + 1 FROM memory_states").fetchone()[0])
        for collection, name, body in map(tuple, changed):
            db.execute(
                "UPDATE memory_states SET until = ? WHERE collection = ? AND id = ? AND until IS NULL",
                (first, collection, name),
            )
            db.execute(
                "INSERT INTO memory_states (collection, id, body, until) VALUES (?, ?, ?, ?)",
                (collection, name, body, None if body is not None else first),
            )


NOTHING = "empty"
"""The snapshot that is always there: nothing was learned yet."""
_NAME = re.compile(r"[\w.-]{1,60}")


class Frozen(Strict):
    """Which memory does a run see? The snapshot of this name, or the memory as it is now, frozen."""

    kind: Literal["memory"] = "memory"
    name: str = Field(default="", description="A snapshot; empty: the memory as it is now.")


class Snapshot(Strict):
    """The learned memory at one time. It never changes."""

    name: str = Field(default="", description="Empty where nobody has named it.")
    at: int = Field(description="Number of the memory's state in this store.")
    digest: str = Field(description="SHA-256 of all its records: the same in every store that has learned the same.")
    made: float = Field(default=0.0, description="When it was named, in seconds since 1970.")
    standards: int = 0
    directives: int = 0
    buffer: int = 0


class Snapshots:
    """All snapshots of one store."""

    def __init__(self, database: Database, states: States) -> None:
        self._database, self._states = database, states

    @needs(Access.RUN)
    def take(self, name: str) -> Snapshot:
        """Name the memory as it is now. A name that stands for the same memory already is no error."""
        if not _NAME.fullmatch(name) or name == NOTHING:
            raise CourtroomError(
                f"A snapshot can't be named “{name[:80]}”. Use letters, digits, points, hyphens and underscores, at "
                f"most 60, and not “{NOTHING}”."
            )
        at = self._states.now()
        digest = self._states.digest(at)
        with self._database.transaction() as db:
            db.execute(
                "INSERT INTO memory_snapshots (name, at, digest, made) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
                (name, at, digest, time.time()),
            )
        kept = self.named(name)
        if kept.digest != digest:
            raise CourtroomError(
                f"The snapshot “{name}” holds another memory, and stays as it is. Choose another name."
            )
        return kept

    def named(self, name: str) -> Snapshot:
        if name == NOTHING:
            return self._counted(name, EMPTY, self._states.digest(EMPTY), 0.0)
        row = self._database.row("SELECT * FROM memory_snapshots WHERE name = ?", (name,))
        if row is None:
            raise CourtroomError(
                f"There is no snapshot “{name[:80]}” of the memory. See all with `python -m courtroom knowledge snapshots`."
            )
        return self._counted(row["name"], row["at"], row["digest"], row["made"])

    def all(self) -> list[Snapshot]:
        """All named snapshots, the oldest first; the one that is always there before them."""
        rows = self._database.execute("SELECT name FROM memory_snapshots ORDER BY made, name")
        return [self.named(name) for name in (NOTHING, *(row["name"] for row in rows))]

    @needs(Access.RUN)
    def forget(self, name: str) -> None:
        """Take a name away; the memory itself stays as it is. What is not there is forgotten already."""
        self._database.execute("DELETE FROM memory_snapshots WHERE name = ?", (name,))

    def frozen(self, query: Frozen) -> Snapshot:
        if query.name:
            return self.named(query.name)
        at = self._states.now()
        return self._counted("", at, self._states.digest(at), 0.0)

    def _counted(self, name: str, at: int, digest: str, made: float) -> Snapshot:
        counts: Any = Counter(part for part, _ in self._states.records(at))
        return Snapshot(name=name, at=at, digest=digest, made=made, **counts)


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


_CHANGES: TypeAdapter[tuple[RecordChange, ...]] = TypeAdapter(tuple[RecordChange, ...])


class Lessons:
    """All lessons, in order. `collection`: what is kept under a name."""

    def __init__(self, database: Database, collection: Callable[[str], Collection[Any]]) -> None:
        self._database, self._collection = database, collection

    @needs(Access.OWN)
    def teach(self, run: str, path: str, lesson: Lesson) -> Taught:
        """Apply a lesson and put it on record, both or neither. A path of a run teaches once."""
        with self._database.transaction() as db:
            row = db.execute("SELECT * FROM lessons WHERE run = ? AND path = ?", (run, path)).fetchone()
            if row:
                return taught(row)
            changes = tuple(change for op in lesson.ops if (change := self._apply(op)))
            body = {"phase": lesson.phase, "why": lesson.why, "changes": _CHANGES.dump_python(changes, mode="json")}
            cursor = db.execute(
                "INSERT INTO lessons (run, path, at, body) VALUES (?, ?, ?, ?) RETURNING *",
                (run, path, time.time(), json.dumps(body, ensure_ascii=False)),
            )
            return taught(cursor.fetchone())

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
                self._set(change.collection, change.id, change.before)
            db.execute("UPDATE lessons SET undone = ? WHERE seq = ?", (time.time(), seq))

    # --- within a transaction -------------------------------------------------------------------------------

    def _apply(self, op: Put | Remove | Adjust) -> RecordChange | None:
        match op:
            case Put(collection=collection, record=record):
                name = str(record["id"])
                after: dict[str, Any] | None = record
            case Remove(collection=collection, id=name):
                after = None
            case Adjust(id=name, by=by, most=most):
                collection = "directives"
                old = self._get(collection, name)
                if old is None:
                    return None
                after = old | {"confidence": round(min(most, max(0.0, old["confidence"] + by)), 6)}
        before = self._get(collection, name)
        self._set(collection, name, after)
        return RecordChange(collection=collection, id=name, before=before, after=self._get(collection, name))

    def _get(self, collection: str, name: str) -> dict[str, Any] | None:
        record = self._collection(collection).get(name)
        return None if record is None else json.loads(record.model_dump_json())

    def _set(self, collection: str, name: str, body: dict[str, Any] | None) -> None:
        known = self._collection(collection)
        if body is None:
            known.remove([name])
        else:
            known.add([known.parse(json.dumps(body))])


def taught(row: Any) -> Taught:
    fields = dict(row)
    return read("lesson", row["seq"], lambda: Taught.model_validate({**json.loads(fields.pop("body")), **fields}))
