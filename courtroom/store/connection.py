"""What all SQL in the program runs on, whichever database is behind it: connections, rows, and what goes wrong."""

import errno
import logging
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Any, Protocol, TypeVar

from pydantic import BaseModel, ValidationError

from courtroom.errors import CaseError, Unreadable


class StoredRow(Protocol):
    """One row: values by position or by name; `tuple(row)` and `dict(row)` work."""

    def __getitem__(self, key: Any, /) -> Any: ...

    def __iter__(self) -> Iterator[Any]: ...

    def keys(self) -> list[str]: ...


class Rows(Protocol):
    """What a statement gave."""

    @property
    def rowcount(self) -> int: ...

    def __iter__(self) -> Iterator[Any]: ...

    def fetchone(self) -> Any: ...

    def fetchall(self) -> list[Any]: ...


class StoreConnection(Protocol):
    """Runs statements, each for itself or within a transaction."""

    @property
    def in_transaction(self) -> bool:
        """Whether this thread is within a transaction."""

    def execute(self, sql: str, parameters: Any = (), /) -> Rows:
        """Run one statement; `?` and `:name` stand for values."""

    def executemany(self, sql: str, parameters: Iterable[Any], /) -> Rows: ...


class StoreLock(Protocol):
    """The right to drive one thing, which one process has at most. It dies with the process, or its connection."""

    @property
    def held(self) -> bool:
        """Whether it is still this one's."""

    def take(self) -> bool:
        """Take it; False where somebody has it."""

    def release(self) -> None: ...


FULL = "The disk is full: make room; the run goes on by itself."
LOCKED = "Another program has locked the store: close it; the run goes on by itself."
UNWRITABLE = "The store can't be written to: check its disk; the run goes on by itself."
AWAY = "The database server can't be reached: start it; the run goes on by itself."
_OF_SQLITE = {
    sqlite3.SQLITE_FULL: FULL,
    sqlite3.SQLITE_BUSY: LOCKED,
    sqlite3.SQLITE_LOCKED: LOCKED,
    sqlite3.SQLITE_IOERR: UNWRITABLE,
    sqlite3.SQLITE_CANTOPEN: UNWRITABLE,
    sqlite3.SQLITE_READONLY: UNWRITABLE,
}
_OF_POSTGRES = {
    "53100": FULL,  # disk_full
    "53200": AWAY,  # out_of_memory
    "53300": AWAY,  # too_many_connections
    "55P03": LOCKED,  # lock_not_available
    "57014": LOCKED,  # query_canceled, by a limit on statements or by whoever looks after the server
    "40001": LOCKED,  # serialization_failure
    "40P01": LOCKED,  # deadlock_detected
    "25P03": AWAY,  # idle_in_transaction_session_timeout
    "58030": UNWRITABLE,  # io_error
    "25006": UNWRITABLE,  # read_only_sql_transaction
}
_OF_SYSTEM = {errno.ENOSPC: FULL, errno.EDQUOT: FULL, errno.EIO: UNWRITABLE, errno.EROFS: UNWRITABLE}
_GONE = ("08", "57P")
"""Classes of PostgreSQL's codes: the connection is lost, or the server shuts down."""


class ServerError(Exception):
    """A database server did not do what it was asked to. `text`: what it says, for the log. `code`: of five characters,
    empty where it said nothing. `gone`: whether the connection is lost."""

    def __init__(self, text: str, code: str = "", gone: bool = False) -> None:
        super().__init__(text)
        self.code = code
        self.gone = gone or code.startswith(_GONE)


class CommitInDoubt(ServerError):
    """The connection was lost at a commit, so that nobody knows what became of it. `is_kept`: asks the server, when it
    can be reached again, whether it was committed."""

    def __init__(self, text: str, is_kept: Callable[[], bool]) -> None:
        super().__init__(text, gone=True)
        self.is_kept = is_kept


class RefusedByServer(ServerError):
    """A row does not fit the others: its key is taken, or something in it is missing."""


FAILURES = (sqlite3.Error, ServerError)
"""Anything that a database may raise."""
OUTAGES = (sqlite3.OperationalError, ServerError)
"""It could not be reached, read or written to just now; a damaged file is not among them."""
REFUSALS = (sqlite3.IntegrityError, RefusedByServer)
"""A row does not fit the others."""


def passing(error: BaseException) -> str:
    """What a person can do about a write that was not taken; empty where trying again can't help."""
    if isinstance(error, sqlite3.OperationalError):
        return _OF_SQLITE.get(getattr(error, "sqlite_errorcode", 0) & 0xFF, "")
    if isinstance(error, ServerError):
        return AWAY if error.gone else _OF_POSTGRES.get(error.code, "")
    return _OF_SYSTEM.get(error.errno or 0, "") if isinstance(error, OSError) else ""


log = logging.getLogger(__name__)

R = TypeVar("R")
T = TypeVar("T")
M = TypeVar("M", bound=BaseModel)


def read(what: str, name: object, parse: Callable[[], T]) -> T:
    """What a row holds; `what` it is, such as `run`, and its id stand in the sentence where it can't be read. Raises
    `Unreadable`: it does not fit, or is no text."""
    try:
        return parse()
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise Unreadable(what, str(name), f"{place and f'{place}: '}{first['msg']}".rstrip(".")) from error
    except CaseError as error:
        raise Unreadable(what, str(name), str(error).rstrip(".")) from error
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise Unreadable(what, str(name), f"{type(error).__name__}: {error}"[:200].rstrip(".")) from error


def fitting(kind: type[M], row: Any) -> M:
    """A record from the columns of a row that have the names of its fields; other columns are left out."""
    return kind.model_validate({name: row[name] for name in kind.model_fields})


def read_all(rows: Iterable[R], parse: Callable[[R], T]) -> tuple[list[T], list[Unreadable]]:
    """What rows hold, and those that can't be read; `parse` raises `Unreadable`."""
    good: list[T] = []
    bad: list[Unreadable] = []
    for row in rows:
        try:
            good.append(parse(row))
        except Unreadable as error:
            _log(str(error))
            bad.append(error)
    return good, bad


@lru_cache(maxsize=1000)
def _log(sentence: str) -> None:
    """Once a process: a list is read again and again."""
    log.warning(sentence)
