"""Has each process that runs tests hold little."""

import ctypes
import gc
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

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


def resident() -> int:
    """Resident memory of this process in megabytes; 0 on a system that does not say."""
    told = dict(line.split(":", 1) for line in STATUS.read_text().splitlines()) if STATUS.exists() else {}
    return int(told.get("VmRSS", "0").split()[0]) // 1024


def pytest_configure() -> None:
    """Takes part, before there are threads."""
    glibc("mallopt", ARENAS, FEW)
