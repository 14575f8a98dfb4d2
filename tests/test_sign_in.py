"""Who comes in, and who does not: what the app shows to whom, before any role is asked for what."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from courtroom import Courthouse, CourtroomError, Settings
from courtroom.access import NOBODY, Access, Account, Resource, acting_account, acts
from courtroom.accounts import AccountStore, Identity
from courtroom.sharing import DAY, ActionFilter, ActionLog, Links, owned
from pages.parts.shared.house import courthouse
from tests.driving import shell
from tests.pages import press, ran, texts
from tests.signing_in import AUTH, ISSUER, claims, closed_house, person, secrets, visit
from tests.test_sharing import experiment_of, package, run_of, shown

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


def test_a_listed_address_that_the_provider_knows_owns_the_server_and_issuers_are_apart(house: Courthouse) -> None:
    assert "Ada" in texts(visit("ada", "people"))
    again = visit("eve")  # to have an account
    again.user = {**claims("eve", verified=False), "email": "ada@example.org"}
    again.run()
    accounts = {one.name: one for one in house.accounts.all()}
    assert accounts["Ada"].access is Access.OWN
    assert accounts["Eve"].access is Access.LOOK
    assert not any("People" in str(link.proto) for link in again.get("page_link"))
    second = visit("bea")
    second.user = {**claims("bea"), "iss": "https://other.example"}
    ran(second)
    assert len([one for one in house.accounts.all() if one.name == "Bea"]) == 2


def test_an_owner_gives_access_which_holds_at_once_and_the_shell_the_first_owners(house: Courthouse) -> None:
    bea = person(house, "bea", Access.LOOK)
    owner = visit("ada", "people")
    owner.selectbox(f"access-{bea.id}").select(Access.RUN)
    owner.number_input(f"budget-{bea.id}").set_value(20.0)
    ran(owner.button(f"save-{bea.id}").click())
    (known,) = (one for one in house.accounts.all() if one.id == bea.id)
    assert (known.access, known.budget) == (Access.RUN, 20.0)
    ada = person(house, "ada", Access.OWN)
    with acts(ada), pytest.raises(CourtroomError, match="Ask another owner"):
        house.accounts.give(ada.id, Access.LOOK)
    shell("people", "give", "bea@example.org", "own")
    assert f"{bea.id}\town\tbea@example.org\tBea" in shell("people").splitlines()
    with pytest.raises(CourtroomError, match="0 people"):
        shell("people", "give", "nobody@example.org", "own")
    with pytest.raises(CourtroomError, match="none, look, run or own"):
        shell("people", "give", bea.id, "boss")


@pytest.mark.parametrize("old", [False, True])  # as a first visit leaves the row, and as versions before wrote it
def test_whose_address_is_taken_out_owns_no_more(old: bool, house: Courthouse) -> None:
    ada, eve = person(house, "ada", Access.OWN).id, person(house, "eve", Access.OWN).id
    house.database.execute(f"UPDATE accounts SET {'verified = 0' if old else 'access = 1'} WHERE id = ?", (ada,))
    who = Identity(issuer=ISSUER, subject="ada", email="ada@example.org", verified=True)
    token = house.accounts.token(ada)
    for owners, access in (("ada@example.org", Access.OWN), ("bob@example.org", Access.LOOK)):
        accounts = AccountStore(house.database, Settings(owners=owners))
        assert [one.access for one in (*(accounts.of_token(token) or ()), accounts.arrive(who)) if one] == [access] * 2
        assert {one.id: one.access for one in accounts.all()} == {ada: access, eve: Access.OWN}
    with pytest.raises(CourtroomError, match="COURTROOM_OWNERS"):
        house.accounts.give(ada, Access.NONE)


def test_without_the_part_auth_nobody_signs_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COURTROOM_HOME", str(tmp_path / "home"))
    with secrets(tmp_path, monkeypatch, ""):
        app = visit("", "deliberation", run=run_of(courthouse(), None))
        assert not app.radio
        assert not labels(app) & {"Make a link", "Sign in", "Sign out"}


@pytest.mark.parametrize(
    ("environment", "text", "sentence"),
    [
        ({"COURTROOM_OWNERS": "ada@example.org"}, "", "COURTROOM_OWNERS is set"),
        ({}, AUTH, "nobody owns this server"),
        ({"COURTROOM_OWNERS": "ada@example.org"}, AUTH.replace("0123456789", ""), "at least 32 characters"),
        ({"COURTROOM_OWNERS": "ada@example.org"}, "[auth", "COURTROOM_OWNERS is set"),
    ],
)
def test_a_sign_in_that_is_half_set_lets_nobody_in(
    environment: dict[str, str], text: str, sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COURTROOM_HOME", str(tmp_path / "home"))
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    with secrets(tmp_path, monkeypatch, text):
        app = visit("ada", "runs")
        assert sentence in texts(app).replace("\\", "")
        assert not app.selectbox
        assert {button.key for button in app.button} <= {"switch-language"}


def test_whoever_acts_the_engine_acts_for_the_server(house: Courthouse) -> None:
    async def who() -> object:
        return acting_account()

    with acts(NOBODY):
        assert house.runner.do(who()).result() is None
        assert house.writer.put(acting_account).result() is None


def test_a_hearing_that_somebody_starts_goes_on_without_the_person(house: Courthouse, bea: Account) -> None:
    asked = {"procedure": "debate", "case": "camera-fungus", "seed": 3, "setup": {"rounds": 1}}
    app = visit("bea", "setup", setup=json.dumps(asked))
    press(app, "Use these settings")
    press(app, "Start")
    assert not app.error
    house.accounts.give(bea.id, Access.NONE)
    (run,) = [*house.store.each()]
    house.runner.wait(run.id)
    assert house.store.run(run.id).status == "done"


def test_its_owner_says_who_sees_a_run_and_who_did_what_can_be_read(house: Courthouse, bea: Account) -> None:
    run = run_of(house, bea)
    cy = visit("cy", "deliberation", run=run)
    assert "There is no run" in texts(cy)
    assert TITLE not in texts(cy)
    cy.switch_page("pages/runs.py").run()
    assert "No hearing yet" in texts(cy)
    mine = visit("bea", "runs")
    assert [one.key for one in mine.get("button_group") if one.key == "whose-runs"]
    assert list(mine.dataframe[0].value["Case"]) == [TITLE]
    app = visit("bea", "deliberation", run=run)
    assert {"Step", "Run", "Make a link"} <= labels(app)
    ran(app.radio(f"visibility-run-{run}").set_value("shared"))
    assert owned(house.database, Resource(kind="run", id=run)).visibility == "shared"
    reader = visit("cy", "deliberation", run=run)
    assert "It belongs to somebody else" in texts(reader)
    assert not {"Step", "Run", "Pause", "Stop", "Fork", "Make a link"} & labels(reader)
    assert "leads to nothing any more" in texts(visit("", public=f"run:{run}"))
    shown(house, bea, "run", run, "public")
    guest = visit("", public=f"run:{run}")
    assert TITLE in texts(guest)
    shown(house, bea, "run", run, "private")
    guest.run()
    assert TITLE not in texts(guest)
    with acts(NOBODY):
        assert not [*house.store.each()]
    assert f"run {run}" in set(visit("ada", "people").dataframe[-1].value["on what"])
    with acts(person(house, "ada", Access.OWN)):
        log = ActionLog(house.database)
        assert log.count(ActionFilter(account=bea.id, action="make")) == 1
        assert log.count(ActionFilter(account=bea.id, action="sign-in")) >= 1


def test_a_link_is_made_on_the_page_opens_the_run_alone_and_ends(house: Courthouse, bea: Account) -> None:
    run = run_of(house, bea)
    app = visit("bea", "deliberation", run=run)
    app.button(f"link-run-{run}").click().run()
    (address,) = (code.value for code in app.code if "?link=" in code.value)
    token = address.partition("?link=")[2]
    guest = visit("", link=token)
    assert "To be read only" in guest.caption[0].value
    assert TITLE in texts(guest)
    assert labels(guest) <= {"中文"}, "nothing that can be done"
    app.button(f"end-run-{run}-1").click().run()
    guest.run()
    assert "leads to nothing any more" in texts(guest)
    assert TITLE not in texts(guest)
    with acts(bea):
        house.library.add(package("My own table"))
    of_both = {("case", "mine"): "My own table", ("experiment", experiment_of(house, bea)): "No cell is done yet"}
    for (kind, name), shows in of_both.items():
        with acts(bea):
            token = Links(house.database).make(Resource(kind=kind, id=name), DAY)
        guest = visit("", link=token)
        assert shows in texts(guest)
        assert labels(guest) <= {"中文"}
