"""Processes that are killed, stopped or taken for another; clocks that jump; two servers on one store."""

import asyncio
import os
import signal
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from courtroom import Courthouse, Settings
from courtroom.experiments.what_if import singly, values
from courtroom.knowledge.imports import BATCH
from courtroom.procedures.cyberjurors.setup import CyberJurorsSetup
from courtroom.shell.options import follow
from courtroom.store.opening import open_store
from courtroom.store.sqlite import copy
from tests import forks, kills
from tests.driving import until
from tests.openai_server import OpenAIServer
from tests.postgres_server import PostgresServer
from tests.test_knowledge import opened, records
from tests.test_log import heard
from tests.toy import Bench, Scripted, side_by_member

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:chromadb.*", "ignore::ResourceWarning")


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


def test_only_who_takes_over_counts_a_death(bench: Bench) -> None:
    run = bench.start()
    bench.store.set_status(run, "running")
    lock = bench.store.lock(run)
    assert lock.take()
    bench.runner._take_up(run, is_abandoned=True)
    lock.release()
    assert bench.store.run(run).reason == "", "another was quicker"
    assert not bench.store.died_again(run)
    assert bench.store.run(run).reason.startswith("The program ended while it worked on this run")
    assert bench.database.row("SELECT reason FROM runs WHERE id = ?", (run,))["reason"] == "died"
    assert bench.store.died_again(run)
    bench.store.forgive([run])
    assert not bench.store.died_again(run)


def test_who_waits_for_a_what_if_takes_it_over(house: Courthouse, tmp_path: Path) -> None:
    run, lab = heard(house), house.experiments
    what_if = lab.begin(lab.what_ifs.experiment(run, singly(values(CyberJurorsSetup, "rounds", [2])), (0,)))
    lab.store.set_status(what_if, "running")
    with locked(tmp_path, f"experiment {what_if}") as other:
        settled = lab.settled(what_if)
        assert lab.resume_interrupted() == []
        other.kill()
        settled.result(60)
    assert lab.store.status(what_if) == "done"


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


def test_who_takes_a_lock_waits_for_who_only_looks(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    looker, lock = bench.database.lock("thing"), bench.database.lock("thing")
    assert looker.take()
    monkeypatch.setattr(time, "sleep", lambda seconds: looker.release())
    assert lock.take()


def test_a_released_lock_leaves_its_file(bench: Bench) -> None:
    lock = bench.database.lock("thing")
    assert lock.take()
    file = lock.path.stat().st_ino
    lock.release()
    assert lock.path.stat().st_ino == file


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


def test_a_lost_driver_writes_only_its_answers(tmp_path: Path, on_postgres: str, postgres: PostgresServer) -> None:
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


def test_one_question_finds_all_that_is_left_behind(bench: Bench) -> None:
    def asked() -> int:
        statements: list[str] = []
        connection = bench.database.connection
        connection.set_trace_callback(statements.append)
        bench.runner.resume_interrupted()
        connection.set_trace_callback(None)
        return len(statements)

    bench.start()
    few = asked()
    for seed in range(20):
        bench.start(seed=seed)
    assert asked() == few


def test_runs_are_listed_as_they_were_made_whatever_the_clock(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    for number in range(3):
        monkeypatch.setattr("courtroom.engine.store.time.time", lambda now=1e9 - number * 3600: now)
        made.append(bench.start(seed=number))
    assert [row.id for row in bench.store.runs()] == made


def test_a_foreign_lock_does_not_stop_the_loop(bench: Bench) -> None:
    run = bench.start()
    bench.model.hold = asyncio.Event()
    bench.runner.go(run)
    assert bench.model.asked.wait(30)
    with closing(sqlite3.connect(bench.database.at, isolation_level=None)) as locking:
        locking.execute("BEGIN IMMEDIATE")
        bench.runner.call(bench.model.hold.set)
        until(lambda: bench.writers[-1]._queue, "a write to wait")
        assert bench.runner.do(asyncio.sleep(0, "on time")).result(10) == "on time"
    bench.runner.wait(run, 60)
    assert bench.store.status(run) == "done"


def test_a_killed_import_leaves_nothing(tmp_path: Path) -> None:
    total = 3 * BATCH
    file = tmp_path / "many.jsonl"
    file.write_bytes(records(total))
    environment = {**os.environ, "COURTROOM_HOME": str(tmp_path / "home")}
    words = ("knowledge", "import", str(file), "--into", "cases")
    with forks.Fork(forks.shell, *words, environment=environment) as process:
        assert b"Taking in" in process.until([f"Taking in {n} of".encode() for n in range(BATCH, total, BATCH)])
        process.kill()
    knowledge, _ = opened(tmp_path / "home")
    assert len(knowledge.of("cases", "imported")) in (0, total)
    done = forks.run(*words, environment=environment)
    assert done.returncode == 0, done.stderr
    assert len(knowledge.of("cases", "imported")) == total


STATUTE = '{"number": %d, "text": "Whoever takes thing %d is punished.", "charges": ["taking %d"]}\n'


@pytest.mark.parametrize("how", ["add", "replace"])
def test_an_import_killed_at_any_statement_changes_nothing(tmp_path: Path, how: str) -> None:
    home, file = tmp_path / "home", tmp_path / "law.jsonl"
    file.write_text(STATUTE % (264, 264, 264))
    knowledge, imports = opened(home)
    asyncio.run(imports.run(imports.check("statutes", file.name, file.read_bytes())))
    file.write_text("".join(STATUTE % (number, number, number) for number in range(300, 303)))
    done = forks.Fork(kills.die_before_each_statement, "import_statutes", home, str(file), how).output()
    states = [line.split()[-2:] for line in done.splitlines()]  # how many records, and how many imports
    before = states.count(states[0])
    assert before >= 8, "each of its statements was one moment"
    assert {records for records, _ in states[before:]} == {states[-1][0]}, "half of it is never there"
    articles = {f"{one.number}" for one in knowledge.of("statutes", "imported").all()}
    assert articles == {"300", "301", "302"} | ({"264"} if how == "add" else set())
    assert len(knowledge.of("charges", "imported")) == len(articles)
    found = asyncio.run(knowledge.of("statutes", "imported").search("thing 301", 1))
    assert found[0].record.number == 301


@pytest.mark.usefixtures("either_database")
def test_what_ifs_of_a_killed_process_are_taken_up(house: Courthouse, monkeypatch: pytest.MonkeyPatch) -> None:
    run = heard(house, rounds=2)
    words = ("what-if", run, "--vary", "model.id=openai/any", "--vary", "rounds=1", "--seeds", "2")
    with OpenAIServer(delay=0.02, known_to=monkeypatch):
        with forks.Fork(forks.shell, *words) as process:
            process.until([f"{n} of 6 cells".encode() for n in range(2, 6)])
            process.kill()
        house.runner.resume_interrupted()
        (name,) = house.experiments.resume_interrupted()
        house.experiments.wait(name, 60)
    assert house.experiments.store.status(name) == "done"
    assert len(house.store.runs()) == 6
