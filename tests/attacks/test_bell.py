"""Attacks on the bell: a webhook that leads elsewhere, keys, text of a case, and runs of others."""

import socket
import threading
from contextlib import closing
from pathlib import Path

import pytest
from pydantic import SecretStr

from courtroom import Courthouse, Settings
from courtroom.access import NOBODY, Access, Forbidden, acts
from tests.bell_servers import Hook, mailbox
from tests.driving import drive
from tests.signing_in import closed_house, person
from tests.test_bell import new_run, told

KEY = "sk-a-key-that-nobody-else-may-have"
SECRET = "what-signs-but-is-never-sent"


@pytest.mark.parametrize("status", [302, 307])
def test_a_webhook_never_leads_elsewhere(tmp_path: Path, status: int) -> None:
    with Hook() as elsewhere, Hook(status=status, location=elsewhere.url) as hook:
        with closing(Courthouse(Settings(home=tmp_path, webhook=SecretStr(hook.url)))) as house:
            drive(house, new_run(house))
        assert len(hook.bodies) == 1, "it is not tried again"
        assert not elsewhere.bodies


def test_a_webhook_gets_no_key_and_no_text_of_a_case(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with Hook() as hook, mailbox() as box:
        given = {"webhook": SecretStr(hook.url), "webhook_secret": SecretStr(SECRET), "mail_to": "ada@lab.example"}
        with closing(Courthouse(Settings(home=tmp_path, mail=SecretStr(f"smtp://{box.url}"), **given))) as house:
            run = new_run(house)
            house.runner.go(run, keys={"ANTHROPIC_API_KEY": KEY})
            house.runner.wait(run)
            case, calls = house.record(run).case, house.record(run).calls
        sent = f"{hook.bodies}{hook.headers}{box.mails[0][1]}"
        assert set(told(hook)[0]) == {"kind", "name", "state", "link"}
        assert KEY not in sent
        assert SECRET not in sent
        assert not [text for _, text in case.sections() if text[:40] in sent]
        assert not [call for call in calls if str(call.value)[:60] in sent]


def test_a_run_of_another_rings_nobody_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Hook() as hook, mailbox() as box:
        monkeypatch.setenv("COURTROOM_WEBHOOK", hook.url)
        monkeypatch.setenv("COURTROOM_MAIL", f"smtp://{box.url}")
        monkeypatch.setenv("COURTROOM_MAIL_TO", "everybody@lab.example")
        with closed_house(tmp_path, monkeypatch) as house:
            ada, ann, bob = (person(house, name, Access.RUN) for name in ("ada", "ann", "bob"))
            for who in (ada, bob):
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


def test_who_may_not_look_can_not_ask_to_be_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with closed_house(tmp_path, monkeypatch) as house:
        ann = person(house, "ann", Access.RUN)
        with acts(ann):
            house.accounts.ring(True)
        house.accounts.give(ann.id, Access.NONE)
        assert house.accounts.rings(ann.id) is None
        with acts(NOBODY), pytest.raises(Forbidden):
            house.accounts.ring(True)


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
        with closing(Courthouse(Settings(home=tmp_path, mail=mail, mail_to="ada@lab.example"))) as house:
            drive(house, new_run(house))
        thread.join(30)
    assert said
    assert b"AUTH" not in b"".join(said).upper()
    assert SECRET not in (tmp_path / "courtroom.log").read_text(encoding="utf-8")


def test_a_title_adds_no_header_to_a_mail(tmp_path: Path) -> None:
    with mailbox() as box:
        given = {"mail": SecretStr(f"smtp://{box.url}"), "mail_to": "ada@lab.example"}
        with closing(Courthouse(Settings(home=tmp_path, **given))) as house:
            run = new_run(house)
            title = "A fire\r\nBcc: eve@evil.example\n\n<b>x"
            house.database.execute("UPDATE runs SET title = ? WHERE id = ?", (title, run))
            drive(house, run)
        ((to, mail),) = box.mails
        assert to == ["ada@lab.example"]
        assert mail["Bcc"] is None
        assert mail["Subject"] == "A fire Bcc: eve@evil.example <b>x: done"
