"""Processes that are killed, stopped or taken for another; clocks that jump; two servers on one store."""

import asyncio
import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from courtroom.courthouse import Courthouse
from courtroom.settings import Settings
from courtroom.shell.options import follow
from courtroom.store.opening import open_store
from courtroom.store.sqlite import copy
from tests import forks, kills
from tests.driving import until
from tests.openai_server import OpenAIServer
from tests.postgres_server import PostgresServer
from tests.test_closing import heard
from tests.test_knowledge import opened
from tests.toy import Bench, Scripted, side_by_member

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:chromadb.*", "ignore::ResourceWarning")


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    with closing(Bench(tmp_path / "home", Scripted(side_by_member))) as bench:
        yield bench


def locks(folder: Path, name: str) -> None:
    """Takes a lock as soon as it is free, and has it until it is killed; to be forked."""
    lock = open_store(Settings(home=folder).database).lock(name)
    print("waits", flush=True)
    while not lock.take():
        time.sleep(0.01)
    print("has it", flush=True)
    time.sleep(600)


def locks_and_forks(folder: Path, name: str) -> None:
    """Has a lock, and a process of its own that it forked without a program; to be forked."""
    lock = open_store(Settings(home=folder).database).lock(name)
    assert lock.take()
    if not os.fork():
        print(os.getpid(), flush=True)
    time.sleep(600)


@contextmanager
def locked(folder: Path, name: str) -> Iterator[forks.Fork]:
    """Another process that has a lock of the store in a folder."""
    with forks.Fork(locks, folder, name) as other:
        assert [other.line(), other.line()] == ["waits\n", "has it\n"]
        yield other


def holds(folder: Path, run: str) -> None:
    """Drive a run whose model never answers."""
    bench = Bench(folder, Scripted(hold=asyncio.Event()))
    bench.runner.go(run)
    assert bench.model.asked.wait(60)
    print("drives", flush=True)
    time.sleep(600)


@pytest.mark.usefixtures("either_database")
def test_who_waits_for_a_run_takes_over_from_the_dead(bench: Bench) -> None:
    run = bench.start()
    with forks.Fork(holds, bench.folder, run) as driver:
        assert driver.line() == "drives\n"
        bench.runner.go(run)
        assert not bench.runner.drives(run)
        waiting = threading.Thread(target=follow, args=(bench, run))  # as `python -m courtroom resume` waits
        waiting.start()
        driver.kill()
        bench.runner.wait(run, 60)
        waiting.join(60)
    assert not waiting.is_alive()
    assert bench.store.run(run).status == "done"


@pytest.mark.usefixtures("either_database")
def test_a_stopped_process_keeps_its_run(bench: Bench) -> None:
    run = bench.start()
    bench.store.set_status(run, "running")
    with locked(bench.folder, f"run {run}") as other:
        os.kill(other.pid, signal.SIGSTOP)
        assert bench.runner.resume_interrupted() == []
        assert not bench.runner.interrupted(run)
        other.kill()
        bench.runner.wait(run, 60)
    assert bench.store.run(run).status == "done"


@pytest.mark.usefixtures("either_database")
def test_two_runners_of_a_process_share_no_lock(bench: Bench) -> None:
    bench.model.hold = asyncio.Event()
    run = bench.start()
    bench.runner.go(run)
    assert bench.model.asked.wait(30)
    with closing(bench.new_runner()) as second:
        second.go(run)
        assert not second.drives(run)
        assert not second.interrupted(run)
        bench.let_go(run)
        second.wait(run, 60)
    assert bench.store.status(run) == "done"


def test_a_killed_processs_child_has_no_lock(bench: Bench) -> None:
    with forks.Fork(locks_and_forks, bench.folder, "thing") as other:
        child = int(other.line())
        assert bench.database.is_locked("thing")
        other.kill()
        assert not bench.database.is_locked("thing")
        os.kill(child, signal.SIGKILL)


def test_a_restored_store_has_no_former_lock(bench: Bench, tmp_path: Path) -> None:
    lock = bench.database.lock("thing")
    assert lock.take()
    path = bench.database.at
    copy(path, tmp_path / "copy")
    path.rename(tmp_path / "before")
    (tmp_path / "copy").rename(path)
    with closing(open_store(path)) as again:
        assert not again.is_locked("thing")
    assert lock.held


def test_a_disconnected_driver_writes_only_its_answers(
    tmp_path: Path, on_postgres: str, postgres: PostgresServer
) -> None:
    bench = Bench(tmp_path / "home", Scripted(side_by_member, hold=asyncio.Event()))
    run = bench.start()
    bench.runner.go(run)
    until(lambda: len(bench.model.history) == 3, "all jurors to be asked")
    until(lambda: bench.record(run).stages, "the stage to be on disk")
    before = list(bench.store.events(run))
    with forks.Fork(locks, bench.folder, f"run {run}") as other:
        assert other.line() == "waits\n"
        held = (
            "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM"
        )
        postgres.say(f"{held} pg_database WHERE datname = '{name_of(on_postgres)}')")
        assert other.line() == "has it\n"
        bench.let_go(run)
        until(lambda: not bench.runner.drives(run), "the driver to stop")
        assert list(bench.store.events(run)) == before
        assert bench.store.status(run) == "running"
        assert all(bench.answers.reply(request.key) for request in bench.model.history), "what was paid for is kept"
        assert len(bench.model.history) == 3
        other.kill()
        bench.runner.wait(run, 60)
    assert bench.store.status(run) == "done"
    assert len(bench.model.history) == 6, "nothing is asked twice"
    bench.close()


def name_of(address: str) -> str:
    """The name of a database in its address."""
    return address.partition("@/")[2].partition("?")[0]


STATUTE = '{"number": %d, "text": "Whoever takes thing %d is punished.", "charges": ["taking %d"]}\n'


def test_an_import_killed_at_any_statement_changes_nothing(tmp_path: Path) -> None:
    home, file = tmp_path / "home", tmp_path / "law.jsonl"
    file.write_text(STATUTE % (264, 264, 264))
    knowledge, imports = opened(home)
    asyncio.run(imports.run(imports.check("statutes", file.name, file.read_bytes())))
    file.write_text("".join(STATUTE % (number, number, number) for number in range(300, 303)))
    done = forks.Fork(kills.die_before_each_statement, "import_statutes", home, str(file), "replace").finish()
    assert done.returncode == 0, done.stderr
    states = [line.split()[-2:] for line in done.stdout.splitlines()]  # how many records, and how many imports
    before = states.count(states[0])
    assert before >= 8, "each of its statements was one moment"
    assert {records for records, _ in states[before:]} == {states[-1][0]}, "half of it is never there"
    assert {f"{one.number}" for one in knowledge.of("statutes", "imported").all()} == {"300", "301", "302"}
    assert len(knowledge.of("charges", "imported")) == 3


@pytest.mark.usefixtures("either_database")
def test_what_ifs_of_a_killed_process_are_taken_up(house: Courthouse, monkeypatch: pytest.MonkeyPatch) -> None:
    run = heard(house, rounds=2)
    words = ("what-if", run, "--vary", "model.id=openai/any", "--vary", "rounds=1", "--seeds", "2")
    with OpenAIServer(delay=0.02) as server:
        server.known(monkeypatch)
        with forks.Fork(forks.shell, *words) as process:
            process.until([f"{n} of 6 cells".encode() for n in range(2, 6)])
            process.kill()
        house.runner.resume_interrupted()
        (name,) = house.experiments.resume_interrupted()
        house.experiments.wait(name, 60)
    assert house.experiments.store.status(name) == "done"
    assert len(house.store.runs()) == 6
