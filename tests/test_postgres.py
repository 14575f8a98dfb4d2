"""A store in PostgreSQL: texts, transactions, lost connections, takeovers; both databases answer alike, and no page reads a whole table."""

import json
import logging
import re
import shutil
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from courtroom import Courthouse, Settings
from courtroom.engine.store import RunStore
from courtroom.errors import StoreError
from courtroom.evaluation.run_list import ORDERS, RunFilter, RunList
from courtroom.experiments.outcome import Outcome
from courtroom.questions.asides import Cost
from courtroom.questions.marks import Mark
from courtroom.store.connection import AWAY, RefusedByServer, ServerError, passing
from courtroom.store.database import Database
from courtroom.store.opening import open_store
from courtroom.store.postgres import from_plain, to_plain
from courtroom.store.schema import columns_of_tables
from courtroom.store.sqlite import SqliteStore
from courtroom.upkeep.backup import NOT_MOVED, move
from courtroom.upkeep.doctor import examine, store
from courtroom.upkeep.health import store_health
from tests import forks
from tests.docs import ROOT
from tests.driving import shell, until
from tests.full_store import full_store
from tests.openai_server import OpenAIServer
from tests.pages import page
from tests.postgres_server import PostgresServer
from tests.test_resilience import asked_by, environment, recorded

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:chromadb.*", "ignore::ResourceWarning")


@pytest.fixture
def database(on_postgres: str) -> Database:
    return open_store(SecretStr(on_postgres))


@given(st.text(st.characters(codec=None)))
def test_any_text_comes_back_from_postgresql_as_it_was(text: str) -> None:
    plain = to_plain(text)
    assert "\0" not in plain
    plain.encode()
    assert from_plain(plain) == text


def end_connections(database: Database, postgres: PostgresServer) -> None:
    """As a server does that is started anew."""
    name = database.connection.execute("SELECT current_database()").fetchone()[0]
    postgres.say(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'")


def test_a_transaction_is_undone_whole_and_a_connection_made_anew(database: Database, postgres: PostgresServer) -> None:
    def twice() -> None:
        with database.transaction() as db:
            db.execute("INSERT INTO parts VALUES ('a', 'x')")
            with database.transaction() as inner:
                inner.execute("INSERT INTO parts VALUES ('a', 'y')")

    with pytest.raises(RefusedByServer):
        twice()
    assert not database.connection.in_transaction
    end_connections(database, postgres)
    database.connection.execute("INSERT INTO parts VALUES ('before', 'x')")

    def lost() -> None:
        with database.transaction() as db:
            db.execute("INSERT INTO parts VALUES ('a', 'x')")
            end_connections(database, postgres)
            db.execute("INSERT INTO parts VALUES ('b', 'x')")

    with pytest.raises(ServerError) as gone:
        lost()
    assert passing(gone.value) == AWAY
    assert database.connection.execute("SELECT count(*) FROM parts").fetchone()[0] == 1


def test_the_documented_command_keeps_other_users_out(on_postgres: str, postgres: PostgresServer) -> None:
    """Whoever may connect can hold the lock of all writing transactions."""
    command = re.search(r"`(REVOKE CONNECT [^`]+)`", (ROOT / "docs/install.md").read_text())
    assert command
    name = on_postgres.partition("@/")[2].partition("?")[0]
    postgres.say("CREATE ROLE stranger LOGIN")
    assert postgres.say("SELECT 1", name, "stranger"), "PostgreSQL lets all connect"
    postgres.say(command[1].replace("DATABASE name", f'DATABASE "{name}"'))
    with pytest.raises(AssertionError, match="permission denied for database"):
        postgres.say("SELECT 1", name, "stranger")


def test_what_is_no_store_is_refused_without_the_password(postgres: PostgresServer) -> None:
    foreign = postgres.make("foreign")
    postgres.say("CREATE TABLE cats (name text)", "foreign")
    latin = postgres.address("latin")
    postgres.say("CREATE DATABASE latin ENCODING LATIN1 LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0")
    for address, says in (
        ("mysql://me:hush-hush@host/name", "postgresql://user"),
        ("nonsense hush-hush", "postgresql://user"),
        (foreign, "something else"),
        (latin, "LATIN1"),
        (postgres.address("absent"), "createdb"),
        ("postgresql://me:hush-hush@127.0.0.1:1/name", "can't be reached"),
        (f"postgresql://unheard_of:hush-hush@/postgres?host={postgres.folder}", "does not let Courtroom in"),
    ):
        with pytest.raises(StoreError, match=says) as refused:
            open_store(SecretStr(address))
        assert "hush" not in str(refused.value)


def test_who_looks_at_a_database_changes_nothing_in_it(postgres: PostgresServer, tmp_path: Path) -> None:
    settings = Settings(home=tmp_path, server=SecretStr(postgres.make("seen")))
    assert [one.state for one in (store_health(settings), *store(settings, mend=False))] == ["fine"] * 3
    assert postgres.say("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'", "seen") == "0\n"
    open_store(settings.database).close()
    postgres.say("UPDATE alembic_version SET version_num = '0006'", "seen")
    assert [one.state for one in (store_health(settings), *store(settings, mend=False))] == ["fine", "fine", "wrong"]


def test_a_password_is_in_no_log_and_no_finding(
    on_postgres: str, tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = on_postgres.replace("postgres@", "postgres:hush-hush@")
    monkeypatch.setenv("COURTROOM_DATABASE", address)
    caplog.set_level(logging.DEBUG)
    settings = Settings(home=tmp_path)
    house = Courthouse(settings)
    found = [finding.sentence for finding in examine(settings)]
    with pytest.raises(ServerError) as failed:
        house.database.connection.execute("SELECT * FROM nowhere WHERE x = ?", ("my own words",))
    assert any("PostgreSQL" in sentence for sentence in found)
    told = [repr(settings), settings.model_dump_json(), house.database.place, *found, caplog.text, repr(failed.value)]
    told += [repr(failed.value.__cause__), *(path.read_text(errors="replace") for path in tmp_path.glob("*.log"))]
    assert not [text for text in told if "hush" in text]
    assert "my own words" not in str(failed.value.__cause__).partition("[SQL")[2]


def test_another_server_goes_on_and_asks_nothing_twice(tmp_path: Path, database: Database) -> None:
    """Each server has a folder of its own; what they share is the database, and the folder of media."""
    (tmp_path / "second").mkdir()
    (tmp_path / "second" / "media").symlink_to(tmp_path / "first" / "media")
    store, jury = RunStore(database), ("--set", "jury_size=5", "--set", "rounds=2", "--set", "grounding_rounds=1")

    with OpenAIServer(delay=0.05, keep_bodies=True) as server:
        words = ("run", "phone-battery", "--model", "openai/any", *jury, "--json")
        with forks.Fork(forks.shell, *words, environment=environment(tmp_path / "first", server.url)) as first:
            until(lambda: bool(recorded(tmp_path / "first")), "the first answer")
            (run,) = (row.id for row in store.each())
            there = environment(tmp_path / "second", server.url)
            second = forks.Fork(forks.shell, "resume", run, "--json", environment=there)
            until(lambda: sum(recorded(tmp_path / "first").values()) > 5, "more answers")
            assert store.is_driven(run)
            first.kill()
            known, before = recorded(tmp_path / "first"), len(server.bodies)
            with second:
                done = second.finish()
        asked = Counter(map(asked_by, server.bodies[before:]))
    assert (done.returncode, json.loads(done.stdout)["status"]) == (0, "done"), done.stderr
    assert asked
    assert asked == recorded(tmp_path / "first") - known


def test_a_full_store_comes_back(tmp_path: Path, postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch) -> None:
    address = postgres.fresh()
    home = tmp_path / "home"
    shutil.copytree(full_store()[0], home)
    with closing(sqlite3.connect(home / "courtroom.sqlite", isolation_level=None)) as db:
        db.execute("INSERT INTO parts VALUES ('no text', CAST(X'61FF00' AS TEXT))")
    monkeypatch.setenv("COURTROOM_HOME", str(home))
    shell("migrate", "--to", address)
    with pytest.raises(StoreError, match="is not empty"):
        shell("migrate", "--to", address)
    (home / "courtroom.sqlite").rename(home / "before.sqlite")
    monkeypatch.setenv("COURTROOM_DATABASE", address)
    house = Courthouse(Settings(home=home))
    assert any(house.record(run.id).events for run in house.store.each())
    house.database.connection.execute("INSERT INTO dataset_problems (dataset, place, message) VALUES (1, 'a', 'b')")
    house.database.connection.execute("DELETE FROM dataset_problems WHERE place = 'a' AND message = 'b'")
    house.close()
    shell("migrate", "--to", "sqlite")
    assert rows(home / "courtroom.sqlite") == rows(home / "before.sqlite")


def rows(path: Path) -> dict[str, list[tuple[object, ...]]]:
    with closing(sqlite3.connect(path)) as db:
        db.text_factory = lambda data: ("text", data)  # and no blob
        found = {
            table: sorted(db.execute(f"SELECT {', '.join(columns)} FROM {table}"), key=repr)
            for table, columns in columns_of_tables().items()
            if table not in NOT_MOVED
        }
    assert sum(map(len, found.values())) > 100
    return found


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory, postgres: PostgresServer) -> Iterator[tuple[Courthouse, Courthouse]]:
    """The same full store in both databases."""
    home, address = tmp_path_factory.mktemp("both") / "home", SecretStr(postgres.fresh())
    shutil.copytree(full_store()[0], home)
    house = Courthouse(Settings(home=home))
    run = full_store()[1]
    house.marks.put(run, Mark(reviewer="Bo", star=True, tags=("odd", "clear")))
    house.marks.put(run, Mark(reviewer="Cy", tags=("odd",)))
    (experiment,) = house.experiments.store.experiments(what_ifs=False)
    cell = next(house.experiments.store.cells(experiment.id))
    unknown = {name: None for name, field in Outcome.model_fields.items() if field.is_required()}
    took = {"asked": 3, "prompt_tokens": 20, "completion_tokens": 4, "cost": 0.25}
    house.experiments.store.conclude(experiment.id, cell.number, Outcome.model_construct(**{**unknown, **took}))
    target = open_store(address)
    move(house.database, target)
    target.close()
    other = Courthouse(Settings(home=home, server=address))
    yield house, other
    other.close()
    house.close()


WANTED = (
    *({}, {"text": "TABLE"}, {"text": "100%"}, {"status": "done", "procedure": "verdict"}, {"case": "mine"}),
    *({"tag": "odd", "reviewer": "Cy"}, {"starred": True}, "what-if"),
)


def test_both_databases_are_read_alike(both: tuple[Courthouse, Courthouse]) -> None:
    run, fork = full_store()[1:]

    def read(house: Courthouse) -> dict[str, object]:
        store, studies = house.store, house.experiments.store
        (experiment,) = studies.experiments(what_ifs=False)
        what_if, *_ = (one.id for one in studies.experiments(what_ifs=True))
        wanted = [RunFilter(**{"experiment": what_if} if given == "what-if" else given) for given in WANTED]
        listed = RunList(house.database)
        return {
            "list": [(listed.count(one, order), listed.page(one, 0, 50, order)) for one in wanted for order in ORDERS],
            "runs": [(row, [*store.events(row.id)], store.pulse(row.id)) for row in store.each()],
            "family": (store.kin(fork), store.root(fork), store.steering([run, fork]), store.steering([])),
            "paid": (store.payments.of(run), store.payments.spent(run).money),
            "cells": (studies.counts(experiment.id), studies.took(experiment.id), studies.names_snapshot("first")),
            "marks": (house.marks.all(), house.marks.tags(), house.marks.reviewers(), house.marks.short([run])),
            "audience": (house.audiences.arguments(run), house.audiences.votes(run), house.audiences.likes(run)),
            "names": (house.panels.names(), house.setups.names(), house.knowledge.bases()),
            "memory": house.knowledge.snapshots.all(),
            "datasets": (house.datasets.newest(), [*house.datasets.rows("disputes")], [*house.datasets.with_media()]),
            "records": {name: one.all() for name, one in house.knowledge.collections.items()},
            "lessons": house.knowledge.lessons.all(),
        }

    ours, theirs = map(read, both)
    for name in ours:
        assert ours[name] == theirs[name], name
    assert [*dict(ours["cells"][1]).values()][0] == Cost(calls=3, tokens=24, money=0.25)  # type: ignore[index]


SMALL = {*["cases", "collections", "datasets", "experiments", "marks", "setups", "panels", "sqlite_master"]}
"""Tables that may be read as a whole: persons make their rows one by one."""
COUNTED = {"runs", "experiment_cells"}
"""The list of runs counts its lines in indexes of these, and reads no row for that."""
WITHIN = {"lines", "line", "up", "tree", "tag", "json_each"}
"""What a statement has worked out itself, or was given as a list."""


def open_pages(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every page of a full store is opened, and the list of runs is filtered."""
    house = Courthouse(settings)
    monkeypatch.setenv("COURTROOM_HOME", str(settings.home))
    run, fork = full_store()[1:]
    (experiment,) = house.experiments.store.experiments(what_ifs=False)
    (what_if,) = house.experiments.store.experiments(what_ifs=True)
    both = {"runs": f"{run},{fork}"}
    shown = [
        *((name, {}, {}) for name in ("cases", "knowledge", "what_if", "runs", "experiments", "setup")),
        ("setup", {"fork": run}, {}),
        ("what_if", {"experiment": what_if.id}, {}),
        ("experiments", {"experiment": experiment.id}, {}),
        ("experiments", {}, {"experiments-part": "Datasets"}),
        *(("deliberation", {"run": run}, {f"tab-{run}": tab}) for tab in ("Calls", "Family")),
        *(("compare", both, {"tab-compare": tab}) for tab in ("What differs", "Looked up")),
    ]
    for name, query, chosen in shown:
        page(name, chosen, **query)
    listed = RunList(house.database)
    for chosen in ({"status": "done"}, {"procedure": "verdict"}, {"starred": True}, {"case": "mine"}):
        wanted = RunFilter(**chosen)
        for order in ("newest", "case"):
            listed.count(wanted, order)
            listed.page(wanted, 0, 25, order)
    listed.newest(RunFilter(status="done"), 100)
    house.close()
    from pages.parts.shared.house import courthouse

    courthouse().close()


@pytest.mark.slow
def test_no_page_reads_a_whole_table_of_a_sqlite_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = Settings(home=tmp_path / "home")
    shutil.copytree(full_store()[0], settings.home)  # which is made before statements are looked at
    sent: set[str] = set()
    real = SqliteStore.connection

    def traced(self: SqliteStore) -> sqlite3.Connection:
        connection = real.fget(self)
        connection.set_trace_callback(sent.add)
        return connection

    monkeypatch.setattr(SqliteStore, "connection", property(traced))
    open_pages(settings, monkeypatch)
    found = []
    with closing(sqlite3.connect(settings.sqlite)) as db:
        db.create_function("folded", 1, str)
        for statement in sorted(sent):
            if not statement.lstrip().startswith(("SELECT", "WITH", "UPDATE", "DELETE", "INSERT")):
                continue
            steps = [step for *_, step in db.execute(f"EXPLAIN QUERY PLAN {statement}")]
            newest = re.search(r"WHERE 1 = 1 ORDER BY number DESC LIMIT \d+$", statement) and len(steps) == 1
            for step in steps:
                scan = re.match(
                    r"(?:SCAN|SEARCH(?= \w+ USING AUTOMATIC)) (?!CONSTANT)(\w+)( USING COVERING INDEX)?", step
                )
                if scan and scan[1] not in SMALL | WITHIN and not (scan[1] in COUNTED and (scan[2] or newest)):
                    found.append(f"{step}: {statement}")
    assert len(sent) > 100
    assert not found, "\n".join(found)
