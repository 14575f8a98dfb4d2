"""A procedure that was found right is not read again until something that it is made of changes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from courtroom.shell.procedures import lay_out

ROOT = Path(__file__).parents[1]
START = """
import sys
from courtroom.engine import check_templates, registration
read = []
mistakes = check_templates.mistakes
check_templates.mistakes = lambda procedure: read.append(procedure) or mistakes(procedure)
from two_judges.procedure import PROCEDURE
try:
    registration.register((PROCEDURE,))
except registration.RegistrationError as error:
    print(error)
print("read" if PROCEDURE in read else "not read")
"""
DECIDE = "two_judges/prompts/decide.md.j2"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    lay_out("two-judges", tmp_path)
    return tmp_path


def started(folder: Path, **more: str) -> str:
    """What a new process says of the procedure in this folder."""
    process = subprocess.run(
        [sys.executable, "-c", START],
        env=os.environ | {"PYTHONPATH": os.pathsep.join((str(folder), str(ROOT)))} | more,
        capture_output=True,
        text=True,
        check=True,
    )
    return process.stdout


def test_what_has_not_changed_is_read_once(folder: Path) -> None:
    assert started(folder) == "read\n"
    assert started(folder) == "not read\n"
    path = folder / DECIDE
    path.write_text(path.read_text(encoding="utf-8").replace("careful", "carefull"), encoding="utf-8")
    for _ in range(2):
        told = started(folder)
        assert "it uses `carefull`, which is none of" in told, "what is wrong is told at every start"
        assert told.endswith("\nread\n")


def test_a_template_of_the_same_length_that_is_written_later_is_read_anew(folder: Path) -> None:
    assert started(folder) == "read\n"
    path = folder / DECIDE
    before = path.stat()
    path.write_text(path.read_text(encoding="utf-8").replace("{% if careful", "{% if carefux"), encoding="utf-8")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns + 1))
    assert path.stat().st_size == before.st_size
    assert "it uses `carefux`" in started(folder)


def test_where_python_keeps_nothing_all_is_read_at_each_start(folder: Path) -> None:
    for _ in range(2):
        assert started(folder, PYTHONDONTWRITEBYTECODE="1") == "read\n"
    assert not list(folder.rglob("*.checked"))
