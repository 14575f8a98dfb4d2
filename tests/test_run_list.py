"""The page Runs: a page of lines at a time, whatever there is; a what-if's runs are one line."""

import sqlite3
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from courtroom.courthouse import Courthouse
from courtroom.evaluation.run_list import ExperimentLine, RunFilter, RunLine, RunList
from courtroom.store.database import Database
from tests.kept_what_if import kept_what_if
from tests.many_runs import copies
from tests.pages import heard, house, page, texts

__all__ = ["house"]  # a fixture

SMALL = {"jury_size": 3, "rounds": 1, "grounding_rounds": 1}


@pytest.fixture
def rows_read(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Counts every row that SQLite hands over."""
    read = [0]
    real: Any = Database.connection.fget

    def row(cursor: sqlite3.Cursor, values: tuple[Any, ...]) -> sqlite3.Row:
        read[0] += 1
        return sqlite3.Row(cursor, values)

    def connection(self: Database) -> sqlite3.Connection:
        found: sqlite3.Connection = real(self)
        found.row_factory = row
        return found

    monkeypatch.setattr(Database, "connection", property(connection))
    return read


def test_the_page_reads_no_more_rows_of_many_runs_than_of_few(house: Courthouse, rows_read: list[int]) -> None:  # noqa: F811
    run = heard(house, **SMALL)
    copies(house, run, 30)
    page("runs")
    counts = []
    for more in (0, 300):
        copies(house, run, more, 30)
        rows_read[0] = 0
        app = page("runs")
        assert not app.exception, app.exception
        assert len([button for button in app.button if str(button.key).startswith("open-")]) == 25
        counts.append(rows_read[0])
    assert counts[0] == counts[1] < 200


def test_the_list_is_filtered_ordered_and_paged_by_the_database(house: Courthouse) -> None:  # noqa: F811
    run = heard(house, **SMALL)
    copies(house, run, 9)
    db = house.database.connection
    db.execute("UPDATE runs SET title = 'ÄRGER mit 100 % Wolle' WHERE id = ?", (f"{run}-00004",))
    db.execute("UPDATE runs SET status = 'failed', verdict = NULL WHERE id = ?", (f"{run}-00006",))
    listed = RunList(house.database)

    def ids(wanted: RunFilter = RunFilter(), *given: Any) -> list[str]:  # noqa: B008
        return [line.id for line in listed.page(wanted, *(given or (0, 25))) if isinstance(line, RunLine)]

    everything = [*(f"{run}-{number:05d}" for number in reversed(range(9))), run]
    assert ids() == everything, "by their making, though each copy's clock was behind"
    assert ids(RunFilter(), 0, 25, "oldest") == everything[::-1]
    assert ids(RunFilter(), 4, 3) == everything[4:7]
    assert ids(RunFilter(text="ärger MIT 100 %")) == [f"{run}-00004"]
    (together,) = listed.page(RunFilter(), 0, 25, "case")
    assert (together.id, together.runs, listed.count(RunFilter(), "case")) == ("oak-table", 10, 1)
    assert ids(RunFilter(case="oak-table"), 0, 25, "case")[-1] == f"{run}-00004", "by title within a case"
    assert ids(RunFilter(text="ärger"), 0, 25, "case") == [f"{run}-00004"], "one run is a line of its own"
    assert listed.runs(RunFilter(status="done"), 3) == [f"{run}-0000{number}" for number in (8, 7, 5)]
    assert ids(RunFilter(status="failed")) == [f"{run}-00006"]
    assert ids(RunFilter(procedure="verdict")) == []
    outcome = house.store.run(run).verdict
    assert listed.count(RunFilter(text=outcome.outcome, status="done")) == 9


def test_the_runs_of_a_what_if_are_one_line_that_opens_it(house: Courthouse) -> None:  # noqa: F811
    run = heard(house, **SMALL)
    what_if = kept_what_if(house, run, (1, 2, 3))
    setup = house.record(run).setup
    for cell in house.experiments.store.cells(what_if):
        if cell.run:
            house.fork(run, setup, run=cell.run)
    lines = RunList(house.database).page(RunFilter(), 0, 25)
    assert [type(line) for line in lines] == [ExperimentLine, RunLine]
    assert (lines[0].id, lines[0].parent, lines[0].runs) == (what_if, run, 3)
    assert RunList(house.database).count(RunFilter()) == 2
    app = page("runs")
    assert "3 runs of the what\\-if on" in texts(app) or "3 runs of the what-if on" in texts(app)
    app.button(key=f"experiment-{what_if}").click().run()
    assert app.title[0].value == "What if"
    assert app.session_state["what-if"] == what_if


def test_what_is_picked_stays_picked_on_another_page_of_the_list(house: Courthouse) -> None:  # noqa: F811
    run = heard(house, **SMALL)
    copies(house, run, 30)
    app: AppTest = page("runs")
    app.checkbox(key=f"pick-{run}-00029").check().run()
    assert next(button for button in app.button if button.label == "Compare").disabled
    app.number_input(key="runs-page").set_value(2).run()
    app.checkbox(key=f"pick-{run}").check().run()
    next(button for button in app.button if button.label == "Compare 2 runs").click().run()
    assert not app.exception, app.exception
    assert app.title[0].value == "Compare"
    assert app.session_state["compared"] == f"{run}-00029,{run}"
