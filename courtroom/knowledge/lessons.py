"""Lessons: what was taught, step by step, so that a step can be undone; the memory's states, and snapshots of them."""

import hashlib
import json
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal, cast

from pydantic import Field

from courtroom.access import Access, needs
from courtroom.errors import CourtroomError, Unreadable
from courtroom.knowledge.bases import MEMORY_PARTS, MemoryPart, kept_as
from courtroom.knowledge.collection import Collection
from courtroom.store.connection import read, read_all
from courtroom.store.database import Database, insert, marks
from courtroom.strict import Strict

Changes = Mapping[tuple[MemoryPart, str], str | None]
"""Records as JSON text, by collection and id; None for what is gone."""
EMPTY = 0
"""The state in which nothing was learned yet."""

_TAKE_IN = """
    INSERT INTO memory_states (collection, id, body)
    SELECT :collection, t.id, k.body FROM (
        SELECT id FROM knowledge WHERE collection = :collection AND version > :version
        UNION SELECT id FROM knowledge_removed WHERE collection = :collection AND version > :version
        UNION SELECT id FROM memory_states WHERE collection = :collection AND until IS NULL AND :version < 0
    ) AS t
    LEFT JOIN knowledge AS k ON k.collection = :collection AND k.id = t.id
    LEFT JOIN memory_states AS s ON s.until IS NULL AND s.collection = :collection AND s.id = t.id
    WHERE coalesce(k.body, '') <> coalesce(s.body, '') ORDER BY k.seq IS NULL, k.seq
"""
"""Of records that were written or deleted after a version, and, before all versions, those of the newest state: what is
not as in that state."""
_END = """
    UPDATE memory_states SET until = :first WHERE until IS NULL AND (seq < :first OR body IS NULL)
    AND (collection, id) IN (SELECT collection, id FROM memory_states WHERE seq >= :first)
"""
"""What is no more from a state on."""


class States:
    """All states of all memories, numbered together; a state never changes. The store's own memory has no name."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.put_back = 0
        """How often the store lacked a state that was there: a transaction was undone, or an older store is back."""
        self._adding = threading.Lock()
        self._seen: dict[str, tuple[int, Mapping[str, int]]] = {}
        """A memory's newest state, and the versions of its collections when it was last looked for changes."""
        self._hashes: dict[str, tuple[int, int, dict[MemoryPart, dict[str, int]]]] = {}
        """By the memory's name the state that was asked for last, the sum of its records' hashes, and these by id."""
        self._of_state: dict[int, tuple[str, Mapping[str, int]]] = {}

    def now(self, memory: str = "") -> int:
        """The number of the state in which a memory is. What has changed since its last state becomes a new one."""
        newest, seen = self._seen.get(memory, (EMPTY, None))
        if newest and self._last(memory, newest - 1) == EMPTY:
            self.put_back += 1
            newest, seen, self._seen, self._hashes, self._of_state = EMPTY, None, {}, {}, {}
        kept = [kept_as(part, memory) for part in MEMORY_PARTS]
        rows = self._database.execute(f"SELECT name, changes FROM collections WHERE name IN ({marks(kept)})", kept)
        versions = {row["name"]: row["changes"] for row in rows}
        if versions != seen:
            with self._database.transaction() as db:
                # All changes of one look are one state: nobody saw the memory between them.
                first = int(db.execute("SELECT coalesce(max(seq), 0) + 1 FROM memory_states").fetchone()[0])
                before = [{"collection": name, "version": (seen or {}).get(name, -1)} for name in kept]
                db.executemany(_TAKE_IN, before)
                db.execute(_END, {"first": first})
            newest = self._last(memory, newest - 1)
            self._seen[memory] = newest, versions
        return newest

    def memory_of(self, at: int) -> str:
        """Return the name of the memory that a state is of."""
        row = self._database.row("SELECT collection FROM memory_states WHERE seq = ?", (at,))
        return str(row["collection"]).partition(".")[2] if row is not None else ""

    def changes(self, since: int, to: int) -> Changes:
        """Return what differs between two states of a memory, as it changed; of an empty one all, by collection and id."""
        where, values, order = "seq > ? AND seq <= ?", (since, to), "seq"
        if since == EMPTY:
            where, order = "seq <= ? AND body IS NOT NULL AND (until IS NULL OR until > ?)", "collection, id"
            values = (to, to)
        parts = {kept_as(part, self.memory_of(to)): part for part in MEMORY_PARTS}
        rows = self._database.execute(
            f"SELECT collection, id, body FROM memory_states WHERE {where} AND collection IN ({marks([*parts])})"
            f" ORDER BY {order}",
            (*values, *parts),
        )
        return {(parts[row["collection"]], row["id"]): row["body"] for row in rows}

    def _last(self, memory: str, after: int) -> int:
        """Return the number of a memory's last state behind another one."""
        kept = [kept_as(part, memory) for part in MEMORY_PARTS]
        row = self._database.row(
            f"SELECT coalesce(max(seq), 0) FROM memory_states WHERE seq > ? AND collection IN ({marks(kept)})",
            (after, *kept),
        )
        return int(row[0])

    def contents(self, at: int) -> tuple[str, Mapping[str, int]]:
        """Return the sum of the SHA-256 of a state's records, the same in every store that has learned the same, and how
        many records each collection has."""
        with self._adding:
            if at not in self._of_state:
                memory = self.memory_of(at)
                known = self._hashes.get(memory)
                if known is None or known[0] > at:
                    known = EMPTY, 0, {part: {} for part in MEMORY_PARTS}
                since, total, hashes = known
                for (part, name), body in self.changes(since, at).items():
                    total -= hashes[part].pop(name, 0)
                    if body is not None:
                        hashed = hashlib.sha256("\n".join((part, name, body)).encode())
                        hashes[part][name] = int.from_bytes(hashed.digest())
                        total += hashes[part][name]
                self._hashes[memory] = at, total, hashes
                self._of_state[at] = f"{total % 2**256:064x}", {part: len(ids) for part, ids in hashes.items()}
            return self._of_state[at]

    def differences(self, at: int, memory: str) -> Iterator[tuple[MemoryPart, str, str | None]]:
        """Give what makes a memory as it, or another one, was in a state: records to put, None for those to take out."""
        wanted, there = self.changes(EMPTY, at), self.changes(EMPTY, self.now(memory))
        yield from ((*key, None) for key in there if key not in wanted)
        yield from ((*key, body) for key, body in wanted.items() if there.get(key) != body)


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
        """All lessons that can be read, oldest first, undone ones too."""
        return self.every()[0]

    def every(self) -> tuple[list[Taught], list[Unreadable]]:
        """Return lessons as `all` does, and those that can't be read."""
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
