"""The store in a PostgreSQL database, which several servers share."""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import lru_cache
from typing import Any

import psycopg
from sqlalchemy import Connection as ServerConnection
from sqlalchemy import create_engine
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from courtroom.errors import StoreError
from courtroom.store.connection import Parameters, StoreConnection, StoredRow
from courtroom.store.failures import ServerError
from courtroom.store.plain_text import begun
from courtroom.store.postgres_claims import PostgresClaims
from courtroom.store.postgres_schema import prepare
from courtroom.store.postgres_statements import PostgresRow, PostgresRows, faults, run

log = logging.getLogger(__name__)

LOCK = 0x636F757274  # "court"
"""The advisory lock of all writing transactions."""
LOCK_S = 30
"""How long a transaction waits for the one before it, as with SQLite."""
AT_ONCE = 40
"""Connections of one process at most."""
FEW = 500
"""Rows that are read at a time where there may be many."""
SOCKET = "this machine"


class PostgresStore:
    """Connections to one PostgreSQL database, from a pool. Safe to share between threads.

    All that is written is written under one advisory lock, a single statement too: while a transaction goes on, nobody else
    writes, as under SQLite's `BEGIN IMMEDIATE`. So numbers of rows and versions of collections grow in the order in which they are
    committed, for all servers; nothing has to be retried, as it would be with SERIALIZABLE; and who reads waits for nobody.

    Args:
        address: as `postgresql://user:password@host/name`.
        schema: number of the schema that this program writes.

    Raises:
        StoreError: the database can't be used; the sentence says why.
    """

    name = "PostgreSQL"
    row_key = "ctid"

    def __init__(self, address: str, schema: int) -> None:
        self.place = place_of(address)
        self._engine = create_engine(
            _url(address),
            isolation_level="AUTOCOMMIT",
            pool_size=10,
            max_overflow=AT_ONCE - 10,
            use_native_hstore=False,
            hide_parameters=True,
            connect_args={"cursor_factory": psycopg.ClientCursor, "client_encoding": "utf8"},
        )
        self._local = threading.local()
        self.claims = PostgresClaims(self._engine)
        self._connection = PostgresConnection(self)
        try:
            prepare(self, schema)
        except ServerError as error:
            self.close()
            raise explained(error, self.place) from error
        except StoreError:
            self.close()
            raise

    @property
    def connection(self) -> StoreConnection:
        """The same for all threads: each statement, or each transaction, has one of the pool's."""
        return self._connection

    @property
    def held(self) -> ServerConnection | None:
        """The connection on which this thread's transaction goes on."""
        held: ServerConnection | None = getattr(self._local, "held", None)
        return held

    @contextmanager
    def transaction(self) -> Iterator[StoreConnection]:
        """All or nothing, under the lock."""
        if self.held is not None:
            yield self.connection
            return
        with ExitStack() as stack:
            server = self._first(
                stack, f"BEGIN; SET LOCAL lock_timeout = '{LOCK_S}s'; SELECT pg_advisory_xact_lock({LOCK})"
            )[0]
            self._local.held = server
            try:
                yield self.connection
                if _state(server) == psycopg.pq.TransactionStatus.INERROR:  # it would be undone without a word
                    raise ServerError("a statement of the transaction had failed")
                run(server, "COMMIT")
            except BaseException:
                with suppress(ServerError):  # the connection is lost, and the transaction with it
                    run(server, "ROLLBACK")
                raise
            finally:
                self._local.held = None

    @contextmanager
    def snapshot(self) -> Iterator[StoreConnection]:
        """All reads of this thread are of one moment; others write meanwhile."""
        with ExitStack() as stack:
            server = self._first(stack, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")[0]
            self._local.held = server
            try:
                yield self.connection
            finally:
                self._local.held = None
                with suppress(ServerError):  # the connection is lost
                    run(server, "ROLLBACK")

    @contextmanager
    def borrowed(self) -> Iterator[ServerConnection]:
        """A connection of the pool."""
        with faults(), self._engine.connect() as server:
            yield server

    def read(self, sql: str, parameters: Any) -> PostgresRows:
        """Run a statement that writes nothing, for itself."""
        with ExitStack() as stack:
            return self._first(stack, sql, parameters)[1]

    def _first(self, stack: ExitStack, sql: str, parameters: Any = ()) -> tuple[ServerConnection, PostgresRows]:
        """The first statement on a connection. Where the server has ended that one meanwhile, it is run on a new one."""
        try:
            server = stack.enter_context(self.borrowed())
            return server, run(server, sql, parameters)
        except ServerError as error:
            if not error.gone:
                raise
            log.warning("a connection was lost, and is made anew: %s", error)
        server = stack.enter_context(self.borrowed())
        return server, run(server, sql, parameters)

    def each(self, sql: str, parameters: Parameters = ()) -> Iterator[StoredRow]:
        """Rows by a cursor at the server."""
        if self.held is not None:
            yield from _some_at_a_time(self.held, sql, parameters)
            return
        with self.borrowed() as server:
            run(server, "BEGIN")
            try:
                yield from _some_at_a_time(server, sql, parameters)
            finally:
                with suppress(ServerError):
                    run(server, "ROLLBACK")

    def close(self) -> None:
        """Close all connections."""
        self.claims.close()
        self._engine.dispose()


class PostgresConnection:
    """Runs statements in this thread's transaction, else each for itself."""

    def __init__(self, store: PostgresStore) -> None:
        self._store = store

    @property
    def in_transaction(self) -> bool:
        """Whether this thread is within a transaction."""
        return self._store.held is not None

    def execute(self, sql: str, parameters: Any = (), /) -> PostgresRows:
        """Run one statement."""
        return self._run(sql, parameters)

    def executemany(self, sql: str, parameters: Iterable[Any], /) -> PostgresRows:
        """Run one statement for each set of values."""
        every = [*parameters]
        return self._run(sql, every) if every else PostgresRows((), (), 0)

    def _run(self, sql: str, parameters: Any) -> PostgresRows:
        if (held := self._store.held) is not None:
            return run(held, sql, parameters)
        if _reads(sql):
            return self._store.read(sql, parameters)
        with self._store.transaction():
            held = self._store.held
            assert held is not None
            return run(held, sql, parameters)


def _some_at_a_time(server: ServerConnection, sql: str, parameters: Parameters) -> Iterator[PostgresRow]:
    run(server, f"DECLARE every NO SCROLL CURSOR FOR {sql}", parameters)
    while rows := run(server, f"FETCH {FEW} FROM every").fetchall():
        yield from rows
    run(server, "CLOSE every")


def place_of(address: str) -> str:
    """A database in words, without user and password.

    Raises:
        StoreError: it is no address of a PostgreSQL database.
    """
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
            "COURTROOM_DATABASE is no address of a PostgreSQL database. Write it as postgresql://user:password@host/name."
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


def _state(server: ServerConnection) -> object:
    return server.connection.dbapi_connection.info.transaction_status  # type: ignore[union-attr]


@lru_cache(maxsize=1000)
def _reads(sql: str) -> bool:
    return sql.lstrip()[:6].upper().startswith(("SELECT", "WITH"))
