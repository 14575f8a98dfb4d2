"""Counts the attacks, and prints what was tried and what held."""

from collections import Counter

import pytest

_tried: Counter[str] = Counter()
_held: Counter[str] = Counter()


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if "tests/attacks/" not in report.nodeid or report.when != "call" or report.skipped:
        return
    family = report.nodeid.partition("::")[0].rpartition("/test_")[2].removesuffix(".py").replace("_", " ")
    _tried[family] += 1
    _held[family] += report.passed


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if _tried:
        terminalreporter.section("attacks: held of tried")
        for family, tried in sorted(_tried.items()):
            terminalreporter.write_line(f"{family}: {_held[family]} of {tried}")
        terminalreporter.write_line(f"all: {_held.total()} of {_tried.total()}")
