"""What holds for every test: nothing leaves this machine, and the header says with what it was tried."""

import gc
import ipaddress
import os
import re
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from fnmatch import fnmatch
from importlib.metadata import version
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import hypothesis
import pytest

from courtroom import Courthouse, Settings, courthouse
from courtroom.engine.runner import Runner
from courtroom.knowledge.index_folders import IndexFolders
from courtroom.knowledge.search import Knowledge
from courtroom.models import failures
from courtroom.store.database import Database
from tests import forks
from tests.desk import Desk
from tests.furnished import copied, furnished
from tests.openai_server import OpenAIServer
from tests.postgres_server import WHY_NOT, PostgresServer, end_shared, shared
from tests.toy import Bench, Scripted, side_by_member

gc.disable()  # until all tests are collected: nearly nothing of what is imported goes away again

# Here, as with several workers the one that reports collects no test itself.
pytest_plugins = ["tests.workers"]

# What is slow on a loaded machine is no failure.
PATIENT = hypothesis.settings(deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow])
hypothesis.settings.register_profile("fixed", PATIENT, max_examples=40, derandomize=True, database=None)
hypothesis.settings.register_profile("random", PATIENT, max_examples=1000, print_blob=True)
hypothesis.settings.load_profile("fixed")  # `--hypothesis-profile random` loads the other one

# Hundreds of processes are started, and each would compile all our modules anew.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

MAIN = sys.modules["__main__"]
ROOT = Path(__file__).parents[1]
PATIENCE_S = 300.0
KILLS = re.compile(r"_kill(ed)?(_|$)")
"""In the names of tests that kill a process."""
SLOW = (
    *("*page*", "audience", "audit", "comparison", "contract", "dask", "datasets", "docs", "figures", "film", "index"),
    *("interventions", "jurisagents", "language", "limits", "log", "mirror", "object_storage", "old_stores", "package", "postgres"),
    *("questions", "registration", "resilience", "run_list", "samples", "shell_*", "sign_in", "upkeep", "what_ifs"),
)  # fmt: skip
"""Files of tests, by what follows `test_` in their names, that take long by what they try: pages are drawn again and again,
processes and servers are started, benchmarks and installations are run, limits of time are reached. So do the attacks: each file
tries a long list of them."""
POSTGRES = {"postgres", "on_postgres", "either_database"}
"""Fixtures that want a PostgreSQL server."""
NAMES = ("streamlit", "litellm", "chromadb", "pydantic", "plotly")


def pytest_report_header() -> str:
    return ", ".join(f"{name} {version(name)}" for name in NAMES)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks what kills processes, what is slow and what drives a browser."""
    for item in items:
        folder = item.path.relative_to(Path(__file__).parent).parent
        if KILLS.search(item.name.partition("[")[0]) or item.path.name == "test_kills.py":
            item.add_marker(pytest.mark.kills)
        if "attacks" in folder.parts or any(fnmatch(item.path.stem, f"test_{name}") for name in SLOW):
            item.add_marker(pytest.mark.slow)
        if "browser" in folder.parts:
            item.add_marker(pytest.mark.browser)


def pytest_collection_finish(session: pytest.Session) -> None:
    """In a worker, from which test processes are forked: imports what most of them need, and starts what they share."""
    gc.enable()
    if not hasattr(session.config, "workerinput"):
        return
    forks.ready()
    import tests.warm  # noqa: F401

    furnished()
    if any(POSTGRES & set(getattr(item, "fixturenames", ())) for item in session.items):
        shared()


@pytest.fixture(scope="session", autouse=True)
def waits_are_patient_and_nothing_is_frozen() -> Iterator[None]:
    """A limit ends a test that hangs; no machine is so slow, or so busy, that it ends one that goes on.

    And a courthouse freezes what is there when it is warm; here that would be what other tests have left, too.
    """

    def patient(seconds: float | None) -> float:
        return max(seconds or 0.0, PATIENCE_S)

    wait = Runner.wait
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Runner, "wait", lambda runner, run, timeout=None: wait(runner, run, patient(timeout)))
        if harness := sys.modules.get("streamlit.testing.v1.app_test"):
            draw = harness.AppTest._run
            patched = lambda app, state=None, timeout=None: draw(app, state, patient(timeout))  # noqa: E731
            patch.setattr(harness.AppTest, "_run", patched)
        patch.setattr(courthouse, "gc", Mock())
        yield


@pytest.fixture(autouse=True)
def pages_leave_nothing() -> Iterator[None]:
    """A page that is drawn stands in as the program's main module, which a process that is started then would run.

    And what pages share between sessions, such as the scenes of a room, is kept for as long as the process lives.
    """
    yield
    sys.modules["__main__"] = MAIN
    if streamlit := sys.modules.get("streamlit"):
        streamlit.cache_resource.clear()


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """A PostgreSQL server for all tests of a process."""
    yield shared() or pytest.skip(WHY_NOT)
    end_shared()


def pytest_unconfigure() -> None:
    end_shared()


@pytest.fixture
def on_postgres(postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch) -> str:
    """Every store that the test opens is this database."""
    address = postgres.fresh()
    monkeypatch.setenv("COURTROOM_DATABASE", address)
    return address


@pytest.fixture(params=["sqlite", "postgres"])
def either_database(request: pytest.FixtureRequest) -> str:
    """The test runs on a SQLite file, and on a PostgreSQL database."""
    if request.param == "postgres":
        request.getfixturevalue("on_postgres")
    return str(request.param)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[OpenAIServer]:
    """A server of which all models are asked whose names begin with `openai/`."""
    with OpenAIServer(keep_bodies=True, known_to=monkeypatch) as server:
        yield server


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Courthouse]:
    """A courthouse with nothing in it but the samples; commands that the test runs have the same store."""
    monkeypatch.setenv("COURTROOM_HOME", str(tmp_path))
    house = Courthouse(Settings(home=copied(tmp_path)))
    yield house
    house.close()


@pytest.fixture
def app_house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Courthouse]:
    """The very courthouse that the pages use."""
    monkeypatch.setenv("COURTROOM_HOME", str(copied(tmp_path)))
    monkeypatch.chdir(ROOT)
    from pages.parts.shared.house import courthouse as courthouse_of_pages

    house = courthouse_of_pages()
    yield house
    house.close()


class LeftThisMachine(BaseException):
    """A test tried to reach the network. Not an `Exception`, so that no retry takes it for a failing server."""


@pytest.fixture(autouse=True)
def nothing_leaves_this_machine(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Fails a test that looks up a name or connects to anything but loopback, even where the code goes on."""
    tried: list[str] = []

    def guarded(real: Any, place: int) -> Any:
        def call(*args: Any, **given: Any) -> Any:
            address = args[place]
            host = address[0] if isinstance(address, tuple) else address
            if not _stays(host):
                tried.append(str(host))
                raise LeftThisMachine(f"a test tried to reach {host}")
            return real(*args, **given)

        return call

    # asyncio looks a name up before it connects, so the guard on look-ups stops its calls too.
    monkeypatch.setattr(socket, "getaddrinfo", guarded(socket.getaddrinfo, 0))
    monkeypatch.setattr(socket.socket, "connect", guarded(socket.socket.connect, 1))
    monkeypatch.setattr(socket.socket, "connect_ex", guarded(socket.socket.connect_ex, 1))
    yield tried
    assert not tried, f"tried to reach {', '.join(tried)}"


@pytest.fixture(autouse=True)
def what_a_test_opens_is_closed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Courthouses and what is in them that a test itself opens: their threads and files would pile up over the suite."""
    opened: list[Courthouse | Knowledge | IndexFolders | Database] = []

    def noting(init: Any) -> Any:
        def call(self: Any, *args: Any, **given: Any) -> None:
            init(self, *args, **given)
            opened.append(self)

        return call

    for kind in (Database, IndexFolders, Knowledge, Courthouse):
        monkeypatch.setattr(kind, "__init__", noting(kind.__init__))
    yield
    for one in reversed(opened):
        if not isinstance(one, Courthouse) or one._runner is not None:
            one.close()


def _stays(host: object) -> bool:
    """Whether an address is this machine: loopback, a wildcard to listen on, or a socket file."""
    name = host.decode() if isinstance(host, bytes) else str(host or "")
    if name in ("", "localhost") or name.startswith("/"):
        return True
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    """A store with a runner on it; of three jurors the first changes sides in round 2."""
    with closing(Bench(tmp_path / "home", Scripted(side_by_member))) as bench:
        yield bench


@pytest.fixture
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who asks a model's server again does it at once; no server of this machine's own is set."""
    monkeypatch.setattr(failures, "backoff_s", lambda number: 0.0)
    monkeypatch.setattr(failures, "LOADING_PAUSE_S", 0.01)
    for name in ("OPENAI_API_KEY", "OPENAI_API_BASE", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """A command of the shell on the store of a home, in this process: exit code, stdout, stderr. A traceback would be an exception here.

    Pages that are drawn after it have the same home.
    """
    monkeypatch.chdir(ROOT)
    from courtroom.__main__ import main

    def call(home: Path, *words: str) -> tuple[int, str, str]:
        monkeypatch.setenv("COURTROOM_HOME", str(home))
        monkeypatch.setattr(sys, "argv", ["courtroom", *words])
        capsys.readouterr()
        code = 0
        try:
            main()
        except SystemExit as ended:
            code = int(ended.code or 0)
        return code, *capsys.readouterr()

    return call


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    """A folder for files beside an empty store, which is that of the shell too."""
    monkeypatch.setenv("COURTROOM_HOME", str(tmp_path))
    return Desk(tmp_path)
