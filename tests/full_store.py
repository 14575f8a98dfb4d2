"""A home in which every table has rows: hearings, a fork, a what-if, an experiment, a dataset, a case, lessons."""

import atexit
import shutil
import sqlite3
import tempfile
from contextlib import closing
from functools import cache
from pathlib import Path

from courtroom import Courthouse, Settings
from courtroom.access import Access, Account, Resource, acts
from courtroom.accounts import Identity
from courtroom.datasets.row import Row
from courtroom.engine.interventions import AddNote
from courtroom.experiments.plan import cells, rows_of
from courtroom.experiments.spec import Arm, Cases, Experiment
from courtroom.experiments.what_if import BASE
from courtroom.panel.personas import sample_panel
from courtroom.procedures.cyberjurors.setup import CyberJurorsSetup
from courtroom.questions.asides import Interview
from courtroom.questions.marks import Mark
from courtroom.sharing import DAY, Links, share
from tests.driving import drive

STORE = "courtroom.sqlite"
SMALL = CyberJurorsSetup(jury_size=3, rounds=1)


@cache
def full_store() -> tuple[Path, str, str]:
    """One such home for all tests of a process, only to be copied; with the ids of a dispute's run and of its fork."""
    home = Path(tempfile.mkdtemp(prefix="courtroom-full-"))
    atexit.register(shutil.rmtree, home, ignore_errors=True)
    house = Courthouse(Settings(home=home))
    table = house.library.case("oak-table")
    house.library.restore(table.model_copy(update={"id": "mine", "title": "My table"}))
    run = house.new_run("cyberjurors", house.library.case("mine"), SMALL, 0)
    training = house.procedures["verdict"].setup.model_validate({"learning": {"on": True}})
    taught = house.new_run("verdict", house.library.case("criminal-bus-wallet"), training, 0)
    for one in (run, taught):
        drive(house, one)
    note = house.interventions.planned(house.record(run), [AddNote(text="Mind the leg.")], "Ada", None)
    fork = house.fork(run, SMALL, interventions=note)
    kept_what_if(house, run, (2,))
    house.setups.save("three jurors", {"procedure": "cyberjurors", "seed": 0, "setup": {"jury_size": 3}})
    house.people.seat(run, "juror-01")
    house.knowledge.snapshots.take("first")
    house.datasets.add("disputes", [Row(id=table.id, case=table)])
    arm = {"name": "three jurors", "procedure": "cyberjurors", "set": {"jury_size": 3, "rounds": 1}}
    house.experiments.begin(Experiment.model_validate({"name": "kept", "dataset": {"name": "disputes"}, "arms": [arm]}))
    house.marks.put(run, Mark(reviewer="Ada", star=True))
    call = house.record(run).calls[-1]
    asked = {"member": call.member, "after": call.path, "key": call.keys[-1], "called": call}
    house.asides.add(run, Interview(**asked, who="Ada", question="Why?", answer="So."))
    house.audiences.open(run)
    for phone in ("a" * 20, "b" * 20):
        house.audiences.vote(run, "", phone, "buyer")
    house.audiences.argue(run, "", "a" * 20, "The seal was broken.")
    house.audiences.like(run, house.audiences.arguments(run)[0].number, "b" * 20, True)
    db = house.database.connection
    db.execute("INSERT INTO spending (account, month, money) VALUES ('7', '2026-11', 0.5)")
    house.accounts.arrive(Identity(issuer="https://id.example", subject="7", name="Ada", email="ada@example.org"))
    house.panels.save("two neighbours", sample_panel(2, 0))
    with acts(Account(id="ada", name="Ada", access=Access.OWN)):
        share(house.database, Resource(kind="run", id=run), "shared")
        Links(house.database).make(Resource(kind="run", id=run), DAY)
    db.execute("INSERT INTO imported_answers SELECT ?, key, request, reply FROM answers LIMIT 1", (run,))
    db.execute("INSERT INTO rewinds VALUES (?, 1)", (fork,))
    asked_of_ada = (run, "p", "k", "juror-01", "Vote", '{"messages": [], "answer_schema": {}}', 1.0)
    columns = "run, path, key, member, title, request, asked"
    db.execute(f"INSERT INTO questions ({columns}) VALUES (?, ?, ?, ?, ?, ?, ?)", asked_of_ada)
    house.close()
    with closing(sqlite3.connect(home / STORE)) as file:
        file.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return home, run, fork


def kept_what_if(house: Courthouse, run: str, rounds: tuple[int, ...], name: str = "what-if") -> str:
    """A what-if of which nothing has run, also on a run without a verdict: one arm as it was and one for each number of
    rounds, under seed 0; the experiment's id."""
    changes = (Arm(name=f"rounds {n}", kind="knob", set={"rounds": n}, procedure="cyberjurors") for n in rounds)
    base, cases = Arm(**BASE.model_dump(), procedure="cyberjurors"), Cases(run=run)
    experiment = Experiment(name=name, title="Table", dataset=cases, arms=(base, *changes), seeds=(0,), at_once=2)
    rows = [row.id for row in rows_of(house, cases)]
    planned = (cell if cell.arm else cell.model_copy(update={"run": ""}) for cell in cells(experiment, rows))
    return house.experiments.store.create(experiment, "dispute", planned)


ADDED = (
    "ALTER TABLE runs DROP COLUMN exported_id",
    "ALTER TABLE runs DROP COLUMN exported_parent",
    "ALTER TABLE payments DROP COLUMN estimated",
    "ALTER TABLE spending DROP COLUMN estimated",
    *(f"ALTER TABLE payments DROP COLUMN {name}" for name in ("cached", "written", "batched")),
    "DROP TABLE batched_calls",
    *(f"ALTER TABLE accounts DROP COLUMN {name}" for name in ("rings", "verified")),
)
"""Take out of a store what came after 1.0.0, on either database."""
GONE = (
    *(f"ALTER TABLE {table} ADD COLUMN owner TEXT" for table in ("runs", "experiments")),
    *(f"ALTER TABLE {table} ADD COLUMN heartbeat REAL" for table in ("runs", "experiments")),
    "CREATE TABLE batches (writer TEXT PRIMARY KEY, number BIGINT NOT NULL, at REAL NOT NULL)",
    "CREATE TABLE lost_drivers"
    " (run TEXT PRIMARY KEY, owner TEXT NOT NULL, times BIGINT NOT NULL, seen BIGINT NOT NULL)",
)
"""Put into a store what 1.0.0 still had."""
RELEASED = (
    *ADDED,
    *GONE,
    "UPDATE alembic_version SET version_num = '0001'",
    "UPDATE written_by SET version = '1.0.0', revision = '0001', tables = replace(tables, 'batched_calls ', '')",
)
"""Make a store what 1.0.0 wrote."""
BEFORE = (
    *ADDED,
    *GONE,
    "DROP TABLE alembic_version",
    "DROP TABLE written_by",
    "CREATE INDEX knowledge_without_words ON knowledge (collection) WHERE words IS NULL",
    "ALTER TABLE experiments DROP COLUMN parent",
    "CREATE TABLE imports (digest TEXT PRIMARY KEY, collection TEXT NOT NULL, name TEXT NOT NULL)",
    "CREATE TABLE playlists (id TEXT PRIMARY KEY, body TEXT NOT NULL, made REAL NOT NULL)",
    "CREATE TABLE sweeps (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, base TEXT NOT NULL)",
    "CREATE TABLE sweep_runs (sweep TEXT, variant INTEGER, seed INTEGER, run TEXT, PRIMARY KEY (sweep, variant, seed))",
    "CREATE INDEX sweep_runs_by_run ON sweep_runs (run)",
    "INSERT INTO ownership VALUES ('sweep', 'w1', 'ada', 'private')",
    "INSERT INTO links VALUES ('t1', 'playlist', 'p1', 'ada', 1.0, 2.0, NULL)",
)
"""Make a store what the last version before 1.0.0 wrote, on either database; `written_by` is still missing."""


def as_before(path: Path, schema: int = 22) -> None:
    """Make a store what the last development version before 1.0.0 wrote."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        for statement in (
            *BEFORE,
            "CREATE TABLE written_by"
            " (version TEXT, schema INTEGER, first REAL NOT NULL, PRIMARY KEY (version, schema))",
            f"INSERT INTO written_by VALUES ('0.1.0', {schema}, 1.0)",
            "CREATE VIRTUAL TABLE words_statutes USING fts5(words)",
            "CREATE VIRTUAL TABLE vocabulary_statutes USING fts5vocab(words_statutes, row)",
            f"PRAGMA user_version = {schema}",
        ):
            db.execute(statement)
