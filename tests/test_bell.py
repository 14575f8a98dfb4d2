"""The bell: webhook and mail tell that a run or an experiment has ended, waits for somebody, or has failed; and attacks on it."""

import hashlib
import hmac
import json
import socket
import threading
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr
from streamlit.testing.v1 import AppTest

from courtroom import Courthouse, Settings
from courtroom.access import NOBODY, Access, Forbidden, Resource, acts
from courtroom.bell import SIGNATURE
from tests.bell_servers import Hook, mailbox
from tests.driving import drive, prepared, until
from tests.furnished import copied
from tests.openai_server import OpenAIServer
from tests.pages import ran
from tests.signing_in import ROOT, claims, closed_house, person, visit

ADDRESS = "https://lab.example/court/"
KEY = "sk-a-key-that-nobody-else-may-have"
SECRET = "what-signs-but-is-never-sent"


def ringing(home: Path, **given: Any) -> closing[Courthouse]:
    """A courthouse that has rung for all when it is closed."""
    return closing(Courthouse(Settings(home=copied(home), **given)))


def told(hook: Hook) -> list[dict[str, Any]]:
    return [json.loads(body) for body in hook.bodies]


def new_run(house: Courthouse, **knobs: Any) -> str:
    return prepared(house, "mock-jury", "trial-boatyard-fire", jury_size=3, **knobs)


def test_a_run_that_ends_rings_once_with_name_state_and_link(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With no key and no text of the case; mail goes to all who are named."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with Hook() as hook, mailbox() as box:
        given: dict[str, Any] = {"webhook": SecretStr(f"{hook.url}/x"), "webhook_secret": SecretStr(SECRET)}
        given |= {"mail_from": "court@lab.example", "mail_to": "ada@lab.example, ben@lab.example", "address": ADDRESS}
        with ringing(tmp_path, mail=SecretStr(f"smtp://{box.url}"), **given) as house:
            run = new_run(house)
            house.runner.go(run, keys={"ANTHROPIC_API_KEY": KEY})
            house.runner.wait(run)
            record = house.record(run)
    link = f"https://lab.example/court/deliberation?run={run}"
    assert told(hook) == [{"kind": "run", "name": "The fire at the boatyard", "state": "done", "link": link}]
    signed = hmac.new(SECRET.encode(), hook.bodies[0], hashlib.sha256).hexdigest()
    assert hook.headers[0][SIGNATURE] == f"sha256={signed}"
    ((to, mail),) = box.mails
    assert to == ["ada@lab.example", "ben@lab.example"]
    assert (mail["From"], mail["Subject"]) == ("court@lab.example", "The fire at the boatyard: done")
    assert mail.get_payload().split() == ["The", "fire", "at", "the", "boatyard:", "done", link]
    sent = f"{hook.bodies}{hook.headers}{mail}"
    assert KEY not in sent
    assert SECRET not in sent
    assert not [text for _, text in record.case.sections() if text[:40] in sent]
    assert not [call for call in record.calls if str(call.value)[:60] in sent]


def test_a_run_rings_when_it_waits_for_a_seat_or_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    server = OpenAIServer(answer=lambda body: "I would rather not.", known_to=monkeypatch)
    with server, Hook() as hook, ringing(tmp_path, webhook=SecretStr(hook.url)) as house:
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
    with Hook(status=500) as hook, ringing(tmp_path, webhook=SecretStr(f"{hook.url}/token-in-path")) as house:
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
        house.accounts.give(ann.id, Access.NONE)
        assert house.accounts.rings(ann.id) is None, "who may not look is not told"
        with acts(NOBODY), pytest.raises(Forbidden):
            house.accounts.ring(True)


@pytest.mark.parametrize("status", [302, 307])
def test_a_webhook_never_leads_elsewhere(tmp_path: Path, status: int) -> None:
    with Hook() as elsewhere, Hook(status=status, location=elsewhere.url) as hook:
        with ringing(tmp_path, webhook=SecretStr(hook.url)) as house:
            drive(house, new_run(house))
        assert len(hook.bodies) == 1, "it is not tried again"
        assert not elsewhere.bodies


def test_a_run_of_another_rings_nobody_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Hook() as hook, mailbox() as box:
        monkeypatch.setenv("COURTROOM_WEBHOOK", hook.url)
        monkeypatch.setenv("COURTROOM_MAIL", f"smtp://{box.url}")
        monkeypatch.setenv("COURTROOM_MAIL_TO", "everybody@lab.example")
        with closed_house(tmp_path, monkeypatch) as house:
            eve, ann, bob = (person(house, name, Access.RUN) for name in ("eve", "ann", "bob"))
            for who in (eve, bob):
                with acts(who):
                    house.accounts.ring(True)
            with acts(ann):
                drive(house, new_run(house))  # Ann has not asked to be told
            drive(house, new_run(house))  # nobody's
            with acts(bob):
                run = drive(house, new_run(house))
            house.bell.close()
        assert [to for to, _ in box.mails] == [["bob@example.org"]]
        assert [one["link"].endswith(run) for one in told(hook)] == [True]


def test_no_password_goes_to_a_mail_server_without_tls(tmp_path: Path) -> None:
    said: list[bytes] = []
    with closing(socket.create_server(("127.0.0.1", 0))) as server:

        def serve() -> None:
            with closing(server.accept()[0]) as caller:
                caller.sendall(b"220 here\r\n")
                while line := caller.recv(1_000):
                    said.append(line)
                    caller.sendall(b"250-here\r\n250 AUTH PLAIN LOGIN\r\n" if line[:4] == b"ehlo" else b"502 no\r\n")

        thread = threading.Thread(target=serve)
        thread.start()
        mail = SecretStr(f"smtp://ada:{SECRET}@127.0.0.1:{server.getsockname()[1]}")
        with ringing(tmp_path, mail=mail, mail_to="ada@lab.example") as house:
            drive(house, new_run(house))
        thread.join(30)
    assert said
    assert b"AUTH" not in b"".join(said).upper()
    assert SECRET not in (tmp_path / "courtroom.log").read_text(encoding="utf-8")


def test_a_title_adds_no_header_to_a_mail(tmp_path: Path) -> None:
    with mailbox() as box:
        with ringing(tmp_path, mail=SecretStr(f"smtp://{box.url}"), mail_to="ada@lab.example") as house:
            run = new_run(house)
            title = "A fire\r\nBcc: eve@evil.example\n\n<b>x"
            house.database.execute("UPDATE runs SET title = ? WHERE id = ?", (title, run))
            drive(house, run)
        ((to, mail),) = box.mails
        assert to == ["ada@lab.example"]
        assert mail["Bcc"] is None
        assert mail["Subject"] == "A fire Bcc: eve@evil.example <b>x: done"
