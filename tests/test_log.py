"""The log: no text from outside can look like a record, no key is in it; and a closed courthouse leaves nothing open."""

import gc
import json
import logging
import os
from operator import le
from pathlib import Path

import pytest

from courtroom import Case, Courthouse, Settings
from courtroom.store.log import LogFile
from tests.driving import hearing, until, whole_hearing
from tests.furnished import copied
from tests.openai_server import OpenAIServer

FORGED = "2026-01-01 00:00:00,000 INFO courtroom: all is well"
KEY = "sk-very-secret-0123456789"
LOG = logging.getLogger("courtroom.models")


def written(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


def test_no_line_of_a_message_or_a_traceback_looks_like_a_record(tmp_path: Path) -> None:
    house, ends = Courthouse(Settings(home=tmp_path)), ("\n", "\r", "\x0b", "\x85", "\u2028")
    for end in ends:
        LOG.warning("the server said: %s", f"no{end}{FORGED}")
    try:
        raise ValueError(f"no\n{FORGED}\x1b[2J")
    except ValueError:
        LOG.exception("failed")
    house.close()
    lines = written(house.settings.log_file)
    said, (first, *trace) = lines[: len(ends)], lines[len(ends) :]
    assert all("the server said: no\\" in line and line.endswith(FORGED) for line in said)
    assert first.endswith("failed")
    assert Path(__file__).name in "".join(trace)
    assert trace[-1].strip() == f"{FORGED}\\x1b[2J"
    assert all(line.startswith("    ") for line in trace)


def test_json_logs_no_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    # Without what another test has had written to standard error.
    monkeypatch.setattr(logging.getLogger("courtroom"), "handlers", [])
    with OpenAIServer(faults=1.0, only=("500",), known_to=monkeypatch):
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        house = Courthouse(Settings(home=copied(tmp_path), log="json"))
        model = {"id": "openai/real", "attempts": 1}
        record = hearing(house, "cyberjurors", "phone-battery", jury_size=3, rounds=1, model=model)
        run, path = record.run.id, record.calls[0].path
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


def test_what_a_full_disk_takes_no_more_is_not_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "full.log").symlink_to("/dev/full")
    log = LogFile(tmp_path / "full.log")
    LOG.warning("a key: %s", KEY)
    log.close()
    assert KEY not in capsys.readouterr().err


pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:chromadb.*", "ignore::ResourceWarning")


def heard(house: Courthouse, seed: int = 0, case: Case | None = None, **knobs: object) -> str:
    small = {"jury_size": 3, "rounds": 1, "consensus": 1.0, "grounding_rounds": 1}
    return whole_hearing(house, "cyberjurors", case or "oak-table", seed, **{**small, **knobs}).run.id


def held() -> tuple[int, int]:
    """Threads and open files of this process."""
    gc.collect()  # Chroma ends a thread when its last object goes
    return len(os.listdir("/proc/self/task")), len(os.listdir("/proc/self/fd"))


def test_a_courthouse_that_is_closed_leaves_nothing_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    counted = []
    with OpenAIServer(known_to=monkeypatch) as server:
        for number in range(4):
            house = Courthouse(Settings(home=copied(tmp_path / str(number))))
            heard(house, number, model={"id": "openai/any"})
            house.close()
            until(lambda: not server.open, "the server to be done")
            if number:  # at the first, much is loaded that stays
                counted.append(held())
        before = tuple(map(max, *counted[:2]))  # a thread that is ending may still be there
        until(lambda: all(map(le, held(), before)), "all threads and files of a closed courthouse to go")
