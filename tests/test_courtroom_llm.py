"""Courtroom-LLM: hearing, pleadings by lot, both orders of judges, similar cases, ambiguity, baselines."""

import json
from collections import Counter
from typing import Any

import pytest

from courtroom import Courthouse, ModelSpec, Record
from courtroom.cases.labelled import Labelled, LabelledTask
from courtroom.models.request import ModelError, Request
from courtroom.models.schema import schema_of
from courtroom.procedures.courtroom_llm import views
from courtroom.procedures.courtroom_llm.procedure import COURTROOM_LLM, pointed_to
from tests.driving import answered_by, drive, hearing
from tests.openai_server import OpenAIServer
from tests.toy import Scripted, text_of

TASK = LabelledTask(
    id="moods",
    title="Moods",
    labels=("joy", "fear", "anger"),
    items=(
        Labelled(id="a", text="What a lovely morning it is.", label="joy"),
        Labelled(id="b", text="Something moved in the cellar.", label="fear"),
        Labelled(id="c", text="What a lovely evening it was.", label="joy", reason="The writer is pleased."),
        Labelled(id="d", text="Who moved my things in the cellar?", label="anger"),
    ),
)


def court(**told: Any) -> Scripted:
    """A court of one mind; `told` has other fields of a task's answer or an error, or a function of the request that gives them."""
    decision = {"label": "joy", "reason": "It says so."}
    answers: dict[str, dict[str, object]] = {
        "hear": {"first": "joy", "second": "fear"},
        "argue": {"argument": "Because.", "evidence": ["lovely morning"]},
        "judge": decision,
        "classify": decision,
        "explain": {"reason": "Asked for."},
    }

    def said(request: Request) -> str | Exception:
        own = told.get(request.task.name, {})
        own = own(request) if callable(own) else own
        return own if isinstance(own, Exception) else json.dumps({**answers[request.task.name], **own})

    return Scripted(reply=said)


def hear(house: Courthouse, model: Scripted | None = None, case: Any = TASK, seed: int = 0, **knobs: object) -> Record:
    """A run to its end, by a scripted model or offline."""
    if model:
        answered_by(house, model)
    spec = ModelSpec(id="scripted") if model else ModelSpec()
    return hearing(house, "courtroom-llm", case, seed, model=spec, **knobs)


def asked_for(model: Scripted, *tasks: str) -> list[Request]:
    return [request for request in model.history if request.task.name in tasks]


def test_a_text_goes_through_hearing_pleadings_and_judges(house: Courthouse) -> None:
    model = court()
    record = hear(house, model, judges=3)
    assert [stage.name for stage in record.stages] == ["Preliminary hearing", "Arguments", "Judgment"]
    assert Counter(call.task for call in record.calls) == {"hear": 5, "argue": 2, "explain": 1, "judge": 3}
    assert (record.run.verdict.outcome, record.run.verdict.counts) == ("joy", {"joy": 3})
    forms = {r.task.name: json.loads(schema_of(r.task.form))["properties"] for r in model.history}
    assert forms["hear"]["first"]["enum"] == forms["hear"]["second"]["enum"] == ["joy", "fear", "anger"]
    assert sorted(forms["judge"]["label"]["enum"]) == ["fear", "joy"]


def test_sequential_judges_see_the_earlier_opinions_and_parallel_ones_do_not(house: Courthouse) -> None:
    for seed, (structure, seen) in enumerate((("sequential", [0, 1, 2]), ("parallel", [0, 0, 0]))):
        model = court()
        hear(house, model, judges=3, structure=structure, seed=seed)
        assert [len(request.task.earlier) for request in asked_for(model, "judge")] == seen


def test_under_paper_a_judge_hears_the_one_before_alone(house: Courthouse) -> None:
    paper = next(preset for preset in COURTROOM_LLM.presets if preset.title == "Paper")
    knobs = {name: paper.changes[name] for name in ("earlier", "passages", "hearing_reasons")}
    model = court()
    hear(house, model, judges=3, **knobs)
    judges = asked_for(model, "judge")
    assert [[one.judge for one in request.task.earlier] for request in judges] == [[], ["Judge 1"], ["Judge 2"]]
    assert "# The judge before you" in text_of(judges[-1])
    assert "Passage 1" not in text_of(judges[-1])
    forms = {r.task.name: list(json.loads(schema_of(r.task.form))["properties"]) for r in model.history}
    assert (forms["hear"], forms["argue"]) == (["first", "second"], ["argument"])
    told = "\n".join(map(text_of, asked_for(model, "hear", "argue")))
    assert not [words for words in ("features", "passages", "reason") if words in told]


def test_the_last_judge_or_the_majority_decides_as_set(house: Courthouse) -> None:
    model = court(judge=lambda request: {"label": "fear" if request.tag.endswith("3") else "joy"})
    assert hear(house, model, judges=3, decided_by="last").run.verdict.outcome == "fear"
    assert hear(house, model, judges=3, decided_by="majority").run.verdict.outcome == "joy"
    assert hear(house, model, judges=3, structure="parallel").run.verdict.outcome == "joy", "of judges side by side"


def test_the_lot_gives_each_side_a_label_by_seed_and_text(house: Courthouse) -> None:
    def sides(seed: int) -> tuple[str, ...]:
        model = court()
        hear(house, model, seed=seed, texts=("a", "b", "c", "d"), judges=1)
        return tuple(r.task.label for r in model.history if r.task.name == "argue" and r.task.side == "prosecutor")

    drawn = set(map(sides, range(4)))
    assert {label for labels in drawn for label in labels} >= {"joy", "fear"}
    assert len(drawn) > 1


def test_disagreeing_hearings_make_a_text_ambiguous_and_the_first_one_counts(house: Courthouse) -> None:
    turned = {"first": "fear", "second": "joy"}
    record = hear(house, court(hear=lambda request: turned if request.tag.endswith("hearing-4") else {}))
    (result,) = record.run.verdict.details["results"]
    assert (result["ambiguous"], result["first"]) == (True, "joy")
    assert hear(house, court(), hearings=1).run.verdict.details["results"][0]["ambiguous"] is None


def test_similar_cases_are_the_nearest_of_both_labels_with_reasons_and_never_the_text_itself(house: Courthouse) -> None:
    model = court()
    hear(house, model, judges=1)
    (asked,) = [r.task for r in asked_for(model, "judge")]
    joy, fear = (
        ("What a lovely evening it was.", "The writer is pleased."),
        ("Something moved in the cellar.", "Asked for."),
    )
    assert [(one.passages[0].text, one.reason) for one in asked.similar] == [joy, fear]


def test_a_label_in_other_writing_is_taken_and_one_outside_the_two_is_asked_again(house: Courthouse) -> None:
    assert hear(house, court(judge={"label": "“Joy.”"}), judges=1).run.verdict.outcome == "joy"
    outside = court(judge=lambda request: {"label": "anger" if len(request.messages) == 2 else "fear"})
    assert hear(house, outside, judges=1, seed=1).run.verdict.outcome == "fear"


def test_no_member_is_given_the_known_label_of_the_text_it_hears_nor_a_copy_of_that_text(house: Courthouse) -> None:
    copy = Labelled(id="copy", text="  what a LOVELY morning it is. ", label="anger", reason="The copy's secret.")
    known = TASK.items[0].model_copy(update={"label": "anger", "reason": "Its own secret."})
    case = TASK.model_copy(update={"items": (known, *TASK.items[1:], copy)})
    setups = ({}, {"structure": "single"}, {"cases_by": "random"})
    for seed, knobs in enumerate(setups):
        model = court()
        hear(house, model, case=case, seed=seed, **knobs)
        asked = "\n".join(map(text_of, model.history))
        assert "lovely morning" in asked
        assert "secret" not in asked


@pytest.mark.parametrize(
    ("structure", "reasons", "reasoned"),
    [
        *(("single", "judges", False), ("multiple", "judges", False), ("single", "everybody", True)),
        *(("sequential", "judges", True), ("sequential", "nobody", False)),
    ],
)
def test_who_gives_its_reason_is_as_set(house: Courthouse, structure: str, reasons: str, reasoned: bool) -> None:
    """By default a baseline gives the label alone, and a judge its reason first."""
    model = court(classify=lambda request: {"label": "fear" if request.tag.endswith("3") else "joy"})
    record = hear(house, model, structure=structure, judges=3, reasons=reasons, explain=False)
    asked = asked_for(model, "judge", "classify")
    if structure in ("single", "multiple"):
        assert Counter(call.task for call in record.calls) == {"classify": len(asked)}, "no sides are asked"
        assert len(asked) == (1 if structure == "single" else 3)
        assert [one.label for one in asked[0].task.similar] == list(TASK.labels), "without a trial each is in question"
    assert {"reason" in json.loads(schema_of(request.task.form))["properties"] for request in asked} == {reasoned}
    assert ("your reason in" in text_of(asked[0])) is reasoned
    assert {bool(vote.reasons) for vote in record.ballots["judgment/a"].values()} == {reasoned}
    assert record.run.verdict.outcome == "joy"


SIMILAR = {"both labels": ["joy", "fear"], "every label": ["joy", "fear", "anger"], "any label": ["joy"]}


@pytest.mark.parametrize("of", SIMILAR)
def test_similar_cases_are_of_the_labels_that_are_set(house: Courthouse, of: str) -> None:
    model = court(hear={"first": "fear", "second": "joy"})
    hear(house, model, judges=1, cases_of=of)
    (asked,) = [r.task for r in asked_for(model, "judge")]
    assert [one.label for one in asked.similar] == SIMILAR[of], "whichever label the hearing named first"
    # With two labels both are in question, so judges and baselines are shown the very same cases.
    two = tuple(item.model_copy(update={"label": "joy" if item.label == "joy" else "fear"}) for item in TASK.items)
    case = TASK.model_copy(update={"labels": ("joy", "fear"), "items": two})
    shown = []
    for seed, structure in enumerate(("parallel", "single", "multiple"), 1):  # as another, each question is asked anew
        model = court()
        hear(house, model, case=case, structure=structure, judges=1, cases_of=of, seed=seed)
        shown.append(asked_for(model, "judge", "classify")[0].task.similar)
    assert shown[0] == shown[1] == shown[2]
    assert len(shown[0]) == (1 if of == "any label" else 2)


def test_similar_cases_can_be_drawn_at_random_by_the_seed(house: Courthouse) -> None:
    def drawn(seed: int) -> str:
        record = hear(house, court(), judges=1, hearings=1, cases_by="random", cases_of="any label", seed=seed)
        (cards,) = views.similar(record)["a"]
        (card,) = cards.cards
        assert card.facts == (("chosen", "at random"),)
        return card.body

    found = [drawn(seed) for seed in range(6)]
    assert found[:2] == [drawn(seed) for seed in range(2)]
    assert set(found) == {item.text for item in TASK.items[1:]}


def test_a_run_compares_texts_by_the_embedding_of_its_setup(house: Courthouse, monkeypatch: pytest.MonkeyPatch) -> None:
    with OpenAIServer(known_to=monkeypatch):
        record = hear(house, court(), judges=1, embedding="openai/any-embedding")
        own = hear(house, court(), judges=1)
    assert record.run.status == "done", record.run.reason
    assert {found.embedding for found in record.retrievals} == {"openai/any-embedding"}
    assert {found.embedding for found in own.retrievals} == {""}
    assert {found.query.mode for found in own.retrievals} == {"dense"}
    assert {found.key for found in record.retrievals}.isdisjoint(found.key for found in own.retrievals)
    assert house.estimate("courtroom-llm", TASK, record.setup, 1).calls > 0, "an estimate asks no such server"
    fork = house.fork(record.run.id, record.setup)  # the server is gone: what was seen is on record
    drive(house, fork)
    assert [found.hits for found in house.record(fork).retrievals] == [found.hits for found in record.retrievals]


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ("judge", "Only 1 of 3 judges could decide."),
        ("argue", "A side had no argument."),
        ("hear", "It could not be heard."),
        ("classify", "Only 1 of 3 judges could decide."),
    ],
)
def test_a_text_whose_members_fail_has_failed_and_counts_as_wrong(house: Courthouse, asked: str, why: str) -> None:
    heard = {"judge": "judge-1", "classify": "judge-1", "argue": "prosecutor"}

    def refuses(request: Request) -> Any:
        of_text = any("cellar." in one.text for one in request.task.passages)
        failing = of_text and heard.get(asked) not in request.tag.split("/")
        return ModelError("The provider refuses.") if failing else {}

    structure = "multiple" if asked == "classify" else "sequential"
    record = hear(house, court(**{asked: refuses}), texts=("all",), judges=3, structure=structure)
    assert record.run.status == "done", record.run.reason
    verdict = record.run.verdict
    assert (verdict.outcome, verdict.abstained, verdict.counts) == ("3 texts classified: 3 joy", 1, {"joy": 3})
    failed = verdict.details["results"][1]
    assert (failed["id"], failed["label"], failed["failed"]) == ("b", None, why)
    scores, every = views.results(record)[""]
    assert scores.rows[0] == ("all", 4, 1, "2 of 4 (50%)", None if asked == "classify" else "2 of 4 (50%)")
    assert every.rows[1][:4] == ("b", f"none: {why}", "fear", "no")


def test_a_run_in_which_most_texts_fail_stops_and_can_go_on(house: Courthouse) -> None:
    record = hear(house, court(judge=ModelError("No server.")), texts=("all",), judges=1)
    assert record.run.status == "failed"
    assert "Only 0 of 4 texts could be decided" in record.run.reason
    answered_by(house, court())
    assert house.store.status(drive(house, record.run.id)) == "done"


def test_the_judges_are_shown_the_passages_to_which_a_pleading_points_and_no_invented_ones(house: Courthouse) -> None:
    model = court(argue={"evidence": ["LOVELY  morning", "a dreadful morning"]})
    hear(house, model, judges=1)
    (prompt,) = map(text_of, asked_for(model, "judge"))
    assert prompt.count("Passage 1 to which it points:\n> lovely morning\n") == 2
    assert "dreadful" not in prompt


def test_passages_have_so_many_words_together_and_stand_as_in_the_text() -> None:
    text = "One two three four five six."
    assert list(pointed_to(["three FOUR", "one two", "three four", "five six."], text, 4)) == ["three four", "One two"]
    assert list(pointed_to(["", "seven"], text, 4)) == []
    assert list(pointed_to(["three four five", "six"], text, 2)) == ["six"], "a short one after one that is too long"
    assert list(pointed_to(["今天下雨", "路很滑"], "今天下雨。路很滑。", 2)) == ["今天下雨"]


@pytest.mark.parametrize("structure", ["single", "multiple", "sequential"])
def test_a_judge_is_told_of_similar_cases_only_where_there_are_some(house: Courthouse, structure: str) -> None:
    """And a baseline of no court."""
    decides = "judge" if structure == "sequential" else "classify"
    for shots in (0, 3):
        model = court()
        hear(house, model, structure=structure, judges=1, shots=shots)
        assert ("similar cases" in text_of(asked_for(model, decides)[0]).lower()) is bool(shots)
        for task in ("classify", "explain")[: 1 + shots] if decides == "classify" else ():
            prompt = text_of(asked_for(model, task)[0]).lower()
            assert not [word for word in ("court", "judge ", "prosecutor", "attorney", "hearing") if word in prompt]


def test_texts_of_one_group_are_kept_out_of_each_others_examples(house: Courthouse) -> None:
    case = house.library.case("statement-follows")
    groups = {item.id: item.group for item in case.items if item.group}
    for structure in ("sequential", "nearest"):
        record = hear(house, case=case, structure=structure, texts=["e-07"])
        found = [hit.record["group"] for one in record.retrievals for hit in one.hits if "group" in hit.record]
        assert groups["e-07"] not in found


def test_of_two_labels_a_hearing_names_the_first_alone(house: Courthouse) -> None:
    two = TASK.model_copy(update={"labels": ("joy", "fear"), "items": TASK.items[:3]})
    model = court()
    record = hear(house, model, two, hearings=1, judges=1)
    (request,) = asked_for(model, "hear")
    assert "second" not in json.loads(schema_of(request.task.form))["properties"]
    assert "`second`" not in text_of(request)
    (result,) = record.run.verdict.details["results"]
    assert (result["first"], result["second"]) == ("joy", "fear")


def test_a_long_argument_is_cut_after_a_sentence_and_the_judge_is_told(house: Courthouse) -> None:
    model = court(argue={"argument": f"The first one is whole. {'But this one goes on ' * 20}."})
    hear(house, model, judges=1, argument_words=20)
    (prompt,) = map(text_of, asked_for(model, "judge"))
    assert prompt.count("> The first one is whole.\n(The rest was longer than allowed and is left out.)") == 2
