"""The store: one SQLite file, or a PostgreSQL database that several servers share; both behind the same few methods."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from pydantic import SecretStr

from courtroom.errors import StoreError
from courtroom.store.connection import Parameters, StoreConnection, StoredRow
from courtroom.store.failures import ServerError
from courtroom.store.file import explained as explained_of_file
from courtroom.store.migrations import MIGRATIONS
from courtroom.store.sqlite import SqliteStore


class Claims(Protocol):
    """What processes that share a database claim for themselves, by name, for as long as they live."""

    def take(self, names: Sequence[str]) -> list[bool]:
        """Claim each; whether it is this process's now, and was nobody's before."""
        ...

    def release(self, names: Sequence[str]) -> None:
        """Let others claim them."""
        ...


class Dialect(Protocol):
    """What a kind of database offers."""

    name: str
    place: str
    row_key: str

    @property
    def claims(self) -> Claims | None:
        """Claims between processes."""
        ...

    @property
    def connection(self) -> StoreConnection:
        """For this thread."""
        ...

    def transaction(self) -> AbstractContextManager[StoreConnection]:
        """All or nothing."""
        ...

    def snapshot(self) -> AbstractContextManager[StoreConnection]:
        """Reads of one moment."""
        ...

    def each(self, sql: str, parameters: Parameters = ()) -> Iterator[StoredRow]:
        """Rows, some at a time."""
        ...

    def close(self) -> None:
        """Let go of it."""
        ...


class Database:
    """The store. Safe to share between threads.

    SQL is written so that both kinds understand it, with `?` or `:name` for its values.

    Args:
        at: the SQLite file, or the address of a PostgreSQL database.

    Raises:
        StoreError: it can't be used; the sentence says why, and nothing was written to it.
    """

    def __init__(self, at: Path | SecretStr) -> None:
        self.at = at
        self._store: Dialect
        if isinstance(at, Path):
            self._store = SqliteStore(at, MIGRATIONS)
        else:
            from courtroom.store.postgres import PostgresStore  # slow to import: only where it is used

            self._store = PostgresStore(at.get_secret_value(), len(MIGRATIONS))

    @property
    def name(self) -> str:
        """`SQLite` or `PostgreSQL`."""
        return self._store.name

    @property
    def place(self) -> str:
        """Where the store is, in words; no password is in it."""
        return self._store.place

    @property
    def row_key(self) -> str:
        """What each row of any table has of its own, for who mends rows that can't be read."""
        return self._store.row_key

    @property
    def claims(self) -> Claims | None:
        """What processes claim for themselves; None where the store is a file of one machine."""
        return self._store.claims

    @property
    def connection(self) -> StoreConnection:
        """This thread's connection (autocommit; use `transaction` for more than one statement)."""
        return self._store.connection

    def transaction(self) -> AbstractContextManager[StoreConnection]:
        """All or nothing, and the write lock from the start; within another it is part of that one."""
        return self._store.transaction()

    def snapshot(self) -> AbstractContextManager[StoreConnection]:
        """All that this thread reads is of one moment, and nobody waits: others write meanwhile. Nothing can be written in it."""
        return self._store.snapshot()

    def each(self, sql: str, parameters: Parameters = ()) -> Iterator[StoredRow]:
        """The rows of a query that may be too many for the memory; others may write meanwhile."""
        return self._store.each(sql, parameters)

    def close(self) -> None:
        """Let go of the store."""
        self._store.close()


def explained(error: Exception, at: Path | SecretStr) -> StoreError:
    """One sentence for what a database says.

    Args:
        at: the store; a move has another database beside it, and the error may be of that one.
    """
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
