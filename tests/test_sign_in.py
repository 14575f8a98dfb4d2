"""Who comes in, and who does not: what the app shows to whom, before any role is asked for what."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from courtroom.access import NOBODY, Access, Forbidden, acting, acts
from courtroom.courthouse import Courthouse
from courtroom.engine.loop import Loop
from courtroom.errors import CourtroomError
from courtroom.shell.commands import app as shell
from tests.pages import texts
from tests.signing_in import AUTH, claims, closed_house, person, secrets, visit


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Courthouse]:
    with closed_house(tmp_path, monkeypatch) as house:
        yield house


def test_a_listed_address_owns_the_server_only_if_the_provider_knows_that_it_is_hers(house: Courthouse) -> None:
    owner = visit("ada", "people")
    assert not owner.exception
    assert "Ada" in texts(owner)
    again = visit("eve")  # to have an account
    again.user = {**claims("eve", verified=False), "email": "ada@example.org"}
    again.run()
    accounts = {one.name: one for one in house.accounts.all()}
    assert accounts["Ada"].access is Access.OWN
    assert accounts["Eve"].access is Access.LOOK
    assert not any("People" in str(link.proto) for link in again.get("page_link"))


def test_an_owner_gives_access_which_holds_at_once(house: Courthouse) -> None:
    bea = person(house, "bea", Access.LOOK)
    owner = visit("ada", "people")
    owner.selectbox(f"access-{bea.id}").select(Access.RUN)
    owner.number_input(f"budget-{bea.id}").set_value(20.0)
    owner.button(f"save-{bea.id}").click().run()
    assert not owner.exception
    (known,) = (one for one in house.accounts.all() if one.id == bea.id)
    assert (known.access, known.budget) == (Access.RUN, 20.0)


def test_an_owner_does_not_change_the_own_access(house: Courthouse) -> None:
    ada = person(house, "ada", Access.OWN)
    with acts(ada), pytest.raises(CourtroomError, match="Ask another owner"):
        house.accounts.give(ada.id, Access.LOOK)


def test_only_owners_list_and_change_accounts(house: Courthouse) -> None:
    bea = person(house, "bea", Access.RUN)
    for account in (bea, NOBODY):
        with acts(account):
            for act in (
                house.accounts.all,
                lambda: house.accounts.give(bea.id, Access.OWN),
                lambda: house.accounts.allow(bea.id, None),
            ):
                with pytest.raises(Forbidden):
                    act()


def test_the_same_person_at_two_issuers_has_two_accounts(house: Courthouse) -> None:
    first, second = visit("bea"), visit("bea")
    second.user = {**claims("bea"), "iss": "https://other.example"}
    second.run()
    assert not first.exception
    assert not second.exception
    assert len([one for one in house.accounts.all() if one.name == "Bea"]) == 2


def test_without_the_part_auth_nobody_signs_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COURTROOM_HOME", str(tmp_path / "home"))
    with secrets(tmp_path, monkeypatch, ""):
        app = visit()
        assert not app.exception
        assert not any(button.key == "sign-out" for button in app.button)
        assert len(app.selectbox) == 3
        from pages.parts.shared.house import courthouse

        courthouse().close()


@pytest.mark.parametrize(
    ("environment", "text", "sentence"),
    [
        ({"COURTROOM_OWNERS": "ada@example.org"}, "", "COURTROOM_OWNERS is set"),
        ({"COURTROOM_NEWCOMERS": "run"}, "", "COURTROOM_NEWCOMERS is set"),
        ({}, AUTH, "nobody owns this server"),
        ({"COURTROOM_OWNERS": " , "}, AUTH, "nobody owns this server"),
        ({"COURTROOM_OWNERS": "ada@example.org"}, AUTH.replace("client_id", "client"), "lacks client_id"),
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
        for name in ("", "ada"):
            app = visit(name, "runs")
            assert sentence in texts(app).replace("\\", "")
            assert not app.selectbox
            assert {button.key for button in app.button} <= {"switch-language"}


def test_several_providers_have_a_button_each(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shared, provider = AUTH.split("client_id")
    of_one = f"client_id{provider}"
    text = f"{shared}[auth.university]\n{of_one}[auth.hospital]\n{of_one}"
    monkeypatch.setenv("COURTROOM_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("COURTROOM_OWNERS", "ada@example.org")
    with secrets(tmp_path, monkeypatch, text):
        labels = [button.label for button in visit().button]
        assert {"Sign in with University", "Sign in with Hospital"} <= set(labels)
        from pages.parts.shared.house import courthouse

        with acts(None):
            courthouse().close()


def test_what_a_thread_does_without_saying_for_whom_is_refused(house: Courthouse) -> None:
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(acting).result() == NOBODY


def test_the_engine_acts_for_the_server_whoever_had_it_begin(house: Courthouse) -> None:
    async def who() -> object:
        return acting()

    loop = Loop()
    try:
        with acts(NOBODY):
            assert loop.do(who()).result() is None
            assert house.writer.put(acting).result() is None
    finally:
        loop.close()


def test_the_shell_gives_the_first_owner_the_access(house: Courthouse) -> None:
    bea = person(house, "bea", Access.LOOK)
    do = CliRunner().invoke
    assert do(shell, ["people", "give", "bea@example.org", "own"]).exit_code == 0
    assert f"{bea.id}\town\tbea@example.org\tBea" in do(shell, ["people"]).stdout.splitlines()
    assert "0 people" in str(do(shell, ["people", "give", "nobody@example.org", "own"]).exception)
    assert "none, look, run or own" in str(do(shell, ["people", "give", bea.id, "boss"]).exception)


def test_a_hearing_that_somebody_starts_goes_on_without_the_person(house: Courthouse) -> None:
    bea = person(house, "bea", Access.RUN)
    asked = {"procedure": "debate", "case": "camera-fungus", "seed": 3, "setup": {"rounds": 1}}
    app = visit("bea", "setup", setup=json.dumps(asked))
    next(one for one in app.button if one.label == "Use these settings").click().run()
    next(one for one in app.button if one.label == "Start").click().run()
    assert not app.error
    house.accounts.give(bea.id, Access.NONE)
    (run,) = house.store.runs()
    house.runner.wait(run.id)
    assert house.store.run(run.id).status == "done"
