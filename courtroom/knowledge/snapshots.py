"""Named, frozen snapshots of the learned memory: part of a run's input, like its seed."""

from __future__ import annotations

import re
import time
from collections import Counter
from typing import Any, Literal

from pydantic import Field

from courtroom.access.account import Access
from courtroom.access.acting import needs
from courtroom.errors import CourtroomError
from courtroom.knowledge.states import EMPTY, States
from courtroom.store.database import Database
from courtroom.strict import Strict

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
        """Name the memory as it is now. A name that stands for the same memory already is no error.

        Raises:
            CourtroomError: the name can't be used, or stands for another memory.
        """
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
        """The snapshot of this name.

        Raises:
            CourtroomError: there is none.
        """
        if name == NOTHING:
            return self._counted(name, EMPTY, self._states.digest(EMPTY), 0.0)
        row = self._database.connection.execute("SELECT * FROM memory_snapshots WHERE name = ?", (name,)).fetchone()
        if row is None:
            raise CourtroomError(
                f"There is no snapshot “{name[:80]}” of the memory. See all with `python -m courtroom knowledge snapshots`."
            )
        return self._counted(row["name"], row["at"], row["digest"], row["made"])

    def all(self) -> list[Snapshot]:
        """All named snapshots, the oldest first; the one that is always there before them."""
        rows = self._database.connection.execute("SELECT name FROM memory_snapshots ORDER BY made, name")
        return [self.named(name) for name in (NOTHING, *(row["name"] for row in rows))]

    @needs(Access.RUN)
    def forget(self, name: str) -> None:
        """Take a name away; the memory itself stays as it is. What is not there is forgotten already."""
        self._database.connection.execute("DELETE FROM memory_snapshots WHERE name = ?", (name,))

    def frozen(self, query: Frozen) -> Snapshot:
        """The snapshot that a run sees.

        Raises:
            CourtroomError: there is none of this name.
        """
        if query.name:
            return self.named(query.name)
        at = self._states.now()
        return self._counted("", at, self._states.digest(at), 0.0)

    def _counted(self, name: str, at: int, digest: str, made: float) -> Snapshot:
        counts: Any = Counter(part for part, _ in self._states.records(at))
        return Snapshot(name=name, at=at, digest=digest, made=made, **counts)
