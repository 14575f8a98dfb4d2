"""Writes in a thread of their own: in order, those that wait in one transaction, held while the disk takes none."""

import asyncio
import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from itertools import islice
from typing import Any, TypeVar

from courtroom.access import for_server
from courtroom.errors import CourtroomError
from courtroom.store.connection import OUTAGES, CommitInDoubt, StoreLock, passing
from courtroom.store.database import Database

log = logging.getLogger(__name__)

T = TypeVar("T")
PROBE_S = 1.0
"""How often a write that the disk did not take is tried again."""
LOOK_S = 0.05
MAX_WRITES_AT_ONCE = 500
"""Writes of one transaction, at most."""
APART_S = 0.002
"""Seconds from the beginning of one transaction to that of the next, at least: in a crowd many writes share one."""


class LockLost(CourtroomError):
    """The connection that held the lock is lost: another process may drive this by now."""

    def __init__(self) -> None:
        super().__init__("The connection to the store was lost while this was driven.")


@contextmanager
def plainly(then: str = "the run goes on by itself") -> Iterator[None]:
    """Report what the disk does not take, where a person waits, in a sentence that ends with what comes `then`."""
    try:
        yield
    except (*OUTAGES, OSError) as error:
        if not (text := passing(error)):
            raise
        raise CourtroomError(f"{text.partition(';')[0]}; {then}.") from error


class Writer:
    """All writes of one process that must not be lost, and that nobody's loop may wait for.

    Writes that wait together are committed together; a future is done after the commit. A write that fails is undone
    alone, and its future has the error. A write must do nothing but write to the store: it is done again where the
    commit fails. Where the connection is lost at the commit, the server is asked what became of it before anything is
    done again.

    A write that fails because the disk is full, the store locked or a device faulty is held in memory, with all that
    come after it, and tried again each second. What is held when the process is killed is lost: that can't be helped.

    `trouble` is a sentence on why writes are held; empty while they go through.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._in_doubt: tuple[Callable[[], bool], list[Any]] | None = None
        """Whether the last commit was kept after all, and what its writes came to; None where that is known."""
        self._queue: deque[tuple[Callable[[], Any], StoreLock | None, Future[Any]]] = deque()
        self._some = threading.Condition()
        self._thread: threading.Thread | None = None
        self._ending = False
        self._closed = False
        self.trouble = ""
        self.notify: Callable[[str], object] = lambda trouble: None
        """Called in the writer's thread each time that `trouble` changes."""

    def put(self, write: Callable[[], T], lock: StoreLock | None = None) -> Future[T]:
        """Do a write after those before it. The future can't be cancelled: what was put in is written. `lock`: of what
        is driven here; where it is lost by then, the future raises `LockLost` and nothing is written."""
        done: Future[T] = Future()
        done.set_running_or_notify_cancel()
        with self._some:
            if self._closed:
                raise RuntimeError("the writer is closed")
            if self._thread is None:
                self._thread = threading.Thread(
                    target=for_server().run, args=(self._work,), name="courtroom-writer", daemon=True
                )
                self._thread.start()
            self._queue.append((write, lock, done))
            self._some.notify()
        return done

    async def do(self, write: Callable[[], T]) -> T:
        """Do a write after those before it, and wait for it."""
        return await asyncio.wrap_future(self.put(write))

    async def release(self, lock: StoreLock) -> None:
        """Release a lock once all that was put in so far is on disk."""
        written = self.put(lambda: None)
        written.add_done_callback(lambda _: lock.release())
        await asyncio.wrap_future(written)

    async def settled(self) -> None:
        """Wait until all that was put in so far is written, or is held."""
        done = self.put(lambda: None)
        while not done.done() and not self.trouble:
            await asyncio.wait([asyncio.wrap_future(done)], timeout=LOOK_S)

    def end(self) -> None:
        """Hold nothing any more: what the disk does not take at once is given up, with its error."""
        with self._some:
            self._ending = True
            self._some.notify()

    def close(self) -> None:
        """Write what is still to be written, then end the thread."""
        with self._some:
            self._ending = self._closed = True
            self._some.notify()
        if self._thread is not None:
            self._thread.join()

    # --- in the thread --------------------------------------------------------------------------------------

    def _work(self) -> None:
        most = MAX_WRITES_AT_ONCE
        while True:
            with self._some:
                self._some.wait_for(lambda: self._queue or self._closed)
                some = [*islice(self._queue, most)]
            if not some:  # and there will be none any more
                return
            began = time.monotonic()
            try:
                results = self._written([(write, lock) for write, lock, _ in some])
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
                results = [error] * len(self._in_doubt[1] if self._in_doubt else some)
                self._in_doubt = None
            else:
                if self.trouble:
                    self._report("")
                most = MAX_WRITES_AT_ONCE
            ended = [self._queue.popleft() for _ in results]
            for (_, _, done), result in zip(ended, results, strict=True):
                if isinstance(result, Exception):
                    done.set_exception(result)
                else:
                    done.set_result(result)
            del some, ended, results
            time.sleep(max(0.0, began + APART_S - time.monotonic()))

    def _written(self, writes: Sequence[tuple[Callable[[], Any], StoreLock | None]]) -> list[Any]:
        """What the writes come to, all on disk; for one that failed its exception, and nothing of it on disk.

        Where the batch before, in doubt, is on disk after all, it is what that came to, and nothing is written. Raises
        `Exception`: the disk does not take them; nothing of any of them is on disk, unless the commit is in doubt."""
        if self._in_doubt is not None:
            is_kept, results = self._in_doubt
            kept = is_kept()
            self._in_doubt = None
            if kept:
                return results
        results = []
        try:
            with self._database.transaction(driving=True) as db:
                for write, lock in writes:
                    db.execute("SAVEPOINT one")
                    try:
                        if lock is not None and not lock.held:
                            raise LockLost
                        results.append(write())
                    except Exception as error:  # noqa: BLE001  whoever put it in is notified
                        if passing(error) or not db.in_transaction:
                            raise
                        db.execute("ROLLBACK TO one")
                        results.append(error)
                    db.execute("RELEASE one")
        except CommitInDoubt as error:
            self._in_doubt = error.is_kept, results
            raise
        return results

    def _report(self, why: str, error: Exception | None = None) -> None:
        if why == self.trouble:
            return
        self.trouble = why
        if error is not None:
            log.warning("writes are held: %s", error)
        self.notify(why)
