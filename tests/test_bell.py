"""The bell: webhook and mail tell that a run or an experiment has ended, waits for somebody, or has failed."""

import hashlib
import hmac
import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr
from streamlit.testing.v1 import AppTest

from courtroom import Courthouse, Settings
from courtroom.access import Resource
from courtroom.bell import SIGNATURE
from tests.bell_servers import Hook, mailbox
from tests.driving import drive, prepared, until
from tests.openai_server import OpenAIServer
from tests.pages import ran
from tests.signing_in import ROOT, claims, closed_house, visit

CASE = "trial-boatyard-fire"
ADDRESS = "https://lab.example/court/"


def told(hook: Hook) -> list[dict[str, Any]]:
    return [json.loads(body) for body in hook.bodies]


def new_run(house: Courthouse, **knobs: Any) -> str:
    return prepared(house, "mock-jury", CASE, jury_size=3, **knobs)


def test_a_run_that_ends_rings_once_with_name_state_and_link(tmp_path: Path) -> None:
    with Hook() as hook:
        given = {"webhook": SecretStr(f"{hook.url}/x"), "webhook_secret": SecretStr("s3cret-of-lab")}
        with closing(Courthouse(Settings(home=tmp_path, address=ADDRESS, **given))) as house:
            run = drive(house, new_run(house))
            title = house.record(run).run.title
        link = f"https://lab.example/court/deliberation?run={run}"
        assert told(hook) == [{"kind": "run", "name": title, "state": "done", "link": link}]
        signed = hmac.new(b"s3cret-of-lab", hook.bodies[0], hashlib.sha256).hexdigest()
        assert hook.headers[0][SIGNATURE] == f"sha256={signed}"


def test_mail_goes_to_all_who_are_named(tmp_path: Path) -> None:
    with mailbox() as box:
        given = {"mail_from": "court@lab.example", "mail_to": "ada@lab.example, ben@lab.example", "address": ADDRESS}
        with closing(Courthouse(Settings(home=tmp_path, mail=SecretStr(f"smtp://{box.url}"), **given))) as house:
            run = drive(house, new_run(house))
        ((to, mail),) = box.mails
        assert to == ["ada@lab.example", "ben@lab.example"]
        assert (mail["From"], mail["Subject"]) == ("court@lab.example", "The fire at the boatyard: done")
        assert mail.get_payload().split() == [
            *["The", "fire", "at", "the", "boatyard:", "done"],
            f"https://lab.example/court/deliberation?run={run}",
        ]


def test_a_run_rings_when_it_waits_for_a_seat_or_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with (
        OpenAIServer(answer=lambda body: "I would rather not.") as server,
        Hook() as hook,
        closing(Courthouse(Settings(home=tmp_path, webhook=SecretStr(hook.url)))) as house,
    ):
        server.known(monkeypatch)
        run = new_run(house, members={name: {"id": "person"} for name in ("juror-01", "juror-02")})
        house.runner.go(run)
        until(lambda: len(house.people.waiting(run)) == 2 and hook.bodies, "both seats")
        assert [one["state"] for one in told(hook)] == ["waits for a seat"], "once for all seats"
        house.runner.stop(run)
        house.runner.wait(run)
        failing = drive(house, new_run(house, model={"id": "openai/any"}, reasks=0))
        assert house.record(failing).run.status == "failed"
        house.bell.close()
        assert [one["state"] for one in told(hook)] == ["waits for a seat", "failed"], "who stops a run knows it"


def test_what_could_not_be_told_is_said_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """And it stops nothing."""
    with (
        Hook(status=500) as hook,
        closing(Courthouse(Settings(home=tmp_path, webhook=SecretStr(f"{hook.url}/token-in-path")))) as house,
    ):
        run = drive(house, new_run(house))
        assert house.record(run).run.status == "done"
        house.bell.close()
        about = Resource(kind="run", id=run)
        assert house.bell.trouble(about) == "The webhook could not be told that this is done; the log says why."
        assert house.bell.trouble(about) == ""
        assert f"the webhook was not told of run {run}: HTTPStatusError" in caplog.text
        ours = [record.getMessage() for record in caplog.records if record.name.startswith("courtroom")]
        assert "token-in-path" not in " ".join(ours)


def test_who_signs_in_asks_to_be_told_behind_the_own_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COURTROOM_WEBHOOK", "https://hooks.lab.example")
    with closed_house(tmp_path, monkeypatch) as house:
        assert "rings" in {one.key for one in visit("ann").toggle}
        (ann,) = [one for one in house.accounts.all() if one.email == "ann@example.org"]
        assert not ann.rings
        app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=30)
        app.user, app.session_state["rings"] = claims("ann"), True
        ran(app)
        assert house.accounts.rings(ann.id) == "ann@example.org"
