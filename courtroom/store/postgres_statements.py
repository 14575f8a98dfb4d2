"""Statements as a PostgreSQL server takes them, and the rows that it gives."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from decimal import Decimal
from functools import lru_cache
from typing import Any

from sqlalchemy import Connection as ServerConnection
from sqlalchemy import CursorResult
from sqlalchemy.exc import DBAPIError, IntegrityError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as NoneFree

from courtroom.store.failures import RefusedByServer, ServerError
from courtroom.store.plain_text import from_plain, to_plain

_MARK = re.compile(r"'(?:[^']|'')*'|%|\?|(?<!:):(\w+)| INDEXED BY \w+")


class PostgresRow(tuple[Any, ...]):
    """A row as SQLite gives it: values by position or by name."""

    __slots__ = ()
    places: Mapping[str, int] = {}

    def __getitem__(self, key: Any) -> Any:
        """One value."""
        return tuple.__getitem__(self, self.places[key] if isinstance(key, str) else key)

    def keys(self) -> list[str]:
        """Names of the columns."""
        return [*self.places]


class PostgresRows:
    """What a statement gave. All rows are read: who goes through them holds no connection."""

    def __init__(self, names: tuple[str, ...], rows: Iterable[Iterable[Any]], rowcount: int) -> None:
        kind = _kind_of_row(names)
        self._rows = iter([kind(map(_received, row)) for row in rows])
        self.rowcount = rowcount

    def __iter__(self) -> Iterator[PostgresRow]:
        return self._rows

    def fetchone(self) -> PostgresRow | None:
        """The next row."""
        return next(self._rows, None)

    def fetchall(self) -> list[PostgresRow]:
        """The rows that are left."""
        return [*self._rows]

    def close(self) -> None:
        """Read no further."""
        self._rows = iter(())


def run(server: ServerConnection, sql: str, parameters: Any = ()) -> PostgresRows:
    """Run a statement.

    Args:
        parameters: values by position or by name; a list of such for as many runs of the statement.

    Raises:
        ServerError: it failed.
    """
    many = isinstance(parameters, list) and bool(parameters) and isinstance(parameters[0], tuple | list | Mapping)
    sent: Any = [_sent(one) for one in parameters] if many else _sent(parameters)
    with faults():
        result: CursorResult[Any] = server.exec_driver_sql(_translated(sql) if sent else sql, sent or None)
        if not result.returns_rows:
            return PostgresRows((), (), result.rowcount)
        return PostgresRows(tuple(result.keys()), result.fetchall(), result.rowcount)


@contextmanager
def faults() -> Iterator[None]:
    """What goes wrong at the server is raised as `ServerError`; its text has no values in it, as they may be anybody's."""
    try:
        yield
    except DBAPIError as error:
        code = str(getattr(error.orig, "sqlstate", None) or "")
        diagnosis = getattr(error.orig, "diag", None)
        said = getattr(diagnosis, "message_primary", None) or str(error.orig)
        kind: Callable[..., ServerError] = RefusedByServer if isinstance(error, IntegrityError) else ServerError
        raise kind(said, code, error.connection_invalidated or not code) from error
    except NoneFree as error:
        raise ServerError("all connections are in use", "53300") from error
    except SQLAlchemyError as error:
        raise ServerError(str(error), gone=True) from error


@lru_cache(maxsize=1000)
def _translated(sql: str) -> str:
    """A statement with `?` and `:name` as psycopg has them; texts within it stay as they are."""

    def mark(found: re.Match[str]) -> str:
        if found[1]:
            return f"%({found[1]})s"
        if found[0].startswith(" INDEXED"):  # which index is the best one, only SQLite needs to know
            return ""
        return "%s" if found[0] == "?" else found[0].replace("%", "%%")

    return _MARK.sub(mark, sql)


@lru_cache(maxsize=1000)
def _kind_of_row(names: tuple[str, ...]) -> type[PostgresRow]:
    places = {name: place for place, name in enumerate(names)}
    return type("PostgresRow", (PostgresRow,), {"__slots__": (), "places": places})


def _sent(values: Any) -> Any:
    if isinstance(values, Mapping):
        return {name: _value(value) for name, value in values.items()}
    return tuple(_value(value) for value in values)


def _value(value: Any) -> Any:
    """A value as PostgreSQL takes it: numbers for yes and no, as in SQLite, and text without what it can't hold."""
    if isinstance(value, str):
        return to_plain(value)
    return int(value) if isinstance(value, bool) else value


def _received(value: Any) -> Any:
    if isinstance(value, str):
        return from_plain(value)
    if isinstance(value, Decimal):  # a sum of whole numbers
        return int(value) if value == value.to_integral_value() else float(value)
    return value
