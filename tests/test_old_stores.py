"""Stores of every earlier version open: nothing is lost, a copy lies beside them, and their runs replay."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from courtroom import __version__
from courtroom.courthouse import Courthouse
from courtroom.engine.control import Control
from courtroom.engine.interventions import Overrule
from courtroom.engine.store import RunStore
from courtroom.settings import Settings
from courtroom.store.database import Database
from courtroom.store.file import tables
from courtroom.store.migrations import MIGRATIONS
from courtroom.sweeps.store import SweepStore
from courtroom.upkeep.doctor import examine
from tests.full_store import STORE, full_store

ROOT = Path(__file__).parents[1]
OLDER = range(1, len(MIGRATIONS))
EVENTS_BEFORE_COLUMNS = """
    INSERT INTO events (seq, run, kind, path, at, body)
    SELECT seq, run, iif(overtaken, 'overtaken', kind), iif(overtaken, seq || '/' || path, path), at,
        iif(kind = 'call', body, json_remove(body, '$.stage'))
    FROM now.events WHERE run = :run AND (NOT overtaken OR kind IN ('call', 'retrieval'))
"""
"""What schemas before the eighth had of a run: overtaken calls and look-ups by a kind and a path of their own, no stages."""


@pytest.fixture(scope="module")
def full() -> tuple[Path, str]:
    return full_store()[:2]


def as_of(version: int, home: Path, full: Path, run: str) -> None:
    """A store as that version wrote it, with one run and whatever else it could hold."""
    home.mkdir()
    with closing(sqlite3.connect(home / STORE, isolation_level=None)) as db:
        for script in MIGRATIONS[:version]:
            db.executescript(script)
        db.execute(f"PRAGMA user_version = {version}")
        db.execute("ATTACH ? AS now", (str(full / STORE),))
        names = [name for name in tables(MIGRATIONS[:version]) if not name.startswith(("words_", "vocabulary_"))]
        for name in sorted(set(names) & tables(MIGRATIONS)):
            columns = [row[1] for row in db.execute(f"PRAGMA table_info({name})")]
            of_runs = dict.fromkeys(("events", "interventions", "payments"), "WHERE run = :run")
            own = {"runs": "WHERE id = :run", **of_runs}.get(name, "")
            if name == "events" and "stage" not in columns:
                db.execute(EVENTS_BEFORE_COLUMNS, {"run": run})
                continue
            if name in ("lessons", "imports", "sweep_runs", "sweeps", "questions", "seats", "rewinds"):
                continue
            listed = ", ".join(columns)
            db.execute(f"INSERT OR REPLACE INTO {name} ({listed}) SELECT {listed} FROM now.{name} {own}", {"run": run})
        if version == 1:
            db.execute(
                "INSERT INTO precedents SELECT id, body, added FROM now.knowledge WHERE collection = 'precedents'"
            )
            db.execute("INSERT INTO capabilities VALUES ('precedents', 'seeded', 1)")
            record = json.loads(db.execute("SELECT body FROM precedents LIMIT 1").fetchone()[0])
            body = json.dumps({"kind": "learned", "path": "norms", "record": record})
            db.execute(
                "INSERT INTO events (run, kind, path, at, body) VALUES (?, 'learned', 'norms', 1.0, ?)", (run, body)
            )


@pytest.mark.parametrize("version", OLDER)
def test_a_store_of_an_earlier_version_opens_and_its_run_replays(
    version: int, tmp_path: Path, full: tuple[Path, str]
) -> None:
    run, home = full[1], tmp_path / "home"
    as_of(version, home, full[0], run)
    before = (home / STORE).read_bytes()
    house = Courthouse(Settings(home=home))
    record = house.record(run)
    assert record.run.status == "done"
    assert len(house.knowledge.precedents.all()) == 48
    fork = house.fork(run, record.setup)
    house.runner.go(fork)
    house.runner.wait(fork, 30)
    again = house.record(fork)
    assert (again.run.verdict, again.asked) == (record.run.verdict, 0)
    assert again.recorded > 0
    house.close()
    copy = home / f"{STORE}.v{version}.bak"
    with closing(sqlite3.connect(copy)) as db:
        assert db.execute("PRAGMA user_version").fetchone() == (version,)
        assert db.execute("SELECT id FROM runs").fetchall() == [(run,)]
    assert copy.stat().st_size == len(before)
    with closing(sqlite3.connect(home / STORE)) as db:
        assert db.execute("SELECT version, schema FROM written_by").fetchall() == [(__version__, len(MIGRATIONS))]
    assert {finding.state for finding in examine(Settings(home=home))} == {"fine"}


@pytest.fixture(scope="module")
def rewound(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A home with a run that was worked out anew twice, and whose look-ups were too."""
    home = tmp_path_factory.mktemp("rewound")
    house = Courthouse(Settings(home=home))
    run = house.new_run("verdict", house.library.case("criminal-bus-wallet"), house.procedures["verdict"].setup(), 0)

    def on() -> None:
        house.runner.go(run, Control(stage="turn 1"))
        house.runner.wait(run, 60)

    on()
    for words in ("Once.", "Twice."):
        first = next(call for call in house.record(run).calls if call.value)
        assert first.value is not None
        house.interventions.intervene(run, Overrule(path=first.path, value={**first.value, "points": [words]}))
        on()
    house.close()
    return home, run


def columns(home: Path) -> list[tuple[object, ...]]:
    """What is asked of the events of calls and look-ups, and of all that stand."""
    with closing(sqlite3.connect(home / STORE)) as db:
        return db.execute(
            "SELECT seq, run, overtaken, stage, kind, path, key, body ->> '$.stage' FROM events"
            " WHERE NOT overtaken OR kind IN ('call', 'retrieval') ORDER BY seq"
        ).fetchall()


def test_a_run_that_was_worked_out_anew_is_as_it_was_in_a_store_of_before(
    tmp_path: Path, rewound: tuple[Path, str]
) -> None:
    home, run = tmp_path / "home", rewound[1]
    as_of(7, home, *rewound)
    with closing(sqlite3.connect(home / STORE)) as db:
        before = dict(db.execute("SELECT kind, count(*) FROM events GROUP BY kind").fetchall())
    assert before["overtaken"] > 2
    old, new = Courthouse(Settings(home=home)), Courthouse(Settings(home=rewound[0]))
    assert columns(home) == columns(rewound[0])
    with closing(sqlite3.connect(home / STORE)) as db:
        kinds = {row[0] for row in db.execute("SELECT DISTINCT kind FROM events WHERE overtaken")}
        generations = db.execute("SELECT DISTINCT generation FROM events ORDER BY 1").fetchall()
    assert kinds == {"call", "retrieval"}
    assert generations == [(0,), (1,), (2,)]
    was, now = old.record(run), new.record(run)
    assert (was.events, was.overtaken, was.asked) == (now.events, now.overtaken, now.asked)
    assert [was.until(stage.index).events for stage in was.stages] == [
        now.until(stage.index).events for stage in now.stages
    ]
    for house in (old, new):
        house.runner.go(run)
        house.runner.wait(run, 60)
    assert old.record(run).run.verdict == new.record(run).run.verdict
    assert old.record(run).asked == new.record(run).asked
    for house in (old, new):
        house.close()


def test_the_move_of_events_reads_what_it_can_of_damaged_rows_and_keeps_the_rest(tmp_path: Path) -> None:
    path = tmp_path / STORE
    bodies = [
        ("stage", "round-1", '{"kind": "stage", "path": "round-1"}', ("round-1", 0, "stage", "round-1", "")),
        ("seated", "panel", '{"kind": "seated"}', ("", 0, "seated", "panel", "")),
        ("seated", "panel/round-1", '{"kind": "seated"}', ("round-1", 0, "seated", "panel/round-1", "")),
        ("note", "price/m", '{"kind": "note"}', ("", 0, "note", "price/m", "")),
        ("note", "round-1/a", '{"kind": "note"}', ("round-1", 0, "note", "round-1/a", "")),
        ("retrieval", "round-1/a", '{"kind": "retrieval", "key": "k"}', ("round-1", 0, "retrieval", "round-1/a", "k")),
        ("retrieval", "round-1/b", "{", ("round-1", 0, "retrieval", "round-1/b", "")),
        ("retrieval", "round-1/c", "[]", ("round-1", 0, "retrieval", "round-1/c", "")),
        ("overtaken", "6/round-1/a", '{"kind": "retrieval", "key": "k"}', ("round-1", 1, "retrieval", "round-1/a", "k")),
        ("overtaken", "7/round-1/a", '{"kind": "retrieval", "key": "k"}', ("round-1", 2, "retrieval", "round-1/a", "k")),
        ("overtaken", "8/round-2/a", "{", ("round-2", 1, "call", "round-2/a", "")),
    ]  # fmt: skip
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        for script in MIGRATIONS[:7]:
            db.executescript(script)
        db.execute("PRAGMA user_version = 7")
        db.executemany(
            "INSERT INTO events (run, kind, path, at, body) VALUES ('r', ?, ?, 1.0, ?)",
            [(kind, where, body) for kind, where, body, _ in bodies],
        )
    Database(path).close()
    with closing(sqlite3.connect(path)) as db:
        rows = db.execute("SELECT stage, overtaken, kind, path, key FROM events ORDER BY seq").fetchall()
        kept = [row[0] for row in db.execute("SELECT body FROM events ORDER BY seq")]
    assert rows == [told for *_, told in bodies]
    assert [body for body in kept if body in ("{", "[]")] == ["{", "[]", "{"]


def test_a_store_without_rows_is_brought_up_without_a_copy(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / STORE, isolation_level=None)) as db:
        for script in MIGRATIONS[:3]:
            db.executescript(script)
        db.execute("PRAGMA user_version = 3")
    Database(tmp_path / STORE).close()
    assert [path.name for path in tmp_path.glob("*.bak*")] == []


def test_a_store_of_this_version_is_opened_without_writing(tmp_path: Path) -> None:
    Database(tmp_path / STORE).close()
    before = (tmp_path / STORE).read_bytes()
    held = sqlite3.connect(tmp_path / STORE, isolation_level=None)
    held.execute("BEGIN IMMEDIATE")  # another process writes
    Database(tmp_path / STORE).close()
    held.rollback()
    held.close()
    assert before == (tmp_path / STORE).read_bytes()
    assert not list(tmp_path.glob("*.bak"))


def killed(work: str, home: Path, *given: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-m", "tests.killed_statements", work, str(home), *given],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return done.stdout.splitlines()


def test_a_migration_that_is_killed_leaves_the_store_at_its_version(tmp_path: Path, full: tuple[Path, str]) -> None:
    home = tmp_path / "home"
    as_of(3, home, full[0], full[1])
    *before, after = killed("migrate", home)
    assert len(before) > 10
    assert {line.split()[0] for line in before} == {"3"}
    assert len(set(before)) == 1, "no table of a later version is there"
    assert after.split()[0] == str(len(MIGRATIONS))
    assert after.split()[2:4] == before[0].split()[2:4], "runs and events are all there"
    assert (home / f"{STORE}.v3.bak").is_file()


def test_a_deletion_of_a_sweep_that_is_killed_leaves_all_of_it(tmp_path: Path, full: tuple[Path, str]) -> None:
    with closing(sqlite3.connect(full[0] / STORE)) as source, closing(sqlite3.connect(tmp_path / STORE)) as target:
        source.backup(target)
    database = Database(tmp_path / STORE)
    (sweep,) = SweepStore(database).sweeps()
    store = RunStore(database)
    base = store.run(sweep.base)
    (_, cell) = SweepStore(database).cells(sweep.id)
    columns = "procedure, case_id, title, case_hash, setup, seed, status, created, control, parent"
    database.connection.execute(
        f"INSERT INTO runs (id, {columns}) SELECT ?, {columns} FROM runs WHERE id = ?", (cell.run, base.id)
    )
    database.connection.execute("UPDATE sweeps SET status = 'done'")
    database.close()
    *before, after = killed("delete_sweep", tmp_path, sweep.id)
    assert len(before) > 4
    assert len(set(before)) == 1, "half of it is never gone"
    kept, left = (list(map(int, line.split())) for line in (before[0], after))
    assert [was - now for was, now in zip(kept, left, strict=True)] == [0, 0, 1, 0, 1, 2]
