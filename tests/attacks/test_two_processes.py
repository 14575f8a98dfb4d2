"""Two processes at once on one store, one of them killed: what is on record is whole, and nothing is there twice."""

import asyncio
import json
import os
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from courtroom.courthouse import Courthouse
from courtroom.engine.budget import in_sum
from courtroom.engine.interventions import AddNote
from courtroom.errors import CourtroomError
from courtroom.experiments.spec import Experiment
from courtroom.settings import Settings
from courtroom.store.connection import AWAY
from tests import forks
from tests.driving import drive, drivers, until
from tests.openai_server import OpenAIServer
from tests.postgres_server import PostgresServer
from tests.test_experiments import SINGLE, spec, texts
from tests.test_resilience import asked_by, recorded
from tests.toy import Bench, Scripted, side_by_member

pytestmark = [
    pytest.mark.kills,
    pytest.mark.filterwarnings("ignore::DeprecationWarning:chromadb.*", "ignore::ResourceWarning"),
]


def assert_whole(house: Courthouse) -> None:
    """SQLite's file is not damaged; PostgreSQL sees to that itself."""
    if house.database.name == "SQLite":
        assert house.database.connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok"


@pytest.fixture
def house(either_database: str, house: Courthouse) -> Iterator[Courthouse]:
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


def opening() -> None:
    """Opens the store once it is told to, and puts a run on record; to be forked."""
    ready()
    house = Courthouse()
    house.new_run("debate", house.library.case("oak-table"), house.procedures["debate"].setup(rounds=1), os.getpid())
    house.close()


@pytest.mark.usefixtures("either_database")
def test_six_processes_that_open_no_store_at_once_make_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_an_experiment_of_two_servers_one_of_which_is_killed_is_one(
    tmp_path: Path, house: Courthouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    house.datasets.add("feelings", texts())
    arm = {"procedure": "courtroom-llm", "set": SINGLE}
    arms = [{"name": name, "model": f"openai/{name}", **arm} for name in ("a", "b")]
    store = house.experiments.store
    with OpenAIServer(delay=0.02, keep_bodies=True) as server, ExitStack() as stack:
        server.known(monkeypatch)
        living = [stack.enter_context(forks.Fork(experimenting, spec(arms=arms, repeats=2))) for _ in range(2)]
        at_once(*living)
        until(lambda: len(server.bodies) > 5, "calls")
        driver = next(process for process in living if process.pid in drivers(house, "experiment"))
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
    assert again.total() <= spec().at_once, "only what a killed process had under way"


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


def test_two_servers_clicked_at_once_do_nothing_twice(house: Courthouse) -> None:
    setup = house.procedures["debate"].setup(rounds=2)
    run, doomed = (house.new_run("debate", house.library.case("oak-table"), setup, seed) for seed in (0, 1))
    with forks.Fork(driving, run, doomed) as first, forks.Fork(driving, run, doomed) as second:
        at_once(first, second)
        refused = [sentence for process in (first, second) for sentence in json.loads(ended(process))]
    assert all(sentence.endswith(".") and "\n" not in sentence for sentence in refused), refused
    record = house.record(drive(house, run))
    assert record.run.status == "done"
    assert len({call.path for call in record.calls}) == len(record.calls), "nothing is asked twice"
    acts = [act.number for act in house.store.interventions.of(run)]
    assert acts == [*range(1, len(acts) + 1)]
    assert acts, "one of them at least stepped in"
    assert len(acts) + len(refused) >= 2, "who did not was told"
    assert doomed not in {row.id for row in house.store.runs()}


# --- PostgreSQL: the server goes away and comes back ---------------------------------------------------------


@pytest.fixture
def server(postgres: PostgresServer) -> Iterator[PostgresServer]:
    """One of the test's own."""
    with closing(PostgresServer(sure=True)) as server:
        yield server


def test_a_run_goes_on_when_its_server_is_back(
    tmp_path: Path, server: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COURTROOM_DATABASE", server.fresh())
    bench = Bench(tmp_path / "home", Scripted(side_by_member, hold=asyncio.Event()))
    run, other = bench.start(), bench.start(seed=1)
    bench.runner.go(run)
    until(lambda: len(bench.model.history) == 3, "all jurors to be asked")
    server.stop("immediate")
    bench.runner.call(bench.model.hold.set)
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
    assert bench.store.status(drive(bench, other)) == "done"
    bench.close()
