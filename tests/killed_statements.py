"""A process that dies before each of its SQL statements, to be forked.

A child process does the work and kills itself before its first statement that writes, the next one before its second, and so
on, until one comes to its end. Before each, and at the end, a line with what `state` tells of the store is printed.
"""

import asyncio
import importlib
import os
import signal
import sqlite3
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import Any

from courtroom.knowledge.bases import How
from courtroom.store.database import Database

WRITES = ("CREATE", "INSERT", "UPDATE", "DELETE", "DROP", "COMMIT")
STORE = "courtroom.sqlite"


def migrate(home: Path) -> None:
    Database(home / STORE).close()


def delete_experiment(home: Path, experiment: str) -> None:
    """Delete an experiment as the page does."""
    from courtroom.courthouse import Courthouse
    from courtroom.settings import Settings

    house = Courthouse(Settings(home=home))
    house.experiments.delete(experiment)
    house.close()


def import_statutes(home: Path, file: str, how: How) -> None:
    """Import a file into the knowledge base as the shell does."""
    from courtroom.knowledge.imports import Imports
    from courtroom.knowledge.search import Knowledge
    from courtroom.settings import Settings

    settings = Settings(home=home)
    database = Database(settings.database)
    imports = Imports(database, Knowledge(database, settings))
    asyncio.run(imports.run(imports.check("statutes", "law.jsonl", Path(file).read_bytes(), how=how)))


def state(home: Path) -> str:
    """Whether Alembic has been there, tables, and rows of runs, experiments and the knowledge base, in one line."""
    with closing(sqlite3.connect(home / STORE)) as db:
        tables = [row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
        told: list[object] = ["alembic" if "alembic_version" in tables else "before", len(tables)]
        told += [
            db.execute(f"SELECT count(*) FROM {name}").fetchone()[0] if name in tables else "-"
            for name in ("runs", "events", "experiments", "experiment_cells", "knowledge", "origins")
        ]
    return " ".join(map(str, told))


def dying_before(number: int) -> None:
    """Have this process die before its statement of this number."""
    real = sqlite3.connect
    seen = [0]

    def look(statement: str) -> None:
        if statement.lstrip().startswith(WRITES):
            seen[0] += 1
            if seen[0] == number:
                os.kill(os.getpid(), signal.SIGKILL)

    def connect(*args: Any, **options: Any) -> sqlite3.Connection:
        connection = real(*args, **options)
        connection.set_trace_callback(look)
        return connection

    sqlite3.connect = connect  # type: ignore[assignment]


def main(work: str, home: Path, *given: str) -> None:
    """Die until the work is done."""
    for module in ("courtroom.courthouse", "alembic.command", "alembic.autogenerate", "sqlalchemy.dialects.sqlite"):
        importlib.import_module(module)  # once, and not in every child
    for number in count(1):
        print(state(home), flush=True)
        child = os.fork()
        if not child:
            dying_before(number)
            globals()[work](home, *given)
            os._exit(0)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if code == 0:
            print(state(home))
            return
        assert code == -signal.SIGKILL, code
