"""The published figures are what the commands give.

Of the samples' figures every other row is worked out again, and of the public records, where they are here, some rows:
working out all of them takes minutes.
"""

from collections.abc import Iterator
from itertools import islice
from types import ModuleType

import pytest

from courtroom.courthouse import Courthouse
from tests.benchmarks import bench_claims, measure_judgment, measure_texts, measure_votes
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
    return [line for line in after.partition("\n#")[0].split("\n") if line.startswith("| ")][2:]


@pytest.mark.parametrize("measure", [measure_judgment, measure_texts, measure_votes])
def test_figures_of_the_samples_are_what_the_commands_give(
    measure: ModuleType, house: Courthouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COURTROOM_REAL_DATA", raising=False)
    for table in measure.tables(house):
        known = published(table.title)
        assert [line.split(" | ")[0] for line in known] == [f"| {row.name}" for row in table.rows]
        assert [row.line() for row in table.rows[::2]] == known[::2]


def test_figures_of_claims_are_what_the_command_gives() -> None:
    """Of each table the first figures of a row that takes a second or two."""
    for table in bench_claims.tables():
        known = published(table.title)
        assert [line.split(" | ")[0] for line in known] == [f"| {row.name}" for row in table.rows]
        if "8 arms" not in table.title and "24 arms" not in table.title:
            found = [*islice(table.rows[0].figures(), 2)]
            assert found == known[0].strip("| ").split(" | ")[1 : 1 + len(found)]


def test_no_figure_of_claims_is_worse_than_it_may_be() -> None:
    """Also where twice the error of the simulation is allowed for."""
    for table in bench_claims.tables():
        for line in published(table.title):
            cells = line.strip("| ").split(" | ")
            rows = [100.0 if cell == "–" else float(cell.split()[0]) for cell in cells[1:]]
            if "False claims" in table.title:
                arms, many = (24 if "24" in table.title else 2), int(cells[0])
                error = 100 * (0.05 * 0.95 / bench_claims.many_of(arms, many)) ** 0.5
                assert max(rows) <= 5 + 2 * error, line
            elif "holds the truth" in table.title and int(cells[0]) >= 5:
                error = 100 * (0.07 * 0.93 / bench_claims.many_of(2, int(cells[0]))) ** 0.5
                skewed = [place for place, name in enumerate(table.head[1:]) if "skewed" in name]
                kept = [cell for place, cell in enumerate(rows) if int(cells[0]) >= 20 or place not in skewed]
                assert min(kept) >= 93 - 2 * error, line
            elif "against none" in table.title:
                assert max(rows) < 0.05


@pytest.mark.parametrize("arm", ["JurisAgents, offline", "VERDICT, offline"])
def test_default_look_ups_find_at_least_what_bm25_finds(arm: str) -> None:
    rows = (line.strip("| ").split(" | ") for line in published("199 criminal cases of CAIL2018"))
    of = {name: [float(cell.split()[0]) for cell in cells] for name, *cells in rows}
    assert all(mine >= words for mine, words in zip(of[arm], of["BM25 alone"], strict=True))


@needs_real_data
def test_figures_of_public_texts_are_what_the_command_gives(house: Courthouse) -> None:
    task = measure_texts.public_set(FOLDER / "classification", measure_texts.SETS["BoolQ"])
    (row,) = measure_texts.labels(house, "Labels of public test sets", {"BoolQ": task}).rows
    assert row.line() in published("Labels of public test sets")
