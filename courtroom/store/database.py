"""The store: one SQLite file, or a PostgreSQL database that several servers share; both behind the same few methods."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Literal

from pydantic import SecretStr

from courtroom.store.connection import Rows, StoreConnection, StoredRow, StoreLock


class Database:
    """The store: a SQLite file, or a PostgreSQL database by its address. Safe to share between threads.

    `open_store` opens the one or the other. SQL is written so that both understand it, with `?` or `:name` for its
    values. One that can't be used raises `StoreError`, and nothing was written to it.
    """

    name: str
    """`SQLite` or `PostgreSQL`."""
    place: str
    """Where the store is, in words; no password is in it."""
    row_key: str
    """What each row of any table has of its own, for who mends rows that can't be read."""
    is_shared: bool
    """Whether processes of several machines may use it; a file is one machine's."""
    found: Literal["nothing", "older", "current"]
    """Which schema was there before it was opened."""

    def __init__(self, at: Path | SecretStr) -> None:
        self.at = at

    def execute(self, sql: str, values: Any = (), /) -> Rows:
        """Run one statement on this thread's connection; its values by their places, or by name."""
        return self.connection.execute(sql, values)

    def row(self, sql: str, values: Any = ()) -> Any:
        """Return the first row that a query gives; None where there is none."""
        return self.connection.execute(sql, values).fetchone()

    @property
    def connection(self) -> StoreConnection:
        """This thread's connection (autocommit; use `transaction` for more than one statement)."""
        raise NotImplementedError

    def transaction(self, *, driving: bool = False) -> AbstractContextManager[StoreConnection]:
        """All or nothing, and the write lock from the start; within another it is part of that one. `driving`: on the
        connection that holds this process's locks, so that nothing is written once they are lost."""
        raise NotImplementedError

    def lock(self, name: str) -> StoreLock:
        """Make the lock of what has this name, for `take`."""
        raise NotImplementedError

    def is_locked(self, name: str) -> bool:
        """Whether some process, this one too, has a lock; that of one that was killed is free."""
        raise NotImplementedError

    def snapshot(self) -> AbstractContextManager[StoreConnection]:
        """All that this thread reads is of one moment, while others write. Nothing can be written in it."""
        raise NotImplementedError

    def each(self, sql: str, values: Any = ()) -> Iterator[StoredRow]:
        """Read the rows of a query that may be too many for the memory; others may write meanwhile."""
        raise NotImplementedError

    def close(self) -> None:
        """Close all connections."""
        raise NotImplementedError


class Tables:
    """Reads and writes some tables of the store. Methods may be called from any thread."""

    def __init__(self, database: Database) -> None:
        self._database = database


def insert(
    db: StoreConnection,
    table: str,
    rows: Iterable[Mapping[str, Any]],
    *,
    or_keep: bool = False,
    key: Sequence[str] = (),
) -> int:
    """Insert rows by the names of their columns. Return how many of them are new. `or_keep`: leave a row as it is that
    is there already. `key`: columns; a row that is there with the same in them gets the new one's values."""
    every = [*rows]
    if not every:
        return 0
    columns = every[0].keys()
    sql = f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join(f':{name}' for name in columns)})"
    sql += " ON CONFLICT DO NOTHING" if or_keep else ""
    if key:
        values = ", ".join(f"{name} = excluded.{name}" for name in columns if name not in key)
        sql += f" ON CONFLICT ({', '.join(key)}) DO UPDATE SET {values}"
    return db.execute(sql, every[0]).rowcount if len(every) == 1 else db.executemany(sql, every).rowcount


def marks(values: Sequence[object]) -> str:
    """As many `?` as there are values, for `IN (...)`; with none, what nothing is in."""
    return ", ".join("?" * len(values)) or "NULL"
