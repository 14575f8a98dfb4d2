"""Moves all rows of a store into another database, and compares what came there with what was there."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import SecretStr

from courtroom.errors import StoreError
from courtroom.store.connection import FAILURES
from courtroom.store.database import Database
from courtroom.store.schema import begun

if TYPE_CHECKING:
    from sqlalchemy import Table

Progress = Callable[[str, int], None]
"""Given the table, and how many of its rows are moved."""
AT_ONCE = 40
NOT_MOVED = frozenset({"written_by", "alembic_version"})
"""Say which programs have written a store and which schema it has, and are made with it."""


def move(source: Database, target: Database, progress: Progress = lambda table, done: None) -> Mapping[str, int]:
    """Copy every row, all or nothing; nobody writes to the source meanwhile. How many rows each table had.

    Files beside the store, such as media, are not touched: both stores have the same.

    Raises:
        StoreError: the target holds something already, a row can't be moved, or something came there otherwise.
    """
    with source.transaction():
        return _all(source, target, progress)


def copy_as_file(source: Database, to: Path, progress: Progress = lambda table, done: None) -> None:
    """A whole copy of a store as a SQLite file, as the store was at one moment; others write to it meanwhile."""
    target = Database(to)
    try:
        with source.snapshot():
            _all(source, target, progress)
    finally:
        target.close()


def _all(source: Database, target: Database, progress: Progress) -> Mapping[str, int]:
    tables = _tables()
    with target.transaction() as db:
        for table in tables:
            if db.execute(f"SELECT 1 FROM {table.name} LIMIT 1").fetchone():
                raise StoreError(f"{begun(target.place)} is not empty. Move into a new database; nothing was written.")
        moved = {table.name: _copied(source, target, table, progress) for table in tables}
        for table in tables:
            if _digest(source, table) != _digest(target, table):
                raise StoreError(
                    f"The rows of {table.name} came to {target.place} otherwise than they were. Nothing was kept there."
                )
        if target.name == "PostgreSQL":
            _number_on(target, tables)
    return moved


def place_from(text: str, file: Path) -> Path | SecretStr:
    """What a person names as the place of a store: `sqlite` is this file, everything else an address."""
    return file if text == "sqlite" else SecretStr(text)


def _tables() -> tuple[Table, ...]:
    from courtroom.store.tables import TABLES  # slow to import: only to move a store

    return tuple(table for name, table in sorted(TABLES.tables.items()) if name not in NOT_MOVED)


def _rows(database: Database, table: Table) -> Iterator[tuple[Any, ...]]:
    columns = ", ".join(column.name for column in table.columns)
    return map(tuple, database.each(f"SELECT {columns} FROM {table.name}"))


def _copied(source: Database, target: Database, table: Table, progress: Progress) -> int:
    columns = ", ".join(column.name for column in table.columns)
    mark = ", ".join("CAST(? AS TEXT)" if _holds_text(column) else "?" for column in table.columns)
    done = 0
    left = _rows(source, table)
    while rows := [*islice(left, AT_ONCE)]:
        values = ", ".join([f"({mark})"] * len(rows))
        sent = [_storable(value, target) for value in chain.from_iterable(rows)]
        try:
            target.execute(f"INSERT INTO {table.name} ({columns}) VALUES {values}", tuple(sent))
        except FAILURES as error:
            raise StoreError(
                f"A row of {table.name} does not fit ({error}). `python -m courtroom doctor --mend` sets aside rows that can't "
                "be read; then move again. Nothing was written."
            ) from error
        done += len(rows)
        progress(table.name, done)
    return done


def _holds_text(column: Any) -> bool:
    return column.type.python_type is str


def _storable(value: Any, target: Database) -> Any:
    """Bytes that are no text stay what they are; PostgreSQL has a way of its own for them."""
    if isinstance(value, str) and target.name == "SQLite" and not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            return value.encode(errors="surrogateescape")
    return value


def _digest(database: Database, table: Table) -> tuple[int, int]:
    """How many rows there are, and what they hold, whatever their order."""
    count, whole = 0, 0
    for row in _rows(database, table):
        count += 1
        whole += int.from_bytes(hashlib.sha256(repr(row).encode(errors="surrogatepass")).digest(), "big")
    return count, whole % 2**256


def _number_on(target: Database, tables: tuple[Table, ...]) -> None:
    """Numbers of new rows begin behind those that were moved."""
    for table in tables:
        for column in table.columns:
            if column.identity is not None:
                target.execute(
                    f"SELECT setval(pg_get_serial_sequence('{table.name}', '{column.name}'), max({column.name}))"
                    f" FROM {table.name} HAVING count(*) > 0"
                )
