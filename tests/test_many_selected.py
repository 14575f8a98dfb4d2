"""The page Runs: many runs selected at once, and a case's or a what-if's runs listed by themselves."""

import io
import json
import zipfile

from courtroom import report
from courtroom.courthouse import Courthouse
from courtroom.evaluation.run_list import RunFilter, RunList, run_table
from tests.kept_what_if import kept_what_if
from tests.many_runs import copies
from tests.pages import heard, house, page, texts

__all__ = ["house"]  # a fixture

SMALL = {"jury_size": 3, "rounds": 1, "grounding_rounds": 1}


def test_selected_runs_are_marked_together_and_what_was_marked_before_stays(house: Courthouse) -> None:  # noqa: F811
    run = heard(house, **SMALL)
    copies(house, run, 2)
    app = page("runs")
    app.button(key="select-page").click().run()
    assert "3 runs selected" in texts(app)
    for tags, star in ((["odd"], True), (["close call"], False)):
        next(one for one in app.text_input if one.label == "Your name").set_value("Ada")
        next(one for one in app.toggle if one.label == "Star").set_value(star)
        next(one for one in app.multiselect if one.label == "Tags to add").set_value(tags)
        next(one for one in app.button if one.label == "Mark these runs").click().run()
        assert not app.exception, app.exception
    marks = house.marks.all()
    assert len(marks) == 3
    assert {(one.star, one.tags) for given in marks.values() for one in given} == {(True, ("odd", "close call"))}
    assert "close call" in texts(app)
    assert RunList(house.database).count(RunFilter(tag="odd", starred=True)) == 3


def test_selected_runs_are_deleted_together_and_come_back(house: Courthouse) -> None:  # noqa: F811
    run = heard(house, **SMALL)
    copies(house, run, 2)
    before = house.files.export(run)
    app = page("runs")
    app.button(key="select-page").click().run()
    app.button(key="delete-selected").click().run()
    assert "3 runs are deleted" in texts(app)
    assert house.store.runs() == []
    next(one for one in app.button if one.label == "Undo").click().run()
    assert not app.exception, app.exception
    assert len(house.store.runs()) == 3
    assert house.files.export(run) == before


def test_many_runs_are_exported_as_one_zip(house: Courthouse) -> None:  # noqa: F811
    run = heard(house, **SMALL)
    copies(house, run, 1)
    packed = report.as_zip(house.files.export(one.id) for one in house.store.runs())
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        assert [json.loads(archive.read(name))["run"]["id"] for name in archive.namelist()] == [run, f"{run}-00000"]


def test_more_runs_than_can_be_handled_at_once_are_refused_in_a_sentence(house: Courthouse) -> None:  # noqa: F811
    run = heard(house, **SMALL)
    copies(house, run, 110)
    app = page("runs")
    app.button(key="select-all").click().run()
    assert "100 runs selected" in texts(app)
    assert "delete-selected" in [one.key for one in app.button]
    app.checkbox(key=f"pick-{run}-00100")
    app.number_input(key="runs-page").set_value(5).run()
    app.button(key="select-page").click().run()
    assert "At most 100 runs" in texts(app)
    assert "delete-selected" not in [one.key for one in app.button]


def test_the_runs_of_a_what_if_or_a_case_are_listed_by_themselves(house: Courthouse) -> None:  # noqa: F811
    run = heard(house, **SMALL)
    heard(house, "phone-battery", **SMALL)
    what_if = kept_what_if(house, run, (1, 2, 3))
    setup = house.record(run).setup
    forks = [house.fork(run, setup, run=cell.run) for cell in house.experiments.store.cells(what_if) if cell.run]
    app = page("runs")
    app.button(key=f"within-experiment-{what_if}").click().run()
    assert not app.exception, app.exception
    assert "Only runs of “Table”" in texts(app)
    opened = {str(one.key).removeprefix("open-") for one in app.button if str(one.key).startswith("open-")}
    assert opened == set(forks)
    next(one for one in app.button if one.label == "Show all runs").click().run()
    next(one for one in app.selectbox if one.label == "Order").set_value("case").run()
    app.button(key="within-case-oak-table").click().run()
    assert "Only runs on" in texts(app)
    assert [one.key for one in app.button if str(one.key).startswith("open-")] == [f"open-{run}"]
    assert f"experiment-{what_if}" in [one.key for one in app.button]


def test_runs_in_the_comparison_table_show_what_differs_and_how_they_ended(house: Courthouse) -> None:  # noqa: F811
    run = heard(house, **SMALL)
    other = heard(house, **{**SMALL, "jury_size": 5})
    rows = run_table([house.record(one) for one in (run, other)])
    assert [row["jury_size"] for row in rows] == ["3", "5"]
    assert [row["verdict"] for row in rows] == [house.record(one).run.verdict.outcome for one in (run, other)]  # type: ignore[union-attr]
    assert all(row["share"] > 0.5 and "rounds" not in row for row in rows)
    app = page("runs")
    app.button(key="select-page").click().run()
    next(one for one in app.button if one.label == "Add to the table").click().run()
    assert not app.exception, app.exception
    assert app.title[0].value == "Compare"
    assert "Comparison table: 2 runs" in texts(app)
    assert list(app.dataframe[0].value["run"]) == [other, run]
    next(one for one in app.button if one.label == "Empty the table").click().run()
    assert "Comparison table" not in texts(app)
