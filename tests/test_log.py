"""The log file: no text from outside can look like a record, and a closed courthouse holds no file."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from courtroom.courthouse import Courthouse
from courtroom.settings import Settings

FORGED = "2026-01-01 00:00:00,000 INFO courtroom: all is well"
LOG = logging.getLogger("courtroom.models")


def written(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n", "\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\u2029"], ids=ascii)
def test_a_message_with_line_ends_is_one_line(tmp_path: Path, end: str) -> None:
    house = Courthouse(Settings(home=tmp_path))
    LOG.warning("the server said: %s", f"no{end}{FORGED}")
    house.close()
    (line,) = written(house.settings.log)
    assert "the server said: no\\" in line
    assert line.endswith(FORGED)


def test_a_traceback_keeps_its_lines_and_none_of_them_looks_like_a_record(tmp_path: Path) -> None:
    house = Courthouse(Settings(home=tmp_path))
    try:
        raise ValueError(f"no\n{FORGED}\x1b[2J")
    except ValueError:
        LOG.exception("failed")
    house.close()
    first, *trace = written(house.settings.log)
    assert first.endswith("failed")
    assert "test_log.py" in "".join(trace)
    assert trace[-1].strip() == f"{FORGED}\\x1b[2J"
    assert all(line.startswith("    ") for line in trace)


def test_a_closed_courthouse_has_no_log_file_open(tmp_path: Path) -> None:
    log = logging.getLogger("courtroom")
    before = list(log.handlers)
    houses = [Courthouse(Settings(home=tmp_path / name)) for name in ("one", "two", "two")]
    assert len(log.handlers) == len(before) + 2
    houses[2].close()
    LOG.warning("still open")
    for house in houses:
        house.close()
    assert log.handlers == before
    assert [len(written(tmp_path / name / "courtroom.log")) for name in ("one", "two")] == [1, 1]
