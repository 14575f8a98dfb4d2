"""Which worker of pytest-xdist takes which tests, and in which process each of them runs.

A file stays with one worker, all files of a browser with one and the same: what a file's tests share is made once, and one browser is
open at a time. pytest-xdist would read the groups from marks, but its mark does not reach the names of tests since pytest 9.2.

Tests run in processes forked from the worker; each ends with the first group that leaves it large. So what tests import and leave
behind does not pile up, and a worker stays as small as it is once all tests are collected and what most of them need is imported.
"""

import ctypes
import faulthandler
import gc
import multiprocessing
import tempfile
import traceback
import warnings
from collections.abc import Iterator
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path, PurePosixPath
from typing import IO

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

from tests import forks

BROWSER = "browser"
BROWSER_FILES = {"tests/attacks/test_pages.py"}
"""Those that drive a browser beside the folder `tests/browser`."""


def group(nodeid: str) -> str:
    """The group of a test by its name."""
    path = PurePosixPath(nodeid.partition("::")[0])
    return BROWSER if BROWSER in path.parts or str(path) in BROWSER_FILES else str(path)


class WholeFiles(LoadScopeScheduling):
    """Gives groups to workers in the order in which the tests stand."""

    def __init__(self, config: pytest.Config, log: Producer | None = None) -> None:
        super().__init__(config, log)
        config.option.loadscopereorder = False  # else the files of most tests came first, not those that take longest

    def _split_scope(self, nodeid: str) -> str:
        return group(nodeid)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> WholeFiles | None:
    """What `--dist loadgroup` does here."""
    return WholeFiles(config, log) if config.getvalue("dist") == "loadgroup" else None


@pytest.hookimpl(trylast=True)  # once all have their marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Each group in one piece: the browser's first, then those that take long, so that all workers end at nearly the same time."""
    groups: dict[str, list[pytest.Item]] = {}
    for item in items:
        groups.setdefault(group(item.nodeid), []).append(item)
    ranked = sorted(groups.values(), key=lambda tests: min(map(_rank, tests)))
    items[:] = [item for tests in ranked for item in tests]


def _rank(item: pytest.Item) -> int:
    ranked = enumerate((BROWSER, "real_model", "slow", "kills"))
    return next((rank for rank, name in ranked if item.get_closest_marker(name)), 4)


LARGE = 760
"""Megabytes with which a process ends once a group does."""
STATUS = Path("/proc/self/status")
ARENAS, FEW = -8, 2
"""`M_ARENA_MAX` of glibc's `mallopt`, and how many. By default threads share up to eight for each core, and what a test's threads
leave behind lies in all of them."""


@pytest.fixture(scope="module", autouse=True)
def nothing_stays_open() -> Iterator[None]:
    """Lets go of what a module's tests have left open."""
    yield
    gc.collect()
    glibc("malloc_trim", 0)  # what it keeps for later: after a large run with many threads hundreds of megabytes
    gc.freeze()  # what is still there stays, such as libraries: the next module need not walk it again


def glibc(name: str, *given: int) -> None:
    """Call a function of glibc's own."""
    with suppress(AttributeError, OSError, TypeError):  # another C library has no such function
        getattr(ctypes.CDLL(None), name)(*given)


def resident() -> int:
    """Resident memory of this process in megabytes; 0 on a system that does not say."""
    told = dict(line.split(":", 1) for line in STATUS.read_text().splitlines()) if STATUS.exists() else {}
    return int(told.get("VmRSS", "0").split()[0]) // 1024


class TestProcess:
    """Runs tests as it is told, and reports on them.

    Attributes:
        megabytes: its memory after the last of them.
        stood: where each of its threads stood, if it ended because a test was stuck.
    """

    __test__ = False

    def __init__(self, session: pytest.Session) -> None:
        self._pipe, there = multiprocessing.Pipe()
        self._stacks = tempfile.TemporaryFile()  # noqa: SIM115  for the process's life
        given = session, there, self._pipe, self._stacks
        self._process = multiprocessing.get_context("fork").Process(target=_serve, args=given)
        self.stood = ""
        self.megabytes = 0
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # the worker's other threads only wait for messages
            self._process.start()
        there.close()

    def run(self, config: pytest.Config, place: int, following: int | None) -> None:
        """Run the session's test of this place, and report here as if it had run here; `following` is the one that it runs next.

        Raises:
            EOFError: the process is gone.
            RuntimeError: pytest itself failed there.
        """
        self._pipe.send((place, following))
        while True:
            name, given = self._pipe.recv()
            if name == "done":
                self.megabytes = given
                return
            if name == "failed":
                raise RuntimeError(given)
            if "report" in given:
                given["report"] = config.hook.pytest_report_from_serializable(config=config, data=given["report"])
            getattr(config.hook, name)(**given)

    def end(self) -> int | None:
        """Its exit code."""
        with suppress(BrokenPipeError):  # it has ended by itself; the exit code says how
            self._pipe.send(None)
        self._process.join()
        if not self._stacks.closed:
            with self._stacks:
                self._stacks.seek(0)
                self.stood = self._stacks.read().decode()
        return self._process.exitcode


class Forking:
    """Has a worker hand each test to its process."""

    def __init__(self) -> None:
        self._process: TestProcess | None = None
        self._places: dict[int, int] = {}

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Knows all tests by their places, which are the same in a process that is forked."""
        self._places = {id(item): place for place, item in enumerate(session.items)}

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool:
        """Runs the test in the worker's process; it begins where there is none."""
        self._process = self._process or TestProcess(item.session)
        following = nextitem
        if nextitem and self._process.megabytes > LARGE and group(nextitem.nodeid) != group(item.nodeid):
            following = None
        try:
            self._process.run(item.config, self._places[id(item)], self._places[id(following)] if following else None)
        except EOFError:
            following = None
            why = f"the process that ran it is gone: exit code {self._process.end()}\n{self._process.stood}"
            report = pytest.TestReport(item.nodeid, item.location, {}, "failed", why, "call")
            item.ihook.pytest_runtest_logreport(report=report)
        if following is None:
            self._process.end()
            self._process = None
        return True


STUCK = "stuck_s"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addini(STUCK, "after so many seconds a test fails as stuck, with where each thread stood", default="1200")


OF_THE_WORKER = ("Forking", "WorkerInteractor")
"""Plugins by their names: pytest-xdist's own is of a module that can't be imported under its name."""


class Reporting:
    """Sends what happens to the worker."""

    def __init__(self, config: pytest.Config, pipe: Connection) -> None:
        self._config, self._pipe = config, pipe

    def pytest_runtest_logstart(self, nodeid: str, location: tuple[str, int | None, str]) -> None:
        self._pipe.send(("pytest_runtest_logstart", {"nodeid": nodeid, "location": location}))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        data = self._config.hook.pytest_report_to_serializable(config=self._config, report=report)
        self._pipe.send(("pytest_runtest_logreport", {"report": data}))

    def pytest_runtest_logfinish(self, nodeid: str, location: tuple[str, int | None, str]) -> None:
        self._pipe.send(("pytest_runtest_logfinish", {"nodeid": nodeid, "location": location}))


def _serve(session: pytest.Session, pipe: Connection, the_workers: Connection, stacks: IO[bytes]) -> None:
    """Run tests, as the worker says which, until it says that there are no more, or is gone."""
    the_workers.close()
    forks.inherited()
    plugins = session.config.pluginmanager
    for plugin in plugins.get_plugins():
        if type(plugin).__name__ in OF_THE_WORKER:
            plugins.unregister(plugin)
    plugins.register(Reporting(session.config, pipe))
    while (order := pipe.recv()) is not None:
        item, following = (session.items[place] if place is not None else None for place in order)
        limit = float(session.config.getini(STUCK))
        if item.get_closest_marker("real_model"):  # it waits for a model that has what busier processes leave
            limit *= 3
        faulthandler.dump_traceback_later(limit, exit=True, file=stacks)
        try:
            session.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        except BaseException:
            pipe.send(("failed", traceback.format_exc()))
            raise
        faulthandler.cancel_dump_traceback_later()
        pipe.send(("done", resident()))


def pytest_configure(config: pytest.Config) -> None:
    """Takes part where pytest-xdist has workers; without them tests run here, as a debugger wants it."""
    glibc("mallopt", ARENAS, FEW)  # before there are threads
    if hasattr(config, "workerinput"):
        config.pluginmanager.register(Forking())
