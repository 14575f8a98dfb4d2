"""A store of the last version before revisions is taken over: nothing is lost, and its runs replay. New stores have the same tables."""

import shutil
import sqlite3
import zipfile
from contextlib import closing
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from pydantic import SecretStr
from sqlalchemy import MetaData, create_engine
from sqlalchemy.pool import NullPool

from courtroom import Courthouse, Settings, __version__
from courtroom.errors import StoreError
from courtroom.procedures import PROCEDURES
from courtroom.store import schema
from courtroom.store.opening import open_store
from courtroom.upkeep.doctor import examine
from tests import forks, kills
from tests.driving import drive, finished
from tests.full_store import BEFORE, RELEASED, SMALL, STORE, as_before, full_store

EXPORTED = Path(__file__).parent / "recorded" / "first-release.zip"
"""A small run of each procedure as the first release exported it; in the debate's, a ruling was overruled."""


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A full home of that version."""
    home = shutil.copytree(full_store()[0], tmp_path_factory.mktemp("before") / "home")
    as_before(home / STORE)
    return home


def differences(url: str, folder: Path) -> list[object]:
    """What Alembic finds between the tables of a database and those of a new store."""
    open_store(folder / "new.sqlite").close()
    tables = MetaData()
    with create_engine(f"sqlite:///{folder / 'new.sqlite'}", poolclass=NullPool).connect() as server:
        tables.reflect(server)
    with create_engine(url, poolclass=NullPool).connect() as server:
        return list(compare_metadata(MigrationContext.configure(server, opts={"compare_type": False}), tables))


def test_a_store_of_before_is_taken_over_and_its_run_replays(tmp_path: Path, before: Path) -> None:
    home = shutil.copytree(before, tmp_path / "home")
    run = full_store()[1]
    house = Courthouse(Settings(home=home))
    record = house.record(run)
    again = house.record(drive(house, house.fork(run, record.setup)))
    assert (again.run.verdict, again.asked) == (record.run.verdict, 0)
    house.close()
    assert differences(f"sqlite:///{home / STORE}", tmp_path) == []
    with closing(sqlite3.connect(home / f"{STORE}.before-{schema.REVISION}.bak")) as db:
        assert db.execute("PRAGMA user_version").fetchone() == (22,)
    with closing(sqlite3.connect(home / STORE)) as db:
        assert db.execute("SELECT version, revision FROM written_by").fetchall() == [(__version__, schema.REVISION)]
        assert not db.execute("SELECT name FROM sqlite_master WHERE name LIKE '%statutes%'").fetchall()
        for table in ("ownership", "links"):
            assert not db.execute(f"SELECT id FROM {table} WHERE kind IN ('sweep', 'playlist')").fetchall()
    assert {finding.state for finding in examine(Settings(home=home))} == {"fine"}


def test_a_postgresql_store_of_before_is_taken_over_and_an_older_one_refused(on_postgres: str, tmp_path: Path) -> None:
    address = SecretStr(on_postgres)
    url = on_postgres.replace("postgresql://", "postgresql+psycopg://")
    for number in (schema.BEFORE, schema.BEFORE - 1):
        database = open_store(address)
        assert differences(url, tmp_path) == []
        for statement in (
            *BEFORE,
            "CREATE TABLE written_by (version text, schema bigint, first double precision NOT NULL)",
            f"INSERT INTO written_by VALUES ('0.1.0', {number}, 1.0)",
        ):
            database.connection.execute(statement)
        database.close()
    with pytest.raises(StoreError, match="development version before 1.0.0"):
        open_store(address)


def test_a_store_of_the_first_release_is_upgraded_and_keeps_its_imports(tmp_path: Path) -> None:
    home = shutil.copytree(full_store()[0], tmp_path / "home")
    run, fork = full_store()[1:]
    with closing(sqlite3.connect(home / STORE, isolation_level=None)) as db:
        db.execute("UPDATE runs SET imported = 'a hash' WHERE id = ?", (fork,))
        for statement in RELEASED:
            db.execute(statement)
    house = Courthouse(Settings(home=home))
    assert (house.store.run(run).exported_id, house.store.run(fork).exported_id) == (None, fork)
    assert house.store.run(fork).exported_parent == run
    house.close()
    assert differences(f"sqlite:///{home / STORE}", tmp_path) == []
    assert {finding.state for finding in examine(Settings(home=home))} == {"fine"}


@pytest.mark.parametrize("procedure", PROCEDURES)
def test_a_run_that_the_first_release_exported_is_shown_and_forked(house: Courthouse, procedure: str) -> None:
    with zipfile.ZipFile(EXPORTED) as exported:
        run = house.files.take_in(exported.read(f"{procedure}.json"))
    record = house.record(run)
    fork = finished(house, house.fork(run, record.setup))
    assert record.run.status == "done"
    assert [stage.path for stage in fork.stages] == [stage.path for stage in record.stages]


def killed(work: str, home: Path, *given: str) -> list[str]:
    return forks.Fork(kills.die_before_each_statement, work, home, *given).output().splitlines()


def test_a_takeover_that_is_killed_leaves_the_store_as_it_was(tmp_path: Path, before: Path) -> None:
    *states, after = killed("migrate", shutil.copytree(before, tmp_path / "home"))
    assert len(states) > 5
    assert len(set(states)) == 1, "half of it is never done"
    assert (states[0].split()[0], after.split()[0]) == ("before", "revisions")
    assert after.split()[2:] == states[0].split()[2:], "runs and events are all there"


def test_a_deletion_of_a_what_if_that_is_killed_leaves_all_of_it(tmp_path: Path) -> None:
    home = shutil.copytree(full_store()[0], tmp_path / "home")
    house = Courthouse(Settings(home=home))
    (kept,) = house.experiments.store.experiments(what_ifs=True)
    (_, cell) = house.experiments.store.cells(kept.id)
    house.fork(kept.experiment.dataset.run, SMALL, run=cell.run)
    house.database.connection.execute("UPDATE experiments SET status = 'done'")
    house.close()
    *before, after = killed("delete_experiment", home, kept.id)
    assert len(before) > 4
    assert len(set(before)) == 1, "half of it is never gone"
    kept, left = (list(map(int, line.split()[1:])) for line in (before[0], after))
    assert [was - now for was, now in zip(kept, left, strict=True)] == [0, 1, 0, 1, 2, 0, 0]
