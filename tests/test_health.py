"""`courtroom health`: by its exit code a container sees whether the store and the app answer."""

import sqlite3
import threading
from contextlib import closing
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from typer.testing import CliRunner

from courtroom.courthouse import Courthouse
from courtroom.settings import Settings
from courtroom.shell.commands import app
from courtroom.upkeep.health import app_health, store_health


def asked(*words: str) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["health", *words])
    return done.exit_code, done.output


def test_a_store_that_answers_is_healthy_and_one_that_is_damaged_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COURTROOM_HOME", str(tmp_path / "home"))
    assert asked() == (0, "ok\tstore\tThere is no store yet; the first visit makes it.\n")
    assert not (tmp_path / "home").exists(), "asking makes none"
    Courthouse(Settings(home=tmp_path / "home")).close()
    assert asked() == (0, "ok\tstore\tThe store answers.\n")
    (tmp_path / "home" / "courtroom.sqlite").write_bytes(b"no database" * 1000)
    code, text = asked()
    assert code == 1
    assert text.startswith("WRONG\tstore\t")


def test_a_store_that_another_program_holds_is_not_healthy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = Settings(home=tmp_path)
    Courthouse(settings).close()
    with closing(sqlite3.connect(settings.sqlite, isolation_level=None)) as held:
        held.execute("BEGIN EXCLUSIVE")
        connect = sqlite3.connect
        monkeypatch.setattr(sqlite3, "connect", lambda *args, **given: connect(*args, **{**given, "timeout": 0.1}))
        found = store_health(settings)
    assert found.state == "wrong"
    assert "held by another program" in found.sentence


class Half(BaseHTTPRequestHandler):
    seen: list[str] = []

    def do_GET(self) -> None:
        self.seen.append(self.path)
        self.send_response(200 if self.path.startswith("/court/_stcore") else 503)
        self.end_headers()

    def log_message(self, *args: object) -> None:
        return None


def test_the_app_is_asked_under_its_path() -> None:
    with HTTPServer(("127.0.0.1", 0), Half) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        address = f"http://127.0.0.1:{server.server_address[1]}"
        assert app_health(f"{address}/court/").state == "fine"
        assert app_health(address).sentence.startswith("The app answers with 503")
        server.shutdown()
        thread.join()
    assert Half.seen == ["/court/_stcore/health", "/_stcore/health"]
    assert app_health(address).state == "wrong"
    assert app_health("http://127.0.0.1:no").state == "wrong"
