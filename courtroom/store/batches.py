"""Which batch of writes each process has committed last, so that one whose commit got no reply is not written twice."""

from __future__ import annotations

import secrets
import time

from courtroom.store.database import Database

KEPT_S = 30 * 24 * 3600.0
"""Seconds after which a process that has written nothing more is forgotten."""


class Batches:
    """The batches of one writer, one after the other. All is done within the transaction of the caller."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._writer = secrets.token_hex(8)
        self._number = 0

    def begin(self) -> None:
        """Number the batch of this transaction: the number is committed with it or not at all."""
        db, now = self._database.connection, time.time()
        if self._number == 0:
            db.execute("DELETE FROM batches WHERE at < ?", (now - KEPT_S,))
        self._number += 1
        db.execute(
            "INSERT INTO batches (writer, number, at) VALUES (?, ?, ?)"
            " ON CONFLICT (writer) DO UPDATE SET number = excluded.number, at = excluded.at",
            (self._writer, self._number, now),
        )

    def is_kept(self) -> bool:
        """Whether the batch that was numbered last is in the store."""
        row = self._database.connection.execute(
            "SELECT 1 FROM batches WHERE writer = ? AND number = ?", (self._writer, self._number)
        ).fetchone()
        return row is not None
