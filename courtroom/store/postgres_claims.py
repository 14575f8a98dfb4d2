"""What a process claims for itself among all that share a PostgreSQL database."""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from contextlib import suppress

from sqlalchemy import Connection as ServerConnection
from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from courtroom.store.failures import ServerError
from courtroom.store.postgres_statements import PostgresRows, faults, run

log = logging.getLogger(__name__)

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
        """See `Claims`. Nothing is claimed twice by one process.

        Raises:
            ServerError: the server can't be reached; what was claimed before is claimed no more.
        """
        return [bool(row["done"]) for row in self._each("pg_try_advisory_lock", names)]

    def release(self, names: Sequence[str]) -> None:
        """See `Claims`. Where the connection is lost, they are released by that."""
        try:
            self._each("pg_advisory_unlock", names)
        except ServerError as error:
            log.warning("claims could not be released: %s", error)

    def close(self) -> None:
        """Release all."""
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
