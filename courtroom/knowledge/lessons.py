"""What was taught to the knowledge base, step by step: the record from which it can be replayed, or a step undone."""

import json
import time
from collections.abc import Callable
from typing import Any, Literal

from pydantic import Field, TypeAdapter

from courtroom.access import Access, needs
from courtroom.errors import CourtroomError, Unreadable
from courtroom.knowledge.collection import Collection
from courtroom.store.connection import read, read_all
from courtroom.store.database import Database
from courtroom.strict import Strict

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
