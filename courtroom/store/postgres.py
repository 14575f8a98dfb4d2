"""The store in a PostgreSQL database, which several servers share."""

from __future__ import annotations

import logging
import os
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from decimal import Decimal
from functools import lru_cache, partial
from typing import Any

import psycopg
from pydantic import SecretStr
from sqlalchemy import Connection as ServerConnection
from sqlalchemy import CursorResult, create_engine
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, IntegrityError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as NoneFree

from courtroom.errors import StoreError
from courtroom.store.connection import CommitInDoubt, RefusedByServer, Rows, ServerError, StoreConnection, StoredRow
from courtroom.store.database import Database
from courtroom.store.schema import begun, create, is_current, is_signed, sign, upgrade

SIGN = "\ufffe"
"""Stands before the number of a character that can't be kept as it is; it is no character itself."""
_NOT_PLAIN = re.compile("[\0\ud800-\udfff\ufffe]")
_WRITTEN = re.compile(f"{SIGN}([0-9a-f]{{4}})")
_MARK = re.compile(r"'(?:[^']|'')*'|%|\?|(?<!:):(\w+)| INDEXED BY \w+")


def to_plain(text: str) -> str:
    """Without what PostgreSQL can't hold; nothing is lost."""
    return text if _NOT_PLAIN.search(text) is None else _NOT_PLAIN.sub(lambda found: f"{SIGN}{ord(found[0]):04x}", text)


def from_plain(text: str) -> str:
    """As it was."""
    return text if SIGN not in text else _WRITTEN.sub(lambda found: chr(int(found[1], 16)), text)


class PostgresRow(tuple[Any, ...]):
    """A row as SQLite gives it: values by position or by name."""

    __slots__ = ()
    places: Mapping[str, int] = {}

    def __getitem__(self, key: Any) -> Any:
        return tuple.__getitem__(self, self.places[key] if isinstance(key, str) else key)

    def keys(self) -> list[str]:
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
        return next(self._rows, None)

    def fetchall(self) -> list[PostgresRow]:
        return [*self._rows]


def run(server: ServerConnection, sql: str, parameters: Any = ()) -> PostgresRows:
    """Run a statement; a list of values is as many runs of it. One that fails raises `ServerError`."""
    many = isinstance(parameters, list) and bool(parameters) and isinstance(parameters[0], tuple | list | Mapping)
    sent: Any = [*map(_sent, parameters)] if many else _sent(parameters)
    with faults():
        result: CursorResult[Any] = server.exec_driver_sql(_translated(sql) if sent else sql, sent or None)
        if not result.returns_rows:
            return PostgresRows((), (), result.rowcount)
        return PostgresRows(tuple(result.keys()), result.fetchall(), result.rowcount)


@contextmanager
def faults() -> Iterator[None]:
    """Raise what goes wrong at the server as `ServerError`; its text has no values in it, as they may be anybody's."""
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


def _sent(value: Any) -> Any:
    """Values as PostgreSQL takes them: numbers for yes and no, as in SQLite, and text without what it can't hold."""
    if isinstance(value, Mapping):
        return {name: _sent(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return tuple(map(_sent, value))
    if isinstance(value, str):
        return to_plain(value)
    return int(value) if isinstance(value, bool) else value


def _received(value: Any) -> Any:
    if isinstance(value, str):
        return from_plain(value)
    if isinstance(value, Decimal):  # a sum of whole numbers
        return int(value) if value == value.to_integral_value() else float(value)
    return value


log = logging.getLogger(__name__)

LOCK = 0x636F757274  # "court"
"""The advisory lock of all writing transactions."""
LOCK_S = 30
"""How long a transaction waits for the one before it, as with SQLite."""
MAX_CONNECTIONS = 40
"""Connections of one process at most."""
ROWS_AT_A_TIME = 500
"""Rows that are read at a time where there may be many."""
SOCKET = "this machine"


class PostgresStore(Database):
    """Connections to one PostgreSQL database, from a pool. Safe to share between threads.

    All that is written is written under one advisory lock, a single statement too: while a transaction goes on, nobody
    else writes, as under SQLite's `BEGIN IMMEDIATE`. So numbers of rows and versions of collections grow in the order
    in which they are committed, for all servers; nothing is retried, as with SERIALIZABLE; who reads waits for nobody.
    `at`: the address, as `postgresql://user:password@host/name`. Raises `StoreError`: the database can't be used; the
    sentence says why."""

    name = "PostgreSQL"
    row_key = "ctid"
    is_shared = True

    def __init__(self, at: SecretStr, *, as_found: bool = False) -> None:
        address = at.get_secret_value()
        self.place = place_of(address)
        self._engine = create_engine(
            _url(address),
            isolation_level="AUTOCOMMIT",
            pool_size=10,
            max_overflow=MAX_CONNECTIONS - 10,
            use_native_hstore=False,
            hide_parameters=True,
            connect_args={
                "cursor_factory": psycopg.ClientCursor,
                "client_encoding": "utf8",
                "application_name": f"courtroom {os.getpid()}",
            },
        )
        self._local = threading.local()
        self._driving = threading.RLock()
        """Held while the session is used: one thread at a time."""
        self.session: ServerConnection | None = None
        """Holds the locks of this process, and writes what it drives."""
        self.locked: set[str] = set()
        """The names of its locks: the server would give each of them to it twice."""
        try:
            with self.transaction() as db:  # all or nothing, and one process at a time
                encoding = db.execute("SELECT current_setting('server_encoding')").fetchone()[0]
                if encoding != "UTF8":
                    place = begun(self.place)
                    raise StoreError(f"{place} keeps text as {encoding}. Make it anew with `createdb --encoding UTF8`.")
                rows = db.execute("SELECT tablename FROM pg_tables WHERE schemaname = current_schema()").fetchall()
                names = {row[0] for row in rows}
                is_ours = is_current(db, names, begun(self.place))
                self.found = "current" if is_ours else "older" if names else "nothing"
                if as_found:
                    pass
                elif not names:
                    create(db, on_postgres=True)
                elif not is_ours:
                    upgrade(db, names, on_postgres=True)
                elif not is_signed(db):
                    sign(db)
        except ServerError as error:
            self.close()
            raise explained(error, self.place) from error
        except StoreError:
            self.close()
            raise
        super().__init__(at)

    @property
    def connection(self) -> StoreConnection:
        """The same for all threads: each statement, or each transaction, has one of the pool's."""
        return self

    @property
    def in_transaction(self) -> bool:
        return self.held is not None

    def execute(self, sql: str, values: Any = (), /) -> Rows:
        """Run one statement in this thread's transaction, else for itself; a list of values is as many runs of it."""
        if self.held is not None:
            return run(self.held, sql, values)
        if _reads(sql):
            return self.read(sql, values)
        with self.transaction() as db:
            return db.execute(sql, values)

    def executemany(self, sql: str, values: Iterable[Any], /) -> Rows:
        every = [*values]
        return self.execute(sql, every) if every else PostgresRows((), (), 0)

    @property
    def held(self) -> ServerConnection | None:
        """The connection on which this thread's transaction goes on."""
        held: ServerConnection | None = getattr(self._local, "held", None)
        return held

    def lock(self, name: str) -> PostgresLock:
        """The lock of what has this name."""
        return PostgresLock(self, name)

    def is_locked(self, name: str) -> bool:
        return self.read(LOCKED, {"name": name}).fetchone() is not None

    @contextmanager
    def transaction(self, *, driving: bool = False) -> Iterator[StoreConnection]:
        if self.held is not None:
            yield self.connection
            return
        begin = f"BEGIN; SET LOCAL lock_timeout = '{LOCK_S}s'; SELECT pg_advisory_xact_lock({LOCK})"
        with self.first(begin, driving=driving) as (server, _):
            self._local.held = server
            try:
                yield self.connection
                state = server.connection.dbapi_connection.info.transaction_status  # type: ignore[union-attr]
                if state == psycopg.pq.TransactionStatus.INERROR:  # it would be undone without a word
                    raise ServerError("a statement of the transaction had failed")
                number = run(server, "SELECT pg_current_xact_id_if_assigned()").fetchone() if driving else None
                try:
                    run(server, "COMMIT")
                except ServerError as error:
                    if number is None or not error.gone:
                        raise
                    raise CommitInDoubt(str(error), partial(self._is_kept, number[0])) from error
            except BaseException:
                with suppress(ServerError):  # the connection is lost, and the transaction with it
                    run(server, "ROLLBACK")
                raise
            finally:
                self._local.held = None

    def _is_kept(self, number: str | None) -> bool:
        """Whether a transaction was committed, by its number; one without a number wrote nothing."""
        if number is None:
            return True
        state = self.read("SELECT pg_xact_status(CAST(? AS xid8))", (str(number),)).fetchone()
        if state is not None and state[0] == "in progress":
            raise ServerError(state[0], gone=True)
        return state is not None and state[0] == "committed"

    @contextmanager
    def snapshot(self) -> Iterator[StoreConnection]:
        with self.first("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY") as (server, _):
            self._local.held = server
            try:
                yield self.connection
            finally:
                self._local.held = None
                with suppress(ServerError):  # the connection is lost
                    run(server, "ROLLBACK")

    @contextmanager
    def borrowed(self, *, driving: bool = False) -> Iterator[ServerConnection]:
        """A connection of the pool, or the one that holds this process's locks, made anew where it was lost."""
        if not driving:
            with faults(), self._engine.connect() as server:
                yield server
            return
        with self._driving:
            if self.session is None:
                with faults():
                    session = self._engine.connect()
                    session.detach()
                run(session, KEEPALIVE)
                self.session = session
            try:
                yield self.session
            except ServerError as error:
                if error.gone:
                    self._end_session()
                raise

    def _end_session(self) -> None:
        """Let go of all locks."""
        with self._driving:
            if self.session is not None:
                with suppress(SQLAlchemyError):
                    self.session.close()
                self.session, self.locked = None, set()

    def read(self, sql: str, parameters: Any) -> PostgresRows:
        """Run a statement that writes nothing, for itself."""
        with self.first(sql, parameters) as (_, rows):
            return rows

    @contextmanager
    def first(
        self, sql: str, parameters: Any = (), *, driving: bool = False
    ) -> Iterator[tuple[ServerConnection, PostgresRows]]:
        """Run the first statement on a connection; where the server has ended that one meanwhile, on a new one."""
        with ExitStack() as stack:
            server = stack.enter_context(self.borrowed(driving=driving))
            try:
                rows = run(server, sql, parameters)
            except ServerError as error:
                if not error.gone:
                    raise
                log.warning("a connection was lost, and is made anew: %s", error)
                if driving:
                    self._end_session()
                stack.close()
                server = stack.enter_context(self.borrowed(driving=driving))
                rows = run(server, sql, parameters)
            yield server, rows

    def each(self, sql: str, values: Any = ()) -> Iterator[StoredRow]:
        if self.held is not None:
            yield from _some_at_a_time(self.held, sql, values)
            return
        with self.borrowed() as server:
            run(server, "BEGIN")
            try:
                yield from _some_at_a_time(server, sql, values)
            finally:
                with suppress(ServerError):
                    run(server, "ROLLBACK")

    def close(self) -> None:
        self._end_session()
        self._engine.dispose()


def _some_at_a_time(server: ServerConnection, sql: str, values: Any) -> Iterator[PostgresRow]:
    run(server, f"DECLARE every NO SCROLL CURSOR FOR {sql}", values)
    while rows := run(server, f"FETCH {ROWS_AT_A_TIME} FROM every").fetchall():
        yield from rows
    run(server, "CLOSE every")


def place_of(address: str) -> str:
    """A database in words, without user and password."""
    url = _url(address)
    host = url.host or str(url.query.get("host", SOCKET))
    return f"the PostgreSQL database “{url.database or url.username or 'postgres'}” at {host}"


def _url(address: str) -> URL:
    try:
        url = make_url(address)
        if url.get_backend_name() not in ("postgresql", "postgres"):
            raise ArgumentError
    except (ArgumentError, ValueError):
        raise StoreError(
            "COURTROOM_DATABASE is no address of a PostgreSQL database. "
            "Write it as postgresql://user:password@host/name."
        ) from None  # the address may have a password in it
    return url.set(drivername="postgresql+psycopg")


def explained(error: ServerError, place: str) -> StoreError:
    """One sentence for what a server says. Where it lets nobody in, its client gives no code, only a text."""
    said = str(error)
    log.warning("%s: %s", place, said)
    if error.code.startswith("28") or "authentication" in said or re.search("role .* does not exist", said):
        return StoreError(f"{begun(place)} does not let Courtroom in. Check user and password in COURTROOM_DATABASE.")
    if error.code == "3D000" or re.search("database .* does not exist", said):
        return StoreError(f"{begun(place)} is not there. Make it with `createdb`, or check COURTROOM_DATABASE.")
    if error.code == "42501":
        return StoreError(f"Courtroom may not make its tables in {place}. Let its user create tables there.")
    if error.gone:
        return StoreError(f"{begun(place)} can't be reached. Start it, or check COURTROOM_DATABASE; the log has more.")
    return StoreError(f"{begun(place)} can't be used: {said}. The log has more.")


@lru_cache(maxsize=1000)
def _reads(sql: str) -> bool:
    return sql.lstrip()[:6].upper().startswith(("SELECT", "WITH"))


KEEPALIVE = "SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 3"
"""The server notices within half a minute that a machine is gone, and with it the locks of its processes."""
LOCKED = """
SELECT 1 FROM pg_locks JOIN pg_database ON pg_database.oid = pg_locks.database
WHERE locktype = 'advisory' AND objsubid = 1 AND datname = current_database()
AND (classid::bigint << 32) | objid::bigint = hashtextextended(:name, 0)
"""


class PostgresLock:
    """An advisory lock of a session."""

    def __init__(self, store: PostgresStore, name: str) -> None:
        self._store, self._name = store, name
        self._session: ServerConnection | None = None

    @property
    def held(self) -> bool:
        return self._session is not None and self._session is self._store.session

    def take(self) -> bool:
        if self.held:
            return True
        with self._store.first("SELECT 1", driving=True):  # so that it is a session that lives
            session, locked = self._store.session, self._store.locked
            if session is not None and self._name not in locked and self._asked("pg_try_advisory_lock", session):
                locked.add(self._name)
                self._session = session
        return self.held

    def release(self) -> None:
        """Let others take it; where the connection is lost, it is released by that."""
        with suppress(ServerError), self._store.borrowed(driving=True):
            if self.held and (session := self._session) is not None:
                self._session = None
                self._store.locked.discard(self._name)
                self._asked("pg_advisory_unlock", session)

    def _asked(self, function: str, session: ServerConnection) -> bool:
        row = run(session, f"SELECT {function}(hashtextextended(?, 0))", (self._name,)).fetchone()
        return bool(row and row[0])
