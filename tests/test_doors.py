"""Runs, experiments and what-ifs behave alike at the shell and in a program: what they bring, exit codes, what is waited for."""

import json
from pathlib import Path

import pytest

from courtroom.courthouse import Courthouse
from courtroom.settings import DATA
from courtroom.shell import forks
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


def test_a_paused_what_if_ends_like_a_paused_run(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small = ["--set", "jury_size=3", "--set", "rounds=1", "--set", "examination=shared"]
    run = json.loads(shell("run", "oak-table", *small, "--json"))["run"]
    paused = json.loads(shell("run", "oak-table", *small, "--set", "tie=seller", "--until", "evidence", "--json"))
    assert paused["status"] == "paused"

    def stopped(house: Courthouse, name: str) -> None:
        house.experiments.pause(name)
        house.experiments.wait(name)

    monkeypatch.setattr(forks, "follow", stopped)
    told = json.loads(shell("what-if", run, "--vary", "rounds=1,2", "--json", code=0))
    assert told["status"] == "paused"
