"""The log: no text from outside can look like a record, no key is in it, and a closed courthouse holds no file."""

import json
import logging
from pathlib import Path

import pytest

from courtroom.courthouse import Courthouse
from courtroom.procedures.cyberjurors.setup import CyberJurorsSetup
from courtroom.settings import Settings
from tests.driving import drive
from tests.openai_server import OpenAIServer

FORGED = "2026-01-01 00:00:00,000 INFO courtroom: all is well"
KEY = "sk-very-secret-0123456789"
LOG = logging.getLogger("courtroom.models")


def written(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("end", ["\n", "\r", "\x0b", "\x85", "\u2028"], ids=ascii)
def test_a_message_with_line_ends_is_one_line(tmp_path: Path, end: str) -> None:
    house = Courthouse(Settings(home=tmp_path))
    LOG.warning("the server said: %s", f"no{end}{FORGED}")
    house.close()
    (line,) = written(house.settings.log_file)
    assert "the server said: no\\" in line
    assert line.endswith(FORGED)


def failing(settings: Settings, why: str) -> list[str]:
    """The lines in which a log tells of an exception."""
    house = Courthouse(settings)
    try:
        raise ValueError(why)
    except ValueError:
        LOG.exception("failed")
    house.close()
    return written(settings.log_file)


def test_a_traceback_keeps_its_lines_and_none_of_them_looks_like_a_record(tmp_path: Path) -> None:
    first, *trace = failing(Settings(home=tmp_path), f"no\n{FORGED}\x1b[2J")
    assert first.endswith("failed")
    assert Path(__file__).name in "".join(trace)
    assert trace[-1].strip() == f"{FORGED}\\x1b[2J"
    assert all(line.startswith("    ") for line in trace)


def test_a_log_in_json_says_of_which_run_and_path_a_record_is_and_holds_no_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # Without what another test has had written to standard error.
    monkeypatch.setattr(logging.getLogger("courtroom"), "handlers", [])
    with OpenAIServer(faults=1.0, only=("500",)) as server:
        server.known(monkeypatch)
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        house = Courthouse(Settings(home=tmp_path, log="json"))
        model = {"id": "openai/real", "attempts": 1}
        setup = CyberJurorsSetup.model_validate({"jury_size": 3, "rounds": 1, "model": model})
        run = drive(house, house.new_run("cyberjurors", house.library.case("phone-battery"), setup, 0))
        path = next(call.path for call in house.record(run).calls)
        LOG.warning("a key: %s, and a line\u2028more\x9b31m of %s", KEY, "证据")
        house.close()
    lines = written(house.settings.log_file)
    told = [json.loads(line) for line in lines]
    assert capsys.readouterr().err.splitlines() == lines
    assert {one["level"] for one in told} >= {"WARNING"}
    assert [one for one in told if one.get("run") == run and one.get("path") == path]
    assert told[-1]["message"] == "a key: …, and a line\u2028more\x9b31m of 证据"
    assert "run" not in told[-1]
    assert KEY not in "".join(lines)
