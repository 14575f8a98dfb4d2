"""Courtroom as a package: built, installed, run in an empty folder, or from a fresh clone; its modules import each other in no circle."""

import ast
import asyncio
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from graphlib import TopologicalSorter
from importlib.metadata import PathDistribution
from pathlib import Path

import pytest
from grimp import build_graph
from packaging.requirements import Requirement

import courtroom
from courtroom.store.opening import open_store
from courtroom.version import __version__
from tests.app_server import app_server
from tests.benchmarks.app_session import Session
from tests.docs import ROOT, blocks
from tests.real_model import MODEL, needs_packages

HEAVY = {"litellm", "chromadb", "sklearn", "pandas", "streamlit", "pydantic", "numpy"}


def do(*words: str | Path, where: Path, **environment: str) -> str:
    """Run a command; its standard output."""
    given = [str(word) for word in words]
    done = subprocess.run(given, cwd=where, env={**os.environ, **environment}, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built with nothing but what is installed here."""
    to = tmp_path_factory.mktemp("wheel")
    do(sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", to, where=ROOT)
    (wheel,) = to.glob("*.whl")
    return wheel


def environment(home: Path) -> Path:
    """The commands of a new environment, whose libraries are those of this one."""
    do(sys.executable, "-m", "venv", "--without-pip", home, where=home.parent)
    (packages,) = home.glob("lib/python*/site-packages")
    (packages / "libraries.pth").write_text("\n".join(path for path in sys.path if path.endswith("-packages")))
    return home / "bin"


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The commands of an environment with the wheel in it."""
    commands = environment(home := tmp_path_factory.mktemp("environment"))
    how = ("--no-deps", "--no-index", "--no-compile", "--quiet")  # what is run is compiled when it is
    do(sys.executable, "-m", "pip", "--python", commands / "python", "install", *how, wheel, where=home)
    return commands


def test_a_wheel_holds_the_app_and_its_data_and_no_tests(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {name.split("/")[0] for name in names} == {"courtroom", f"courtroom-{__version__}.dist-info"}
    app = ("app.py", "pages/cases.py", "pages/parts/shared/house.py", "data/personas.json", ".streamlit/config.toml")
    wanted = {"py.typed", "language/locale/zh/LC_MESSAGES/courtroom.po", *(f"_app/{name}" for name in app)}
    assert {f"courtroom/{name}" for name in wanted} <= names
    assert not [name for name in names if "/tests/" in name or "__pycache__" in name or name.endswith(".pyc")]


def test_an_installed_courtroom_hears_a_case_in_an_empty_folder(installed: Path, tmp_path: Path) -> None:
    told = do(installed / "courtroom", "run", "phone-battery", "--set", "jury_size=3", "--json", where=tmp_path)
    assert json.loads(told)["status"] == "done"
    assert [path.name for path in tmp_path.iterdir()] == [".courtroom"]


def test_an_installed_courtroom_opens_the_app_in_an_empty_folder(installed: Path, tmp_path: Path) -> None:
    command = [str(installed / "courtroom"), "app", "--host", "localhost"]
    with app_server(tmp_path / ".courtroom", tmp_path, command=command, port_option="--port") as server:

        async def visit() -> int:
            session = Session(server.url, ("", {}))
            await session.open()
            return len((await session.leave()).buttons)

        assert asyncio.run(visit()) > 10


@pytest.mark.real_model
def test_from_a_fresh_clone_three_commands_lead_to_a_verdict_by_a_real_model(tmp_path: Path) -> None:
    """As they stand in the README, but that the debate ends after one round. What they install is there already, so that
    nothing is fetched from a package registry."""
    needs_packages()
    if not shutil.which("git") or not (ROOT / ".git").exists():
        pytest.skip("no fresh clone here: this is no repository of git")
    (three,) = [block.splitlines() for block in blocks("README.md", "sh") if MODEL in block]
    first, second, third = three
    do("git", "clone", "--quiet", ROOT, clone := tmp_path / "clone", where=tmp_path)
    pip = (commands := environment(clone / ".venv")) / "pip"
    pip.write_text('#!/bin/sh\nexec python -m pip "$@"\n')
    pip.chmod(0o755)
    given = {"COURTROOM_HOME": str(tmp_path / "home"), "PATH": f"{commands}:{os.environ['PATH']}", "PIP_NO_INDEX": "1"}
    given["PIP_NO_BUILD_ISOLATION"] = "0"  # pip reads this one the wrong way round: it is not isolated
    for command in (first, second, f"{third} --set rounds=1"):
        told = do("sh", "-c", command, where=clone, **given)
    assert re.search(r"^ *verdict +(buyer|seller)$", told, re.MULTILINE), told
    assert re.search(r"^ *tokens +prompt [1-9]", told, re.MULTILINE), told


def test_the_wheel_asks_for_what_the_code_imports(wheel: Path, tmp_path: Path) -> None:
    zipfile.ZipFile(wheel).extractall(tmp_path)
    (folder,) = tmp_path.glob("*.dist-info")
    wanted = {Requirement(line).name.lower().replace("_", "-") for line in PathDistribution(folder).requires or ()}
    files = [*ROOT.glob("courtroom/**/*.py"), *ROOT.glob("pages/**/*.py"), ROOT / "app.py"]
    nodes = [node for path in files for node in ast.walk(ast.parse(path.read_text()))]
    imported = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    imported |= {str(node.module) for node in nodes if isinstance(node, ast.ImportFrom)}
    outside = {name.split(".")[0] for name in imported} - {*sys.stdlib_module_names, "courtroom", "pages"}
    other = {"PIL": "pillow", "bs4": "beautifulsoup4", "cv2": "opencv-python-headless", "docx": "python-docx"}
    other |= {"pptx": "python-pptx", "sklearn": "scikit-learn", "yaml": "pyyaml"}
    assert {other.get(name, name.replace("_", "-")) for name in outside} <= wanted


def test_public_names_are_there_and_importing_courtroom_alone_loads_nothing_heavy() -> None:
    assert {"Court", "Procedure", "Dispute", "options", "knob"} <= {*courtroom.__all__}
    assert [name for name in courtroom.__all__ if getattr(courtroom, name, None) is None] == []
    code = f"import sys, courtroom; print(*sorted({HEAVY!r} & set(sys.modules)))"
    assert do(sys.executable, "-c", code, where=ROOT).strip() == ""


def test_the_lock_has_a_version_that_fits_for_all_that_is_needed() -> None:
    lines = (ROOT / "requirements.lock").read_text().splitlines()
    pins = [Requirement(line) for line in lines if line and not line.lstrip().startswith("#")]
    locked = {pin.name: str(pin.specifier).removeprefix("==") for pin in pins}
    needed = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    assert [one for one in map(Requirement, needed) if not one.specifier.contains(locked[one.name])] == []


SLOW = (
    *("sklearn", "scipy", "litellm", "chromadb", "pandas", "networkx", "cv2", "plotly", "numpy", "yaml"),
    *("sqlalchemy", "psycopg", "babel", "json_repair", "urllib.request"),
)
"""Imported when it is used."""
LIST_CASES = "import runpy; sys.argv = ['courtroom', 'cases']; runpy.run_module('courtroom', run_name='__main__')"
LOOK_UP = (
    "import runpy; sys.argv = ['courtroom', 'knowledge', 'search', '盗窃手机', '--in', 'statutes'];"
    "runpy.run_module('courtroom', run_name='__main__')"
)

OPEN_APP = (
    "from streamlit.testing.v1 import AppTest;"
    "app = AppTest.from_file('app.py', default_timeout=120).run(); assert not app.exception, app.exception;"
    "assert app.button(key='hear-oak-table')"
)


@pytest.mark.parametrize(
    ("code", "slow"),
    [(LIST_CASES, SLOW), (OPEN_APP, SLOW[:3]), (LOOK_UP, ("jieba", "pkg_resources", *SLOW[:3], *SLOW[4:7]))],
    ids=["cases", "first page", "look-up"],
)
def test_nothing_slow_is_imported_for_what_does_not_need_it(tmp_path: Path, code: str, slow: tuple[str, ...]) -> None:
    open_store(tmp_path / "courtroom.sqlite").close()  # a store is made once, and opened each time
    looked = f"import sys, atexit; atexit.register(lambda: print([name for name in {slow} if name in sys.modules]))"
    told = do(sys.executable, "-c", f"{looked}\n{code}", where=ROOT, COURTROOM_HOME=str(tmp_path))
    assert told.splitlines()[-1] == "[]", told


def test_no_modules_import_each_other_in_a_circle() -> None:
    graph = build_graph("courtroom", exclude_type_checking_imports=True, cache_dir=None)
    modules = graph.modules - {"courtroom"}  # the front door names what lies deep inside, and loads it when it is asked
    imports = {module: graph.find_modules_directly_imported_by(module) & modules for module in modules}
    assert "courtroom.engine.court" in imports["courtroom.engine.active_run"]
    TopologicalSorter(imports).prepare()  # raises CycleError with the modules of a circle
