"""What ends a run is called what it is: a summary is no verdict."""

import pytest

from courtroom import report
from courtroom.courthouse import Courthouse
from courtroom.procedures import PROCEDURES
from courtroom.room import scene
from tests.driving import drive
from tests.pages import house, page, texts

__all__ = ["house"]  # a fixture


@pytest.mark.parametrize(
    ("name", "ending"),
    [("cyberjurors", "Verdict"), ("debate", "Verdict"), ("juris", "Summary"), ("courtroom-llm", "Label")]
    + [("verdict", "Judgment"), ("jurisagents", "Judgment"), ("distillation", "Norms"), ("alignment", "Training data")],
)
def test_each_procedure_says_what_it_ends_with(name: str, ending: str) -> None:
    procedure = PROCEDURES[name]
    assert procedure.ending.title == ending
    assert ending.casefold() in procedure.ending.what_if
    if ending != "Verdict":
        assert "verdict" not in " ".join(vars(procedure.ending).values()).casefold()


def test_pages_report_and_room_call_a_summary_a_summary(house: Courthouse) -> None:  # noqa: F811
    case = next(case for case in house.library.cases() if case.kind == "document")
    procedure = house.procedures["juris"]
    setup = procedure.setup.model_validate({"variant": "generator-a", "assess": "none"})
    run = drive(house, house.new_run("juris", house.library.case(case.id), setup, 0))
    app = page("deliberation", {"run": run})
    captions = [one.value for one in app.caption]
    assert {"Summary", "Text"} <= set(captions)
    assert not {"Verdict", "What is on record of its outcome"} & set(captions)
    assert "What would change this summary?" in [button.label for button in app.button]
    record = house.record(run)
    assert scene(record, procedure).ending == "Summary"
    assert "Verdict:" not in report.as_html(record, procedure, house.answers, house.media)
    assert "Outcome" in texts(page("runs"))
