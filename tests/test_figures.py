"""The published figures are what the commands give.

Of the samples' figures every eighth row is worked out again: working out all of them takes minutes.
"""

from itertools import islice
from types import ModuleType

import pytest

from courtroom.courthouse import Courthouse
from tests.benchmarks import bench_claims, measure_judgment, measure_texts, measure_votes
from tests.benchmarks.write_figures import PAGE
from tests.driving import house as house  # a fixture


def published(title: str) -> list[str]:
    """The rows of a table as they are published."""
    _, found, after = PAGE.read_text(encoding="utf-8").partition(f"### {title}\n")
    assert found, f"no table “{title}” is published"
    return [line for line in after.partition("\n#")[0].split("\n") if line.startswith("| ")][2:]


@pytest.mark.parametrize("measure", [measure_judgment, measure_texts, measure_votes])
def test_figures_are_what_commands_give(
    measure: ModuleType, house: Courthouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COURTROOM_REAL_DATA", raising=False)
    for table in measure.tables(house):
        known = published(table.title)
        assert [line.split(" | ")[0] for line in known] == [f"| {row.name}" for row in table.rows]
        assert [row.line() for row in table.rows[::8]] == known[::8]


def test_figures_of_claims_are_what_the_command_gives() -> None:
    """Of each table the first figures of a row that takes a second or two."""
    for table in bench_claims.tables():
        known = published(table.title)
        assert [line.split(" | ")[0] for line in known] == [f"| {row.name}" for row in table.rows]
        if "8 arms" not in table.title and "24 arms" not in table.title:
            found = [*islice(table.rows[0].figures(), 2)]
            assert found == known[0].strip("| ").split(" | ")[1 : 1 + len(found)]
