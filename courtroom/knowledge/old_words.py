"""Words of records that an earlier version has indexed in SQLite itself, or not at all."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import suppress

from courtroom.store.connection import StoreConnection, StoredRow
from courtroom.store.database import Database


def take_over(database: Database, collection: str, line_of: Callable[[StoredRow], str | None]) -> None:
    """Give each record its words, from the index that SQLite had where there is one, and drop that index."""
    db = database.connection
    missing = "collection = ? AND words IS NULL"
    indexed = database.name == "SQLite" and _indexed(db, collection)
    if not indexed and not db.execute(f"SELECT 1 FROM knowledge WHERE {missing} LIMIT 1", (collection,)).fetchone():
        return
    with database.transaction():
        if indexed:
            _take_from_index(db, collection, missing)
        for row in db.execute(f"SELECT seq, id, body FROM knowledge WHERE {missing}", (collection,)).fetchall():
            db.execute("UPDATE knowledge SET words = ? WHERE seq = ?", (line_of(row) or "", row["seq"]))


def _indexed(db: StoreConnection, collection: str) -> bool:
    return db.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (f"words_{collection}",)).fetchone() is not None


def _take_from_index(db: StoreConnection, collection: str, missing: str) -> None:
    index, vocabulary = f'"words_{collection}"', f'"vocabulary_{collection}"'
    with suppress(sqlite3.DatabaseError):  # it is damaged; the records are not
        db.execute(
            f"UPDATE knowledge SET words = (SELECT i.words FROM {index} AS i WHERE i.rowid = seq) WHERE {missing}",
            (collection,),
        )
    with suppress(sqlite3.OperationalError):  # this thread is reading rows; the next one to open it drops them
        db.execute(f"DROP TABLE IF EXISTS {vocabulary}")
        db.execute(f"DROP TABLE IF EXISTS {index}")
