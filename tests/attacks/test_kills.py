"""Processes that are killed, stopped or taken for another; clocks that jump; two servers on one store."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from courtroom.courthouse import Courthouse
from courtroom.engine import lease as leases
from courtroom.engine.lease import ENDED, LEASE_S, MACHINE, Driver, Lease, owner_of
from courtroom.knowledge.imports import BATCH
from courtroom.settings import Settings
from courtroom.shell.output import follow
from courtroom.sweeps.plan import singly, values
from tests import forks
from tests.attacks.test_disks import until
from tests.openai_server import OpenAIServer
from tests.test_closing import heard
from tests.test_imports import opened, records
from tests.test_resilience import asked_by, environment, recorded
from tests.test_sweeps import based, shell
from tests.toy import Bench, Scripted, side_by_member

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:chromadb.*", "ignore::ResourceWarning")


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    bench = Bench(tmp_path / "home", Scripted(side_by_member))
    yield bench
    bench.close()


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
    assert not bench.runner._driven._ends_its_process(run)
    assert bench.store.lease.holds(run, bench.runner.driver.owner)
    assert bench.store.lost.note(run, f"{owner_of(2**22 + 1)}:another") == 2


def test_who_waits_for_a_sweep_goes_on_with_it_when_its_driver_is_killed(
    tmp_path: Path, other: subprocess.Popen[bytes]
) -> None:
    house = Courthouse(Settings(home=tmp_path))
    run = heard(house)
    plan = house.sweeps.plan(run, singly(values("rounds", [2])), (0,))
    sweep = house.sweeps.store.create(plan, "Table", 0)
    assert house.sweeps.store.lease.claim(sweep, f"{owner_of(other.pid)}:other", None)
    house.sweeps.store.set_status(sweep, "running")
    settled = house.sweeps.settled(sweep)
    assert house.sweeps.take_up_interrupted() == []
    other.kill()
    settled.result(60)
    assert house.sweeps.store.sweep(sweep).status == "done"
    house.close()


@pytest.mark.usefixtures("either_database")
def test_a_process_that_is_stopped_keeps_its_run_and_one_that_is_killed_does_not(
    bench: Bench, other: subprocess.Popen[bytes]
) -> None:
    run = bench.start()
    other.send_signal(signal.SIGSTOP)
    assert bench.store.lease.claim(run, f"{owner_of(other.pid)}:other", None)
    bench.store.set_status(run, "running")
    bench.database.connection.execute("UPDATE runs SET heartbeat = 0")
    assert bench.runner.take_up_interrupted() == []
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


def test_a_driver_on_another_machine_is_dead_when_its_heartbeat_stands_still_by_the_observers_own_clock(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [1000.0]
    driver, lease, run = Driver(lambda: clock[0]), bench.store.lease, bench.start()
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
    quick = bench.new_runner()
    run = bench.start()
    quick.go(run)
    assert bench.model.asked.wait(30)
    still = threading.Event()
    quick._loop.call(lambda: still.wait(60))
    seen = {bench.store.run(run).heartbeat}
    until(lambda: seen.add(bench.store.run(run).heartbeat) or len(seen) > 3, "heartbeats")
    still.set()
    quick._loop.call(bench.model.hold.set)
    quick.wait(run, 60)
    quick.close()


def test_a_driver_whose_run_was_taken_stops_at_once_and_writes_nothing_more_but_the_answers(bench: Bench) -> None:
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
        bench.runner.take_up_interrupted()
        connection.set_trace_callback(None)
        return len(statements)

    bench.start()
    few = asked()
    for seed in range(20):
        bench.start(seed=seed)
    assert asked() == few


def test_runs_are_listed_as_they_were_made_also_when_the_clock_was_put_back(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = []
    for number in range(3):
        monkeypatch.setattr("courtroom.engine.store.time.time", lambda now=1e9 - number * 3600: now)
        made.append(bench.start(seed=number))
    assert [row.id for row in bench.store.runs()] == made


def test_a_foreign_lock_does_not_stop_the_loop(bench: Bench) -> None:
    run = bench.start()
    locking = sqlite3.connect(bench.database.at, isolation_level=None)
    bench.model.hold = asyncio.Event()
    bench.runner.go(run)
    assert bench.model.asked.wait(30)
    locking.execute("BEGIN IMMEDIATE")
    bench.runner._loop.call(bench.model.hold.set)
    until(lambda: bench.writers[-1]._queue, "a write to wait")
    assert bench.runner.do(asyncio.sleep(0, "on time")).result(10) == "on time"
    locking.execute("ROLLBACK")
    locking.close()
    bench.runner.wait(run, 60)
    assert bench.store.status(run) == "done"


def test_a_lease_is_one_rule_for_runs_and_sweeps(bench: Bench) -> None:
    for table in ("runs", "sweeps"):
        assert Lease(bench.database, table).holder("nothing") == (None, None)  # type: ignore[arg-type]


def test_killed_in_mid_import_it_goes_on_where_it_was(tmp_path: Path) -> None:
    total = 3000
    file = tmp_path / "many.jsonl"
    file.write_bytes(records(total))
    environment = {**os.environ, "COURTROOM_HOME": str(tmp_path / "home")}
    words = ("knowledge", "import", str(file), "--into", "cases")
    kills = 0
    for stop_at in (BATCH, 5 * BATCH):
        wanted = [f"Taking in {n} of".encode() for n in range(stop_at, total, BATCH)]
        with forks.Fork(forks.shell, *words, environment=environment) as process:
            told = process.until(wanted)
            if any(text in told for text in wanted):
                process.kill()
                kills += 1
    knowledge, imports = opened(tmp_path / "home")
    (job,) = imports.pending()
    assert kills == 2
    assert job.done >= 5 * BATCH
    assert job.done < total
    assert len(knowledge.of("cases", "imported")) == job.done
    command = [sys.executable, "-m", "courtroom", *words]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert f"Taking in {job.done} of" not in done.stderr  # it went on behind what was done
    assert len(knowledge.of("cases", "imported")) == total
    assert imports.pending() == []


def test_killed_in_mid_sweep_it_goes_on_where_it_was_with_no_run_twice(tmp_path: Path) -> None:
    legs: list[tuple[Counter[str], Counter[str]]] = []
    """What was on record before each start, and what was asked until it was killed."""
    with OpenAIServer(delay=0.01, keep_bodies=True) as server:
        run = based(tmp_path, server.url, "--model", "openai/any")
        words = (
            "sweep",
            run,
            "--drop",
            "jurors",
            "--drop",
            "evidence",
            "--vary",
            "graph.kind=ring,none",
            "--seeds",
            "2",
        )
        planned: list[list[Any]] = []
        for wanted in (3, 12):
            known, before = recorded(tmp_path), len(server.bodies)
            with forks.Fork(forks.shell, *words, environment=environment(tmp_path, server.url)) as process:
                process.until([f"{n} of 22 runs".encode() for n in range(wanted, 22)])
                process.kill()
            legs.append((known, Counter(map(asked_by, server.bodies[before:]))))
            planned.append(cells_of(tmp_path))
        assert planned[0] == planned[1], "run ids are made once, before any run"
        known, before = recorded(tmp_path), len(server.bodies)
        done = shell(tmp_path, server.url, *words, "--json")
        legs.append((known, Counter(map(asked_by, server.bodies[before:]))))
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["runs"] == {"done": 22}
    total = recorded(tmp_path)
    for known, asked in legs:
        assert all(asked[question] <= total[question] - known[question] for question in asked)
    assert sum(legs[-1][1].values()) > 0, "it was killed before its end"
    house = Courthouse(Settings(home=tmp_path))
    assert Counter(row.status for row in house.store.runs()) == {"done": 22}
    assert {row.id for row in house.store.runs()} == {cell for cell, *_ in planned[0]}
    house.close()


def cells_of(home: Path) -> list[Any]:
    house = Courthouse(Settings(home=home))
    (sweep,) = house.sweeps.store.sweeps()
    found = [(cell.run, cell.variant, cell.seed) for cell in house.sweeps.store.cells(sweep.id)]
    house.close()
    return found


@pytest.mark.usefixtures("either_database")
def test_a_restarted_server_takes_up_the_sweeps_that_were_under_way(tmp_path: Path) -> None:
    with OpenAIServer(delay=0.02) as server:
        run = based(tmp_path, server.url)
        words = ("sweep", run, "--vary", "model.id=openai/any", "--vary", "rounds=1", "--seeds", "3")
        with forks.Fork(forks.shell, *words, environment=environment(tmp_path, server.url)) as process:
            process.until([b"3 of 9 runs"])
            process.kill()
        with forks.Fork(taken_up, environment=environment(tmp_path, server.url)) as process:
            again = process.finish()
    assert again.returncode == 0, again.stderr
    assert again.stdout.split() == ["1", "done", "9"], again.stdout


def taken_up() -> None:
    """What a server does that starts."""
    house = Courthouse()
    house.runner.take_up_interrupted()
    (sweep,) = taken = house.sweeps.take_up_interrupted()
    house.sweeps.wait(sweep, 60)
    print(len(taken), house.sweeps.store.sweep(sweep).status, len(house.store.runs()))
    house.close()
