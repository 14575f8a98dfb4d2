"""The store's file before it is used: whether it is one of ours, of a version that is known, and whole."""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from courtroom.errors import StoreError
from courtroom.version import __version__

HEADER = b"SQLite format 3\0"
CHECKED_UP_TO = 64 * 2**20
"""Bytes of a store that is checked whenever it is opened, which takes less than 0.1 s; of a larger one the doctor does it."""
OURS = frozenset({"runs", "answers"})
"""Tables that every version of the store has."""
ELSEWHERE = "or set COURTROOM_HOME to another folder"

_CREATED = re.compile(r"CREATE (?:VIRTUAL )?TABLE (\w+)")
_DROPPED = re.compile(r"DROP TABLE (\w+)")


def make_folder(folder: Path) -> None:
    """Make the folder in which everything is kept.

    Raises:
        StoreError: it can't be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError) as error:
        raise StoreError(f"{folder} can't be a folder, as there is a file. Move the file away, {ELSEWHERE}.") from error
    except OSError as error:
        raise StoreError(f"{folder} can't be made: {error.strerror}. Allow it, {ELSEWHERE}.") from error


def check(path: Path, migrations: Sequence[str], *, thorough: bool = True) -> None:
    """Look at a store before anything is written to it; one that is not there yet is fine.

    Args:
        thorough: whether SQLite checks a file that is not too large.

    Raises:
        StoreError: it is none of ours, newer than this program, or damaged.
        sqlite3.Error: what `explained` turns into a sentence.
    """
    try:
        if path.is_dir():
            raise StoreError(f"{path} is a folder; the store is a file of that name. Move it away, {ELSEWHERE}.")
        if not path.exists() or path.stat().st_size == 0:
            return
        with path.open("rb") as file:
            begins = file.read(len(HEADER))
    except OSError as error:
        raise StoreError(f"{path} can't be read: {error.strerror}. Allow it, {ELSEWHERE}.") from error
    if begins != HEADER:
        raise StoreError(f"{path} is not a SQLite file. Put a backup in its place, {ELSEWHERE}.")
    with closing(sqlite3.connect(path, timeout=30)) as db:
        version: int = db.execute("PRAGMA user_version").fetchone()[0]
        try:
            there = {row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        except UnicodeDecodeError as error:  # SQLite's own message names a table whose name is no text any more
            raise damaged(path) from error
        if not there and version == 0:
            return
        if not there >= OURS or version < 1:
            raise StoreError(f"{path} is a SQLite file, but no store of Courtroom. Move it away, {ELSEWHERE}.")
        if version > len(migrations):
            raise StoreError(
                f"{path} was written by {_writer(db)} with schema {version}; this is Courtroom {__version__}, which "
                f"knows schemas up to {len(migrations)}. Install the newer one, {ELSEWHERE}."
            )
        if missing := tables(migrations[:version]) - there:
            raise StoreError(
                f"{path} is not whole: the table {min(missing)} is missing. Put a backup in its place, {ELSEWHERE}."
            )
        if thorough and path.stat().st_size <= CHECKED_UP_TO and damages(db, quick=True):
            raise damaged(path)


def tables(migrations: Sequence[str]) -> set[str]:
    """The tables that a store has after these migrations."""
    names: set[str] = set()
    for script in migrations:
        names |= set(_CREATED.findall(script))
        names -= set(_DROPPED.findall(script))
    # The word indexes of earlier versions are dropped as soon as a collection is opened.
    return {name for name in names if not name.startswith(("words_", "vocabulary_"))}


def damages(db: sqlite3.Connection, *, quick: bool = False) -> list[str]:
    """What SQLite finds wrong with the file; the word indexes are left out, as they are made anew from the records."""
    found = [row[0] for row in db.execute(f"PRAGMA {'quick' if quick else 'integrity'}_check(20)")]
    return [line for line in found if line != "ok" and "words_" not in line]


def copy(path: Path, to: Path) -> None:
    """A consistent copy of a store, also while others write to it; there whole or not at all."""
    part = to.with_name(to.name + ".part")
    part.unlink(missing_ok=True)
    with closing(sqlite3.connect(path, timeout=30)) as source, closing(sqlite3.connect(part)) as target:
        source.backup(target)
    os.replace(part, to)


def let_go(store: Path) -> None:
    """Nobody drives what is put back, also where the process lives that drove it when the backup was written."""
    with closing(sqlite3.connect(store, isolation_level=None)) as db:
        tables = {row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        for table in sorted(tables & {"runs", "sweeps", "experiments"}):  # an older store has fewer
            db.execute(f"UPDATE {table} SET owner = NULL, heartbeat = NULL WHERE owner IS NOT NULL")


def damaged(path: Path) -> StoreError:
    """The store is damaged."""
    return StoreError(
        f"{path} is damaged. `python -m courtroom doctor` says what is wrong; put a backup in its place, {ELSEWHERE}."
    )


def explained(error: sqlite3.Error, path: Path) -> StoreError:
    """One sentence for what SQLite says of a store."""
    text = str(error).lower()
    if "readonly" in text or "unable to open" in text:
        return StoreError(f"{path} can't be written. Allow writing to its folder, {ELSEWHERE}.")
    if "full" in text:
        return StoreError(f"The disk with {path} is full. Make room, then go on; what is on record stays.")
    if "locked" in text or "busy" in text:
        return StoreError(f"{path} is held by another program. Close that one, then try again.")
    if "disk i/o" in text:
        return StoreError(f"The disk with {path} fails. Check it, then try again; what is on record stays.")
    if isinstance(error, sqlite3.OperationalError) and not any(
        word in text for word in ("malformed", "corrupt", "not a database")
    ):
        return StoreError(
            f"{path} can't be used: {error}. `python -m courtroom doctor` says what is wrong with it; the log has more."
        )
    return damaged(path)


def _writer(db: sqlite3.Connection) -> str:
    """Which version wrote a newer store, as far as it says so."""
    try:
        row = db.execute("SELECT version FROM written_by ORDER BY schema DESC, first DESC LIMIT 1").fetchone()
    except sqlite3.Error:
        row = None  # another way to say so, which this version can't know
    return f"Courtroom {row[0]}" if row else "a newer Courtroom"
