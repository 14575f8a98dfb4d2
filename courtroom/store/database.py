"""The store: one SQLite file, or a PostgreSQL database that several servers share; both behind the same few methods."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import SecretStr

from courtroom.errors import StoreError
from courtroom.store.connection import Parameters, Rows, ServerError, StoreConnection, StoredRow
from courtroom.store.sqlite import SqliteStore
from courtroom.store.sqlite import explained as explained_of_file

if TYPE_CHECKING:
    from courtroom.store.postgres import PostgresStore


class Database:
    """The store: a SQLite file, or a PostgreSQL database by its address. Safe to share between threads.

    SQL is written so that both kinds understand it, with `?` or `:name` for its values. One that can't be used raises `StoreError`, and
    nothing was written to it.
    """

    def __init__(self, at: Path | SecretStr) -> None:
        self.at = at
        self._store: SqliteStore | PostgresStore
        if isinstance(at, Path):
            self._store = SqliteStore(at)
        else:
            from courtroom.store.postgres import PostgresStore  # slow to import: only where it is used

            self._store = PostgresStore(at.get_secret_value())
        self.name, self.place = self._store.name, self._store.place
        """`SQLite` or `PostgreSQL`, and where the store is, in words; no password is in it."""
        self.row_key = self._store.row_key
        """What each row of any table has of its own, for who mends rows that can't be read."""
        self.claims = self._store.claims
        """What processes claim for themselves; None where the store is a file of one machine."""

    @property
    def connection(self) -> StoreConnection:
        """This thread's connection (autocommit; use `transaction` for more than one statement)."""
        return self._store.connection

    def execute(self, sql: str, values: Any = ()) -> Rows:
        """Run one statement on this thread's connection; its values by their places, or by name."""
        return self.connection.execute(sql, values)

    def row(self, sql: str, values: Any = ()) -> Any:
        """The first row that a query gives; None where there is none."""
        return self.execute(sql, values).fetchone()

    def transaction(self) -> AbstractContextManager[StoreConnection]:
        """All or nothing, and the write lock from the start; within another it is part of that one."""
        return self._store.transaction()

    def snapshot(self) -> AbstractContextManager[StoreConnection]:
        """All that this thread reads is of one moment, and nobody waits: others write meanwhile. Nothing can be written in it."""
        return self._store.snapshot()

    def close(self) -> None:
        self._store.close()

    def each(self, sql: str, parameters: Parameters = ()) -> Iterator[StoredRow]:
        """The rows of a query that may be too many for the memory; others may write meanwhile."""
        return self._store.each(sql, parameters)


def explained(error: Exception, at: Path | SecretStr) -> StoreError:
    """One sentence for what a database says. `at`: the store; a move has another database beside it, and the error may be of that one."""
    if isinstance(error, sqlite3.Error):
        return explained_of_file(error, at if isinstance(at, Path) else Path("The SQLite file"))
    from courtroom.store.postgres import explained as explained_of_server
    from courtroom.store.postgres import place_of

    assert isinstance(error, ServerError)
    return explained_of_server(
        error, place_of(at.get_secret_value()) if isinstance(at, SecretStr) else "the PostgreSQL database"
    )


def marks(values: Sequence[object]) -> str:
    """As many `?` as there are values, for `IN (...)`; with none, what nothing is in."""
    return ", ".join("?" * len(values)) or "NULL"
