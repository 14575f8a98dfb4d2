"""The store in a PostgreSQL database, which several servers share."""

import logging
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from decimal import Decimal
from functools import lru_cache
from typing import Any

import psycopg
from sqlalchemy import Connection as ServerConnection
from sqlalchemy import CursorResult, Engine, create_engine
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, IntegrityError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as NoneFree

from courtroom.errors import StoreError
from courtroom.store.connection import Parameters, RefusedByServer, ServerError, StoreConnection, StoredRow
from courtroom.store.schema import begun, create, is_current, is_signed, names_of_tables, sign, upgrade

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

    def close(self) -> None:
        self._rows = iter(())


def run(server: ServerConnection, sql: str, parameters: Any = ()) -> PostgresRows:
    """Run a statement; a list of values is as many runs of it. One that fails raises `ServerError`."""
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

    Raises:
        StoreError: the database can't be used; the sentence says why.
    """

    name = "PostgreSQL"
    row_key = "ctid"

    def __init__(self, address: str) -> None:
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
            self._prepare()
        except ServerError as error:
            self.close()
            raise explained(error, self.place) from error
        except StoreError:
            self.close()
            raise

    def _prepare(self) -> None:
        """Make the tables, or bring them up to date; all or nothing, and one process at a time."""
        place = begun(self.place)
        with self.transaction() as db:
            encoding = db.execute("SELECT current_setting('server_encoding')").fetchone()[0]
            if encoding != "UTF8":
                raise StoreError(f"{place} keeps text as {encoding}. Make it anew with `createdb --encoding UTF8`.")
            rows = db.execute("SELECT tablename FROM pg_tables WHERE schemaname = current_schema()").fetchall()
            names = {row[0] for row in rows}
            if not names:
                create(db, "postgresql")
            elif not is_current(db, names, place):
                assert self.held is not None
                upgrade(self.held)
                sign(db, names_of_tables())
            elif not is_signed(db):
                sign(db)

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
        self.claims.close()
        self._engine.dispose()


class PostgresConnection:
    """Runs statements in this thread's transaction, else each for itself."""

    def __init__(self, store: PostgresStore) -> None:
        self._store = store

    @property
    def in_transaction(self) -> bool:
        return self._store.held is not None

    def execute(self, sql: str, parameters: Any = (), /) -> PostgresRows:
        return self._run(sql, parameters)

    def executemany(self, sql: str, parameters: Iterable[Any], /) -> PostgresRows:
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


NAMES = "unnest(CAST(:names AS text[])) WITH ORDINALITY AS asked(name, place) ORDER BY place"
"""Names as rows, in their order."""
KEEPALIVE = "SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 3"
"""The server notices within half a minute that a machine is gone, and with it what its processes had claimed."""


class PostgresClaims:
    """Advisory locks of one session: the server lets go of them as soon as the process is gone. Safe to share between threads."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._lock = threading.Lock()
        self._session: ServerConnection | None = None

    def take(self, names: Sequence[str]) -> list[bool]:
        """Claim each for as long as this process lives; whether it is this process's now, and was nobody's before."""
        return [bool(row["done"]) for row in self._each("pg_try_advisory_lock", names)]

    def release(self, names: Sequence[str]) -> None:
        """Let others claim them; where the connection is lost, they are released by that."""
        try:
            self._each("pg_advisory_unlock", names)
        except ServerError as error:
            log.warning("claims could not be released: %s", error)

    def close(self) -> None:
        with self._lock:
            self._end()

    def _each(self, function: str, names: Sequence[str]) -> PostgresRows:
        with self._lock:
            try:
                return run(
                    self._there(),
                    f"SELECT {function}(hashtextextended(name, 0)) AS done FROM {NAMES}",
                    {"names": [*names]},
                )
            except ServerError:
                self._end()
                raise

    def _there(self) -> ServerConnection:
        if self._session is None:
            with faults():
                self._session = self._engine.connect()
                self._session.detach()
            run(self._session, KEEPALIVE)
        return self._session

    def _end(self) -> None:
        if self._session is not None:
            with suppress(SQLAlchemyError):
                self._session.close()
            self._session = None
