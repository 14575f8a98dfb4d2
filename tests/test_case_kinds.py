"""Kinds of case of other packages: heard like any other, and told where they can't be used."""

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.driving import shell as in_this_process

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "tests" / "packages" / "tender"
BIDS = (("North", 900, "Delivered in May."), ("South", 950, "Delivered in March."), ("West", 800, "Used parts."))
TENDER = {
    "kind": "tender",
    "id": "school-chairs",
    "title": "Chairs for the school",
    "wanted": "Forty chairs, delivered by April.",
    "taken": "South",
    "bids": [{"company": company, "price": price, "offer": offer} for company, price, offer in BIDS],
}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the package is built and installed."""
    folder = tmp_path_factory.mktemp("tender")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, check=True, capture_output=True, cwd=PACKAGE)
    (wheel,) = folder.glob("*.whl")
    zipfile.ZipFile(wheel).extractall(folder / "site")
    (folder / "tender.json").write_text(json.dumps(TENDER))
    return folder


def shell(*arguments: str, at: Path, path: str) -> subprocess.CompletedProcess[str]:
    surroundings = {**os.environ, "COURTROOM_HOME": str(at / "home"), "PYTHONPATH": path}
    command = [sys.executable, "-m", "courtroom", *arguments]
    return subprocess.run(command, env=surroundings, cwd=ROOT, capture_output=True, text=True, check=False)


def test_the_check_hears_a_case_of_ones_own(site: Path, tmp_path: Path) -> None:
    path = f"{site / 'site'}{os.pathsep}{ROOT}"
    in_this_process("new-procedure", "two-judges", "--to", str(tmp_path / "new"))
    check = ("procedures", "check", str(tmp_path / "new"), "--case")
    heard = shell(*check, str(ROOT / "data/cases/oak-table/case.json"), at=tmp_path, path=path)
    assert heard.stdout.endswith("two-judges: ok\n"), heard.stderr
    refused = shell(*check, str(site / "tender.json"), at=tmp_path, path=path)
    assert "school-chairs is of the kind “tender”" in refused.stderr


def test_a_kind_that_can_not_be_used_leaves_the_others_alone(site: Path, tmp_path: Path) -> None:
    wrong = tmp_path / "site" / "wrong-0.1.dist-info"
    wrong.mkdir(parents=True)
    (wrong / "METADATA").write_text("Metadata-Version: 2.1\nName: wrong\nVersion: 0.1\n")
    points = "dispute = tender:Tender\nnone = tender:Bid\ngone = tender:Auction\n"
    (wrong / "entry_points.txt").write_text(f"[courtroom.case_kinds]\n{points}")
    path = os.pathsep.join((str(site / "site"), str(tmp_path / "site"), str(ROOT)))
    done = shell("procedures", at=tmp_path, path=path)
    assert done.returncode == 1
    assert "debate\twith-options" in done.stdout
    told = done.stderr.splitlines()
    assert [line.partition(" of wrong 0.1 can't be used: ")[0] for line in told] == [
        f"The kind of case “{name}”" for name in ("dispute", "gone", "none")
    ]
    assert "which no other kind has" in told[0]
    assert "has no attribute 'Auction'" in told[1]
    assert "is no class below Case" in told[2]


def test_a_kind_of_another_package_is_heard_and_without_it_told_of(site: Path, tmp_path: Path) -> None:
    path = f"{site / 'site'}{os.pathsep}{ROOT}"
    heard = shell("run", str(site / "tender.json"), "--procedure", "mock-jury", "--json", at=tmp_path, path=path)
    told = json.loads(heard.stdout)
    assert told["verdict"] in ("A", "B", "C", "Hung jury")
    run = told["run"]
    without = shell("cases", at=tmp_path, path=str(ROOT))
    assert "phone-battery" in without.stdout
    assert "“tender” is not known" in without.stderr
    shown = shell("show", run, at=tmp_path, path=str(ROOT))
    assert "“tender” is not known" in shown.stderr
    assert "Traceback" not in shown.stderr
