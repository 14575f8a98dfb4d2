"""Which worker of pytest-xdist takes which tests: a file stays with one, all files of a browser with one and the same.

So what a file's tests share is made once, and one browser is open at a time. pytest-xdist would read the groups from marks,
but its mark does not reach the names of tests since pytest 9.2.
"""

from pathlib import PurePosixPath

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

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
    """Each group in one piece: the browser's first, then those that take long, so that all workers end at nearly the same time.

    Those that wait for a real model come last."""
    groups: dict[str, list[pytest.Item]] = {}
    for item in items:
        groups.setdefault(group(item.nodeid), []).append(item)
    ranked = sorted(groups.values(), key=lambda tests: min(map(_rank, tests)))
    items[:] = [item for tests in ranked for item in tests]


def _rank(item: pytest.Item) -> int:
    return next((rank for rank, name in enumerate((BROWSER, "slow", "kills")) if item.get_closest_marker(name)), 3)
