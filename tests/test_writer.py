"""Many writes at once: those that wait share a transaction, and each future is done after the commit."""

import asyncio
import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import closing
from pathlib import Path

import pytest

from courtroom.engine.loop import Batcher, each
from courtroom.store.database import Database
from courtroom.store.writer import Writer


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    database = Database(tmp_path / "courtroom.sqlite")
    yield database
    database.close()


@pytest.fixture
def writer(database: Database) -> Iterator[Writer]:
    writer = Writer(database)
    yield writer
    writer.close()


def names(path: Path) -> list[str]:
    """What another connection sees: what is committed."""
    with closing(sqlite3.connect(path)) as db:
        return [row[0] for row in db.execute("SELECT name FROM setups ORDER BY rowid")]


def save(database: Database, name: str, then: Callable[[], object] = lambda: None) -> Callable[[], str]:
    """A write, and what it does after its statement."""

    def write() -> str:
        database.connection.execute("INSERT INTO setups VALUES (?, '{}', 0)", (name,))
        then()
        return name

    return write


def held_up(writer: Writer) -> threading.Event:
    """Have the writer busy until this is set, so that what is put in meanwhile waits together."""
    begun, goes_on = threading.Event(), threading.Event()

    def write() -> None:
        begun.set()
        goes_on.wait()

    writer.put(write)
    begun.wait()
    return goes_on


def test_writes_that_wait_share_a_transaction_and_are_done_after_its_commit(database: Database, writer: Writer) -> None:
    seen: list[list[str]] = []
    counted: list[str] = []
    goes_on = held_up(writer)
    first = writer.put(lambda: database.connection.set_trace_callback(counted.append))
    done = [writer.put(save(database, str(number))) for number in range(20)]
    done[0].add_done_callback(lambda _: seen.append(names(database.at)))
    goes_on.set()
    assert first.result() is None
    assert [one.result() for one in done] == [str(number) for number in range(20)]
    writer.put(lambda: database.connection.set_trace_callback(None)).result()
    assert seen == [[str(number) for number in range(20)]], "all are on disk when the first one is told"
    assert sum(statement.startswith("COMMIT") for statement in counted) == 1


def test_a_write_that_fails_is_undone_alone(database: Database, writer: Writer) -> None:
    def wrong() -> None:
        raise ValueError("no")

    goes_on = held_up(writer)
    done: list[Future[str]] = [
        writer.put(save(database, "before")),
        writer.put(save(database, "bad", wrong)),
        writer.put(save(database, "after")),
    ]
    goes_on.set()
    assert done[0].result() == "before"
    with pytest.raises(ValueError, match="no"):
        done[1].result()
    assert done[2].result() == "after"
    assert names(database.at) == ["before", "after"]


def test_writes_that_the_disk_does_not_take_are_done_whole_when_it_does(
    database: Database, writer: Writer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("courtroom.store.writer.PROBE_S", 0.01)
    tried: list[str] = []
    told: list[str] = []
    writer.listen(told.append)

    def full() -> None:
        tried.append("")
        if len(tried) < 3:
            error = sqlite3.OperationalError("database or disk is full")
            error.sqlite_errorcode = sqlite3.SQLITE_FULL
            raise error

    goes_on = held_up(writer)
    done = [writer.put(save(database, "before")), writer.put(save(database, "full", full))]
    done.append(writer.put(save(database, "after")))
    goes_on.set()
    assert [one.result() for one in done] == ["before", "full", "after"]
    assert names(database.at) == ["before", "full", "after"]
    assert told[0]
    assert told[-1] == "", "said while it lasted"


async def test_who_comes_while_work_is_done_goes_with_the_next_round() -> None:
    rounds: list[list[int]] = []
    goes_on = asyncio.Event()

    async def work(some: Sequence[int]) -> list[int | BaseException]:
        rounds.append(list(some))
        if len(rounds) == 1:
            await goes_on.wait()
        return each([lambda number=number: 12 // number for number in some])

    gathered: Batcher[int, int] = Batcher(work)
    first = asyncio.create_task(gathered(1))
    while not rounds:
        await asyncio.sleep(0)
    others = [asyncio.create_task(gathered(number)) for number in (2, 0, 3)]
    gone = asyncio.create_task(gathered(4))
    await asyncio.sleep(0)
    gone.cancel()
    goes_on.set()
    assert await first == 12
    results = await asyncio.gather(*others, return_exceptions=True)
    assert results[0] == 6
    assert results[2] == 4
    assert isinstance(results[1], ZeroDivisionError), "one that fails fails alone"
    assert rounds == [[1], [2, 0, 3, 4]]


async def test_work_that_fails_as_a_whole_fails_for_all_and_the_next_round_goes_on() -> None:
    failing = [True]

    async def work(some: Sequence[int]) -> Sequence[int]:
        if failing.pop() if failing else False:
            raise ValueError("no")
        return some

    gathered: Batcher[int, int] = Batcher(work)
    results = await asyncio.gather(gathered(1), gathered(2), return_exceptions=True)
    assert all(isinstance(one, ValueError) for one in results)
    assert await gathered(3) == 3
