"""The states of the learned memory: each record as it was at any time, so that what a run saw can be read again."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Literal

from courtroom.store.database import Database

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
        rows = self._database.connection.execute(
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
