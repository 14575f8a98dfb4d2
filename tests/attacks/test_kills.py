"""Processes that are killed, stopped or taken for another, clocks that jump, two servers on one store: all is whole, nothing is there twice."""

import asyncio
import json
import os
import signal
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from courtroom import Courthouse, CourtroomError, Lesson, Put, Settings
from courtroom.engine.budget import in_sum
from courtroom.engine.interventions import AddNote
from courtroom.engine.store import RunStore
from courtroom.experiments.spec import Experiment
from courtroom.experiments.what_if import singly, values
from courtroom.models.request import Request
from courtroom.procedures.cyberjurors.setup import CyberJurorsSetup
from courtroom.shell.options import follow
from courtroom.store import postgres as server_store
from courtroom.store.connection import AWAY
from courtroom.store.opening import open_store
from courtroom.store.sqlite import copy
from tests import forks, kills
from tests.driving import drive, drivers, prepared, until
from tests.openai_server import OpenAIServer
from tests.postgres_server import PostgresServer
from tests.test_experiments import SINGLE, spec, texts
from tests.test_knowledge import opened
from tests.test_log import heard
from tests.test_resilience import asked_by, recorded
from tests.toy import Bench, Scripted, side_by_member

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:chromadb.*", "ignore::ResourceWarning")


def assert_whole(house: Courthouse) -> None:
    """SQLite's file is not damaged; PostgreSQL sees to that itself."""
    if house.database.name == "SQLite":
        assert house.database.connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok"


@pytest.fixture
def house(either_database: str, house: Courthouse) -> Iterator[Courthouse]:
    """A process on the store beside those that are killed, whose store is whole at the end."""
    yield house
    assert_whole(house)


def locks(folder: Path, name: str) -> None:
    """Takes a lock as soon as it is free, and has it until it is killed; to be forked."""
    lock = open_store(Settings(home=folder).database).lock(name)
    print("waits", flush=True)
    until(lock.take, "the lock")
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
    file = lock.path.stat().st_ino
    monkeypatch.setattr(time, "sleep", lambda seconds: looker.release())
    assert lock.take()
    assert lock.path.stat().st_ino == file, "a lock that is released leaves its file"


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
        end = "SELECT pg_terminate_backend(pid) FROM pg_locks JOIN pg_database ON pg_database.oid = database"
        postgres.say(f"{end} WHERE locktype = 'advisory' AND datname = '{name_of(on_postgres)}'")
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
    assert [row.id for row in bench.store.each()] == made


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
    assert len([*house.store.each()]) == 6


def at_once(*processes: forks.Fork) -> None:
    """Let them begin once each says that it is ready."""
    for process in processes:
        assert process.line() == "ready\n"
    for process in processes:
        process.tell("go")


def ready() -> None:
    """Wait until this process may begin."""
    print("ready", flush=True)
    input()


def learning(name: str) -> None:
    """Learns forty lessons and says so each time; to be forked."""
    house = Courthouse()
    kettle = {"title": "A kettle", "category": "Other", "dispute": "It stays cold."}
    kettle |= {"buyer_votes": 1, "seller_votes": 0}
    for number in range(40):
        put = Put(collection="precedents", record={"id": f"{name}-{number}", **kettle})
        house.knowledge.lessons.teach(name, str(number), Lesson(phase="norms", ops=(put,)))
        print(number, flush=True)
    house.close()


def test_two_processes_that_learn_leave_whole_lessons(house: Courthouse) -> None:
    with forks.Fork(learning, "first") as first, forks.Fork(learning, "second") as second:
        assert "5\n" in iter(first.line, "")
        first.kill()
        second.output()
    taught = house.knowledge.lessons.all()
    assert sum(lesson.run == "second" for lesson in taught) == 40
    assert sum(lesson.run == "first" for lesson in taught) >= 6
    for lesson in taught:
        assert all(house.knowledge.of("precedents").get(change.id) for change in lesson.changes)


def opening() -> None:
    """Opens the store once it is told to, and puts a run on record; to be forked."""
    ready()
    house = Courthouse()
    prepared(house, "debate", seed=os.getpid(), rounds=1)
    house.close()


@pytest.mark.usefixtures("either_database")
def test_six_processes_that_open_no_store_at_once_make_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COURTROOM_HOME", str(tmp_path / "empty"))
    with ExitStack() as stack:
        six = [stack.enter_context(forks.Fork(opening)) for _ in range(6)]
        at_once(*six)
        for process in six:
            process.output()
    house = Courthouse(Settings(home=tmp_path / "empty"))
    assert {row.seed for row in house.store.each()} == {process.pid for process in six}
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
def test_an_experiment_of_two_servers_is_one(tmp_path: Path, house: Courthouse, monkeypatch: Any, killed: bool) -> None:
    house.datasets.add("feelings", texts())
    arm = {"procedure": "courtroom-llm", "set": SINGLE}
    arms = [{"name": name, "model": f"openai/{name}", **arm} for name in ("a", "b")]
    store = house.experiments.store
    with OpenAIServer(delay=0.02, keep_bodies=True, known_to=monkeypatch) as server, ExitStack() as stack:
        living = [stack.enter_context(forks.Fork(experimenting, spec(arms=arms, repeats=2))) for _ in range(2)]
        at_once(*living)
        if killed:
            until(lambda: len(server.bodies) > 5, "calls")
            driver = next(process for process in living if process.pid in drivers(house, "experiment"))
            driver.kill()
            living.remove(driver)
        told = [json.loads(process.output()) for process in living]
        asked = Counter(map(asked_by, server.bodies))
        total = recorded(tmp_path)
    (kept,) = store.experiments()
    assert told == [[kept.id, "done"]] * len(living)
    cells = list(store.cells(kept.id))
    assert [cell.reason for cell in cells if cell.state != "done"] == []
    runs = sorted(row.id for row in house.store.each())
    assert runs == sorted({cell.run for cell in cells}), "each cell has one run, and no run is left over"
    assert (asked - total).total() <= (spec().at_once if killed else 0), "only what a killed process had under way"


def intervening(run: str, name: str) -> None:
    """Intervenes and says so each time: forty times, or until it is killed; to be forked."""
    house = Courthouse()
    for number in range(40) if name == "second" else count():
        house.interventions.intervene(run, AddNote(text=f"{name} {number}"), name)
        print(number, flush=True)
    house.close()


def test_two_processes_that_intervene_lose_nothing(house: Courthouse) -> None:
    run = prepared(house, "debate", rounds=1)
    with forks.Fork(intervening, run, "first") as first, forks.Fork(intervening, run, "second") as second:
        assert second.line() == "0\n", "both are at it"
        assert "5\n" in iter(first.line, "")
        first.kill()
        second.output()
    acts = house.store.interventions.of(run)
    assert [one.number for one in acts] == list(range(1, len(acts) + 1)), "none is missing, none is there twice"
    said = [one.action.text for one in acts if isinstance(one.action, AddNote)]
    for name, many in (("second", 40), ("first", len(said) - 40)):
        assert [text for text in said if text.startswith(name)] == [f"{name} {number}" for number in range(many)]
    assert len(said) >= 46
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


def test_two_servers_clicked_at_once_do_nothing_twice(house: Courthouse) -> None:
    run, doomed = (prepared(house, "debate", seed=seed, rounds=2) for seed in (0, 1))
    with forks.Fork(driving, run, doomed) as first, forks.Fork(driving, run, doomed) as second:
        at_once(first, second)
        refused = [sentence for process in (first, second) for sentence in json.loads(process.output())]
    for sentence in refused:
        assert sentence.endswith("."), sentence
        assert "\n" not in sentence
    record = house.record(drive(house, run))
    assert record.run.status == "done"
    assert len({call.path for call in record.calls}) == len(record.calls), "nothing is asked twice"
    acts = [act.number for act in house.store.interventions.of(run)]
    assert acts == [*range(1, len(acts) + 1)] != [], "one of them at least stepped in"
    assert len(acts) + len(refused) >= 2, "who did not was told"
    assert doomed not in {row.id for row in house.store.each()}


RUNS, CALLS, KILLS = 3, 6, 3
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
    real, seen, made = server_store.run, count(1), 0

    def dying(server: Any, sql: str, parameters: Any = ()) -> Any:
        nonlocal made
        made = next(seen)
        if made == last:
            os.kill(os.getpid(), signal.SIGKILL)
        return real(server, sql, parameters)

    server_store.run = dying
    bench = Bench(folder, dying_model(0, log))
    bench.runner.resume_interrupted()
    for row in bench.store.each():
        bench.runner.wait(row.id, 60)
        if bench.store.status(row.id) == "paused":  # two processes died over it: it is left to a person, who goes on
            drive(bench, row.id)
    bench.close()
    print(made)


def taken_up(folder: Path, address: str, last: int, log: Path) -> forks.CompletedProcess[str]:
    """Has a process take up what is left; nothing is asked whose answer is on record."""
    with closing(open_store(SecretStr(address))) as database:
        known = {key for (key,) in database.connection.execute("SELECT key FROM answers")}
    before = len(log.read_text().split())
    with forks.Fork(takes_up, folder, last, log, environment={**os.environ, "COURTROOM_DATABASE": address}) as process:
        done = process.finish()
    assert known
    assert not known & set(log.read_text().split()[before:])
    assert done.returncode == (-signal.SIGKILL if last else 0), done.stderr
    return done


def test_who_dies_taking_over_leaves_runs_to_others(tmp_path: Path, postgres: PostgresServer, on_postgres: str) -> None:
    folder, log = tmp_path / "home", tmp_path / "asked"
    log.touch()
    with closing(Bench(folder)) as bench:
        runs = [bench.start(seed=seed) for seed in range(RUNS)]
    with forks.Fork(drives, folder, runs, log) as driver:
        assert driver.finish().returncode == -signal.SIGKILL
    name = name_of(on_postgres)
    until(lambda: postgres.say(f"SELECT count(*) FROM pg_stat_activity WHERE datname = '{name}'") == "0\n", "its end")
    total = int(taken_up(folder, postgres.another(on_postgres), 0, log).stdout)
    assert total > KILLS
    for number in range(KILLS):
        address = postgres.another(on_postgres)
        taken_up(folder, address, 1 + (total * 3 // 4) * number // (KILLS - 1), log)
        taken_up(folder, address, 0, log)
        with closing(open_store(SecretStr(address))) as database:
            found = RunStore(database)
            for run in runs:
                assert found.status(run) == "done"
                assert not found.is_driven(run)
                events = [event for _, event in found.events(run) if event.kind == "call"]
                assert len({event.path for event in events}) == len(events) == CALLS
                assert in_sum(found.payments.of(run).values()).calls == CALLS


@pytest.fixture
def server(postgres: PostgresServer) -> Iterator[PostgresServer]:
    """One of the test's own."""
    with closing(PostgresServer(sure=True)) as server:
        yield server


@pytest.mark.parametrize("mode", ["fast", "immediate"])
def test_a_run_outlives_its_servers_outage(tmp_path: Path, server: PostgresServer, mode: str, monkeypatch: Any) -> None:
    monkeypatch.setenv("COURTROOM_DATABASE", server.fresh())
    bench = Bench(tmp_path / "home", Scripted(side_by_member, hold=asyncio.Event()))
    run, other = bench.start(), bench.start(seed=1)
    bench.runner.go(run)
    until(lambda: len(bench.model.history) == 3, "all jurors to be asked")
    server.stop(mode)
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
