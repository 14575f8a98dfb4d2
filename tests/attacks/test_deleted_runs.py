"""What was deleted is gone with all that belonged to it, and comes back with all of it, or a sentence says why not."""

import json

import pytest

from courtroom.access import Resource, acts
from courtroom.courthouse import Courthouse
from courtroom.engine.interventions import AddNote
from courtroom.engine.run import Control
from courtroom.engine.store import OF_A_RUN
from courtroom.errors import CourtroomError
from courtroom.questions.marks import Mark
from courtroom.report import run_file
from courtroom.sharing import DAY, Links
from courtroom.store.schema import columns_of_tables
from courtroom.upkeep.doctor import examine
from tests.attacks.test_files import signed
from tests.attacks.test_forged_runs import forged
from tests.driving import drive
from tests.pages import house as house_here
from tests.pages import page
from tests.test_sharing import ADA, BO, run_of

__all__ = ["house_here"]  # a fixture
SECRET = "SECRET of Ada"
STAYS = {
    "experiment_cells": "what a cell came to stays with the experiment",
    "lessons": "what was learned stays learned",
}


def steered(house: Courthouse) -> str:
    """A run of Ada's, with a note, a mark, a seat, an audience and a link, a part of which is to be worked out anew."""
    run = drive(house, run_of(house), Control(stage="evidence"))
    with acts(ADA):
        house.interventions.intervene(run, AddNote(text=SECRET))
        house.marks.put(run, Mark(reviewer="Ada", comment=SECRET))
        house.people.seat(run, "juror-01")
        house.audiences.open(run)
        Links(house.database).make(Resource(kind="run", id=run), DAY)
    house.store.interventions.plan(run, 0)
    return run


def everything(house: Courthouse, run: str) -> dict[str, list[dict[str, object]]]:
    """All rows of all tables that name the run."""
    found = {}
    for name, columns in columns_of_tables().items():
        column = "id" if name in ("runs", "ownership", "links") else "run"
        if column in columns and name not in STAYS:
            rows = house.database.execute(f"SELECT * FROM {name} WHERE {column} = ?", (run,))
            found[name] = [{key: value for key, value in dict(row).items() if key != "status"} for row in rows]
    return found


def test_all_of_a_deleted_run_comes_back(house: Courthouse) -> None:
    assert {name for name, columns in columns_of_tables().items() if "run" in columns} == {*OF_A_RUN, *STAYS}
    run = steered(house)
    before = everything(house, run)
    there = {"interventions", "rewinds", "marks", "seats", "audiences", "events", "ownership", "links"}
    assert there <= {name for name, rows in before.items() if rows}
    with acts(ADA):
        deleted = house.store.delete(run)
        assert not any(everything(house, run).values())
        house.store.restore(deleted)
        house.store.restore(deleted)  # a second click
    assert everything(house, run) == before
    assert [one.sentence for one in examine(house.settings) if one.state == "wrong"] == []


def test_a_deleted_note_is_not_shown_in_anothers_import(house: Courthouse) -> None:
    run = steered(house)
    with acts(None):
        data = forged(house, run)
    with acts(ADA):
        house.store.delete(run)
    with acts(BO):
        taken = house.files.take_in(data)
        assert house.record(taken).interventions == ()
        assert SECRET not in house.files.export(taken)[1]


def test_undo_refuses_where_another_run_has_the_id(house: Courthouse, monkeypatch: pytest.MonkeyPatch) -> None:
    run = steered(house)
    with acts(ADA):
        deleted = house.store.delete(run)
    monkeypatch.setattr(run_file, "imported_id", str)  # as a store of 1.0.0 may have it
    with acts(None):
        house.files.take_in(forged(house, run))
        before = everything(house, run)
    with acts(ADA), pytest.raises(CourtroomError, match=f"another run has its id {run}"):
        house.store.restore(deleted)
    with acts(None):
        assert everything(house, run) == before
        house.store.delete(run)
    with acts(ADA):
        house.store.restore(deleted)
        assert [one.after for one in house.record(run).interventions] == [SECRET]


def test_a_deleted_import_is_not_doubled(house: Courthouse) -> None:
    data = forged(house, "there")
    deleted = house.store.delete(house.files.take_in(data))
    run = house.files.take_in(data)
    house.marks.put(run, Mark(reviewer="Bo", comment="Mine."))
    with pytest.raises(CourtroomError, match="can't be brought back"):
        house.store.restore(deleted)
    assert [mark.reviewer for mark in house.marks.of(run)] == ["Bo"]
    assert signed(json.loads(data)) == data


def test_the_page_keeps_an_undo_that_was_refused(house_here: Courthouse) -> None:
    data = forged(house_here, "there")
    deleted = house_here.store.delete(house_here.files.take_in(data))
    run = house_here.files.take_in(data)
    app = page("runs", {"deleted_runs": (deleted,)})
    app.button(key="undo-deleted_runs").click().run()
    assert "another run has its id" in "".join(error.value for error in app.error)
    house_here.store.delete(run)
    app.button(key="undo-deleted_runs").click().run()
    assert not app.error
    assert house_here.store.run(run).exported_id == "there"
