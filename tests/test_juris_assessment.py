"""JURIS: faithfulness, completeness and conciseness by key facts and sentence by sentence, beside the holistic scores."""

from typing import Any

import pytest

from courtroom.courthouse import Courthouse
from courtroom.engine.blocks import Table
from courtroom.evaluation.summaries import completeness, conciseness, faithfulness
from courtroom.procedures.juris import views
from tests.juris import ASSESSOR, CASE, GOOD, INVENTED, panel, rendered, write

TEXT = {"write": {"sentences": [GOOD, INVENTED]}}
CHECKS = {
    "checks": [
        {"sentence": 2, "reason": "Nobody speaks of penguins.", "category": "out-of-context error"},
        {"sentence": 1, "reason": "It says so.", "category": "no error"},
    ]
}


def assessed(house: Courthouse, told: dict[str, Any] | None = None, **knobs: Any) -> Any:
    """The verdict's details and the record of a text of two sentences, the second one invented."""
    model = panel(told={**TEXT, "factcheck": CHECKS, **(told or {})})
    record = write(house, model, variant="generator-a", roles=ASSESSOR, reasks=0, **knobs)
    return record.run.verdict.details, record, model


def test_the_measures_on_hand_computed_values() -> None:
    assert faithfulness(["no error", "entity error", "no error", "other error"]) == 50.0
    # Three key facts: told in sentences 1 and 3, in 3, nowhere; of four sentences 1 and 3 tell one.
    lines = [[1, 3], [3], []]
    assert completeness(lines) == pytest.approx(66.67)
    assert conciseness(lines, 4) == 50.0
    assert (faithfulness([]), completeness([]), conciseness([], 0)) == (None, None, None)


def test_a_text_is_scored_sentence_by_sentence_and_by_key_facts_and_as_a_whole(house: Courthouse) -> None:
    details, record, _ = assessed(house)
    fine = details["fine_grained"]
    assert [fine[name] for name in ("faithfulness", "completeness", "conciseness")] == [50.0, 50.0, 50.0]
    assert [one["category"] for one in fine["sentences"]] == ["no error", "out-of-context error"]
    assert [one["sentences"] for one in fine["key_facts"]] == [[1], []]
    assert details["assessment"] == {"faithfulness": 90, "completeness": 60, "conciseness": 80}
    tables = {block.title: block for block in views.measures(record)[""] if isinstance(block, Table)}
    scores, by_sentence, by_fact = list(tables.values())[1:]
    assert [row[:5] for row in scores.rows] == [
        ("Fine-grained", 50.0, 50.0, 50.0, 150.0),
        ("Holistic", 90, 60, 80, 230.0),
    ]
    assert by_sentence.rows[1] == (2, INVENTED, "out-of-context error", "Nobody speaks of penguins.")
    assert by_fact.rows == (("Families left.", "1"), ("Nobody was hurt.", "not stated"))


def test_the_assessor_reads_sentences_and_key_facts_with_their_numbers(house: Courthouse) -> None:
    _, _, model = assessed(house)
    asked = {request.task.name: rendered(request) for request in model.history if request.spec.id == "judge"}
    assert asked.keys() == {"keyfacts", "factcheck", "align", "assess"}
    for task in ("factcheck", "align"):
        assert f"1.\n> {GOOD}\n2.\n> {INVENTED}" in asked[task]
    assert "1.\n> Families left.\n2.\n> Nobody was hurt." in asked["align"]
    assert GOOD not in asked["keyfacts"].replace(CASE.text, "")


@pytest.mark.parametrize(
    ("ways", "tasks"),
    [
        ("fine-grained", {"keyfacts", "factcheck", "align"}),
        ("holistic", {"assess"}),
        ("none", set()),
    ],
)
def test_only_the_ways_that_are_asked_for_are_paid(house: Courthouse, ways: str, tasks: set[str]) -> None:
    details, record, _ = assessed(house, assess=ways)
    assert {call.task for call in record.calls if call.member == "assessor"} == tasks
    assert bool(details["fine_grained"]) == (ways == "fine-grained")
    assert len(record.calls) == house.procedures["juris"].at_most(CASE, record.setup)


@pytest.mark.parametrize(
    ("told", "missing"),
    [
        ({"factcheck": {"checks": CHECKS["checks"][:1]}}, ["faithfulness"]),
        ({"align": {"alignments": [{"key_fact": 1, "line_numbers": [3]}, {"key_fact": 2}]}}, ["completeness", "conciseness"]),
        ({"keyfacts": {"key_facts": []}}, ["completeness", "conciseness"]),
    ],
    ids=["a sentence unchecked", "a sentence that is not there", "no key fact"],
)  # fmt: skip
def test_an_answer_that_does_not_fit_leaves_its_own_scores_open(
    house: Courthouse, told: dict[str, Any], missing: list[str]
) -> None:
    details, record, _ = assessed(house, told)
    fine = details["fine_grained"]
    assert [name for name in ("faithfulness", "completeness", "conciseness") if fine[name] is None] == missing
    assert any(isinstance(block, Table) for block in views.measures(record)[""])


def test_key_facts_come_from_the_reference_summary_only_where_that_is_asked_for(house: Courthouse) -> None:
    _, _, model = assessed(house, key_facts="reference")
    shown = {request.task.name for request in model.history if CASE.reference in rendered(request)}
    assert shown == {"keyfacts"}
    assert model.history[0].task.name == "write"


def test_offline_the_scores_are_counted_and_say_so(house: Courthouse) -> None:
    record = write(house, variant="generator-a", shortest=2, longest=2)
    fine = record.run.verdict.details["fine_grained"]
    assert fine["faithfulness"] == 100.0
    assert 0 < fine["completeness"] < 100.0
    assert all("no reader has judged" in one["reason"] for one in fine["sentences"])
