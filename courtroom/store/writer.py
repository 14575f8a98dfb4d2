"""Writes in a thread of their own: in order, those that wait in one transaction, held while the disk takes none."""

import asyncio
import logging
import secrets
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from itertools import islice
from typing import Any, TypeVar

from courtroom.access import by
from courtroom.errors import CourtroomError
from courtroom.store.connection import OUTAGES, passing
from courtroom.store.database import Database

log = logging.getLogger(__name__)

T = TypeVar("T")
PROBE_S = 1.0
"""How often a write that the disk did not take is tried again."""
LOOK_S = 0.05
MOST = 500
"""Writes of one transaction, at most."""
APART_S = 0.002
"""Seconds from the beginning of one transaction to that of the next, at least: in a crowd many writes share one."""


@contextmanager
def plainly(then: str = "the run goes on by itself") -> Iterator[None]:
    """What the disk does not take, where a person waits for it, is reported in a sentence that ends with what comes `then`."""
    try:
        yield
    except (*OUTAGES, OSError) as error:
        if not (text := passing(error)):
            raise
        raise CourtroomError(f"{text.partition(';')[0]}; {then}.") from error


KEPT_S = 30 * 24 * 3600.0
"""Seconds after which a process that has written nothing more is forgotten."""


class Batches:
    """Which batch of writes a process has committed last, so that one whose commit got no reply is not written twice. All is done within the transaction of the caller."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._writer = secrets.token_hex(8)
        self._number = 0

    def begin(self) -> None:
        """Number the batch of this transaction: the number is committed with it or not at all."""
        db, now = self._database.connection, time.time()
        if self._number == 0:
            db.execute("DELETE FROM batches WHERE at < ?", (now - KEPT_S,))
        self._number += 1
        db.execute(
            "INSERT INTO batches (writer, number, at) VALUES (?, ?, ?)"
            " ON CONFLICT (writer) DO UPDATE SET number = excluded.number, at = excluded.at",
            (self._writer, self._number, now),
        )

    def is_kept(self) -> bool:
        row = self._database.row("SELECT 1 FROM batches WHERE writer = ? AND number = ?", (self._writer, self._number))
        return row is not None


class Writer:
    """All writes of one process that must not be lost, and that nobody's loop may wait for.

    Writes that wait together are committed together; a future is done after the commit. A write that fails is undone
    alone, and its future has the error. A write must do nothing but write to the store: it is done again where the commit fails.
    Where the connection is lost at the commit, nobody knows what became of it; so each batch of writes is numbered in its own
    transaction, and is done again only where that number is not in the store.

    A write that fails because the disk is full, the store locked or a device faulty is held in memory, with all that
    come after it, and tried again each second. What is held when the process is killed is lost: that can't be helped.

    `trouble` is a sentence on why writes are held; empty while they go through.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._batches = Batches(database)
        self._in_doubt: list[Any] | None = None
        """What the batch came to whose commit failed; None where none did since the last one that went through."""
        self._queue: deque[tuple[Callable[[], Any], Future[Any]]] = deque()
        self._some = threading.Condition()
        self._thread: threading.Thread | None = None
        self._ending = False
        self._closed = False
        self._listeners: list[Callable[[str], None]] = []
        self.trouble = ""

    def put(self, write: Callable[[], T]) -> Future[T]:
        """Do a write after those before it. The future can't be cancelled: what was put in is written."""
        done: Future[T] = Future()
        done.set_running_or_notify_cancel()
        with self._some:
            if self._closed:
                raise RuntimeError("the writer is closed")
            if self._thread is None:
                self._thread = threading.Thread(target=by(None, self._work), name="courtroom-writer", daemon=True)
                self._thread.start()
            self._queue.append((write, done))
            self._some.notify()
        return done

    async def do(self, write: Callable[[], T]) -> T:
        """Do a write after those before it, and wait for it."""
        return await asyncio.wrap_future(self.put(write))

    async def settled(self) -> None:
        """Wait until all that was put in so far is written, or is held."""
        done = self.put(lambda: None)
        while not done.done() and not self.trouble:
            await asyncio.wait([asyncio.wrap_future(done)], timeout=LOOK_S)

    def listen(self, notify: Callable[[str], None]) -> None:
        """Have somebody notified, in the writer's thread, each time that `trouble` changes."""
        self._listeners.append(notify)

    def end(self) -> None:
        """Hold nothing any more: what the disk does not take at once is given up, with its error."""
        with self._some:
            self._ending = True
            self._some.notify()

    def close(self) -> None:
        """Write what is still to be written, then end the thread."""
        self.end()
        with self._some:
            self._closed = True
            self._some.notify()
        if self._thread is not None:
            self._thread.join()

    # --- in the thread --------------------------------------------------------------------------------------

    def _work(self) -> None:
        most = MOST
        while some := self._wait(most):
            began = time.monotonic()
            try:
                results = self._written([write for write, _ in some])
            except Exception as error:  # noqa: BLE001  their futures have it
                why = passing(error)
                if why and not self._ending:
                    self._report(why, error)
                    with self._some:
                        self._some.wait_for(lambda: self._ending, PROBE_S)
                    most = 1
                    continue
                if len(some) > 1:  # one by one, so that each future has its own error alone
                    most = 1
                    continue
                if why:
                    log.error("a write is lost, as the disk did not take it: %s", error)
                results = [error] * len(self._in_doubt or some)
                self._in_doubt = None
            else:
                self._report("")
                most = MOST
            ended = [self._queue.popleft() for _ in results]
            for (_, done), result in zip(ended, results, strict=True):
                if isinstance(result, Exception):
                    done.set_exception(result)
                else:
                    done.set_result(result)
            del some, ended, results
            time.sleep(max(0.0, began + APART_S - time.monotonic()))

    def _written(self, writes: Sequence[Callable[[], Any]]) -> list[Any]:
        """What the writes come to, all on disk; for one that failed its exception, and nothing of it on disk.

        Where the batch before, in doubt, is on disk after all, it is what that came to, and nothing is written.

        Raises:
            Exception: the disk does not take them; nothing of any of them is on disk, unless the commit is in doubt.
        """
        with self._database.transaction() as db:  # under the lock: whatever became of the batch before, it has ended
            if self._in_doubt is None or not self._batches.is_kept():
                self._in_doubt = None
                results: list[Any] = (
                    [writes[0]()] if len(writes) == 1 else []
                )  # one alone is undone with its transaction
                for write in writes[len(results) :]:
                    db.execute("SAVEPOINT one")
                    try:
                        results.append(write())
                    except Exception as error:  # noqa: BLE001  whoever put it in is notified
                        if passing(error) or not db.in_transaction:
                            raise
                        db.execute("ROLLBACK TO one")
                        results.append(error)
                    db.execute("RELEASE one")
                self._batches.begin()
                self._in_doubt = results
        kept, self._in_doubt = self._in_doubt, None
        return kept

    def _wait(self, most: int) -> list[tuple[Callable[[], Any], Future[Any]]]:
        """Wait for writes, and give the first ones; none when there will be none any more."""
        with self._some:
            self._some.wait_for(lambda: self._queue or self._closed)
            return [*islice(self._queue, most)]

    def _report(self, why: str, error: Exception | None = None) -> None:
        if why == self.trouble:
            return
        self.trouble = why
        if error is not None:
            log.warning("writes are held: %s", error)
        for text in self._listeners:
            text(why)
