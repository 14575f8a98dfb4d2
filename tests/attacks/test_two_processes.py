"""Two processes at once on one store, one of them killed: what is on record is whole, and nothing is there twice."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from itertools import count
from pathlib import Path

import pytest

from courtroom.courthouse import Courthouse
from courtroom.engine.interventions import AddNote
from courtroom.engine.store import RunStore
from courtroom.settings import Settings
from courtroom.store.database import Database
from courtroom.store.failures import FAILURES
from courtroom.sweeps.plan import BASE, SweepPlan
from courtroom.sweeps.store import SweepStore
from tests import forks
from tests.attacks.test_disks import until
from tests.openai_server import OpenAIServer
from tests.test_resilience import asked_by, environment, recorded
from tests.test_sweeps import based

pytestmark = [
    pytest.mark.kills,
    pytest.mark.usefixtures("either_database"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning:chromadb.*", "ignore::ResourceWarning"),
]


def assert_whole(database: Database) -> None:
    """SQLite's file is not damaged; PostgreSQL sees to that itself."""
    if database.name == "SQLite":
        assert database.connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok"


LEARNS = """
import sys
from courtroom.store.database import Database
from courtroom.store.failures import FAILURES
from courtroom.knowledge.lessons import Lesson, Put
from courtroom.knowledge.search import Knowledge
from courtroom.settings import Settings
settings = Settings()
knowledge = Knowledge(Database(settings.database), settings)
knowledge.lessons
for number in range(40):
    record = {"id": f"{sys.argv[1]}-{number}", "title": "A kettle", "category": "Other", "dispute": "It stays cold.", "buyer_votes": 1, "seller_votes": 0}
    knowledge.learn(sys.argv[1], str(number), Lesson(phase="norms", ops=(Put(collection="precedents", record=record),)))
    print(number, flush=True)
"""


def test_two_processes_that_learn_at_once_one_of_them_killed_leave_whole_lessons(tmp_path: Path) -> None:
    Courthouse(Settings(home=tmp_path)).close()
    environment = {**os.environ, "COURTROOM_HOME": str(tmp_path)}
    both = [
        subprocess.Popen([sys.executable, "-c", LEARNS, name], env=environment, stdout=subprocess.PIPE)
        for name in ("first", "second")
    ]
    assert both[0].stdout is not None
    assert b"5\n" in iter(both[0].stdout.readline, b"")
    both[0].kill()
    both[0].communicate()
    assert both[1].wait(120) == 0
    both[1].communicate()
    house = Courthouse(Settings(home=tmp_path))
    taught = house.knowledge.lessons.all()
    assert sum(lesson.run == "second" for lesson in taught) == 40
    assert sum(lesson.run == "first" for lesson in taught) >= 6
    for lesson in taught:
        assert all(house.knowledge.precedents.get(change.id) for change in lesson.changes)
    assert_whole(house.database)
    house.close()


def test_two_processes_that_want_one_sweep_at_once_get_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = Database(Settings(home=tmp_path).database), Database(Settings(home=tmp_path).database)
    plan = SweepPlan(base="r", variants=(BASE,), seeds=(0,))
    store = SweepStore(first)
    if second.name == "SQLite":
        second.connection.execute("PRAGMA busy_timeout = 0")
    else:
        monkeypatch.setattr("courtroom.store.postgres.LOCK_S", 0.01)
    looked = store.same

    def same(wanted: SweepPlan) -> str | None:
        found = looked(wanted)
        with pytest.raises(FAILURES, match="lock"):
            SweepStore(second).same_or_new(plan, "Kettle", 0)  # between the look and the row
        return found

    store.same = same  # type: ignore[method-assign]
    sweep = store.same_or_new(plan, "Kettle", 0)
    assert SweepStore(second).same_or_new(plan, "Kettle", 0) == sweep


def test_two_processes_that_sweep_at_once_one_of_them_killed_leave_every_run_once(tmp_path: Path) -> None:
    with OpenAIServer(delay=0.01, keep_bodies=True) as server:
        words = ("--vary", "graph.kind=ring,none", "--vary", "rounds=1", "--seeds", "3", "--json")
        words = ("sweep", based(tmp_path, server.url, "--model", "openai/any"), *words)
        theirs = environment(tmp_path, server.url)
        both = [forks.Fork(forks.shell, *words, environment=theirs) for _ in range(2)]
        driver, other = both
        database = Database(Settings(home=tmp_path).database)
        sweeps = SweepStore(database)

        def owner() -> str:
            return (sweeps.lease.holder(sweeps.sweeps()[0].id)[0] or "") if sweeps.sweeps() else ""

        until(
            lambda: sum(cell.status == "done" for one in sweeps.sweeps() for cell in sweeps.cells(one.id)) > 2, "runs"
        )
        if f":{other.pid}:" in owner():
            driver, other = other, driver
        assert f":{driver.pid}:" in owner()
        driver.kill()
        done = other.finish()
        for process in both:
            with process:
                pass
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["runs"] == {"done": 12}
        (sweep,) = sweeps.sweeps()
        assert driver.returncode == -signal.SIGKILL
        cells = {cell.run for cell in sweeps.cells(sweep.id)}
        assert {row.id for row in RunStore(database).runs()} == cells
        asked = Counter(map(asked_by, server.bodies))
        total = recorded(tmp_path)
    under_way = sum((asked - total).values())
    assert under_way <= 2 * 3, "at most what the killed process had under way is asked again: three jurors of two runs"
    assert_whole(database)
    database.close()


def intervening(run: str, name: str) -> None:
    """Intervenes and says so each time: forty times, or until it is killed; to be forked."""
    house = Courthouse()
    for number in range(40) if name == "second" else count():
        house.interventions.intervene(run, AddNote(text=f"{name} {number}"), name)
        print(number, flush=True)
    house.close()


def test_two_processes_that_intervene_at_once_one_of_them_killed_leave_whole_interventions(tmp_path: Path) -> None:
    house = Courthouse(Settings(home=tmp_path))
    run = house.new_run("debate", house.library.case("oak-table"), house.procedures["debate"].setup(rounds=1), 0)
    with (
        forks.Fork(intervening, run, "first", environment=environment(tmp_path, "")) as first,
        forks.Fork(intervening, run, "second", environment=environment(tmp_path, "")) as second,
    ):
        assert second.line() == "0\n", "both are at it"
        while first.line() != "5\n":
            pass
        first.kill()
        assert second.finish().returncode == 0
    acts = house.store.interventions.of(run)
    assert [one.number for one in acts] == list(range(1, len(acts) + 1)), "none is missing, none is there twice"
    said = [one.action.text for one in acts if isinstance(one.action, AddNote)]
    assert [text for text in said if text.startswith("second")] == [f"second {number}" for number in range(40)]
    theirs = [text for text in said if text.startswith("first")]
    assert theirs == [f"first {number}" for number in range(len(theirs))]
    assert len(theirs) >= 6
    house.runner.go(run)
    house.runner.wait(run, 60)
    assert house.store.status(run) == "done"
    assert_whole(house.database)
    house.close()
