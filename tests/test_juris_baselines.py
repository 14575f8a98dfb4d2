"""The baselines of JURIS, section 4.1: one model alone, SummIt, QA-prompting; each with prompts of its own."""

import re
from typing import Any

import pytest

from courtroom.courthouse import Courthouse
from courtroom.engine.blocks import Table
from courtroom.procedures.juris import views
from courtroom.procedures.juris.baselines import QUESTIONS
from tests.juris import CASE, GOOD, OTHER, panel, rendered, write

BASELINES = ("generator-a", "generator-b", "summit", "qa-prompt")


ADVICE: dict[str, Any] = {"rationale": "It lacks the river.", "advice": ["Add the river."], "stop": False}
REFINED = {"refine": {"changes": ["the river"], "sentences": [GOOD, OTHER]}}


def test_summit_refines_by_the_evaluators_advice_until_it_runs_out_of_turns(house: Courthouse) -> None:
    model = panel(told={"advise": ADVICE, **REFINED})
    record = write(house, model, variant="summit", refinements=2, roles={"evaluator": {"id": "critic"}})
    assert [request.task.name for request in model.history] == ["write", "advise", "refine", "advise", "refine"]
    assert [stage.name for stage in record.stages] == ["Summary", "Refinement 1", "Refinement 2"]
    assert {request.spec.id for request in model.history if request.task.name == "advise"} == {"critic"}
    _, first, refine, second, _ = map(rendered, model.history)
    assert f"> {GOOD}" in first
    assert all(part in refine for part in ("> It lacks the river.", "> Add the river.", f"> {GOOD}"))
    assert f"> {OTHER}" in second
    assert record.run.verdict.summary == f"{GOOD} {OTHER}"
    assert len(record.calls) == house.procedures["juris"].at_most(CASE, record.setup)
    turns = next(b for b in views.summary(record)[""] if isinstance(b, Table) and b.title == "Refinement")
    assert turns.rows[0] == ("Refinement 1", "It lacks the river.", "Add the river.")


def test_summit_ends_where_the_evaluator_stops(house: Courthouse) -> None:
    record = write(house, panel(), variant="summit")
    assert [call.task for call in record.calls] == ["write", "advise"]
    assert record.run.verdict.summary == GOOD


def test_an_evaluator_that_wants_another_turn_must_say_what_for(house: Courthouse) -> None:
    model = panel(told={"advise": {**ADVICE, "advice": []}})
    record = write(house, model, variant="summit", reasks=0)
    assert [call.error for call in record.calls if call.task == "advise"] != [""]
    assert record.run.status == "done"


def test_questions_are_answered_before_the_summary_in_one_call(house: Courthouse) -> None:
    model = panel()
    record = write(house, model, variant="qa-prompt", question_count=3)
    (asked,) = model.history
    assert all((question in rendered(asked)) == (number < 3) for number, question in enumerate(QUESTIONS))
    assert list(asked.task.answer.model_fields) == ["answers", "sentences"]
    assert record.run.verdict.summary == OTHER
    table = next(b for b in views.summary(record)[""] if isinstance(b, Table))
    assert table.rows == tuple((question, "yes") for question in QUESTIONS[:3])


def test_an_answer_to_each_question_is_asked_for(house: Courthouse) -> None:
    model = panel(told={"answer": {"answers": ["yes"], "sentences": [OTHER]}})
    write(house, model, variant="qa-prompt", reasks=1)
    assert len(model.history) == 2
    assert "answers: Tuple should have at least 5 items" in rendered(model.history[1])


@pytest.mark.parametrize("variant", BASELINES)
def test_a_model_that_writes_alone_is_told_of_no_panel(house: Courthouse, variant: str) -> None:
    model = panel(told={"advise": ADVICE, **REFINED})
    write(house, model, variant=variant, refinements=1)
    words = "\n".join(map(rendered, model.history)).replace(CASE.text, "").casefold()
    assert re.findall(r"jur(?:y|or)|generator|editor|panel|vote|candidate|accepted", words) == []
    assert ("evaluator" in words) == (variant == "summit")


@pytest.mark.parametrize("variant", BASELINES)
def test_a_writer_is_told_the_range_that_is_set_and_none_where_none_is(house: Courthouse, variant: str) -> None:
    model = panel()
    write(house, model, variant=variant, shortest=None, longest=4)
    assert "It has at most 4 sentences." in rendered(model.history[0])


@pytest.mark.parametrize("variant", ["summit", "qa-prompt"])
def test_every_baseline_works_offline(house: Courthouse, variant: str) -> None:
    document: Any = house.library.case("news-night-bus")
    record = write(house, case=document, variant=variant)
    assert record.run.verdict.details["fine_grained"]["faithfulness"] == 100.0
    (ballots,) = views.ballots(record)[""]
    assert "no jury" in str(ballots)
