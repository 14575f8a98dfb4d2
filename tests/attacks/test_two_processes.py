"""Two processes at once on one store, one of them killed: what is on record is whole, and nothing is there twice."""

import json
import os
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import count
from pathlib import Path

import pytest

from courtroom.courthouse import Courthouse
from courtroom.engine.interventions import AddNote
from courtroom.errors import CourtroomError
from courtroom.experiments.spec import Experiment
from courtroom.knowledge.lessons import Lesson, Put
from courtroom.settings import Settings
from tests import forks
from tests.driving import drive, until
from tests.openai_server import OpenAIServer
from tests.test_experiments import SINGLE, spec, texts
from tests.test_resilience import asked_by, recorded

pytestmark = [
    pytest.mark.kills,
    pytest.mark.usefixtures("either_database"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning:chromadb.*", "ignore::ResourceWarning"),
]


def assert_whole(house: Courthouse) -> None:
    """SQLite's file is not damaged; PostgreSQL sees to that itself."""
    if house.database.name == "SQLite":
        assert house.database.connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok"


@pytest.fixture
def house(house: Courthouse) -> Iterator[Courthouse]:
    """A third process on the store, whose store is whole at the end."""
    yield house
    assert_whole(house)


def at_once(*processes: forks.Fork) -> None:
    """Let them begin once each says that it is ready."""
    for process in processes:
        assert process.line() == "ready\n"
    for process in processes:
        process.tell("go")


def ended(process: forks.Fork) -> str:
    """What a process has printed that came to its end."""
    done = process.finish()
    assert done.returncode == 0, done.stderr
    return done.stdout


def ready() -> None:
    """Wait until this process may begin."""
    print("ready", flush=True)
    input()


def learning(name: str) -> None:
    """Learns forty lessons and says so each time; to be forked."""
    house = Courthouse()
    kettle = {
        "title": "A kettle",
        "category": "Other",
        "dispute": "It stays cold.",
        "buyer_votes": 1,
        "seller_votes": 0,
    }
    for number in range(40):
        put = Put(collection="precedents", record={"id": f"{name}-{number}", **kettle})
        house.knowledge.learn(name, str(number), Lesson(phase="norms", ops=(put,)))
        print(number, flush=True)
    house.close()


def test_two_processes_that_learn_at_once_one_of_them_killed_leave_whole_lessons(house: Courthouse) -> None:
    with forks.Fork(learning, "first") as first, forks.Fork(learning, "second") as second:
        assert "5\n" in iter(first.line, "")
        first.kill()
        ended(second)
    taught = house.knowledge.lessons.all()
    assert sum(lesson.run == "second" for lesson in taught) == 40
    assert sum(lesson.run == "first" for lesson in taught) >= 6
    for lesson in taught:
        assert all(house.knowledge.precedents.get(change.id) for change in lesson.changes)


def opening() -> None:
    """Opens the store once it is told to, and puts a run on record; to be forked."""
    ready()
    house = Courthouse()
    house.new_run("debate", house.library.case("oak-table"), house.procedures["debate"].setup(rounds=1), os.getpid())
    house.close()


def test_six_processes_that_open_an_empty_store_at_once_make_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COURTROOM_HOME", str(tmp_path / "empty"))
    with ExitStack() as stack:
        six = [stack.enter_context(forks.Fork(opening)) for _ in range(6)]
        at_once(*six)
        for process in six:
            ended(process)
    house = Courthouse(Settings(home=tmp_path / "empty"))
    assert {row.seed for row in house.store.runs()} == {process.pid for process in six}
    assert_whole(house)


def experimenting(experiment: Experiment) -> None:
    """What a server does where an experiment is started; to be forked."""
    house = Courthouse()
    ready()
    name = house.experiments.begin(experiment)
    house.experiments.go(name)
    house.experiments.wait(name, 120)
    print(json.dumps([name, house.experiments.store.status(name)]), flush=True)
    house.close()


@pytest.mark.parametrize("killed", [False, True], ids=["both live", "one is killed"])
def test_an_experiment_that_is_started_in_two_servers_at_once_is_one_and_asks_nothing_twice(
    tmp_path: Path, house: Courthouse, monkeypatch: pytest.MonkeyPatch, killed: bool
) -> None:
    house.datasets.add("feelings", texts())
    arm = {"procedure": "courtroom-llm", "set": SINGLE}
    arms = [{"name": name, "model": f"openai/{name}", **arm} for name in ("a", "b")]
    store = house.experiments.store
    with OpenAIServer(delay=0.02, keep_bodies=True) as server, ExitStack() as stack:
        server.known(monkeypatch)
        living = [stack.enter_context(forks.Fork(experimenting, spec(arms=arms, repeats=2))) for _ in range(2)]
        at_once(*living)
        if killed:
            until(lambda: len(server.bodies) > 5, "calls")
            owners = str([store.lease.holder(kept.id)[0] for kept in store.experiments()])
            driver = next(process for process in living if f":{process.pid}:" in owners)
            driver.kill()
            living.remove(driver)
        told = [json.loads(ended(process)) for process in living]
        asked = Counter(map(asked_by, server.bodies))
        total = recorded(tmp_path)
    (kept,) = store.experiments()
    assert told == [[kept.id, "done"]] * len(living)
    cells = list(store.cells(kept.id))
    assert [cell.reason for cell in cells if cell.state != "done"] == []
    runs = [row.id for row in house.store.runs()]
    assert sorted(runs) == sorted({cell.run for cell in cells}), "each cell has one run, and no run is left over"
    again = asked - total
    assert again.total() <= (spec().at_once if killed else 0), "only what a killed process had under way"


def intervening(run: str, name: str) -> None:
    """Intervenes and says so each time: forty times, or until it is killed; to be forked."""
    house = Courthouse()
    for number in range(40) if name == "second" else count():
        house.interventions.intervene(run, AddNote(text=f"{name} {number}"), name)
        print(number, flush=True)
    house.close()


def test_two_processes_that_intervene_at_once_one_of_them_killed_leave_whole_interventions(house: Courthouse) -> None:
    run = house.new_run("debate", house.library.case("oak-table"), house.procedures["debate"].setup(rounds=1), 0)
    with forks.Fork(intervening, run, "first") as first, forks.Fork(intervening, run, "second") as second:
        assert second.line() == "0\n", "both are at it"
        assert "5\n" in iter(first.line, "")
        first.kill()
        ended(second)
    acts = house.store.interventions.of(run)
    assert [one.number for one in acts] == list(range(1, len(acts) + 1)), "none is missing, none is there twice"
    said = [one.action.text for one in acts if isinstance(one.action, AddNote)]
    assert [text for text in said if text.startswith("second")] == [f"second {number}" for number in range(40)]
    theirs = [text for text in said if text.startswith("first")]
    assert theirs == [f"first {number}" for number in range(len(theirs))]
    assert len(theirs) >= 6
    assert house.store.status(drive(house, run)) == "done"


def driving(run: str, doomed: str) -> None:
    """What a server does whose page is clicked: intervenes, starts, pauses, goes on, and deletes another run; to be forked."""
    house = Courthouse()
    ready()
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


def test_two_servers_that_are_clicked_at_once_do_nothing_twice_and_lose_nothing(house: Courthouse) -> None:
    setup = house.procedures["debate"].setup(rounds=2)
    run, doomed = (house.new_run("debate", house.library.case("oak-table"), setup, seed) for seed in (0, 1))
    with forks.Fork(driving, run, doomed) as first, forks.Fork(driving, run, doomed) as second:
        at_once(first, second)
        refused = [sentence for process in (first, second) for sentence in json.loads(ended(process))]
    for sentence in refused:
        assert sentence.endswith("."), sentence
        assert "\n" not in sentence
    record = house.record(drive(house, run))
    assert record.run.status == "done"
    assert len({call.path for call in record.calls}) == len(record.calls), "nothing is asked twice"
    acts = [act.number for act in house.store.interventions.of(run)]
    assert acts == [*range(1, len(acts) + 1)]
    assert acts, "one of them at least stepped in"
    assert len(acts) + len(refused) >= 2, "who did not was told"
    assert doomed not in {row.id for row in house.store.runs()}
