"""PostgreSQL as the store: who takes over another's runs is killed, and the server goes away and comes back."""

import asyncio
import os
import signal
from collections.abc import Iterator
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from courtroom.engine.budget import in_sum
from courtroom.engine.store import RunStore
from courtroom.models.request import Request
from courtroom.store import postgres as store
from courtroom.store.connection import AWAY
from courtroom.store.database import Database
from tests import forks
from tests.driving import until
from tests.postgres_server import PostgresServer
from tests.toy import Bench, Scripted, side_by_member

RUNS, CALLS, KILLS = 3, 6, 5
"""Runs, calls of each, and how many processes are killed while they take over."""


def dying_model(last: int, log: Path) -> Scripted:
    """Answers, and notes what was asked; its process dies with the call of this number."""
    asked = count(1)

    def reply(request: Request) -> str:
        with log.open("a") as file:
            file.write(f"{request.key}\n")
        if next(asked) == last:
            os.kill(os.getpid(), signal.SIGKILL)
        return side_by_member(request)

    return Scripted(reply)


def drives(folder: Path, runs: list[str], log: Path) -> None:
    """Drive runs, and die; to be forked."""
    bench = Bench(folder, dying_model(RUNS * CALLS - 4, log))
    for run in runs:
        bench.runner.go(run)
    for run in runs:
        bench.runner.wait(run, 60)


def takes_up(folder: Path, last: int, log: Path) -> None:
    """Take up what is left behind and bring it to its end, or die before a statement; to be forked."""
    real, seen, made = store.run, count(1), 0

    def dying(server: Any, sql: str, parameters: Any = ()) -> Any:
        nonlocal made
        made = next(seen)
        if made == last:
            os.kill(os.getpid(), signal.SIGKILL)
        return real(server, sql, parameters)

    store.run = dying
    bench = Bench(folder, dying_model(0, log))
    bench.runner.resume_interrupted()
    for row in bench.store.runs():
        bench.runner.wait(row.id, 60)
        if bench.store.status(row.id) == "paused":  # two processes died over it: it is left to a person, who goes on
            bench.runner.go(row.id)
            bench.runner.wait(row.id, 60)
    bench.close()
    print(made)


def taken_up(folder: Path, address: str, last: int, log: Path) -> forks.CompletedProcess[str]:
    """Has a process take up what is left; nothing is asked whose answer is on record."""
    with closing(Database(SecretStr(address))) as database:
        known = {key for (key,) in database.connection.execute("SELECT key FROM answers")}
    before = len(log.read_text().split())
    with forks.Fork(takes_up, folder, last, log, environment={**os.environ, "COURTROOM_DATABASE": address}) as process:
        done = process.finish()
    assert known
    assert not known & set(log.read_text().split()[before:])
    assert done.returncode == (-signal.SIGKILL if last else 0), done.stderr
    return done


def test_a_process_that_is_killed_while_it_takes_over_anothers_runs_leaves_them_to_the_next(
    tmp_path: Path, postgres: PostgresServer, on_postgres: str
) -> None:
    folder, log = tmp_path / "home", tmp_path / "asked"
    log.touch()
    with closing(Bench(folder)) as bench:
        runs = [bench.start(seed=seed) for seed in range(RUNS)]
    with forks.Fork(drives, folder, runs, log) as driver:
        assert driver.finish().returncode == -signal.SIGKILL
    name = on_postgres.partition("@/")[2].partition("?")[0]
    until(lambda: postgres.say(f"SELECT count(*) FROM pg_stat_activity WHERE datname = '{name}'") == "0\n", "its end")
    total = int(taken_up(folder, postgres.another(on_postgres), 0, log).stdout)
    assert total > KILLS
    for number in range(KILLS):
        address = postgres.another(on_postgres)
        taken_up(folder, address, 1 + (total * 3 // 4) * number // (KILLS - 1), log)
        taken_up(folder, address, 0, log)
        with closing(Database(SecretStr(address))) as database:
            found = RunStore(database)
            for run in runs:
                assert found.status(run) == "done"
                assert found.lease.holder(run)[0] is None
                events = [event for _, event in found.events(run) if event.kind == "call"]
                assert len({event.path for event in events}) == len(events) == CALLS
                assert in_sum(found.payments.of(run).values()).calls == CALLS


@pytest.fixture
def server(postgres: PostgresServer) -> Iterator[PostgresServer]:
    """One of the test's own."""
    with closing(PostgresServer(sure=True)) as server:
        yield server


@pytest.mark.parametrize("mode", ["fast", "immediate"])
def test_a_run_goes_on_when_the_database_server_has_gone_away_and_come_back(
    tmp_path: Path, server: PostgresServer, mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COURTROOM_DATABASE", server.fresh())
    bench = Bench(tmp_path / "home", Scripted(side_by_member, hold=asyncio.Event()))
    run, other = bench.start(), bench.start(seed=1)
    bench.runner.go(run)
    until(lambda: len(bench.model.history) == 3, "all jurors to be asked")
    server.stop(mode)
    bench.runner._loop.call(bench.model.hold.set)
    until(lambda: bench.runner.trouble(run), "the outage to be noticed")
    assert bench.runner.trouble(run) == AWAY
    assert bench.runner.drives(run)
    assert len(bench.model.history) == 3, "nothing new is asked"
    server.start()
    bench.runner.wait(run, 60)
    record = bench.runner.record(run)
    assert record.run.status == "done"
    assert bench.runner.trouble(run) == ""
    assert len(bench.model.history) == len(record.calls) == in_sum(bench.store.payments.of(run).values()).calls
    assert all(bench.answers.reply(key) for call in record.calls for key in call.keys)
    bench.runner.go(other)
    bench.runner.wait(other, 60)
    assert bench.store.status(other) == "done"
    bench.close()
