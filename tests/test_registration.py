"""What the author of a procedure gets wrong is told when the procedure is registered: the file, and what to do."""

import importlib
import json
import os
import shutil
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from courtroom import Courthouse, CourtroomError, Procedure, Settings, View
from courtroom.engine.interventions import ChangeSetup, InterventionRefused
from courtroom.models.apart import PromptError
from courtroom.procedures import PROCEDURES
from courtroom.procedures.cyberjurors.setup import CyberJurorsSetup
from courtroom.procedures.debate.procedure import DEBATE, Argue, Argument
from courtroom.procedures.registration import RegistrationError, register
from courtroom.shell.procedures import check_package, lay_out, tried
from tests.driving import hearing
from tests.driving import shell as in_this_process

ROOT = Path(__file__).parents[1]
UNASKED = "“judge” can't be used: line 1: it has neither the block `shared` nor the block `own`"
Make = Callable[..., Procedure]


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Make]:
    """Lays a new procedure out, changes its files as an author would, and imports it."""
    lay_out("two-judges", tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def made(file: str, old: str, new: str | None) -> Procedure:
        path = tmp_path / "two_judges" / file
        text = path.read_text(encoding="utf-8")
        assert old in text
        if new is None:
            path.unlink()
        else:
            path.write_text(text.replace(old, new, 1) if old else new, encoding="utf-8")
        procedure: Procedure = importlib.import_module("two_judges.procedure").PROCEDURE
        return procedure

    yield made
    for name in [name for name in sys.modules if name.partition(".")[0] == "two_judges"]:
        del sys.modules[name]


STUMBLES = tomllib.loads((ROOT / "tests/inputs/stumbles.toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("stumble", STUMBLES)
def test_an_authors_mistake_is_told_with_file_and_mend(make: Make, tmp_path: Path, stumble: str) -> None:
    given = STUMBLES[stumble]
    with pytest.raises(RegistrationError) as error:
        register((make(given["file"], given["old"], given.get("new")),), PROCEDURES)
    (told,) = [line for line in str(error.value).splitlines() if all(word in line for word in given["told"])]
    assert str(tmp_path) in told
    assert told.endswith((".", "?"))


def test_all_that_is_shipped_passes_the_same_checks() -> None:
    assert register(PROCEDURES.values()) == PROCEDURES
    other = {**DEBATE.offline, Argue: lambda task, draw: Argument(argument="No.")}
    with pytest.raises(RegistrationError, match="answers Argue in another way than Debate, which asks it too"):
        register((replace(DEBATE, name="debate-anew", offline=other),), PROCEDURES)


def test_an_edited_prompt_without_its_question_is_refused_everywhere(house: Courthouse) -> None:
    case, small = house.library.case("oak-table"), CyberJurorsSetup(jury_size=1, rounds=1)
    run, prompts = house.new_run("cyberjurors", case, small, 0), {"judge": "Vote."}
    edited = small.model_copy(update={"prompts": prompts})
    with pytest.raises(PromptError, match=UNASKED):
        house.new_run("cyberjurors", case, edited, 0)
    with pytest.raises(PromptError, match=UNASKED):
        house.fork(run, edited)
    with pytest.raises(InterventionRefused, match=UNASKED):
        house.interventions.intervene(run, ChangeSetup(key="prompts", value=prompts))
    asking = {"judge": "{% block own %}Vote.{% endblock %}"}
    assert house.interventions.planned(house.record(run), [ChangeSetup(key="prompts", value=asking)])


def installed(folder: Path, name: str, old: str = "", new: str = "") -> None:
    """What pip leaves of a new procedure's package, with a change of its author's."""
    module = name.replace("-", "_")
    lay_out(name, folder / name)
    shutil.copytree(folder / name / module, folder / "site" / module)
    code = folder / "site" / module / "procedure.py"
    code.write_text(code.read_text().replace(old, new))
    info = folder / "site" / f"{module}-0.1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 0.1.0\n")
    (info / "entry_points.txt").write_text(f"[courtroom.procedures]\n{name} = {module}.procedure:PROCEDURE\n")


def anew(*arguments: str, at: Path, folders: Sequence[Path]) -> subprocess.CompletedProcess[str]:
    """Run `courtroom` in an interpreter of its own, with the packages that stand in these folders."""
    path = os.pathsep.join(map(str, (*folders, ROOT)))
    surroundings = {**os.environ, "COURTROOM_HOME": str(at / "home"), "PYTHONPATH": path}
    command = [sys.executable, "-m", "courtroom", *arguments]
    return subprocess.run(command, env=surroundings, cwd=ROOT, capture_output=True, text=True, check=False)


PACKAGE = Path(__file__).parent / "packages" / "mediation"
"""Written from docs/write-a-procedure.md alone."""


@pytest.fixture
def mediation(monkeypatch: pytest.MonkeyPatch) -> Procedure:
    monkeypatch.syspath_prepend(PACKAGE)
    procedure: Procedure = importlib.import_module("mediation").PROCEDURE
    return procedure


@pytest.mark.parametrize(("rounds", "outcome"), [(4, "agreement"), (2, "deadlock")])
def test_mediation_ends(mediation: Procedure, tmp_path: Path, rounds: int, outcome: str) -> None:
    house = Courthouse(Settings(home=tmp_path / "home"), procedures=(mediation,))
    record = hearing(house, mediation.name, "phone-battery", rounds=rounds)
    assert record.run.verdict.outcome == outcome
    (table,) = mediation.views[0].drawn(record)[""]
    assert len(table.rows) == len(record.stages)
    assert all(isinstance(refund, int) for row in table.rows for refund in row[1:])


def test_the_check_finds_what_no_prompt_shows(mediation: Procedure, tmp_path: Path) -> None:
    drawn: Any = lambda record: {"": (record.stages[0],)}  # noqa: E731
    broken = View("broken", "Broken", "", "", drawn)
    failing = replace(mediation, views=(broken,))
    told = r"The view “Broken” can't be drawn\. .*test_registration\.py, line \d+: IndexError"
    with pytest.raises(CourtroomError, match=told):
        list(tried(failing, tmp_path / "one"))
    prompts = tmp_path / "prompts"
    prompts.mkdir()
    for path in mediation.prompts.iterdir():
        (prompts / path.name).write_text(path.read_text().replace("{{ earlier.reasons | quote }}", ""))
    silent = replace(mediation, prompts=prompts)
    with pytest.raises(CourtroomError, match=r"No prompt shows these inputs: move: moves\.reasons\. Show, drop"):
        list(tried(silent, tmp_path / "two"))


def test_the_check_of_a_package_hears_each_preset(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setenv("COURTROOM_DATABASE", "postgresql://nobody@127.0.0.1:1/not-to-be-written")
    for name in ("new-judges", "open-judges"):
        lay_out(name, tmp_path / name)
    outcomes = {"Patient": "agreement", "Hurried": "deadlock", "mediation": "ok"}
    outcomes |= {"Careful": "seller", "Trusting": "seller", "new-judges": "ok"}
    check_package(PACKAGE)
    check_package(tmp_path / "new-judges")
    assert capsys.readouterr().out.splitlines() == [f"{name}: {outcome}" for name, outcome in outcomes.items()]
    code = tmp_path / "open-judges/open_judges/procedure.py"
    code.write_text(code.read_text() + "\n\nclass Open(\n")
    with pytest.raises(CourtroomError, match=rf"{code}, line \d+: SyntaxError: '\(' was never closed"):
        check_package(tmp_path / "open-judges")


TENDER_PACKAGE = ROOT / "tests" / "packages" / "tender"
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
    subprocess.run(command, check=True, capture_output=True, cwd=TENDER_PACKAGE)
    (wheel,) = folder.glob("*.whl")
    zipfile.ZipFile(wheel).extractall(folder / "site")
    (folder / "tender.json").write_text(json.dumps(TENDER))
    return folder


def test_the_check_hears_a_case_of_ones_own(site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setenv("COURTROOM_HOME", str(tmp_path / "home"))
    in_this_process("new-procedure", "own-judges", "--to", str(tmp_path / "new"))
    check = ("procedures", "check", str(tmp_path / "new"), "--case")
    heard = in_this_process(*check, str(ROOT / "data/cases/oak-table/case.json"))
    assert heard.endswith("own-judges: ok\n")
    refused = anew(*check, str(site / "tender.json"), at=tmp_path, folders=(site / "site",))
    assert "school-chairs is of the kind “tender”" in refused.stderr


def test_a_broken_package_leaves_procedures_and_kinds_of_others_alone(site: Path, tmp_path: Path) -> None:
    installed(tmp_path, "two-judges")
    installed(tmp_path, "late-judges", "offline={Decide: decide}", "offline={Decide: decidd}")
    wrong = tmp_path / "site" / "wrong-0.1.dist-info"
    wrong.mkdir()
    (wrong / "METADATA").write_text("Metadata-Version: 2.1\nName: wrong\nVersion: 0.1\n")
    points = "dispute = tender:Tender\nnone = tender:Bid\ngone = tender:Auction\n"
    (wrong / "entry_points.txt").write_text(f"[courtroom.case_kinds]\n{points}")
    done = anew("procedures", at=tmp_path, folders=(site / "site", tmp_path / "site"))
    assert done.returncode == 1
    assert "debate\twith-options\tcourtroom\tDebate" in done.stdout
    assert "two-judges\tdispute\ttwo-judges 0.1.0\tTwo judges" in done.stdout
    (late,) = (line for line in done.stderr.splitlines() if line.startswith("The procedure"))
    assert "The procedure “late-judges” of late-judges 0.1.0 can't be used:" in late
    mend = "NameError: name 'decidd' is not defined. Mend it there, or remove the package."
    assert f"procedure.py, line 67: {mend}" in late
    kinds = [line for line in done.stderr.splitlines() if line != late]
    assert [line.partition(" of wrong 0.1 can't be used: ")[0] for line in kinds] == [
        f"The kind of case “{name}”" for name in ("dispute", "gone", "none")
    ]
    whys = ("which no other kind has", "no attribute 'Auction'", "no class below Case")
    for line, why in zip(kinds, whys, strict=True):
        assert why in line
    assert "Traceback" in (tmp_path / "home/courtroom.log").read_text()


def test_a_kind_of_another_package_is_heard_and_without_it_told_of(
    site: Path, tmp_path: Path, shell: Callable[..., tuple[int, str, str]]
) -> None:
    words = ("run", str(site / "tender.json"), "--procedure", "mock-jury", "--json")
    told = json.loads(anew(*words, at=tmp_path, folders=(site / "site",)).stdout)
    assert told["verdict"] in ("A", "B", "C", "Hung jury")
    _, listed, missing = shell(tmp_path / "home", "cases")
    assert "phone-battery" in listed
    assert "“tender” is not known" in missing
    assert "“tender” is not known" in shell(tmp_path / "home", "show", told["run"])[2]
