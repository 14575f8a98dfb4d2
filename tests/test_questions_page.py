"""Audits, interviews and marks on the pages, drawn by Streamlit's own test harness."""

import json
from collections.abc import Callable
from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from courtroom.courthouse import Courthouse
from courtroom.engine.record import Record
from courtroom.models.offline import NOTICE
from courtroom.questions.marks import Mark
from tests.driving import answered_by
from tests.pages import NASTY, benched, house, page, press, texts
from tests.scripted_jury import Jury

__all__ = ["house"]  # a fixture

SMALL = {"jury_size": 3, "examination": "shared", "rounds": 2, "consensus": 1.0}


@pytest.fixture(autouse=True)
def jury(house: Courthouse) -> None:
    """The first juror changes sides in the second round; whoever answers, it costs nothing."""

    def vote(request: Any) -> str:
        return "seller" if request.task.round == 2 and "/juror-01" in request.tag else "buyer"

    jury = Jury()
    jury.votes = vote
    answered_by(house, jury)


def heard(house: Courthouse) -> Record:
    return house.record(benched(house, "cyberjurors", "phone-battery", **SMALL))


VIEWS = """
from pages.parts.live.questions_view import audit_view, interview_view, marks_view
from pages.parts.shared.house import courthouse

house = courthouse()
record = house.record(run)
marks_view(house, run, path)
audit_view(house, record, record.call(path))
interview_view(house, record, record.call(path))
"""


def drawn(record: Record, path: str) -> AppTest:
    app = AppTest.from_string(f"run, path = {record.run.id!r}, {path!r}\n{VIEWS}", default_timeout=30)
    app.run()
    assert not app.exception, app.exception
    return app


def test_a_change_is_audited_after_the_cost_was_told(house: Courthouse) -> None:
    record, path = heard(house), "round-2/juror-01/judge"
    app = drawn(record, path)
    assert any(code.value.startswith("@@") for code in app.code)
    assert "Start the audit" not in [button.label for button in app.button]
    app.button(key=f"estimate-call-{path}").click().run()
    assert "12 calls to be asked, 0 on record" in texts(app)
    app.button(key=f"start-call-{path}").click().run()
    house.audits.under_way[record.run.id].result(30)
    app.run()
    assert not app.exception
    # Asked without its peers it is told to vote for the seller too: they are not what changed it.
    assert [audit.name for audit in house.audits.of(record)] == ["instability"]
    assert "**Instability.**" in texts(app)
    assert list(app.dataframe[0].value["shown"])[0] == "the same as then"


def test_what_is_asked_on_the_page_stays_text(house: Courthouse) -> None:
    record = heard(house)
    path = record.calls_of("juror-02")[0].path
    app = drawn(record, path)
    app.text_area[-1].set_value(NASTY)
    press(app, "Ask")
    if (waiting := f"interview-{record.run.id}-{path}") in app.session_state:
        app.session_state[waiting][0].result(30)
        app.run()
    assert not app.exception
    ((_, interview),) = house.asides.interviews(record.run.id)
    assert interview.question == NASTY
    assert "<script>" not in texts(app)
    assert NOTICE in texts(app)


def test_what_is_shared_holds_audits_marks_and_interviews(house: Courthouse, monkeypatch: pytest.MonkeyPatch) -> None:
    record = heard(house)
    run = record.run.id
    house.marks.put(run, Mark(reviewer="Ada", comment="Look at this."))
    house.marks.put(run, Mark(reviewer="<b>Eve</b>", score=2))
    house.audits.start(house.audits.plan(record, ["round-2/juror-01/judge"], 1)).result(30)
    house.interviews.ask(record, record.calls_of("juror-01")[-1], "Why?", "Ada").result(30)
    given: dict[str, Callable[[], bytes]] = {}
    monkeypatch.setattr(st, "download_button", lambda label, data, *_, **__: given.update({label: data}))
    page("deliberation", run=run)
    text, report = given["JSON"]().decode(), given["HTML report"]().decode()
    written = json.loads(text)
    assert [mark["comment"] for mark in written["marks"]] == ["Look at this.", ""]
    (interview,) = [one for one in written["asides"] if one.get("question")]
    assert (interview["question"], interview["who"]) == ("Why?", "Ada")
    assert set(interview["called"]["keys"]) <= set(written["answers"])
    assert "round-2/juror-01/judge/audit/neither/1" in text
    for said in ("Audits of votes", "Look at this.", "Ada asks juror-01 after round-2/juror-01/judge"):
        assert said in report
    assert "<b>Eve" not in report
