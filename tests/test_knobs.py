"""The knobs that studies of juries turn, which are off by default; and where a setup departs from a paper."""

import json
from typing import Any

import pytest

from courtroom import Courthouse, ModelSpec, Procedure, Setup
from courtroom.datasets.samples import add_sample
from courtroom.declarations.changes import changed, merged, value_at
from courtroom.declarations.paper import PaperSetting, changes, departures, title_of
from courtroom.experiments.spec import parsed
from courtroom.procedures import PROCEDURES
from courtroom.procedures.verdict.alignment import Adapter
from tests.docs import ROOT
from tests.driving import arms_of, done
from tests.driving import house as house  # a fixture
from tests.pages import page
from tests.write_prompts import FOLDER, KNOBS, OFF

SAID = {
    "count-seen-all": "# How the jury stands\n\nThe last ballot of the whole jury before this round, you included: guilty",
    "cyberjurors-count-seen-heard": "How those whom you hear voted in the round before: buyer",
    "discussion-recall-line": "began with these words in turn 1",
    "peers-unnamed": "Names are withheld, yours too: do not say who you are. Who is who from round",
    "scripted": "> I vote guilty and have nothing to add.",
    "council-doubt-hesitation": "pause before acting",
}
"""What a prompt says under a knob, and without it does not say; that they are asked so, test_rendered.py holds."""


def begins_with(now: Any, given: Any) -> bool:
    """Whether a setting is as given, with all that was drawn after it."""
    return bool((now[: len(given)] if isinstance(given, list) else now) == given)


@pytest.mark.parametrize("name", list(SAID))
def test_two_arms_of_a_knob_run_offline_and_ask_otherwise(house: Courthouse, name: str) -> None:
    procedure, changes = KNOBS[name]
    case, _, small = OFF[procedure]
    sample = "sample-trials" if case.startswith("trial") else "sample-disputes"
    add_sample(house.datasets, house.library, sample)
    settings = {"off": {}, "on": changes}
    arms = arms_of({arm: {**small, **given} for arm, given in settings.items()}, procedure)
    file = {"name": f"knob-{name}", "dataset": {"name": sample, "ids": [case]}, "arms": arms}
    found = done(house, parsed(file, name))
    assert [row.state for row in found.rows] == ["done"] * 2, found.failures
    for arm, given in settings.items():
        setup = house.record(house.experiments.runs(found.kept.id, arm)[0]).setup
        assert all(begins_with(value_at(setup, path), value) for path, value in {**small, **given}.items())
    on, off = ((FOLDER / f"{file}.txt").read_text(encoding="utf-8") for file in (f"knob-{name}", procedure))
    assert (SAID[name] in on, SAID[name] in off) == (True, False)


PAPER = (PaperSetting("model.temperature", 0.0, "4.1"), PaperSetting("roles.clerk.max_tokens", 512, "4.2"))


def test_a_preset_leaves_the_model_as_it_was_chosen_and_a_setup_tells_where_it_departs_from_the_paper() -> None:
    chosen = Setup(model=ModelSpec(id="openai/x", max_tokens=100)).model_dump(mode="json")
    setup = Setup.model_validate(merged(chosen, changes(PAPER)))
    assert (setup.model.id, setup.model.temperature, setup.model.max_tokens) == ("openai/x", 0.0, 100)
    clerk = setup.spec("clerk", "clerk")
    assert (clerk.id, clerk.temperature, clerk.max_tokens) == ("openai/x", 0.0, 512)
    assert not departures(setup, PAPER)
    assert departures(Setup(), PAPER) == {"model.temperature": 0.7, "roles.clerk.max_tokens": 2048}
    assert title_of(Setup, "roles.clerk.max_tokens") == "Clerk · Longest answer (tokens)"
    assert title_of(Setup, "model.temperature") == "Model · Temperature"


@pytest.mark.parametrize("first", ["roles.judge.id", "model.temperature"])
def test_a_role_that_is_given_another_model_keeps_everything_else_of_the_runs_model(first: str) -> None:
    wanted = {"roles.judge.id": "openai/other", "model.temperature": 0.0, "model.max_tokens": 4000}
    in_order = {first: wanted[first], **wanted}
    judge = changed(Setup(), in_order).spec("judge-2", "judge")
    assert (judge.id, judge.temperature, judge.max_tokens) == ("openai/other", 0.0, 4000)


NUMBERS: dict[str, dict[str, Any]] = json.loads(
    (ROOT / "tests" / "inputs" / "numbers.json").read_text(encoding="utf-8")
)
"""As they stand in the papers: CyberJurors 5, B.2, C.1; JURIS 4.1; Courtroom-LLM 4.1, 4.2; JurisAgents 2.2, 4.1; VERDICT C."""


@pytest.mark.parametrize("procedure", [one for one in PROCEDURES.values() if one.paper_settings], ids=lambda p: p.name)
def test_the_preset_paper_has_the_numbers_of_the_papers(procedure: Procedure) -> None:
    (preset,) = [preset for preset in procedure.presets if preset.title == "Paper"]
    setup = procedure.setup.model_validate(merged(procedure.setup().model_dump(mode="json"), preset.changes))
    assert not departures(setup, procedure.paper_settings)
    sampling = [one for one in procedure.paper_settings if one.knob in ("model.temperature", "model.top_p")]
    if procedure.case_kind == "criminal":
        assert not departures(procedure.setup(), sampling), "by default too"
    for models in [preset for preset in procedure.presets if preset.title.startswith("Paper, with")]:
        published = {**NUMBERS[procedure.name], "model.lengths": "free"}
        numbers = tuple(PaperSetting(path, value, "") for path, value in published.items())
        assert not departures(changed(setup, models.changes), numbers)


def test_the_expert_is_trained_with_the_numbers_of_appendix_c() -> None:
    found = Adapter()
    assert (found.rank, found.alpha, found.dropout, found.epochs, found.batch_size) == (64, 32, 0.05, 2, 64)
    assert (found.sft_learning_rate, found.dpo_learning_rate, found.max_length) == (1e-5, 5e-5, 4096)
    assert (found.optimizer, found.scheduler) == ("adamw_torch", "cosine")


def test_the_setup_page_shows_where_a_setup_departs_from_the_paper(app_house: Courthouse) -> None:
    app = page("setup")
    assert sum("settings as in the paper" in expander.label for expander in app.expander) == 1
    next(n for n in app.number_input if n.label == "Jurors").set_value(5).run()
    (table,) = [frame.value for frame in app.dataframe if "Paper" in frame.value.columns]
    row = table[table["Setting"] == "Jurors"].iloc[0]
    assert (row["Paper"], row["Here"], bool(row["Differs"]), table["Differs"].iloc[0]) == ("17", "5", True, True)
