"""A real language model answers, each procedure from case to verdict.

It can't reason. It reads whole prompts, rambles, repeats and fills lists without end, as no script does.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from courtroom.upkeep.model_check import HEAD
from tests.docs import ROOT, blocks
from tests.real_model import CASES, MODEL, Heard, folder_of, needs_packages, results

pytestmark = pytest.mark.real_model


def test_from_a_fresh_clone_three_commands_lead_to_a_verdict_by_a_real_model(tmp_path: Path) -> None:
    """As they stand in the README. What they install is there already, so that nothing is fetched from a package registry."""
    needs_packages()
    if not shutil.which("git") or not (ROOT / ".git").exists():
        pytest.skip("no fresh clone here: this is no repository of git")
    (commands,) = [block.splitlines() for block in blocks("README.md", "sh") if MODEL in block]
    assert len(commands) == 3
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(clone / ".venv")], check=True)
    (packages,) = clone.glob(".venv/lib/python*/site-packages")
    (packages / "of_the_tests.pth").write_text("\n".join(path for path in sys.path if path.endswith("-packages")))
    pip = clone / ".venv" / "bin" / "pip"
    pip.write_text('#!/bin/sh\nexec python -m pip "$@"\n')
    pip.chmod(0o755)
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("COURTROOM_")},
        "COURTROOM_HOME": str(tmp_path / "home"),
        "PATH": f"{clone / '.venv' / 'bin'}:{os.environ['PATH']}",
        "PIP_NO_INDEX": "1",
        "PIP_NO_BUILD_ISOLATION": "0",  # pip reads this one the wrong way round: it is not isolated
    }
    for command in commands:
        done = subprocess.run(command, shell=True, cwd=clone, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    assert re.search(r"^ *verdict +(buyer|seller)$", done.stdout, re.MULTILINE), done.stdout
    assert re.search(r"^ *tokens +prompt [1-9]", done.stdout, re.MULTILINE), done.stdout


@pytest.fixture(scope="module")
def heard(request: pytest.FixtureRequest) -> Mapping[str, Heard]:
    """All runs that began with the session, once they have ended, and the debate that a browser has seen."""
    needs_packages()
    return results(folder_of(request.config))


@pytest.mark.parametrize("name", CASES)
def test_a_small_model_gets_from_a_case_to_a_verdict(
    name: str, heard: Mapping[str, Heard], request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]
) -> None:
    assert name in heard, (folder_of(request.config) / "log").read_text()
    with capsys.disabled():
        print(f"\n{heard[name].tally.row()}")
    assert heard[name].tally.verdict, heard[name].reason
    assert not heard[name].unfit, "an answer did not fit a schema that the model was held to"


def test_nearly_every_answer_is_valid_and_whole(heard: Mapping[str, Heard], capsys: pytest.CaptureFixture[str]) -> None:
    tallies = [one.tally for one in heard.values()]
    names = ("calls", "valid", "replies", "cut")
    calls, valid, replies, cut = (sum(getattr(one, name) for one in tallies) for name in names)
    with capsys.disabled():
        print(f"\n{HEAD}", *(one.row() for one in tallies), f"{cut} of {replies} replies cut", sep="\n")
    assert valid >= 0.9 * calls
    assert cut <= 0.05 * replies
