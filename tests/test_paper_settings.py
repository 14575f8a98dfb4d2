"""A procedure's paper settings, and models of roles that are given in part."""

from __future__ import annotations

import pytest

from courtroom.courthouse import Courthouse
from courtroom.engine.changes import changed, merged
from courtroom.engine.paper import PaperSetting, changes, departures, title_of
from courtroom.engine.procedure import Procedure
from courtroom.engine.setup import Setup
from courtroom.models.spec import ModelSpec
from courtroom.procedures import PROCEDURES
from tests.pages import house, page

__all__ = ["house"]  # a fixture

PAPER = (PaperSetting("model.temperature", 0.0, "4.1"), PaperSetting("roles.clerk.max_tokens", 512, "4.2"))


def test_a_preset_made_of_the_settings_leaves_the_model_as_it_was_chosen() -> None:
    chosen = Setup(model=ModelSpec(id="openai/x", max_tokens=100)).model_dump(mode="json")
    setup = Setup.model_validate(merged(chosen, changes(PAPER)))
    assert (setup.model.id, setup.model.temperature, setup.model.max_tokens) == ("openai/x", 0.0, 100)
    clerk = setup.spec("clerk", "clerk")
    assert (clerk.id, clerk.temperature, clerk.max_tokens) == ("openai/x", 0.0, 512)
    assert not departures(setup, PAPER)


def test_a_setup_tells_where_it_departs_from_the_paper() -> None:
    found = departures(Setup(), PAPER)
    assert found == {"model.temperature": 0.7, "roles.clerk.max_tokens": 2048}
    assert title_of(Setup, "roles.clerk.max_tokens") == "Clerk · Longest answer (tokens)"
    assert title_of(Setup, "model.temperature") == "Model · Temperature"


@pytest.mark.parametrize("procedure", PROCEDURES.values(), ids=lambda procedure: procedure.name)
def test_a_model_that_is_given_by_its_id_alone_is_asked_as_the_procedure_asks(procedure: Procedure) -> None:
    own = procedure.setup().model
    assert procedure.setup.model_validate({"model": {"id": "m"}}).model == own.model_copy(update={"id": "m"})


@pytest.mark.parametrize("first", ["roles.judge.id", "model.temperature"])
def test_a_role_that_is_given_another_model_keeps_everything_else_of_the_runs_model(first: str) -> None:
    wanted = {"roles.judge.id": "openai/other", "model.temperature": 0.0, "model.max_tokens": 4000}
    in_order = {first: wanted[first], **wanted}
    judge = changed(Setup(), in_order).spec("judge-2", "judge")
    assert (judge.id, judge.temperature, judge.max_tokens) == ("openai/other", 0.0, 4000)


def test_a_member_has_what_it_is_not_given_from_its_role() -> None:
    setup = changed(Setup(), {"roles.juror.temperature": 0.1, "members.juror-05.id": "openai/other"})
    assert setup.spec("juror-05", "juror").temperature == 0.1
    assert setup.spec("juror-04", "juror").id == setup.model.id


def test_a_connection_is_not_passed_on_to_another_model() -> None:
    setup = changed(Setup(model=ModelSpec(id="openai/x", connection="lab")), {"roles.judge.id": "openai/other"})
    assert setup.spec("judge", "judge").connection == ""
    assert changed(setup, {"roles.clerk.temperature": 0.0}).spec("clerk", "clerk").connection == "lab"


@pytest.mark.parametrize("procedure", [one for one in PROCEDURES.values() if one.paper_settings], ids=lambda p: p.name)
def test_the_preset_paper_has_every_setting_of_the_paper(procedure: Procedure) -> None:
    (preset,) = [preset for preset in procedure.presets if preset.title == "Paper"]
    values = merged(procedure.setup().model_dump(mode="json"), preset.changes)
    assert not departures(procedure.setup.model_validate(values), procedure.paper_settings)


def test_the_setup_page_shows_where_a_setup_departs_from_the_paper(house: Courthouse) -> None:
    app = page("setup")
    departs = [expander for expander in app.expander if "settings as in the paper" in expander.label]
    assert len(departs) == 1
    next(n for n in app.number_input if n.label == "Jurors").set_value(5).run()
    (table,) = [frame.value for frame in app.dataframe if "Paper" in frame.value.columns]
    row = table[table["Setting"] == "Jurors"].iloc[0]
    assert (row["Paper"], row["Here"], bool(row["Differs"]), table["Differs"].iloc[0]) == ("17", "5", True, True)
