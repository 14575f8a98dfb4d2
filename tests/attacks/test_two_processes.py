"""Two processes at once on one store, one of them killed: what is on record is whole, and nothing is there twice."""

import json
import os
from collections import Counter
from contextlib import ExitStack
from itertools import count
from pathlib import Path

import pytest

from courtroom.access import found_by
from courtroom.courthouse import Courthouse
from courtroom.engine.interventions import AddNote
from courtroom.errors import CourtroomError
from courtroom.experiments.spec import Experiment
from courtroom.knowledge.lessons import Lesson, Put
from courtroom.knowledge.search import Knowledge
from courtroom.settings import Settings
from courtroom.store.database import Database
from tests import forks
from tests.driving import until
from tests.openai_server import OpenAIServer
from tests.test_experiments import SINGLE, spec, texts
from tests.test_resilience import asked_by, environment, recorded

pytestmark = [
    pytest.mark.kills,
    pytest.mark.usefixtures("either_database"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning:chromadb.*", "ignore::ResourceWarning"),
]


def assert_whole(database: Database) -> None:
    """SQLite's file is not damaged; PostgreSQL sees to that itself."""
    if database.name == "SQLite":
        assert database.connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok"


def learning(name: str) -> None:
    """Learns forty lessons and says so each time; to be forked."""
    settings = Settings()
    found_by(lambda: None)
    knowledge = Knowledge(Database(settings.database), settings)
    knowledge.lessons.all()
    kettle = {
        "title": "A kettle",
        "category": "Other",
        "dispute": "It stays cold.",
        "buyer_votes": 1,
        "seller_votes": 0,
    }
    for number in range(40):
        put = Put(collection="precedents", record={"id": f"{name}-{number}", **kettle})
        knowledge.learn(name, str(number), Lesson(phase="norms", ops=(put,)))
        print(number, flush=True)


def test_two_processes_that_learn_at_once_one_of_them_killed_leave_whole_lessons(tmp_path: Path) -> None:
    Courthouse(Settings(home=tmp_path)).close()
    theirs = environment(tmp_path, "")
    with (
        forks.Fork(learning, "first", environment=theirs) as first,
        forks.Fork(learning, "second", environment=theirs) as second,
    ):
        assert "5\n" in iter(first.line, "")
        first.kill()
        assert second.finish().returncode == 0
    house = Courthouse(Settings(home=tmp_path))
    taught = house.knowledge.lessons.all()
    assert sum(lesson.run == "second" for lesson in taught) == 40
    assert sum(lesson.run == "first" for lesson in taught) >= 6
    for lesson in taught:
        assert all(house.knowledge.precedents.get(change.id) for change in lesson.changes)
    assert_whole(house.database)
    house.close()


def opening() -> None:
    """Opens the store once it is told to, and puts a run on record; to be forked."""
    print("ready", flush=True)
    input()
    house = Courthouse()
    house.new_run("debate", house.library.case("oak-table"), house.procedures["debate"].setup(rounds=1), os.getpid())
    house.close()


def test_six_processes_that_open_an_empty_store_at_once_make_one(tmp_path: Path) -> None:
    theirs = environment(tmp_path / "empty", "")
    with ExitStack() as stack:
        six = [stack.enter_context(forks.Fork(opening, environment=theirs)) for _ in range(6)]
        for process in six:
            assert process.line() == "ready\n"
        for process in six:
            process.tell("go")
        for process in six:
            done = process.finish()
            assert done.returncode == 0, done.stderr
    house = Courthouse(Settings(home=tmp_path / "empty"))
    assert {row.seed for row in house.store.runs()} == {process.pid for process in six}
    assert_whole(house.database)
    house.close()


def experimenting(experiment: Experiment) -> None:
    """What a server does where an experiment is started; to be forked."""
    house = Courthouse()
    print("ready", flush=True)
    input()
    name = house.experiments.begin(experiment)
    house.experiments.go(name)
    house.experiments.wait(name, 120)
    print(json.dumps([name, house.experiments.store.status(name)]), flush=True)
    house.close()


@pytest.mark.parametrize("killed", [False, True], ids=["both live", "one is killed"])
def test_an_experiment_that_is_started_in_two_servers_at_once_is_one_and_asks_nothing_twice(
    tmp_path: Path, killed: bool
) -> None:
    house = Courthouse(Settings(home=tmp_path))
    house.datasets.add("feelings", texts())
    arms = [
        {"name": name, "procedure": "courtroom-llm", "model": f"openai/{name}", "set": SINGLE} for name in ("a", "b")
    ]
    with OpenAIServer(delay=0.02, keep_bodies=True) as server:
        both = [
            forks.Fork(experimenting, spec(arms=arms, repeats=2), environment=environment(tmp_path, server.url))
            for _ in range(2)
        ]
        for process in both:
            assert process.line() == "ready\n"
        for process in both:
            process.tell("go")
        living = both
        if killed:
            until(lambda: len(server.bodies) > 5, "calls")
            owners = [
                house.experiments.store.lease.holder(kept.id)[0] for kept in house.experiments.store.experiments()
            ]
            driver = next(process for process in both if any(f":{process.pid}:" in (owner or "") for owner in owners))
            driver.kill()
            living = [process for process in both if process is not driver]
        told = []
        for process in living:
            done = process.finish()
            assert done.returncode == 0, done.stderr
            told.append(json.loads(done.stdout))
        for process in both:
            with process:
                pass
        asked = Counter(map(asked_by, server.bodies))
        total = recorded(tmp_path)
    (kept,) = house.experiments.store.experiments()
    assert told == [[kept.id, "done"]] * len(living)
    cells = list(house.experiments.store.cells(kept.id))
    assert [cell.reason for cell in cells if cell.state != "done"] == []
    runs = [row.id for row in house.store.runs()]
    assert sorted(runs) == sorted({cell.run for cell in cells}), "each cell has one run, and no run is left over"
    again = asked - total
    assert again.total() <= (spec().at_once if killed else 0), "only what a killed process had under way"
    assert_whole(house.database)
    house.close()


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
        assert "5\n" in iter(first.line, "")
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


def driving(run: str, doomed: str) -> None:
    """What a server does whose page is clicked: intervenes, starts, pauses, goes on, and deletes another run; to be forked."""
    house = Courthouse()
    print("ready", flush=True)
    input()
    told = []
    for act in (
        lambda: house.interventions.intervene(run, AddNote(text=f"{os.getpid()}"), "somebody"),
        lambda: house.runner.go(run),
        lambda: house.runner.pause(run),
        lambda: house.runner.go(run),
        lambda: house.store.delete(doomed),
    ):
        try:
            act()
        except CourtroomError as error:
            told.append(str(error))
    house.runner.wait(run, 60)
    print(json.dumps(told), flush=True)
    house.close()


def test_two_servers_that_are_clicked_at_once_do_nothing_twice_and_lose_nothing(tmp_path: Path) -> None:
    house = Courthouse(Settings(home=tmp_path))
    setup = house.procedures["debate"].setup(rounds=2)
    run, doomed = (house.new_run("debate", house.library.case("oak-table"), setup, seed) for seed in (0, 1))
    theirs, refused = environment(tmp_path, ""), []
    with (
        forks.Fork(driving, run, doomed, environment=theirs) as first,
        forks.Fork(driving, run, doomed, environment=theirs) as second,
    ):
        for process in (first, second):
            assert process.line() == "ready\n"
        for process in (first, second):
            process.tell("go")
        for process in (first, second):
            done = process.finish()
            assert done.returncode == 0, done.stderr
            refused += json.loads(done.stdout)
    for sentence in refused:
        assert sentence.endswith("."), sentence
        assert "\n" not in sentence
    house.runner.go(run)
    house.runner.wait(run, 60)
    record = house.record(run)
    assert record.run.status == "done"
    assert len({call.path for call in record.calls}) == len(record.calls), "nothing is asked twice"
    acts = [act.number for act in house.store.interventions.of(run)]
    assert acts == [*range(1, len(acts) + 1)]
    assert acts, "one of them at least stepped in"
    assert len(acts) + len(refused) >= 2, "who did not was told"
    assert doomed not in {row.id for row in house.store.runs()}
    assert_whole(house.database)
    house.close()
