"""A process that dies before each of its SQL statements: `python -m tests.killed_statements WORK HOME [ID]`.

A child process does the work and kills itself before its first statement that writes, the next one before its second, and so
on, until one comes to its end. Before each, and at the end, a line with what `state` tells of the store is printed.
"""

from __future__ import annotations

import importlib
import os
import signal
import sqlite3
import sys
from contextlib import closing
from itertools import count
from pathlib import Path

from courtroom.store.database import Database
from courtroom.store.sqlite import SqliteStore

WRITES = ("CREATE", "INSERT", "UPDATE", "DELETE", "DROP", "PRAGMA user_version =", "COMMIT")
STORE = "courtroom.sqlite"


def migrate(home: Path) -> None:
    """Open the store."""
    Database(home / STORE).close()


def delete_sweep(home: Path, sweep: str) -> None:
    """Delete a sweep as the page does."""
    from courtroom.courthouse import Courthouse
    from courtroom.settings import Settings

    house = Courthouse(Settings(home=home))
    house.sweeps.delete(sweep)
    house.close()


def state(home: Path) -> str:
    """Schema version, tables, and rows of runs and sweeps, in one line."""
    with closing(sqlite3.connect(home / STORE)) as db:
        tables = [row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
        told = [db.execute("PRAGMA user_version").fetchone()[0], len(tables)]
        told += [
            db.execute(f"SELECT count(*) FROM {name}").fetchone()[0] if name in tables else "-"
            for name in ("runs", "events", "sweeps", "sweep_runs")
        ]
    return " ".join(map(str, told))


def dying_before(number: int) -> None:
    """Have this process die before its statement of this number."""
    real = SqliteStore._connection
    seen = [0]

    def look(statement: str) -> None:
        if statement.lstrip().startswith(WRITES):
            seen[0] += 1
            if seen[0] == number:
                os.kill(os.getpid(), signal.SIGKILL)

    def connection(self: SqliteStore) -> sqlite3.Connection:
        found = real(self)
        found.set_trace_callback(look)
        return found

    SqliteStore._connection = connection  # type: ignore[method-assign]


def main(work: str, home: Path, *given: str) -> None:
    """Die until the work is done."""
    if work == "delete_sweep":
        importlib.import_module("courtroom.courthouse")  # once, and not in every child
    for number in count(1):
        print(state(home), flush=True)
        child = os.fork()
        if not child:
            dying_before(number)
            {"migrate": migrate, "delete_sweep": delete_sweep}[work](home, *given)  # type: ignore[operator]
            os._exit(0)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if code == 0:
            print(state(home))
            return
        assert code == -signal.SIGKILL, code


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), *sys.argv[3:])
