"""The word index and the vector index against the records that they are over."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterator
from typing import Any

from courtroom.courthouse import Courthouse
from courtroom.errors import CourtroomError
from courtroom.knowledge import word_index
from courtroom.knowledge.collection import Collection
from courtroom.upkeep.doctor.result import CheckResult, fine, mended, wrong


def words(house: Courthouse, mend: bool) -> Iterator[CheckResult]:
    """Each record is in the word index once, and the index is whole."""
    for name, collection in house.knowledge.everything.items():
        about = f"words: {name}"
        problem = _wrong_words(house, name)
        if not problem:
            yield fine(about, f"{len(collection):,} records are indexed.")
        elif mend:
            count = collection.index_words()
            yield mended(about, f"{problem} The index is made anew over {count:,} records.")
        else:
            yield wrong(about, f"{problem} Use --mend to make the index anew.")


def _wrong_words(house: Courthouse, name: str) -> str:
    db, index, entries = house.database.connection, word_index.table(name), word_index.table(name, "_docsize")
    try:
        db.execute(f"INSERT INTO {index} ({index}) VALUES ('integrity-check')")
        missing, over = db.execute(
            f"SELECT (SELECT count(*) FROM knowledge WHERE collection = ? AND seq NOT IN (SELECT id FROM {entries})),"
            f" (SELECT count(*) FROM {entries} WHERE id NOT IN (SELECT seq FROM knowledge WHERE collection = ?))",
            (name, name),
        ).fetchone()
    except sqlite3.DatabaseError as error:
        return f"The word index is damaged ({error})."
    return f"{missing} records are not in the word index, {over} entries are of no record." if missing or over else ""


def vectors(house: Courthouse, mend: bool) -> Iterator[CheckResult]:
    """The vector index opens and holds what the records say; one that was never used is not made for that."""
    for name, collection in house.knowledge.everything.items():
        about = f"vectors: {name}"
        if not house.settings.chroma_host and not (house.settings.chroma / collection.index_name).exists():
            yield fine(about, "Not made yet; the first look-up makes it.")
            continue
        held = _held(house, collection)
        behind = held is None or held != _wanted(collection)
        if not behind:
            yield fine(about, f"{len(collection):,} records are indexed.")
        elif mend:
            try:
                house.runner.do(collection.warm()).result()
            except CourtroomError as error:
                yield wrong(about, str(error))
            else:
                yield mended(
                    about, f"It {'did not open' if held is None else 'was behind its records'}; it is up to date now."
                )
        elif held is None:
            yield wrong(about, "It does not open. The next look-up, or --mend, makes it anew.")
        else:
            yield fine(about, f"It is behind its {len(collection):,} records; the next look-up brings it up to date.")


def _wanted(collection: Collection[Any]) -> dict[str, str]:
    return {key: hashlib.sha256(text.encode()).hexdigest() for key, text in collection.texts().items()}


def _held(house: Courthouse, collection: Collection[Any]) -> dict[str, str] | None:
    """What the index holds; None where it does not open."""
    try:
        return dict(house.runner.do(collection.indexed()).result())
    except CourtroomError:
        return None
