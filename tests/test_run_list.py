"""The page Runs: a page of lines at a time, whatever there is; a what-if's runs are one line; what was said is found."""

import io
import json
import sqlite3
import zipfile
from pathlib import Path
from typing import Any

import pytest

from courtroom import Courthouse, Record, report
from courtroom.access import Access, acts, nobody
from courtroom.engine.run import Run
from courtroom.evaluation.run_list import GroupLine, RunFilter, RunList
from courtroom.room.said import search_said
from courtroom.store.database import Database
from tests.driving import hearing
from tests.full_store import kept_what_if
from tests.pages import field, heard, opened_at, page, press, put, ran, texts
from tests.pages import house as house  # a fixture
from tests.signing_in import closed_house, person
from tests.test_pages import choose, listed

SMALL = {"jury_size": 3, "rounds": 1, "grounding_rounds": 1}


def copies(house: Courthouse, run: str, count: int, start: int = 0) -> None:
    """Put copies of a run with its events on record, numbered from `start`, each by a clock a minute further behind."""
    with house.database.transaction() as db:
        columns = [db.execute(f"SELECT * FROM {table} LIMIT 1").fetchone().keys() for table in ("runs", "events")]
        own = ("number", "id", "created", "seq", "run")
        names, kept = (", ".join(name for name in table if name not in own) for table in columns)
        for number in range(start, start + count):
            copy = f"{run}-{number:05d}"
            made = f"INSERT INTO runs (id, created, {names}) SELECT ?, created - ?, {names} FROM runs WHERE id = ?"
            db.execute(made, (copy, 60 * (number + 1), run))
            db.execute(f"INSERT INTO events (run, {kept}) SELECT ?, {kept} FROM events WHERE run = ?", (copy, run))


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


def test_the_list_is_filtered_ordered_and_paged_by_the_database(house: Courthouse) -> None:
    run = heard(house, **SMALL)
    copies(house, run, 9)
    db = house.database.connection
    db.execute("UPDATE runs SET title = 'ÄRGER mit 100 % Wolle' WHERE id = ?", (f"{run}-00004",))
    db.execute("UPDATE runs SET status = 'failed', verdict = NULL WHERE id = ?", (f"{run}-00006",))
    runs = RunList(house.database)

    def ids(wanted: RunFilter = RunFilter(), *given: Any) -> list[str]:  # noqa: B008
        return [line.id for line in runs.page(wanted, *(given or (0, 25))) if isinstance(line, Run)]

    everything = [*(f"{run}-{number:05d}" for number in reversed(range(9))), run]
    assert ids() == everything, "by their making, though each copy's clock was behind"
    assert ids(RunFilter(), 0, 25, "oldest") == everything[::-1]
    assert ids(RunFilter(), 4, 3) == everything[4:7]
    assert ids(RunFilter(text="ärger MIT 100 %")) == [f"{run}-00004"]
    (together,) = runs.page(RunFilter(), 0, 25, "case")
    assert (together.id, together.runs, runs.count(RunFilter(), "case")) == ("oak-table", 10, 1)
    assert ids(RunFilter(case="oak-table"), 0, 25, "case")[-1] == f"{run}-00004", "by title within a case"
    assert ids(RunFilter(text="ärger"), 0, 25, "case") == [f"{run}-00004"], "one run is a line of its own"
    assert [one.id for one in runs.newest(RunFilter(status="done"), 3)] == [
        f"{run}-0000{number}" for number in (8, 7, 5)
    ]
    assert ids(RunFilter(status="failed")) == [f"{run}-00006"]
    assert ids(RunFilter(procedure="verdict")) == []
    outcome = house.store.run(run).verdict
    assert runs.count(RunFilter(text=outcome.outcome, status="done")) == 9


def test_selected_runs_are_marked_and_deleted_together(house: Courthouse) -> None:
    run = heard(house, **SMALL)
    copies(house, run, 2)
    app = page("runs")
    for tags, star in ((["odd"], True), (["close call"], False)):
        choose(app, *listed(app))
        field(app, "text_input", "Your name").set_value("Ada")
        field(app, "toggle", "Star").set_value(star)
        field(app, "multiselect", "Tags to add").set_value(tags)
        press(app, "Mark these runs")
    marks = house.marks.all()
    assert len(marks) == 3
    assert {(one.star, one.tags) for given in marks.values() for one in given} == {(True, ("odd", "close call"))}
    assert all(text.endswith("close call") for text in app.dataframe[-1].value["Note"])
    assert RunList(house.database).count(RunFilter(tag="odd", starred=True)) == 3
    before = house.files.export(run)
    with zipfile.ZipFile(io.BytesIO(report.as_zip(house.files.export(one) for one in marks))) as archive:
        assert {json.loads(archive.read(name))["run"]["id"] for name in archive.namelist()} == {*marks}
    choose(app, *listed(app))
    app.button(key="delete-selected").click().run()
    assert "3 runs are deleted" in texts(app)
    assert [*house.store.each()] == []
    press(app, "Undo")
    assert len([*house.store.each()]) == 3
    assert house.files.export(run) == before


def test_the_runs_of_a_what_if_are_one_line(house: Courthouse) -> None:
    run = heard(house, **SMALL)
    heard(house, "phone-battery", **SMALL)
    what_if = kept_what_if(house, run, (1, 2, 3))
    setup = house.record(run).setup
    forks = [house.fork(run, setup, run=cell.run) for cell in house.experiments.store.cells(what_if) if cell.run]
    lines = RunList(house.database).page(RunFilter(), 0, 25)
    assert [type(line) for line in lines] == [GroupLine, Run, Run]
    assert (lines[0].kind, lines[0].id, lines[0].parent, lines[0].runs) == ("experiment", what_if, run, 3)
    assert RunList(house.database).count(RunFilter()) == 3
    app = page("runs")
    assert app.dataframe[0].value["Case"][0].startswith("3 runs of the what-if on")
    choose(app, what_if)
    press(app, "Open")
    assert (app.title[0].value, app.session_state["what-if"]) == ("What if", what_if)
    app = page("runs")
    choose(app, what_if)
    press(app, "Show runs")
    assert "Only runs of “Table”" in texts(app)
    assert {*listed(app)} == {*forks}
    press(app, "Show all runs")
    put(app, "selectbox", "Order", "case")
    choose(app, "oak-table")
    press(app, "Show runs")
    assert "Only runs on" in texts(app)
    assert {*listed(app)} == {run, what_if}


MOST = 5


@pytest.fixture
def run(house: Courthouse, monkeypatch: pytest.MonkeyPatch) -> str:
    """One that was heard, among more than are offered at once."""
    monkeypatch.setattr("pages.parts.shared.differences.MAX_OFFERED", MOST)
    run = heard(house, **SMALL)
    copies(house, run, 2 * MOST)
    return run


@pytest.mark.parametrize("name", ["compare", "runs"])
def test_a_page_reads_no_more_of_many_runs(house: Courthouse, run: str, rows_read: list[int], name: str) -> None:
    counts = []
    copies(house, run, 30, 2 * MOST)
    for more in (0, 100):
        copies(house, run, more, 30 + 2 * MOST)
        page(name)  # what is read once
        rows_read[0] = 0
        app = page(name)
        counts.append(rows_read[0])
    assert counts[0] == counts[1]
    if name == "runs":
        assert len(listed(app)) == 50
        assert counts[0] < 300


def played(house: Courthouse) -> Record:
    recording = next(one for one in house.recordings if one.file.name == "boatyard-fire.json")
    return house.record(house.files.play(recording))


def statement(record: Record) -> tuple[str, str]:
    """The path of a call and what was said in it, to the first stop."""
    call = next(call for call in record.calls if call.task == "vote" and call.value)
    return call.path, str((call.value or {})["statement"])


@pytest.mark.usefixtures("either_database")
def test_what_was_said_is_found_with_its_place(house: Courthouse) -> None:
    record = played(house)
    path, said = statement(record)
    words = said[20:60]
    found = next(one for one in search_said(house.database, f" {words.upper()} ", 50) if one.call.path == path)
    assert (found.run, found.words) == (record.run.id, words.strip())
    assert found.before + found.words + found.after in said
    for nowhere in ("a phrase that nobody in this run has said", "  ", "%", record.calls[0].keys[0]):
        assert search_said(house.database, nowhere, 50) == []
    assert len(search_said(house.database, "e", 3)) == 3


def test_nobody_finds_what_was_said_in_anothers_private_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with closed_house(tmp_path, monkeypatch) as house:
        ann, bob = person(house, "ann", Access.RUN), person(house, "bob", Access.RUN)
        with acts(ann):
            _, said = statement(hearing(house, "mock-jury", "trial-boatyard-fire", jury_size=3, rounds=1))
            assert search_said(house.database, said[:40], 5)
        for stranger in (bob, nobody()):
            with acts(stranger):
                assert search_said(house.database, said[:40], 5) == []


def test_the_list_of_runs_opens_the_moment_at_which_it_was_said(house: Courthouse) -> None:
    record = played(house)
    path, said = statement(record)
    app = opened_at("runs")
    field(app, "text_input", "Search").set_value(said[:40]).run()
    assert any(one.label.startswith("Said: ") for one in app.expander)
    ran(next(one for one in app.button if one.key == f"moment-{record.run.id}-{path}").click())
    assert app.query_params["moment"] == path
    assert record.run.title in texts(app)
