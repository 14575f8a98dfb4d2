"""The benchmark of the room sees all that it waits for, and prints its figures; how fast they are is not tested."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.app_server import forked_app
from tests.benchmarks.bench_room import TABS, TINY, measure


def test_the_benchmark_of_the_room_prints_a_figure_of_everything_that_it_saw(
    browser: Browser, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    measure(tmp_path, TINY, browser, forked_app)
    head, *lines = capsys.readouterr().out.splitlines()
    assert head.split() == ["median,", "ms", "app", "empty", "ratio", "bar"]
    figures = [
        re.fullmatch(r"(.+?) +(\d+) +(\d+) +([\d.]+) +(\d+) +(?:within|ABOVE) +\((\d+), (\d+)\)", line)
        for line in lines
    ]
    assert all(figures), lines
    names = [found[1] for found in figures if found]
    assert names[0].startswith("opening a run of")
    assert [name.split()[1] for name in names[1:-1]] == list(TABS)
    assert names[-1] == "recorded to on screen, 3 jurors"
    last = figures[-1]
    assert last
    assert int(last[6]) == int(last[7]) > 10
