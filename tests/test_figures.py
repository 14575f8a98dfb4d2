"""The published figures are what the commands give.

All figures of the samples are worked out again, and of the public records, where they are here, some rows: working out
all of them takes minutes.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType

import pytest

from courtroom.courthouse import Courthouse
from tests.benchmarks import measure_judgment, measure_texts
from tests.benchmarks.tables import new_house
from tests.benchmarks.write_figures import PAGE
from tests.real import FOLDER, needs_real_data


@pytest.fixture(scope="module")
def house() -> Iterator[Courthouse]:
    with new_house() as house:
        yield house


def published(title: str) -> list[str]:
    """The rows of a table as they are published."""
    _, found, after = PAGE.read_text(encoding="utf-8").partition(f"### {title}\n")
    assert found, f"no table “{title}” is published"
    lines = after.partition("\n#")[0].split("\n")
    return [line for line in lines if line.startswith("| ")][2:]


@pytest.mark.parametrize("measure", [measure_judgment, measure_texts], ids=["judgment", "texts"])
def test_figures_of_the_samples_are_what_the_commands_give(
    measure: ModuleType, house: Courthouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COURTROOM_REAL_DATA", raising=False)
    for table in measure.tables(house):
        assert [row.line() for row in table.rows] == published(table.title)


@needs_real_data
def test_figures_of_public_cases_are_what_the_command_gives(house: Courthouse) -> None:
    table = measure_judgment.table(house, "{} criminal cases of CAIL2018", measure_judgment.cail(FOLDER))
    (row,) = [row for row in table.rows if row.name == "both, fused by reciprocal rank"]
    assert row.line() in published(table.title)


@needs_real_data
@pytest.mark.parametrize("name", ["RTE", "BoolQ"])
def test_figures_of_public_texts_are_what_the_command_gives(house: Courthouse, name: str) -> None:
    task = measure_texts.public_set(FOLDER / "classification", measure_texts.SETS[name])
    (row,) = measure_texts.labels(house, "Labels of public test sets", {name: task}).rows
    assert row.line() in published("Labels of public test sets")
