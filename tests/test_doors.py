"""Runs, experiments and what-ifs behave alike at the shell and in a program: what they bring, exit codes, what is waited for."""

import json
from pathlib import Path

import pytest

from courtroom.settings import DATA
from tests.driving import house, shell

__all__ = ["house"]  # a fixture


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("COURTROOM_HOME", str(tmp_path))
    return tmp_path


def test_a_recipe_brings_its_bundled_dataset(home: Path) -> None:
    assert shell("datasets", "list") == ""
    found = json.loads(
        shell("experiment", "run", str(DATA / "experiments" / "even-splits.toml"), "--estimate", "--json")
    )
    assert found["cells"] == 160
    (line,) = shell("datasets", "list").splitlines()
    assert line.startswith("sample-trials\t")
