"""Opens the store, whichever kind it is, and says in a sentence what is wrong with it."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from pydantic import SecretStr

from courtroom.errors import StoreError
from courtroom.store import sqlite
from courtroom.store.connection import ServerError
from courtroom.store.database import Database


def open_store(at: Path | SecretStr, *, as_found: bool = False) -> Database:
    """Open a SQLite file, or a PostgreSQL database by its address. Raises `StoreError`: it can't be used; nothing was
    written to it. `as_found`: no table is made or brought up to date; `found` says which schema is there."""
    if isinstance(at, Path):
        return sqlite.SqliteStore(at, as_found=as_found)
    from courtroom.store.postgres import PostgresStore  # slow to import: only where it is used

    return PostgresStore(at, as_found=as_found)


def explained(error: Exception, at: Path | SecretStr) -> StoreError:
    """Return one sentence for what a database says. `at`: the store; the error may be of another database beside it, to
    which it is moved."""
    if isinstance(error, sqlite3.Error):
        return sqlite.explained(error, at if isinstance(at, Path) else Path("The SQLite file"))
    from courtroom.store import postgres

    assert isinstance(error, ServerError)
    place = postgres.place_of(at.get_secret_value()) if isinstance(at, SecretStr) else "the PostgreSQL database"
    return postgres.explained(error, place)
