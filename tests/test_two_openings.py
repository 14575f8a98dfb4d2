"""One process opens a store twice, while other processes open it, close it and are killed: nothing that was written is lost."""

import os
import signal
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from unittest.mock import Mock, create_autospec

import pytest

from courtroom import Courthouse, CourtroomError, Settings
from courtroom.store.opening import open_store
from pages.parts.shared import house as pages_house
from tests import forks
from tests.driving import hearing

ROUNDS = 4
CASE = "oak-table"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COURTROOM_HOME", str(tmp_path))


def written_by_another(path: Path, name: str, killed: bool) -> None:
    """Opens the store, writes a row and closes it, or dies before it can; to be forked."""
    database = open_store(path)
    database.connection.execute("INSERT INTO panels VALUES (?, '{}', 0)", (name,))
    if killed:
        os.kill(os.getpid(), signal.SIGKILL)
    database.close()


def other_process(path: Path, name: str, killed: bool) -> None:
    with forks.Fork(written_by_another, path, name, killed) as process:
        assert process.finish().returncode == (-signal.SIGKILL if killed else 0)


def test_a_store_opened_twice_loses_nothing(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path)
    first = Courthouse(settings)
    runs = []
    for number in range(ROUNDS):
        second = Courthouse(settings)
        other_process(settings.sqlite, f"panel-{number}", killed=number % 3 == 0)
        house = first if number % 5 else second
        runs.append(hearing(house, "debate", CASE, number, rounds=1).run.id)
        if number % 2:
            assert runs[-1] in forks.run("runs").stdout
        else:
            forks.run("run", CASE, "--procedure", "debate", "--set", "rounds=1", "--seed", str(1000 + number))
        second.close()
    first.close()
    listed = forks.run("runs").stdout
    with closing(sqlite3.connect(settings.sqlite)) as db:
        assert db.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
        assert db.execute("SELECT count(*) FROM panels").fetchone()[0] == ROUNDS
        assert db.execute("SELECT count(*) FROM runs WHERE status = 'done'").fetchone()[0] == 1.5 * ROUNDS
    house = Courthouse(settings)
    for run in runs:
        assert run in listed
        record = house.record(run)
        assert record.calls
        assert all(house.answers.reply(key) for call in record.calls for key in call.keys)


def test_a_courthouse_that_can_t_resume_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    close = create_autospec(Courthouse.close, side_effect=Courthouse.close)
    fails = Mock(side_effect=CourtroomError("The store is locked."))
    with monkeypatch.context() as patch:
        patch.setattr(Courthouse, "close", close)
        patch.setattr("courtroom.engine.runner.Runner.resume_interrupted", fails)
        for visits in (1, 2):
            with pytest.raises(CourtroomError, match="locked"):
                pages_house._open()
            assert close.call_count == visits
    with ThreadPoolExecutor(8) as visits:
        opened = list(visits.map(lambda _: pages_house._open(), range(8)))
    assert len({id(house) for house in opened}) == 1, "all sessions share one"
    assert not opened[0].closed
