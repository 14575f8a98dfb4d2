"""The store as one SQLite file: one connection a thread, WAL, numbered migrations."""

from __future__ import annotations

import sqlite3
import threading
import time
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from courtroom.store import file as store_file
from courtroom.store.connection import Parameters, StoreConnection, StoredRow
from courtroom.version import __version__


class SqliteStore:
    """Connections to one SQLite file. Safe to share between threads; each thread gets its own connection.

    Args:
        migrations: scripts that bring the file up to date, of which each was run once.

    Raises:
        StoreError: the file can't be used; the sentence says why, and nothing was written to it.
    """

    name = "SQLite"
    row_key = "rowid"
    claims = None

    def __init__(self, path: Path, migrations: Sequence[str]) -> None:
        self._path, self._migrations = path, migrations
        self.place = str(path)
        self._local = threading.local()
        self._open: set[sqlite3.Connection] = set()
        store_file.make_folder(path.parent)
        try:
            store_file.check(path, self._migrations)
            self._migrate()
        except sqlite3.Error as error:
            self.close()
            raise store_file.explained(error, path) from error

    @property
    def connection(self) -> StoreConnection:
        """This thread's connection."""
        return self._connection()

    def _connection(self) -> sqlite3.Connection:
        connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            connection = sqlite3.connect(self._path, timeout=30, isolation_level=None, check_same_thread=False)
            connection.row_factory = sqlite3.Row
            # Bytes that are no text make their own row unreadable, not the rows after it.
            connection.text_factory = lambda data: data.decode("utf-8", "surrogateescape")
            # A killed process loses nothing in WAL with NORMAL; only a power cut may lose the last commits. The log is
            # folded in after 40 MB, not 4: folding waits for the disk.
            connection.executescript(
                "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA wal_autocheckpoint=10000; PRAGMA foreign_keys=ON;"
            )
            connection.create_function("folded", 1, _folded, deterministic=True)
            self._local.connection = connection
            self._open.add(connection)
            weakref.finalize(threading.current_thread(), self._ended, connection)
        return connection

    @contextmanager
    def transaction(self) -> Iterator[StoreConnection]:
        """`BEGIN IMMEDIATE`: the write lock from the start."""
        connection = self._connection()
        if connection.in_transaction:
            yield connection
            return
        connection.execute("BEGIN IMMEDIATE")
        try:
            yield connection
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:  # where the disk is full, SQLite has rolled back already
                connection.execute("ROLLBACK")
            raise

    @contextmanager
    def snapshot(self) -> Iterator[StoreConnection]:
        """All reads of this thread are of one moment; others write meanwhile."""
        connection = self._connection()
        connection.execute("BEGIN")
        try:
            yield connection
        finally:
            connection.execute("ROLLBACK")

    def each(self, sql: str, parameters: Parameters = ()) -> Iterator[StoredRow]:
        """SQLite reads row by row as it is."""
        return iter(self.connection.execute(sql, parameters))

    def close(self) -> None:
        """Close every thread's connection."""
        for connection in list(self._open):
            connection.close()
        self._open.clear()
        self._local = threading.local()

    def _ended(self, connection: sqlite3.Connection) -> None:
        """A thread has: a browser's every click may begin one, and its files would stay open."""
        connection.close()
        self._open.discard(connection)

    def _migrate(self) -> None:
        """Bring an older store up to this version, in one transaction: a process that dies in it leaves the store as it was."""
        me = (__version__, len(self._migrations))
        if self._version() == me[1] and self._written_by(me):
            return
        with self.transaction() as connection:
            version = self._version()
            if 0 < version < len(self._migrations) and self._holds_anything():
                store_file.copy(self._path, self._path.with_name(f"{self._path.name}.v{version}.bak"))
            for number, script in enumerate(self._migrations[version:], start=version + 1):
                for statement in filter(str.strip, script.split(";")):
                    connection.execute(statement)
                connection.execute(f"PRAGMA user_version = {number}")
            connection.execute("INSERT OR IGNORE INTO written_by VALUES (?, ?, ?)", (*me, time.time()))

    def _version(self) -> int:
        version: int = self.connection.execute("PRAGMA user_version").fetchone()[0]
        return version

    def _written_by(self, program: tuple[str, int]) -> bool:
        row = self.connection.execute("SELECT 1 FROM written_by WHERE version = ? AND schema = ?", program)
        return row.fetchone() is not None

    def _holds_anything(self) -> bool:
        names = store_file.tables(self._migrations[: self._version()])
        return any(self.connection.execute(f"SELECT 1 FROM {name} LIMIT 1").fetchone() for name in names)


def _folded(text: object) -> str:
    return str(text or "").casefold()
