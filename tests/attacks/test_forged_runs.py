"""Run files that were made up count for nothing and touch nobody else; what was deleted comes back with all that belonged to it."""

import json
from typing import Any

import pytest

from courtroom import Courthouse, CourtroomError
from courtroom.access import Access, Account, Resource, acts
from courtroom.engine.interventions import AddNote
from courtroom.engine.run import Control
from courtroom.engine.store import OF_A_RUN
from courtroom.evaluation.run_list import RunFilter, RunList
from courtroom.experiments.outcome import Outcome
from courtroom.experiments.sequential_test import repeat_id
from courtroom.experiments.spec import Arm, Cases, Experiment
from courtroom.experiments.what_if import BASE
from courtroom.questions.asides import Interview
from courtroom.questions.marks import Mark
from courtroom.report import run_file
from courtroom.report.run_file import imported_id
from courtroom.sharing import DAY, Links, owned
from courtroom.store.schema import columns_of_tables
from courtroom.upkeep.doctor import examine
from tests.attacks.test_files import signed
from tests.driving import drive
from tests.pages import page
from tests.test_sharing import ADA, BO, SMALL, experiment_of, run_of, shown

EVE = Account(id="eve", name="Eve", access=Access.RUN)


def forged(house: Courthouse, run: str, **head: Any) -> bytes:
    """A file of a run on another case that says whatever its writer wants, for 10^11 dollars."""
    other = drive(house, house.new_run("cyberjurors", house.library.case("phone-battery"), SMALL, 5))
    document = json.loads(house.files.export(other)[1])
    house.store.delete(other)
    document["run"] |= {"id": run, **head}
    document["run"]["verdict"]["summary"] = "FORGED"
    for paid in document["payments"].values():
        paid["cost"] = 1e11
    return signed(document)


def is_genuine(house: Courthouse, experiment: str) -> None:
    """Its only cell has the result of its own case, for nothing."""
    (cell,) = house.experiments.store.cells(experiment)
    record = house.record(cell.run)
    assert cell.state == "done", cell.reason
    assert (record.case.id, record.run.imported, record.run.seed) == ("oak-table", None, cell.seed)
    assert record.run.verdict
    assert record.run.verdict.summary != "FORGED"
    assert (cell.outcome.outcome, cell.outcome.cost) == (record.run.verdict.outcome, 0.0)  # type: ignore[union-attr]


@pytest.mark.parametrize("visibility", ["private", "shared", None])
def test_a_forged_cell_is_no_result_of_anothers_experiment(house: Courthouse, visibility: Any) -> None:
    with acts(None):
        before = experiment_of(house, ADA)
        (cell,) = house.experiments.store.cells(before)
        data = forged(house, cell.run)
    if visibility is None:  # the file comes before the experiment, whose spec is in a recipe
        with acts(ADA):
            house.experiments.delete(before)
    else:
        shown(house, ADA, "experiment", before, visibility)
    with acts(BO):
        taken = house.files.take_in(data)
        assert taken != cell.run
        assert house.store.run(taken).exported_id == cell.run
    name = before if visibility else experiment_of(house, ADA)
    with acts(ADA):
        house.experiments.wait(house.experiments.go(name))
        is_genuine(house, name)
    with acts(None):
        assert owned(house.database, Resource(kind="run", id=taken)).account == BO.id
        assert [row.run for row in house.experiments.rows(name)] == [cell.run]


def test_a_forged_cell_counts_for_nothing_without_sign_in(house: Courthouse) -> None:
    name = experiment_of(house, None)
    (cell,) = house.experiments.store.cells(name)
    house.files.take_in(forged(house, cell.run))
    house.experiments.wait(house.experiments.go(name))
    is_genuine(house, name)


def taken_by_the_first_release(house: Courthouse, run: str) -> None:
    """An imported run that has the id of its file, as 1.0.0 took it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run_file, "imported_id", str)
        house.files.take_in(forged(house, run))


def test_a_forged_cell_of_an_older_store_fails_its_cell(house: Courthouse) -> None:
    name = experiment_of(house, None)
    (cell,) = house.experiments.store.cells(name)
    taken_by_the_first_release(house, cell.run)
    house.experiments.wait(house.experiments.go(name))
    (row,) = house.experiments.results(name).rows
    (cell,) = house.experiments.store.cells(name)
    assert (row.state, row.outcome) == ("failed", Outcome())
    assert "was imported from a file" in cell.reason
    assert house.experiments.store.took(name) == {}, "what it says it has cost is not spent"
    house.store.delete(cell.run)
    house.experiments.try_again(name)
    house.experiments.wait(name)
    is_genuine(house, name)


def test_a_forged_repeat_counts_for_nothing(house: Courthouse) -> None:
    run = drive(house, house.new_run("cyberjurors", house.library.case("oak-table"), SMALL, 0))
    house.files.take_in(forged(house, repeat_id(run, 1)))
    assert house.experiments.repeats.found(run) is None
    taken_by_the_first_release(house, repeat_id(run, 1))
    assert house.experiments.repeats.found(run) is None
    with pytest.raises(CourtroomError, match="was imported from a file"):
        house.experiments.repeats.go(run)


def test_a_what_if_on_an_imported_run_hears_its_base_here(house: Courthouse) -> None:
    run = house.files.take_in(forged(house, "there"))
    arms = (Arm(**BASE.model_dump(), procedure="cyberjurors"),)
    spec = Experiment(name="what-if", title="Table", dataset=Cases(run=run), arms=arms, seeds=(5,))
    name = house.experiments.begin(spec)
    house.experiments.wait(house.experiments.go(name))
    (cell,) = house.experiments.store.cells(name)
    record = house.record(cell.run)
    assert (record.run.imported, record.run.parent) == (None, run)
    assert record.run.verdict
    assert record.run.verdict.summary != "FORGED"


def test_imported_runs_are_left_out_where_panels_are_counted(house: Courthouse) -> None:
    house.files.take_in(forged(house, "there"))
    listed = RunList(house.database)
    assert [one.id for one in listed.newest(RunFilter(status="done"), 9)] == [imported_id("there")]
    assert listed.newest(RunFilter(status="done", made_here=True), 9) == []


def test_a_forged_parent_draws_no_run_into_another_family(house: Courthouse) -> None:
    with acts(ADA):
        run = drive(house, house.new_run("cyberjurors", house.library.case("oak-table"), SMALL, 0))
    with acts(None):
        data = forged(house, "fork", parent=run)
    with acts(BO):
        taken = house.files.take_in(data)
    with acts(None):
        assert house.store.family_ids(run) == {run}
        assert house.store.family_ids(taken) == {taken}


def test_nobody_can_take_the_id_of_anothers_import(house: Courthouse) -> None:
    data = forged(house, "there")
    with acts(EVE):
        taken = [house.files.take_in(data)]
    with acts(ADA):
        aim = imported_id("there")
    with acts(None):
        again = forged(house, aim)
    with acts(EVE):
        taken.append(house.files.take_in(again))
    with acts(ADA):
        assert house.files.take_in(data) == aim
    assert aim not in taken


SECRET = "SECRET of Ada"
STAYS = {
    "experiment_cells": "what a cell came to stays with the experiment",
    "lessons": "what was learned stays learned",
}


def steered(house: Courthouse) -> str:
    """A run of Ada's with all that there may be beside it, a part of which is to be worked out anew."""
    run = drive(house, run_of(house), Control(stage="evidence"))
    said = {"member": "juror-01", "after": "x", "key": "k", "who": "Ada", "question": SECRET, "answer": "So."}
    house.asides.add(run, Interview(**said, called=house.record(run).calls[0]))
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
    there = {"asides", "interventions", "rewinds", "marks", "seats", "audiences", "events", "ownership", "links"}
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


def test_the_page_keeps_an_undo_that_was_refused(app_house: Courthouse) -> None:
    data = forged(app_house, "there")
    deleted = app_house.store.delete(app_house.files.take_in(data))
    run = app_house.files.take_in(data)
    app = page("runs", {"deleted_runs": (deleted,)})
    app.button(key="undo-deleted_runs").click().run()
    assert "another run has its id" in "".join(error.value for error in app.error)
    app_house.store.delete(run)
    app.button(key="undo-deleted_runs").click().run()
    assert not app.error
    assert app_house.store.run(run).exported_id == "there"
