"""Audits, interviews and marks on the pages, drawn by Streamlit's own test harness."""

from collections.abc import Callable
from dataclasses import replace

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from courtroom.courthouse import Courthouse
from courtroom.datasets.row import Row
from courtroom.engine.asker import Asker
from courtroom.engine.record import Record
from courtroom.experiments.spec import Experiment
from courtroom.models.offline import NOTICE
from courtroom.procedures.cyberjurors.setup import CyberJurorsSetup
from courtroom.questions.marks import Mark
from tests.pages import NASTY, house, page, texts
from tests.scripted_jury import Jury

__all__ = ["house"]  # a fixture


def heard(house: Courthouse) -> Record:
    """A hearing in which the first juror changes sides in the second round; whoever answers, it costs nothing."""
    jury = Jury()
    jury.votes = lambda request: "seller" if request.task.round == 2 and "/juror-01" in request.tag else "buyer"  # type: ignore[attr-defined]
    house.runner._engine = replace(house.runner._engine, asker=Asker(house.answers, jury, house.writer))
    setup = CyberJurorsSetup(jury_size=3, examination="shared", rounds=2, consensus=1.0)
    run = house.new_run("cyberjurors", house.library.case("phone-battery"), setup, 0)
    house.runner.go(run)
    house.runner.wait(run, 30)
    return house.record(run)


VIEWS = """
from pages.parts.live.questions_view import audit_view
from pages.parts.live.questions_view import interview_view
from pages.parts.shared.house import courthouse
from pages.parts.live.questions_view import marks_view

house = courthouse()
record = house.record(run)
call = record.call(path)
marks_view(house, run, path)
audit_view(house, record, call)
interview_view(house, record, call)
"""


def drawn(record: Record, path: str) -> AppTest:
    app = AppTest.from_string(f"run, path = {record.run.id!r}, {path!r}\n{VIEWS}", default_timeout=30)
    app.run()
    assert not app.exception, app.exception
    return app


def test_a_change_of_sides_is_audited_from_its_call_after_the_cost_was_told(house: Courthouse) -> None:
    record = heard(house)
    path = "round-2/juror-01/judge"
    app = drawn(record, path)
    assert any(code.value.startswith("@@") for code in app.code)
    assert "Start the audit" not in [button.label for button in app.button]
    app.button(key=f"estimate-{path}").click().run()
    assert "12 calls to be asked, 0 on record" in texts(app)
    app.button(key=f"start-{path}").click().run()
    house.audits.under_way[record.run.id].result(30)
    app.run()
    assert not app.exception
    (audit,) = house.audits.of(record)
    # Asked without its peers it is told to vote for the seller too: they are not what changed it.
    assert audit.name == "instability"
    assert "**Instability.**" in texts(app)
    (table,) = app.dataframe
    assert list(table.value["shown"])[0] == "the same as then"


def test_a_member_is_asked_on_the_page_and_what_is_said_there_stays_text(house: Courthouse) -> None:
    record = heard(house)
    path = record.calls_of("juror-02")[0].path
    app = drawn(record, path)
    app.text_area[-1].set_value(NASTY)
    next(button for button in app.button if button.label == "Ask").click().run()
    if (waiting := f"interview-{record.run.id}-{path}") in app.session_state:
        app.session_state[waiting].result(30)
        app.run()
    assert not app.exception
    ((_, interview),) = house.asides.interviews(record.run.id)
    assert interview.question == NASTY
    assert "<script>" not in texts(app)
    assert interview.answer
    assert NOTICE in texts(app)


def test_a_mark_is_made_on_a_run_and_found_on_the_page_runs(house: Courthouse) -> None:
    marked, other = heard(house), heard(house)
    app = page("deliberation", run=marked.run.id)
    key = f"{marked.run.id}-"
    app.text_input(key=f"reviewer-{key}").set_value("Ada").run()
    next(toggle for toggle in app.toggle if toggle.label == "Star").set_value(True)
    next(button for button in app.button if button.label == "Keep this mark").click().run()
    assert not app.exception
    assert [(mark.reviewer, mark.star) for mark in house.marks.of(marked.run.id)] == [("Ada", True)]
    house.marks.put(other.run.id, Mark(reviewer="Ben", tags=("odd",)))
    app = page("runs")
    assert {f"open-{record.run.id}" for record in (marked, other)} <= {button.key for button in app.button}
    next(toggle for toggle in app.toggle if toggle.label == "With a star").set_value(True).run()
    opened = {button.key for button in app.button if (button.key or "").startswith("open-")}
    assert opened == {f"open-{marked.run.id}"}


def test_over_an_experiment_the_page_says_which_share_of_changes_was_what(house: Courthouse) -> None:
    jury = Jury()
    jury.votes = lambda request: "seller" if request.task.round == 2 and "/juror-01" in request.tag else "buyer"  # type: ignore[attr-defined]
    house.runner._engine = replace(house.runner._engine, asker=Asker(house.answers, jury, house.writer))
    cases = [house.library.case(name) for name in ("phone-battery", "oak-table")]
    house.datasets.add("disputes", [Row(id=case.id, case=case) for case in cases])
    knobs = {"jury_size": 3, "examination": "shared", "rounds": 2, "consensus": 1.0}
    arms = [{"name": "three jurors", "procedure": "cyberjurors", "set": knobs}]
    spec = Experiment.model_validate({"name": "changes", "dataset": {"name": "disputes"}, "arms": arms})
    name = house.experiments.begin(spec)
    house.experiments.go(name)
    house.experiments.wait(name, 60)
    app = page("experiments", experiment=name)
    assert "No change of sides in these runs was audited yet." in texts(app)
    app.number_input(key="audits-seeds").set_value(1)
    app.button(key="audits-estimate").click().run()
    assert "In 2 runs: 8 calls to be asked, 0 on record" in texts(app)
    assert not house.asides.audited()
    app.button(key="audits-start").click().run()
    for audit in house.audits.under_way.values():
        audit.result(30)
    app.run()
    assert not app.exception, app.exception
    table = next(frame.value for frame in app.dataframe if "votes audited" in frame.value)
    assert table.to_dict("records") == [{"arm": "three jurors", "runs": 2, "votes audited": 2, "instability": "100%"}]
    app.button(key="audits-estimate").click().run()
    assert "There is nothing to ask" in texts(app)


def test_what_is_shared_from_the_live_page_holds_audits_and_marks(
    house: Courthouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = heard(house)
    run = record.run.id
    house.marks.put(run, Mark(reviewer="Ada", comment="Round two turns on the seal."))
    house.audits.start(house.audits.plan(record, ["round-2/juror-01/judge"], 1)).result(30)
    given: dict[str, Callable[[], bytes]] = {}
    monkeypatch.setattr(st, "download_button", lambda label, data, *_, **__: given.update({label: data}))
    page("deliberation", run=run)
    for name, audit in (("HTML report", "Audits of votes"), ("JSON", "round-2/juror-01/judge/audit/neither/1")):
        written = given[name]().decode()
        assert "Round two turns on the seal." in written
        assert audit in written
