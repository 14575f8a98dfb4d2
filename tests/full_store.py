"""A home in which every table has rows: two hearings, a fork, a sweep, an experiment, a dataset, a case, a setup, lessons."""

from __future__ import annotations

import atexit
import shutil
import sqlite3
import tempfile
from contextlib import closing
from functools import cache
from pathlib import Path

from courtroom.access.account import Access, Account, Resource
from courtroom.access.acting import acts
from courtroom.accounts.store import Identity
from courtroom.courthouse import Courthouse
from courtroom.datasets.row import Row
from courtroom.engine.interventions import AddNote
from courtroom.experiments.spec import Experiment
from courtroom.panel.personas import sample_panel
from courtroom.procedures.cyberjurors.setup import CyberJurorsSetup
from courtroom.questions.asides import Interview
from courtroom.questions.marks import Mark
from courtroom.questions.playlists import Playlist, Stop
from courtroom.settings import Settings
from courtroom.sharing.links import DAY, Links
from courtroom.sharing.visibility import share
from courtroom.sweeps.plan import BASE, SweepPlan, Variant

STORE = "courtroom.sqlite"
SMALL = CyberJurorsSetup(jury_size=3, rounds=1)


@cache
def full_store() -> tuple[Path, str, str]:
    """One such home for all tests of a process, only to be copied; with the ids of a dispute's run and of its fork."""
    home = Path(tempfile.mkdtemp(prefix="courtroom-full-"))
    atexit.register(shutil.rmtree, home, ignore_errors=True)
    return (home, *fill(home))


def fill(home: Path) -> tuple[str, str]:
    """Make it; the ids of a dispute's run and of its fork."""
    house = Courthouse(Settings(home=home))
    table = house.library.case("oak-table")
    house.library.restore(table.model_copy(update={"id": "mine", "title": "My table"}))
    run = house.new_run("cyberjurors", house.library.case("mine"), SMALL, 0)
    training = house.procedures["verdict"].setup.model_validate({"learning": {"on": True}})
    taught = house.new_run("verdict", house.library.case("criminal-bus-wallet"), training, 0)
    for one in (run, taught):
        house.runner.go(one)
        house.runner.wait(one, 60)
    fork = house.fork(
        run,
        SMALL,
        interventions=house.interventions.planned(house.record(run), [AddNote(text="Mind the leg.")], "Ada", None),
    )
    variants = (BASE, Variant(name="rounds: 2", kind="knob", set={"rounds": 2}))
    house.sweeps.store.create(SweepPlan(base=run, variants=variants, seeds=(0,)), "My table", 0)
    house.setups.save("three jurors", {"procedure": "cyberjurors", "seed": 0, "setup": {"jury_size": 3}})
    house.people.seat(run, "juror-01")
    house.knowledge.snapshot("first")
    house.datasets.add("disputes", [Row(id=table.id, case=table)])
    arm = {"name": "three jurors", "procedure": "cyberjurors", "set": {"jury_size": 3, "rounds": 1}}
    house.experiments.begin(Experiment.model_validate({"name": "kept", "dataset": {"name": "disputes"}, "arms": [arm]}))
    house.marks.put(run, Mark(reviewer="Ada", star=True))
    call = house.record(run).calls[-1]
    house.asides.add(
        run,
        Interview(
            member=call.member,
            after=call.path,
            key=call.keys[-1],
            who="Ada",
            question="Why?",
            answer="So.",
            called=call,
        ),
    )
    house.audiences.open(run)
    for phone in ("a" * 20, "b" * 20):
        house.audiences.vote(run, "", phone, "buyer")
    house.audiences.argue(run, "", "a" * 20, "The seal was broken.")
    house.audiences.like(run, house.audiences.arguments(run)[0].argument.number, "b" * 20, True)
    house.playlists.add(Playlist(name="A talk", stops=(Stop(run=run, at=1),)))
    house.database.connection.execute("INSERT INTO spending VALUES ('7', '2026-11', 0.5)")
    house.accounts.arrive(Identity(issuer="https://id.example", subject="7", name="Ada", email="ada@example.org"))
    house.panels.save("two neighbours", sample_panel(2, 0))
    with acts(Account(id="ada", name="Ada", access=Access.OWN)):
        share(house.database, Resource(kind="run", id=run), "shared")
        Links(house.database).make(Resource(kind="run", id=run), DAY)
    db = house.database.connection
    db.execute("INSERT INTO imported_answers SELECT ?, key, request, reply FROM answers LIMIT 1", (run,))
    db.execute("INSERT INTO rewinds VALUES (?, 1)", (fork,))
    db.execute("INSERT INTO imports VALUES ('0', 'cases', 'a.jsonl', 3, 1, 1.0, 'imported', 'add')")
    db.execute(
        "INSERT INTO questions (run, path, key, member, title, request, asked) VALUES (?, 'p', 'k', 'juror-01', 'Vote', ?, 1.0)",
        (run, '{"messages": [], "answer_schema": {}}'),
    )
    house.close()
    with closing(sqlite3.connect(home / STORE)) as file:
        file.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return run, fork
