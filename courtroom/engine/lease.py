"""Who drives a run or an experiment: one process at a time, known by its name, taken for dead only when it is."""

import logging
import math
import os
import secrets
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Literal, TypeVar

from courtroom.access import by
from courtroom.errors import CourtroomError
from courtroom.store.connection import FAILURES
from courtroom.store.database import Database, marks
from courtroom.store.writer import Writer

log = logging.getLogger(__name__)

T = TypeVar("T")
HEART_S = 2.0
"""How often a process shows that it lives, to those on other machines."""
LEASE_S = 30.0
"""A process of another machine that has not shown itself for this long is taken for dead."""
SURE_S = 0.05
"""For so long after a look nobody else can have taken over: that takes a process that is dead, or was silent for `LEASE_S`."""


ENDED = "ended"
TAKEN = "Another server drives this now."


class LeaseLost(CourtroomError):
    """Another process drives this by now; nothing more of it may be written here."""


class Lease:
    """Who drives each row of one table.

    Args:
        table: has the columns `owner` and `heartbeat`. A heartbeat is compared with itself alone, never with a clock.
    """

    def __init__(self, database: Database, table: Literal["runs", "experiments"]) -> None:
        self.table = table
        self._database = database

    def holder(self, name: str) -> tuple[str | None, float | None]:
        """Who drives it, and its last heartbeat; nobody where there is no such row."""
        row = self._database.row(f"SELECT owner, heartbeat FROM {self.table} WHERE id = ?", (name,))
        return (row["owner"], row["heartbeat"]) if row else (None, None)

    def all_held(self) -> list[tuple[str, str, float | None]]:
        """Everything that somebody drives, each with who does and the last heartbeat."""
        rows = self._database.execute(f"SELECT id, owner, heartbeat FROM {self.table} WHERE owner IS NOT NULL")
        return [tuple(row) for row in rows]

    def claim(self, name: str, owner: str, former: str | None) -> bool:
        """Take it for `owner` if it is still with `former`; only one process can succeed."""
        cursor = self._database.execute(
            f"UPDATE {self.table} SET owner = ?, heartbeat = ? WHERE id = ? AND (owner = ? OR (owner IS NULL AND ? IS NULL))",
            (owner, time.time(), name, former, former),
        )
        return cursor.rowcount == 1

    def holds(self, name: str, owner: str) -> bool:
        return self.holder(name)[0] == owner

    @contextmanager
    def held(self, name: str, owner: str) -> Iterator[None]:
        """A transaction in which the owner has it. Raises `LeaseLost`: it is somebody else's; nothing is written."""
        with self._database.transaction():
            if not self.holds(name, owner):
                raise LeaseLost(TAKEN)
            yield

    def beat(self, owner: str, names: Sequence[str]) -> None:
        """Show that the owner lives, for all that it drives at once."""
        self._database.execute(
            f"UPDATE {self.table} SET heartbeat = ? WHERE owner = ? AND id IN ({marks(names)})",
            (time.time(), owner, *names),
        )

    def release(self, name: str, owner: str) -> None:
        self._database.execute(
            f"UPDATE {self.table} SET owner = NULL, heartbeat = NULL WHERE id = ? AND owner = ?", (name, owner)
        )


class FencedWriter:
    """Writes what a driver has to write, in order, and nothing more once another process holds the lease.

    Args:
        wrong: called, in the writer's thread, of a write that failed for good.
    """

    def __init__(
        self, lease: Lease, name: str, owner: str, writer: Writer, wrong: Callable[[BaseException], None]
    ) -> None:
        self._lease, self._name, self._owner, self._writer, self._wrong = lease, name, owner, writer, wrong
        self._last: Future[Any] | None = None
        self._seen_at = -math.inf

    def do(self, write: Callable[[], T]) -> Future[T]:
        """Do a write after those before it.

        The future raises `LeaseLost` where another process has taken over.
        """
        done = self._writer.put(partial(self._fenced, write))
        done.add_done_callback(self._look)
        self._last = done
        return done

    def check(self) -> None:
        """Raise `LeaseLost` where another process has taken over."""
        if (now := time.monotonic()) < self._seen_at + SURE_S:
            return
        if not self._lease.holds(self._name, self._owner):
            raise LeaseLost(TAKEN)
        self._seen_at = now

    @property
    def idle(self) -> bool:
        return self._last is None or self._last.done()

    def _fenced(self, write: Callable[[], T]) -> T:
        with self._lease.held(self._name, self._owner):
            return write()

    def _look(self, done: Future[T]) -> None:
        if (error := done.exception()) is not None:
            self._wrong(error)


class LeaseHolder:
    """One process as the holder of leases: as others see it, and as it sees others.

    It lives as long as its process does, whatever its clock says and however long its loop pauses. A process of this
    machine is known by its number and the moment it began; one of another machine by its heartbeats, which a thread
    of its own shows: it is dead when they have not changed for `LEASE_S` by this process's own steady clock.

    Args:
        now: seconds on a clock that nobody sets.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self.owner = f"{owner_of(os.getpid())}:{secrets.token_hex(4)}"
        self._now = now
        self._held: dict[Lease, set[str]] = {}
        self._seen: dict[tuple[str, str], tuple[str, float | None, float]] = {}
        self._ended = threading.Event()
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=by(None, self._beat), name="courtroom-heart", daemon=True)
        self._thread.start()

    def claim(self, lease: Lease, name: str) -> bool | None:
        """Take something over from nobody, or from a dead process. False where a living one has it.

        None where another was quicker.
        """
        former, heartbeat = lease.holder(name)
        if former != self.owner and self.lives(lease, name, former, heartbeat):
            return False
        if not lease.claim(name, self.owner, former):
            return None
        with self._lock:
            self._held.setdefault(lease, set()).add(name)
        return True

    def release(self, lease: Lease, name: str) -> None:
        with self._lock:
            self._held.get(lease, set()).discard(name)
        lease.release(name, self.owner)

    def lives(self, lease: Lease, name: str, owner: str | None, heartbeat: float | None) -> bool:
        if owner is None:
            return False
        machine, _, rest = owner.partition(":")
        if machine == MACHINE:
            pid, _, rest = rest.partition(":")
            return owner_of(int(pid)) == f"{machine}:{pid}:{rest.partition(':')[0]}" and rest.partition(":")[0] != ENDED
        seen = self._seen.get((lease.table, name))
        if seen is None or seen[:2] != (owner, heartbeat):
            seen = self._seen[lease.table, name] = (owner, heartbeat, self._now())
        return self._now() - seen[2] < LEASE_S

    def close(self) -> None:
        self._ended.set()
        self._thread.join()

    def _beat(self) -> None:
        while not self._ended.wait(HEART_S):
            with self._lock:
                held = [(lease, list(names)) for lease, names in self._held.items() if names]
            for lease, names in held:
                try:
                    lease.beat(self.owner, names)
                except FAILURES as error:
                    log.warning("a heartbeat could not be written: %s", error)  # the next one may be


def owner_of(pid: int) -> str:
    """A process of this machine by its number and the moment it began; without the moment where it has ended.

    Where the system does not report that moment, a process that runs under a number is the one that had it.
    """
    try:
        # The name in brackets may hold anything; after it come the state and, as the 20th, the beginning in ticks.
        state, *fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        began = "" if state in "ZX" else fields[18]
    except OSError:
        began = "" if Path("/proc/self/stat").exists() or not _runs(pid) else "running"
    return f"{MACHINE}:{pid}:{began or ENDED}"


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass  # it is there, and somebody else's
    return True


def _machine() -> str:
    """This machine since it was started, and within it the space in which a process's number means the same."""
    parts = [socket.gethostname()]
    try:
        parts.append(Path("/proc/sys/kernel/random/boot_id").read_text().strip()[:8])
        parts.append(str(os.stat("/proc/self/ns/pid").st_ino))
    except OSError:
        pass  # other systems: the name has to do
    return "/".join(parts).replace(":", "-")


MACHINE = _machine()
