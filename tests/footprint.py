"""Has each process that runs tests hold little, and prints its memory and its threads at its end below the report."""

import ctypes
import gc
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

MEGABYTES = 800
THREADS = 60
STATUS = Path("/proc/self/status")
ARENAS, FEW = -8, 2
"""`M_ARENA_MAX` of glibc's `mallopt`, and how many. By default threads share up to eight for each core, and what a test's threads
leave behind lies in all of them."""


@pytest.fixture(scope="module", autouse=True)
def nothing_stays_open() -> Iterator[None]:
    """Lets go of what a module's tests have left open."""
    yield
    gc.collect()
    give_back()
    gc.freeze()  # what is still there stays, such as libraries: the next module need not walk it again


def give_back() -> None:
    """Give back what the C library keeps for later: after a large run with many threads that is hundreds of megabytes.

    It takes some hundredths of a second, and other threads go on meanwhile.
    """
    glibc("malloc_trim", 0)


def glibc(name: str, *given: int) -> None:
    """Call a function of glibc's own."""
    with suppress(AttributeError, OSError, TypeError):  # another C library has no such function
        getattr(ctypes.CDLL(None), name)(*given)


def held() -> tuple[int, int]:
    """Resident memory in megabytes, and threads, of this process; (0, 0) on a system that does not say."""
    gc.collect()
    give_back()
    return resident(), int(_status().get("Threads", 0))


def resident() -> int:
    """Resident memory of this process in megabytes; 0 on a system that does not say."""
    return int(_status().get("VmRSS", "0").split()[0]) // 1024


def _status() -> dict[str, str]:
    return dict(line.split(":", 1) for line in STATUS.read_text().splitlines()) if STATUS.exists() else {}


class Footprint:
    """Collects what the processes hold."""

    def __init__(self) -> None:
        self._held: dict[str, tuple[int, int]] = {}
        self._largest: dict[str, tuple[int, int]] = {}

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        if found := getattr(node, "workeroutput", {}).get("held"):
            self._held[node.gateway.id] = tuple(found)
            self._largest[node.gateway.id] = tuple(node.workeroutput["largest"])

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if hasattr(session.config, "workeroutput"):
            session.config.workeroutput["held"] = held()
        elif not self._held:
            self._held["this process"] = held()

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        for name, (megabytes, threads) in sorted(self._held.items()):
            over = megabytes > MEGABYTES or threads > THREADS
            terminalreporter.write_line(
                f"{name} holds {megabytes} MB and {threads} threads at its end (at most {MEGABYTES} MB and {THREADS} threads)",
                red=over,
            )
        for name, (megabytes, threads) in sorted(self._largest.items()):
            terminalreporter.write_line(
                f"{name}: the largest process of its tests held {megabytes} MB and {threads} threads"
            )


def pytest_configure(config: pytest.Config) -> None:
    """Takes part, before there are threads."""
    glibc("mallopt", ARENAS, FEW)
    config.pluginmanager.register(Footprint())
