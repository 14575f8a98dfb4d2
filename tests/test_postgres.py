"""The store in PostgreSQL: the same tables as SQLite's, the same promises, and the way over and back."""

import json
import logging
import re
import shutil
import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from courtroom.courthouse import Courthouse
from courtroom.engine.store import RunStore
from courtroom.errors import StoreError
from courtroom.settings import Settings
from courtroom.store.connection import AWAY, RefusedByServer, ServerError, passing
from courtroom.store.database import Database
from courtroom.store.opening import open_store
from courtroom.store.postgres import from_plain, to_plain
from courtroom.store.schema import columns_of_tables
from courtroom.upkeep.backup import NOT_MOVED
from courtroom.upkeep.doctor import examine
from tests import forks
from tests.docs import ROOT
from tests.driving import shell, until
from tests.full_store import full_store
from tests.openai_server import OpenAIServer
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


def test_a_transaction_is_undone_as_a_whole(database: Database) -> None:
    def twice() -> None:
        with database.transaction() as db:
            db.execute("INSERT INTO parts VALUES ('a', 'x')")
            with database.transaction() as inner:
                inner.execute("INSERT INTO parts VALUES ('a', 'y')")

    with pytest.raises(RefusedByServer):
        twice()
    assert not database.connection.in_transaction
    assert database.connection.execute("SELECT count(*) FROM parts").fetchone()[0] == 0


def end_connections(database: Database, postgres: PostgresServer) -> None:
    """As a server does that is started anew."""
    name = database.connection.execute("SELECT current_database()").fetchone()[0]
    postgres.say(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'")


def test_a_lost_connection_is_made_anew_its_transaction_undone(database: Database, postgres: PostgresServer) -> None:
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
            (run,) = (row.id for row in store.runs())
            second = forks.Fork(
                forks.shell, "resume", run, "--json", environment=environment(tmp_path / "second", server.url)
            )
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


def test_a_full_store_comes_back_the_same(
    tmp_path: Path, postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
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
    assert any(house.record(run.id).events for run in house.store.runs())
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
