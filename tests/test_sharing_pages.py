"""What is shared, as pages show it: who sees it is said there, a link opens one thing alone, owners read who did what."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from courtroom.access import NOBODY, Access, Account, Resource, acts
from courtroom.courthouse import Courthouse
from courtroom.engine.errors import NoSuchRun
from courtroom.sharing.actions import ActionFilter, ActionLog
from courtroom.sharing.links import DAY, Links, share
from courtroom.sharing.rules import owned
from tests.pages import texts
from tests.signing_in import closed_house, person, visit
from tests.test_sharing import experiment_of, package, run_of

TITLE = "A table two centimetres short"


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Courthouse]:
    with closed_house(tmp_path, monkeypatch) as house:
        yield house


@pytest.fixture
def bea(house: Courthouse) -> Account:
    return person(house, "bea", Access.RUN)


def labels(app: AppTest) -> set[str]:
    return {button.label for button in app.button}


def test_a_private_run_is_on_no_page_of_another_person(house: Courthouse, bea: Account) -> None:
    run = run_of(house, bea)
    cy = visit("cy", "deliberation", run=run)
    assert "There is no run" in texts(cy)
    assert TITLE not in texts(cy)
    cy.switch_page("pages/runs.py").run()
    assert "No hearing yet" in texts(cy)
    mine = visit("bea", "runs")
    assert [one.key for one in mine.get("button_group") if one.key == "whose-runs"]
    assert TITLE in texts(mine)


def test_a_run_and_an_experiment_of_a_person_go_to_their_ends(house: Courthouse, bea: Account) -> None:
    run, experiment = run_of(house, bea), experiment_of(house, bea)
    with acts(bea):
        house.runner.go(run)
        house.runner.wait(run, 60)
        assert (house.store.run(run).status, house.store.run(run).reason) == ("done", "")
        house.experiments.go(experiment)
        house.experiments.wait(experiment, 60)
        (cell,) = house.experiments.store.cells(experiment)
        assert (cell.state, cell.reason) == ("done", "")
        assert house.record(cell.run).run.status == "done"
    with acts(person(house, "cy", Access.RUN)), pytest.raises(NoSuchRun):
        house.record(cell.run)


def test_its_owner_says_who_sees_a_run_and_others_find_no_button_that_changes_it(
    house: Courthouse, bea: Account
) -> None:
    run = run_of(house, bea)
    app = visit("bea", "deliberation", run=run)
    assert not app.exception
    assert {"Step", "Run", "Make a link"} <= labels(app)
    app.radio(f"visibility-run-{run}").set_value("shared").run()
    assert not app.exception
    assert owned(house.database, Resource(kind="run", id=run)).visibility == "shared"
    reader = visit("cy", "deliberation", run=run)
    assert not reader.exception
    assert "It belongs to somebody else" in texts(reader)
    assert not {"Step", "Run", "Pause", "Stop", "Fork", "Make a link"} & labels(reader)


def test_a_link_is_made_on_the_page_opens_the_run_alone_and_ends(house: Courthouse, bea: Account) -> None:
    run = run_of(house, bea)
    app = visit("bea", "deliberation", run=run)
    app.button(f"link-run-{run}").click().run()
    (address,) = (code.value for code in app.code if "?link=" in code.value)
    token = address.partition("?link=")[2]
    guest = visit("", link=token)
    assert not guest.exception
    assert "To be read only" in guest.caption[0].value
    assert TITLE in texts(guest)
    assert labels(guest) <= {"中文"}, "nothing that can be done"
    app.button(f"end-run-{run}-1").click().run()
    guest.run()
    assert "leads to nothing any more" in texts(guest)
    assert TITLE not in texts(guest)


def test_a_link_expires_in_a_session_that_is_open(house: Courthouse, bea: Account) -> None:
    run = run_of(house, bea)
    with acts(bea):
        token = Links(house.database).make(Resource(kind="run", id=run), DAY)
    guest = visit("", link=token)
    assert TITLE in texts(guest)
    house.database.connection.execute("UPDATE links SET expires = 1.0")
    guest.run()
    assert "leads to nothing any more" in texts(guest)
    assert TITLE not in texts(guest)
    unknown = visit("", link="nothing")
    assert "leads to nothing any more" in texts(unknown)


def test_links_open_cases_and_experiments_too(house: Courthouse, bea: Account) -> None:
    with acts(bea):
        house.library.add(package("My own table"))
    experiment = experiment_of(house, bea)
    for resource, shows in (
        (Resource(kind="case", id="mine"), "My own table"),
        (Resource(kind="experiment", id=experiment), "No cell is done yet"),
    ):
        with acts(bea):
            token = Links(house.database).make(resource, DAY)
        guest = visit("", link=token)
        assert not guest.exception
        assert shows in texts(guest)
        assert labels(guest) <= {"中文"}


def test_what_is_public_is_read_by_who_has_its_address(house: Courthouse, bea: Account) -> None:
    run = run_of(house, bea)
    private = visit("", public=f"run:{run}")
    assert "leads to nothing any more" in texts(private)
    with acts(bea):
        share(house.database, Resource(kind="run", id=run), "public")
    guest = visit("", public=f"run:{run}")
    assert not guest.exception
    assert TITLE in texts(guest)
    with acts(bea):
        share(house.database, Resource(kind="run", id=run), "private")
    guest.run()
    assert TITLE not in texts(guest)
    with acts(NOBODY):
        assert not house.store.runs()


def test_owners_read_who_did_what(house: Courthouse, bea: Account) -> None:
    run = run_of(house, bea)
    visit("bea")
    visit("bea")
    owner = visit("ada", "people")
    assert not owner.exception
    frame = owner.dataframe[-1].value
    assert f"run {run}" in set(frame["on what"])
    with acts(person(house, "ada", Access.OWN)):
        log = ActionLog(house.database)
        assert log.count(ActionFilter(account=bea.id, action="make")) == 1
        assert log.count(ActionFilter(account=bea.id, action="sign-in")) >= 1


def test_without_sign_in_nothing_of_it_is_on_the_pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COURTROOM_HOME", str(tmp_path / "home"))

    from pages.parts.shared.house import courthouse

    house = courthouse()
    run = run_of(house, None)
    app = visit("", "deliberation", run=run)
    assert not app.exception
    assert not app.radio
    assert "Make a link" not in labels(app)
    house.close()
