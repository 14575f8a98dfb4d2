"""Processes that are killed, stopped or taken for another; clocks that jump; two servers on one store."""

import asyncio
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from courtroom.courthouse import Courthouse
from courtroom.engine import lease as leases
from courtroom.engine.lease import ENDED, LEASE_S, MACHINE, LeaseHolder, owner_of
from courtroom.experiments.what_if import singly, values
from courtroom.knowledge.imports import BATCH
from courtroom.procedures.cyberjurors.setup import CyberJurorsSetup
from courtroom.shell.options import follow
from tests import forks, kills
from tests.driving import until
from tests.openai_server import OpenAIServer
from tests.test_closing import heard
from tests.test_knowledge import opened, records
from tests.toy import Bench, Scripted, side_by_member

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:chromadb.*", "ignore::ResourceWarning")


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    with closing(Bench(tmp_path / "home", Scripted(side_by_member))) as bench:
        yield bench


@pytest.fixture
def other() -> Iterator[subprocess.Popen[bytes]]:
    """Another process of this machine, which lives until it is killed."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other:
        yield other
        other.kill()


def holds(folder: Path, run: str) -> None:
    """Drive a run whose model never answers."""
    bench = Bench(folder, Scripted(hold=asyncio.Event()))
    bench.runner.go(run)
    assert bench.model.asked.wait(60)
    print("drives", flush=True)
    time.sleep(600)


@pytest.mark.usefixtures("either_database")
def test_who_waits_for_a_run_goes_on_with_it_when_its_driver_is_killed(bench: Bench) -> None:
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


def test_who_waits_does_not_take_the_one_that_has_just_taken_over_for_another_that_died(bench: Bench) -> None:
    run = bench.start()
    assert bench.store.lost.note(run, f"{owner_of(2**22 + 1)}:dead") == 1
    assert bench.store.lease.claim(run, bench.runner.driver.owner, None)
    assert not bench.runner._ends_its_process(run)
    assert bench.store.lease.holds(run, bench.runner.driver.owner)
    assert bench.store.lost.note(run, f"{owner_of(2**22 + 1)}:another") == 2


def test_who_waits_for_a_what_if_goes_on_if_its_driver_dies(house: Courthouse, other: subprocess.Popen[bytes]) -> None:
    run, lab = heard(house), house.experiments
    what_if = lab.begin(lab.what_ifs.experiment(run, singly(values(CyberJurorsSetup, "rounds", [2])), (0,)))
    assert lab.store.lease.claim(what_if, f"{owner_of(other.pid)}:other", None)
    lab.store.set_status(what_if, "running")
    settled = lab.settled(what_if)
    assert lab.resume_interrupted() == []
    other.kill()
    settled.result(60)
    assert lab.store.status(what_if) == "done"


@pytest.mark.usefixtures("either_database")
def test_who_is_stopped_keeps_its_run_and_who_is_killed_does_not(bench: Bench, other: subprocess.Popen[bytes]) -> None:
    run = bench.start()
    other.send_signal(signal.SIGSTOP)
    assert bench.store.lease.claim(run, f"{owner_of(other.pid)}:other", None)
    bench.store.set_status(run, "running")
    bench.database.connection.execute("UPDATE runs SET heartbeat = 0")
    assert bench.runner.resume_interrupted() == []
    assert not bench.runner.interrupted(run)
    other.kill()
    bench.runner.wait(run, 60)  # its death is seen, although nobody has asked for its exit code
    assert bench.store.run(run).status == "done"


def test_a_number_that_another_process_has_got_since_is_not_taken_for_the_driver(bench: Bench) -> None:
    run = bench.start()
    machine, pid, _ = owner_of(os.getpid()).rsplit(":", 2)
    assert bench.store.lease.claim(run, f"{machine}:{pid}:1:before", None)
    bench.store.set_status(run, "running")
    assert bench.runner.interrupted(run)
    assert owner_of(2**22 + 1) == f"{MACHINE}:{2**22 + 1}:{ENDED}"


def test_a_driver_elsewhere_is_dead_when_its_heart_stands_still(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [1000.0]
    driver, lease, run = LeaseHolder(lambda: clock[0]), bench.store.lease, bench.start()
    elsewhere = "elsewhere/1/2:77:12345:abc"
    assert lease.claim(run, elsewhere, None)

    def lives() -> bool:
        return driver.lives(lease, run, *lease.holder(run))

    today = time.time()
    for now in (today + 86_400, today - 86_400, today):  # neither machine's clock matters
        monkeypatch.setattr(leases.time, "time", lambda now=now: now)
        lease.beat(elsewhere, [run])
        assert lives()
        clock[0] += LEASE_S - 1
        assert lives()
    clock[0] += 2
    assert not lives()
    driver.close()


def test_the_heart_beats_while_the_loop_stands_still(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leases, "HEART_S", 0.02)
    bench.model.hold = asyncio.Event()
    run, still = bench.start(), threading.Event()
    with closing(bench.new_runner()) as quick:
        quick.go(run)
        assert bench.model.asked.wait(30)
        quick._loop.call(lambda: still.wait(60))
        seen = {bench.store.run(run).heartbeat}
        until(lambda: seen.add(bench.store.run(run).heartbeat) or len(seen) > 3, "heartbeats")
        still.set()
        quick._loop.call(bench.model.hold.set)
        quick.wait(run, 60)


def test_a_driver_whose_run_was_taken_stops_at_once_and_writes_nothing_more_but_the_answers(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leases, "SURE_S", -1.0)  # what was seen of the lease a moment ago still counts otherwise
    bench.model.hold = asyncio.Event()
    run = bench.start()
    bench.runner.go(run)
    until(lambda: len(bench.model.history) == 3, "all jurors to be asked")
    until(lambda: bench.store.stages(run), "the stage to be on disk")
    taken = "elsewhere/1/2:77:12345:abc"
    assert bench.store.lease.claim(run, taken, bench.runner.driver.owner)
    before = list(bench.store.events(run))
    bench.let_go(run)
    until(lambda: not bench.runner.drives(run), "the driver to stop")
    assert list(bench.store.events(run)) == before
    assert bench.store.lease.holder(run)[0] == taken
    assert bench.store.status(run) == "running"
    assert all(bench.answers.reply(request.key) for request in bench.model.history), "what was paid for is kept"
    assert len(bench.model.history) == 3


def test_what_is_left_behind_is_found_by_one_question_however_many_runs_there_are(bench: Bench) -> None:
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
        bench.runner._loop.call(bench.model.hold.set)
        until(lambda: bench.writers[-1]._queue, "a write to wait")
        assert bench.runner.do(asyncio.sleep(0, "on time")).result(10) == "on time"
    bench.runner.wait(run, 60)
    assert bench.store.status(run) == "done"


def test_an_import_that_is_killed_leaves_nothing_and_the_same_command_imports_all(tmp_path: Path) -> None:
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
def test_an_import_that_is_killed_at_any_statement_leaves_what_was_there_before(tmp_path: Path, how: str) -> None:
    home, file = tmp_path / "home", tmp_path / "law.jsonl"
    file.write_text(STATUTE % (264, 264, 264))
    knowledge, imports = opened(home)
    asyncio.run(imports.run(imports.check("statutes", file.name, file.read_bytes())))
    file.write_text("".join(STATUTE % (number, number, number) for number in range(300, 303)))
    done = forks.Fork(kills.die_before_each_statement, "import_statutes", home, str(file), how).finish()
    assert done.returncode == 0, done.stderr
    states = [line.split()[-2:] for line in done.stdout.splitlines()]  # how many records, and how many imports
    before = states.count(states[0])
    assert before >= 8, "each of its statements was one moment"
    assert {records for records, _ in states[before:]} == {states[-1][0]}, "half of it is never there"
    articles = {f"{one.number}" for one in knowledge.of("statutes", "imported").all()}
    assert articles == {"300", "301", "302"} | ({"264"} if how == "add" else set())
    assert len(knowledge.of("charges", "imported")) == len(articles)
    found = asyncio.run(knowledge.of("statutes", "imported").search("thing 301", 1))
    assert found[0].record.number == 301


@pytest.mark.usefixtures("either_database")
def test_what_ifs_of_a_process_that_is_killed_are_taken_up(house: Courthouse, monkeypatch: pytest.MonkeyPatch) -> None:
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
