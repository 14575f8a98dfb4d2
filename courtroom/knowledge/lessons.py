"""What was taught to the knowledge base, step by step: the record from which it can be replayed, or a step undone."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field, TypeAdapter

from courtroom.access.account import Access
from courtroom.access.acting import needs
from courtroom.errors import CourtroomError, Unreadable
from courtroom.knowledge.collection import Collection, Name
from courtroom.store.database import Database
from courtroom.store.rows import read, read_all
from courtroom.strict import Strict

Phase = Literal["norms", "archive", "buffer", "induction", "refinement", "confidence", "merge", "pruning", "restore"]
State = dict[tuple[str, str], dict[str, Any]]
"""Records by collection and id."""


class Put(Strict):
    """Add a record, or put it in place of the one with its id."""

    op: Literal["put"] = "put"
    collection: Name
    record: dict[str, Any]


class Remove(Strict):
    """Take a record out."""

    op: Literal["remove"] = "remove"
    collection: Name
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

    collection: Name
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
    """When it was undone; None where it holds."""


_CHANGES: TypeAdapter[tuple[RecordChange, ...]] = TypeAdapter(tuple[RecordChange, ...])


class Lessons:
    """All lessons, in order.

    Args:
        collections: what can be taught; several may be absent where a part of the knowledge base is used alone.
    """

    def __init__(self, database: Database, collections: Mapping[Name, Collection[Any]]) -> None:
        self._database, self._collections = database, collections

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
        """The lessons whose row is damaged."""
        return self._read_all()[1]

    def _read_all(self) -> tuple[list[Taught], list[Unreadable]]:
        return read_all(self._database.connection.execute("SELECT * FROM lessons ORDER BY seq"), taught)

    def of(self, record: str) -> list[Taught]:
        """The life of one record: the lessons that touched it, or in which another one took its place."""
        return [taught for taught in self.all() if any(change.id == record for change in taught.changes)]

    @needs(Access.OWN)
    def undo(self, seq: int) -> None:
        """Put back what a lesson changed.

        Raises:
            CourtroomError: there is none, it is undone already, or a later lesson built on what this one changed.
        """
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
            later = [
                lesson
                for lesson in lessons
                if lesson.seq > seq
                and lesson.undone is None
                and any((change.collection, change.id) in touched for change in lesson.changes)
            ]
            if later:
                raise CourtroomError(
                    f"{len(later)} later learning steps build on this one. Undo those first, the latest one first."
                )
            for change in taught.changes:
                self._set(change.collection, change.id, change.before)
            db.execute("UPDATE lessons SET undone = ? WHERE seq = ?", (time.time(), seq))

    def replayed(self) -> State:
        """What the lessons alone give, from nothing: what was put in by hand or bundled is not among it."""
        state: State = {}
        for taught in self.all():
            if taught.undone is None:
                for change in taught.changes:
                    if change.after is None:
                        state.pop((change.collection, change.id), None)
                    else:
                        state[change.collection, change.id] = change.after
        return state

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

    def _get(self, collection: Name, name: str) -> dict[str, Any] | None:
        record = self._collections[collection].get(name)
        return None if record is None else json.loads(record.model_dump_json())

    def _set(self, collection: Name, name: str, body: dict[str, Any] | None) -> None:
        known = self._collections[collection]
        if body is None:
            known.take_out([name])
        else:
            known.put([known.parse(json.dumps(body))])


def taught(row: Any) -> Taught:
    """A lesson from its row.

    Raises:
        Unreadable: the row is damaged.
    """
    fields = dict(row)
    known = {k: v for k, v in fields.items() if k != "body"}
    return read("lesson", row["seq"], lambda: Taught.model_validate({**known, **json.loads(fields["body"])}))
