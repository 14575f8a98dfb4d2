"""The store as one SQLite file: one connection a thread, WAL; looked at before it is used."""

from __future__ import annotations

import hashlib
import os
import sqlite3
import threading
import time
import weakref
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from courtroom.errors import StoreError
from courtroom.language import N_
from courtroom.store.connection import StoreConnection, StoredRow
from courtroom.store.database import Database
from courtroom.store.schema import REVISION, create, is_current, is_signed, sign, upgrade

CHECKED_UP_TO = 64 * 2**20
"""Bytes of a store that is checked whenever it is opened, in less than 0.1 s; a larger one the doctor checks."""
PATIENCE_S = 30.0
"""So long who opens or writes waits for another process that holds the store."""
ELSEWHERE = N_("or set COURTROOM_HOME to another folder")
BACKUP = N_("move it away together with its files -wal, -shm and -journal, then put a backup back")
"""What helps a store that is damaged: a log that stays behind would be played into the backup."""
LOCKS = "locks"
"""The folder of the files that are locked, beside the store."""
RESTORING, LOCK = ".restore-", "lock"
"""How the folder begins in which a backup is unpacked beside its store, and what is locked in it meanwhile."""
LOOKED_AT_S = 0.2
"""So long who takes a lock waits for another who only looks whether somebody has it."""


class SqliteLock:
    """A lock of the system's own on a file beside the store."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = FileLock(path, thread_local=False)

    @property
    def held(self) -> bool:
        return self._file.is_locked

    def take(self, patience_s: float = LOOKED_AT_S) -> bool:
        if self.held:
            return True
        self.path.parent.mkdir(exist_ok=True)
        with suppress(Timeout):
            self._file.acquire(timeout=patience_s)
        return self.held

    def release(self) -> None:
        self._file.release()  # the file stays: who waits for one that is gone would hold another than who comes next


class SqliteStore(Database):
    """Connections to one SQLite file. Safe to share between threads; each thread gets its own connection."""

    name = "SQLite"
    row_key = "rowid"
    is_shared = False

    def __init__(self, at: Path, *, as_found: bool = False) -> None:
        self._path = path = at
        folder, self.place = path.parent, str(path)
        self._local = threading.local()
        self._open: set[sqlite3.Connection] = set()
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except (FileExistsError, NotADirectoryError) as error:
            said = f"{folder} can't be a folder, as there is a file. Move the file away, {ELSEWHERE}."
            raise StoreError(said) from error
        except OSError as error:
            raise StoreError(f"{folder} can't be made: {error.strerror}. Allow it, {ELSEWHERE}.") from error
        try:
            self.found = "current" if check(path) else "older" if path.exists() and path.stat().st_size else "nothing"
            if self.found != "current" and not as_found:
                with self.transaction() as db:  # all of it or nothing, also for who dies in it
                    names = _tables(self.connection)
                    if not names:
                        create(db, on_postgres=False)
                    elif not is_current(db, names, self.place):  # no other process was faster
                        copy(path, path.with_name(f"{path.name}.before-{REVISION}.bak"))
                        upgrade(db, names, on_postgres=False)
            if not as_found and not is_signed(self.connection):
                with self.transaction() as db:
                    sign(db)
        except sqlite3.Error as error:
            self.close()
            raise explained(error, path) from error
        super().__init__(at)

    @property
    def connection(self) -> sqlite3.Connection:
        connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            connection = sqlite3.connect(self._path, timeout=PATIENCE_S, isolation_level=None, check_same_thread=False)
            connection.row_factory = sqlite3.Row
            # Bytes that are no text make their own row unreadable, not the rows after it.
            connection.text_factory = lambda data: data.decode("utf-8", "surrogateescape")
            # A killed process loses nothing in WAL with NORMAL; only a power cut may lose the last commits. The log is
            # folded in after 40 MB, not 4: folding waits for the disk.
            _into_wal(connection)
            connection.executescript(
                "PRAGMA synchronous=NORMAL; PRAGMA wal_autocheckpoint=10000; PRAGMA foreign_keys=ON;"
            )
            connection.create_function("folded", 1, lambda text: str(text or "").casefold(), deterministic=True)
            self._local.connection = connection
            self._open.add(connection)
            weakref.finalize(threading.current_thread(), self._ended, connection)
        return connection

    def lock(self, name: str) -> SqliteLock:
        """Make the lock of what has this name. It is this very file's: one that is put back in its place has others."""
        kept = self._path.stat()
        file = hashlib.sha256(f"{kept.st_dev} {kept.st_ino} {name}".encode()).hexdigest()[:32]
        return SqliteLock(self._path.with_name(LOCKS) / file)

    def is_locked(self, name: str) -> bool:
        lock = self.lock(name)
        is_locked = lock.path.exists() and not lock.take(patience_s=0)
        lock.release()
        return is_locked

    @contextmanager
    def transaction(self, *, driving: bool = False) -> Iterator[StoreConnection]:
        """`BEGIN IMMEDIATE`: the write lock from the start."""
        connection = self.connection
        if connection.in_transaction:
            yield connection
            return
        connection.execute("BEGIN IMMEDIATE")
        with connection:  # commits, or undoes all of it where SQLite has not done so already, as on a full disk
            yield connection

    @contextmanager
    def snapshot(self) -> Iterator[StoreConnection]:
        connection = self.connection
        connection.execute("BEGIN")
        try:
            yield connection
        finally:
            connection.execute("ROLLBACK")

    def each(self, sql: str, values: Any = ()) -> Iterator[StoredRow]:
        return iter(self.connection.execute(sql, values))

    def close(self) -> None:
        for connection in list(self._open):
            connection.close()
        self._open.clear()
        self._local = threading.local()

    def _ended(self, connection: sqlite3.Connection) -> None:
        """A thread has: a browser's every click may begin one, and its files would stay open."""
        connection.close()
        self._open.discard(connection)


def _into_wal(connection: sqlite3.Connection) -> None:
    """Set the journal's mode. SQLite does not wait here for another process that opens the same empty store."""
    until = time.monotonic() + PATIENCE_S
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                raise
            time.sleep(0.01)


def check(path: Path, *, thorough: bool = True) -> bool:
    """Look at a store before anything is written to it; one that is not there yet is fine. Return whether it has this
    program's schema; False where it is empty, or can be brought up to date. Raises `StoreError`: it is none of ours,
    newer than this program, or damaged."""
    try:
        if path.is_dir():
            raise StoreError(f"{path} is a folder; the store is a file of that name. Move it away, {ELSEWHERE}.")
        demand_no_log(path)
        if not path.exists() or path.stat().st_size == 0:
            _demand_no_restore(path)
            return False
    except OSError as error:
        raise StoreError(f"{path} can't be read: {error.strerror}. Allow it, {ELSEWHERE}.") from error
    # SQLite alone opens the file: where anything else in this process closes it, POSIX drops all locks of the process
    # on it, and another process deletes the journal under the connections that are open.
    if not os.access(path, os.R_OK):
        raise StoreError(f"{path} can't be read: permission denied. Allow it, {ELSEWHERE}.")
    with closing(sqlite3.connect(path, timeout=30)) as db:
        try:
            names = _tables(db)
        except sqlite3.DatabaseError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_NOTADB:
                raise
            why = f"{path} is not a SQLite file, or its first bytes are damaged; {BACKUP}, {ELSEWHERE}."
            raise StoreError(why) from error
        except UnicodeDecodeError as error:  # SQLite's own message names a table whose name is no text any more
            raise damaged(path) from error
        current = is_current(db, names, str(path))
        if thorough and path.stat().st_size <= CHECKED_UP_TO and damages(db, quick=True):
            raise damaged(path)
        return current


def demand_no_log(path: Path) -> None:
    """Refuse a place where only the log of a store lies: SQLite would delete it, or play it into another store. Raises
    `StoreError`: there are last writes, or traces of them, without the store that they belong to."""
    logs = [log for ending in ("-wal", "-shm", "-journal") if (log := Path(f"{path.resolve()}{ending}")).exists()]
    is_empty = not path.exists() or path.stat().st_size == 0 and any(log.name.endswith("-wal") for log in logs)
    if logs and is_empty:  # looked at last: another process may be making the store
        raise StoreError(
            f"{', '.join(map(str, logs))} lies here without {path.name}: "
            f"it holds the last writes of the store that was here. Move it to where that store is now, {ELSEWHERE}."
        )


def _demand_no_restore(path: Path) -> None:
    """Refuse to make a store where a backup is being put back: the backup would find its place taken."""
    for folder in path.parent.glob(f"{RESTORING}*"):
        try:
            with FileLock(folder / LOCK, timeout=0):
                continue  # a process that was killed has left it
        except Timeout as error:
            why = f"A backup is being put back into {path.parent}. Begin again when that is done."
            raise StoreError(why) from error


def _tables(db: sqlite3.Connection) -> set[str]:
    sql = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
    return {row[0] for row in db.execute(sql)}


def damages(db: sqlite3.Connection, *, quick: bool = False) -> list[str]:
    found = [row[0] for row in db.execute(f"PRAGMA {'quick' if quick else 'integrity'}_check(20)")]
    return [line for line in found if line != "ok"]


def copy(path: Path, to: Path) -> None:
    """A consistent copy of a store, also while others write to it; there whole or not at all."""
    part = to.with_name(to.name + ".part")
    part.unlink(missing_ok=True)
    with closing(sqlite3.connect(path, timeout=30)) as source, closing(sqlite3.connect(part)) as target:
        source.backup(target)
    os.replace(part, to)


def damaged(path: Path) -> StoreError:
    return StoreError(f"{path} is damaged. `python -m courtroom doctor` says what is wrong; {BACKUP}, {ELSEWHERE}.")


def explained(error: sqlite3.Error, path: Path) -> StoreError:
    text = str(error).lower()
    if "readonly" in text or "unable to open" in text:
        return StoreError(f"{path} can't be written. Allow writing to its folder, {ELSEWHERE}.")
    if "full" in text:
        return StoreError(f"The disk with {path} is full. Make room, then go on; what is on record stays.")
    if "locked" in text or "busy" in text:
        return StoreError(f"{path} is held by another program. Close that one, then try again.")
    if "disk i/o" in text:
        return StoreError(f"The disk with {path} fails. Check it, then try again; what is on record stays.")
    is_damaged = any(word in text for word in ("malformed", "corrupt", "not a database"))
    if isinstance(error, sqlite3.OperationalError) and not is_damaged:
        return StoreError(
            f"{path} can't be used: {error}. `python -m courtroom doctor` says what is wrong with it; the log has more."
        )
    return damaged(path)
