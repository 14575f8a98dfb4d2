"""Processes that die again and again, to be forked.

A hearing with COURTROOM_HOME set: a process of its own goes on with it each time, and kills itself right after a write,
the first after its first one, the others after their fourth, sixteenth one and so on. And work of which a process
dies before its first SQL statement that writes, the next before its second, and so on.
"""

import asyncio
import os
import signal
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import Any

from courtroom import Courthouse, Settings
from courtroom.engine.answers import AnswerStore
from courtroom.engine.store import RunStore
from courtroom.experiments.store import ExperimentStore
from courtroom.knowledge.bases import How
from courtroom.knowledge.imports import Imports
from courtroom.knowledge.lessons import Lessons
from courtroom.knowledge.search import Knowledge
from courtroom.store.opening import open_store
from courtroom.store.writer import Writer

WRITES = ("CREATE", "INSERT", "UPDATE", "DELETE", "DROP", "COMMIT")
STORE = "courtroom.sqlite"


def child_died(work: Callable[..., None], *given: Any) -> bool:
    """Whether the child process that does this was killed, or came to its end."""
    child = os.fork()
    if not child:
        work(*given)
        os._exit(0)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code in (0, -signal.SIGKILL), code
    return code != 0


def die_when(due: Callable[[], bool]) -> None:
    """Have this process die when this holds and the writer has put something on disk, before anybody is told of it."""
    written = Writer._written

    def then(writer: Writer, writes: Sequence[Callable[[], Any]]) -> list[Any]:
        results = written(writer, writes)
        if due():
            os.kill(os.getpid(), signal.SIGKILL)
        return results

    Writer._written = then  # type: ignore[method-assign]


def die_after(last: int, writes: Iterable[tuple[type, str]]) -> None:
    """Have this process die as soon as so many of these writes are on disk; 0 is never."""
    written = [0]

    def counted(write: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **given: Any) -> Any:
            result = write(*args, **given)
            written[0] += 1
            return result

        return call

    for owner, name in writes:
        setattr(owner, name, counted(getattr(owner, name)))
    die_when(lambda: 0 < last <= written[0])


def go_on(run: str, last: int) -> None:
    """Go on with the run until the last write allowed."""
    die_after(last, ((AnswerStore, "keep"), (RunStore, "add"), (Lessons, "teach")))
    house = Courthouse()
    house.runner.go(run)
    house.runner.wait(run)
    house.close()


def go_on_with_experiment(name: str, last: int) -> None:
    """Go on with an experiment until the last write allowed; 0 is to the end."""
    die_after(last, ((AnswerStore, "keep"), (ExperimentStore, "conclude")))
    house = Courthouse()
    house.experiments.go(name)
    house.experiments.wait(name)
    house.close()


def kill_again_and_again(run: str) -> None:
    """Print how often the process died before the run was done."""
    print(next(kills for kills in count() if not child_died(go_on, run, 4**kills)))


def migrate(home: Path) -> None:
    open_store(home / STORE).close()


def delete_experiment(home: Path, experiment: str) -> None:
    """Delete an experiment as the page does."""
    house = Courthouse(Settings(home=home))
    house.experiments.delete(experiment)
    house.close()


def import_statutes(home: Path, file: str, how: How) -> None:
    """Import a file into the knowledge base as the shell does."""
    settings = Settings(home=home)
    database = open_store(settings.database)
    imports = Imports(database, Knowledge(database, settings))
    asyncio.run(imports.run(imports.check("statutes", "law.jsonl", Path(file).read_bytes(), how=how)))


def state(home: Path) -> str:
    """Whether revisions are on record, tables, and rows of runs, experiments and the knowledge base, in one line."""
    with closing(sqlite3.connect(home / STORE)) as db:
        tables = [row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
        told: list[object] = ["revisions" if "alembic_version" in tables else "before", len(tables)]
        counted = ("runs", "events", "experiments", "experiment_cells", "knowledge", "origins")
        rows = "SELECT count(*) FROM "
        told += [db.execute(rows + name).fetchone()[0] if name in tables else "-" for name in counted]
    return " ".join(map(str, told))


def work_until(number: int, work: str, home: Path, *given: str) -> None:
    """Do the work, and die before its statement of this number."""
    real, seen = sqlite3.connect, count(1)

    def look(statement: str) -> None:
        if statement.lstrip().startswith(WRITES) and next(seen) == number:
            os.kill(os.getpid(), signal.SIGKILL)

    def connect(*args: Any, **options: Any) -> sqlite3.Connection:
        connection = real(*args, **options)
        connection.set_trace_callback(look)
        return connection

    sqlite3.connect = connect  # type: ignore[assignment]
    globals()[work](home, *given)


def die_before_each_statement(work: str, home: Path, *given: str) -> None:
    """Do the work again and again until it is done; prints before each time, and at the end, what `state` tells."""
    numbers = count(1)
    print(state(home), flush=True)
    while child_died(work_until, next(numbers), work, home, *given):
        print(state(home), flush=True)
    print(state(home), flush=True)
