"""What goes wrong in a database, whichever it is, and which of it passes by itself."""

from __future__ import annotations

import errno
import sqlite3

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
    "53300": AWAY,  # too_many_connections
    "55P03": LOCKED,  # lock_not_available
    "58030": UNWRITABLE,  # io_error
    "25006": UNWRITABLE,  # read_only_sql_transaction
}
_GONE = ("08", "57P")
"""Classes of PostgreSQL's codes: the connection is lost, or the server shuts down."""


class ServerError(Exception):
    """A database server did not do what it was asked to.

    Args:
        text: what it says, for the log.
        code: its code of five characters; empty where it said nothing.
        gone: whether the connection is lost.
    """

    def __init__(self, text: str, code: str = "", gone: bool = False) -> None:
        super().__init__(text)
        self.code = code
        self.gone = gone or code.startswith(_GONE)


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
    if isinstance(error, OSError):
        return {errno.ENOSPC: FULL, errno.EDQUOT: FULL, errno.EIO: UNWRITABLE, errno.EROFS: UNWRITABLE}.get(
            error.errno or 0, ""
        )
    return ""
