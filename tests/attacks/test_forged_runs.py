"""Run files that were made up, with hashes that fit: nothing of them counts as what was heard here, and nobody else's is touched."""

import json
from typing import Any

import pytest

from courtroom.access import Access, Account, Resource, acts
from courtroom.courthouse import Courthouse
from courtroom.errors import CourtroomError
from courtroom.experiments.sequential_test import repeat_id
from courtroom.report import run_file
from courtroom.report.run_file import imported_id
from courtroom.sharing import owned
from tests.attacks.test_files import signed
from tests.driving import drive
from tests.test_sharing import ADA, BO, SMALL, experiment_of, shown

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


def test_a_forged_repeat_counts_for_nothing(house: Courthouse) -> None:
    run = drive(house, house.new_run("cyberjurors", house.library.case("oak-table"), SMALL, 0))
    house.files.take_in(forged(house, repeat_id(run, 1)))
    assert house.experiments.repeats.found(run) is None
    taken_by_the_first_release(house, repeat_id(run, 1))
    assert house.experiments.repeats.found(run) is None
    with pytest.raises(CourtroomError, match="was imported from a file"):
        house.experiments.repeats.go(run)


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
