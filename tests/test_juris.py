"""JURIS: the length by majority, ballots, ties, the editor's pass, the baselines; with a scripted and the offline model."""

import json
import re
from collections.abc import Callable
from itertools import count
from typing import Any

import pytest
from markupsafe import escape
from typer.testing import CliRunner

from courtroom import Courthouse, Document, ModelSpec, Record, report
from courtroom.__main__ import app
from courtroom.declarations.blocks import Marked, Table, runs
from courtroom.declarations.changes import changed, merged
from courtroom.evaluation.summaries import completeness, conciseness, faithfulness
from courtroom.models.request import Request
from courtroom.procedures.juris import views
from courtroom.procedures.juris.baselines import QUESTIONS
from courtroom.procedures.juris.kept import why_not_kept
from courtroom.procedures.juris.procedure import JURIS
from courtroom.procedures.juris.setup import JurisSetup, members
from tests.driving import answered_by, hearing
from tests.driving import house as house  # a fixture
from tests.toy import Scripted, text_of

TEXT = (
    "The river rose two metres in the night. Forty families left their houses. "
    "The mayor opened the school as a shelter. Nobody was hurt. The bridge stays closed until Friday."
)
CASE = Document(id="flood", title="The flood", text=TEXT, reference="A flood drove forty families out. Nobody died.")
GOOD, OTHER = "Forty families left their houses.", "The river rose two metres."
INVENTED = "A film crew from Paris interviewed penguins."
ASSESSOR = {"assessor": {"id": "judge"}}
"""A model of its own, without which nobody assesses."""
RUNS = count()
"""Each run's model has a name of its own: what another has answered is not on record for it."""


def checked(sentence: int, category: str, reason: str = "so") -> dict[str, Any]:
    return {"sentence": sentence, "reason": reason, "category": category}


def place(task: Any, letter: str) -> str:
    """Where a juror reads the candidate of generator A, whose sentences begin with `GOOD`, or of B."""
    return "first" if (letter == "A") == task.first.startswith(GOOD) else "second"


def of_each(task: Any) -> dict[str, str]:
    """A critique of each candidate that names the generator that it is of."""
    return {f"on_{place(task, letter)}": f"on {letter}" for letter in "AB"}


def panel(**told: Any) -> Scripted:
    """A model that answers every task; `told` has other fields of an answer, or a function of the task that gives them."""

    def said(request: Request) -> str:
        task: Any = request.task
        answers: dict[str, Callable[[], dict[str, Any]]] = {
            "length": lambda: {"reason": "short", "sentences": 3},
            "generate": lambda: {
                "evidence": [GOOD],
                "sentence": f"{GOOD if task.letter == 'A' else OTHER} {len(task.accepted)}",
            },
            "ballot": lambda: {"evidence": ["Forty families"], **of_each(task), "vote": place(task, "A")},
            "edit": lambda: {"changes": ["joined"], "sentences": task.accepted},
            "write": lambda: {"sentences": [GOOD]},
            "advise": lambda: {"rationale": "good", "advice": [], "stop": True},
            "refine": lambda: {"changes": ["the river"], "sentences": [GOOD, OTHER]},
            "answer": lambda: {"answers": ["yes"] * len(task.questions), "sentences": [OTHER]},
            "keyfacts": lambda: {"key_facts": ["Families left.", "Nobody was hurt."]},
            "factcheck": lambda: {"checks": [checked(n, "no error") for n in range(1, len(task.sentences) + 1)]},
            "align": lambda: {
                "alignments": [{"key_fact": 1, "line_numbers": [1]}, {"key_fact": 2, "line_numbers": []}]
            },
            "assess": lambda: {"reason": "fine", "faithfulness": 90, "completeness": 60, "conciseness": 80},
        }
        own = told.get(task.name, {})
        return json.dumps({**answers[task.name](), **(own(task) if callable(own) else own)})

    return Scripted(reply=said)


def shown(kind: type, draw: Callable[[Record], Any], record: Record) -> list[Any]:
    """The blocks of a kind in the first part of a view."""
    return [block for block in next(iter(draw(record).values())) if isinstance(block, kind)]


def write(house: Courthouse, model: Scripted, **knobs: Any) -> Record:
    """A run to its end, by a scripted model."""
    answered_by(house, model)
    return hearing(house, "juris", CASE, **{"model": ModelSpec(id=f"scripted-{next(RUNS)}"), **knobs})


def test_every_sentence_is_a_ballot_and_the_majority_takes_it(house: Courthouse) -> None:
    model = panel(ballot=lambda task: {"vote": place(task, "B" if task.seat > 2 else "A")})
    record = write(house, model, roles=ASSESSOR)
    assert [stage.name for stage in record.stages] == [
        "Length", "Sentence 1", "Sentence 2", "Sentence 3", "Editing", "Assessment",
    ]  # fmt: skip
    assert record.run.verdict.details["accepted"] == [f"{OTHER} {n}" for n in range(3)]
    counts = {path: tally.counts for path, tally in record.tallies.items()}
    assert counts == {f"sentence-{n}": {"A": 2, "B": 3} for n in (1, 2, 3)}
    assert not any(vote.changed for votes in record.ballots.values() for vote in votes.values())
    of_jurors = {call.task for call in record.calls if call.member.startswith("juror")}
    assert of_jurors == {"length", "ballot"}, "they do not write"
    (edit,) = model.prompts("edit")
    assert all(sentence in edit for sentence in (f"{OTHER} 0", f"{OTHER} 2", "even if the document says it", TEXT))
    assert f"{GOOD} 0" not in edit, "what the jury did not accept is not shown"


def alike(task: Any) -> dict[str, str]:
    """Both generators say the same."""
    return {"sentence": f"{GOOD} {len(task.accepted)}"}


def test_a_tie_goes_to_what_the_document_supports_better_and_equals_need_no_ballot(house: Courthouse) -> None:
    model = panel(
        ballot=lambda task: {"vote": "first" if task.first.startswith(INVENTED) == bool(task.seat % 2) else "second"},
        generate=lambda task: {"sentence": f"{INVENTED if task.letter == 'A' else GOOD} {len(task.accepted)}"},
    )
    record = write(house, model, jury_size=4)
    assert record.run.verdict.details["accepted"][0].startswith(GOOD)
    assert any("was a tie; candidate B was taken" in note for note in record.notes)
    record = write(house, panel(generate=alike))
    assert not record.ballots
    assert sum("without a ballot" in note for note in record.notes) == 3


@pytest.mark.parametrize(
    ("proposed", "range_", "length"),
    [
        *((99, {}, 5), (99, {"longest": 4}, 4), (1, {}, 3), (1, {"shortest": None}, 1)),
        (1, {"shortest": 8}, 5),  # the document has five sentences
    ],
)
def test_a_length_outside_the_range_is_cut_to_it_and_never_asked_again(
    house: Courthouse, proposed: int, range_: dict[str, Any], length: int
) -> None:
    model = panel(length={"sentences": proposed}, generate=alike)
    record = write(house, model, tell_target=False, **range_)
    assert len(model.prompts("length")) == 5
    assert not any("from 3 to" in text for text in model.prompts())
    assert sum(stage.stage_kind == "sentence" for stage in record.stages) == length
    cut = f"The jury decided on a length of {proposed}; the range makes it {length}."
    assert (cut in record.notes) == (proposed != length)
    assert record.asked <= house.procedures["juris"].at_most(CASE, record.setup)


def test_jurors_are_told_range_length_and_a_place_by_lot(house: Courthouse) -> None:
    model = panel(ballot={"vote": "first"})
    record = write(house, model)
    assert all("It has to be from 3 to 5." in text for text in model.prompts("length"))
    assert all('"minimum": 3, "maximum": 5}' in text for text in model.prompts("length"))
    assert "# Accepted so far: 1 of 3 sentences" in model.prompts("ballot")[5]
    assert "After the next sentence, 1 more comes." in model.prompts("ballot")[5]
    assert "The next sentence is the last one." in model.prompts("ballot")[-1]
    firsts = {request.task.first.startswith(GOOD) for request in model.history if request.task.name == "ballot"}
    assert firsts == {True, False}
    choices = {vote.choice for votes in record.ballots.values() for vote in votes.values()}
    assert choices == {"A", "B"}, "who always takes the first one helps both generators"
    assert all(vote.reasons == ("A: on A", "B: on B") for votes in record.ballots.values() for vote in votes.values())
    (agreement,) = views.jurors(record)[""]
    assert {row[-2] for row in agreement.rows} == {1.0}


def test_two_sentences_are_no_candidate(house: Courthouse) -> None:
    model = panel(
        generate=lambda task: {"sentence": f"{GOOD} {OTHER}" if task.letter == "A" else f"{OTHER} {len(task.accepted)}"}
    )
    record = write(house, model)
    assert all(sentence.startswith(OTHER) for sentence in record.run.verdict.details["accepted"])
    assert any("holds several sentences; give one" in text for text in model.prompts("generate"))


def test_too_few_answers_to_go_on_stop_the_run_in_words(house: Courthouse) -> None:
    record = write(house, panel(ballot=lambda task: {"vote": "first" if task.seat == 1 else "third"}), reasks=0)
    few = "Only 1 of 5 members could vote in Sentence 1, fewer than the quorum asks for. "
    assert record.run.reason.startswith(few)
    assert record.run.reason.endswith("those who failed are asked again.")


def test_a_dynamic_jury_is_drawn_anew_from_the_pool_by_the_seed(house: Courthouse) -> None:
    record = write(house, panel(), jury="dynamic", pool=9, jury_size=3)
    benches = [tuple(sorted(votes)) for votes in record.ballots.values()]
    assert {len(bench) for bench in benches} == {3}
    assert len(set(benches)) > 1
    again = write(house, panel(), jury="dynamic", pool=9, jury_size=3)
    assert [tuple(sorted(votes)) for votes in again.ballots.values()] == benches
    five, six = (write(house, panel(), jury="dynamic", pool=25, jury_size=size).ballots.values() for size in (5, 6))
    assert all(set(few) < set(more) for few, more in zip(five, six, strict=True))
    wide = write(house, panel(), jury="dynamic", pool=26, jury_size=5).ballots.values()
    assert all(len(set(few) - set(other)) <= 1 for few, other in zip(five, wide, strict=True))


ACCEPTED = (f"{OTHER} 0", GOOD)
BEYOND = (OTHER, GOOD, "The mayor opened the school as a shelter.")
"""True to the document; the jury has not accepted it."""


def going_beyond() -> Scripted:
    """A panel whose editor does."""
    accepted = {"generate": lambda task: {"sentence": ACCEPTED[len(task.accepted)]}, "length": {"sentences": 2}}
    return panel(**accepted, edit={"sentences": BEYOND})


def test_the_editor_that_adds_something_is_asked_again_and_then_the_accepted_sentences_stand(house: Courthouse) -> None:
    model = going_beyond()
    record = write(house, model, shortest=2)
    assert len(model.prompts("edit")) == 3
    assert record.run.verdict.details["accepted"] == list(ACCEPTED)
    assert record.run.verdict.summary == " ".join(ACCEPTED)
    assert any("nothing else: the accepted sentences stand" in note for note in record.notes)


def test_as_in_the_paper_the_editors_text_is_taken_as_it_is_and_what_goes_beyond_is_marked(house: Courthouse) -> None:
    model = going_beyond()
    record = write(house, model, shortest=2, check_edit=False)
    (edit,) = model.prompts("edit")
    assert "word by word" not in edit
    assert "keep their order" in edit
    assert record.run.verdict.summary == " ".join(BEYOND)
    assert record.run.verdict.details["unsupported"] == [BEYOND[-1]]
    assert not any("accepted sentences stand" in note for note in record.notes)


@pytest.mark.parametrize("told", [True, False])
def test_a_generator_is_told_the_length_unless_it_is_given_what_the_paper_gives(house: Courthouse, told: bool) -> None:
    model = panel()
    write(house, model, tell_target=told)
    generates = model.prompts("generate")
    assert all(("of 3 sentences" in text) is told for text in generates)
    assert all("Accepted so far: " in text for text in generates)
    assert [text.count(f"> {GOOD} 0\n") for text in generates] == [0, 0, 1, 1, 1, 1], "both read what was accepted"


def test_under_paper_jurors_read_the_two_candidates_alone(house: Courthouse) -> None:
    (paper,) = [preset for preset in JURIS.presets if preset.title == "Paper"]
    knobs = {name: paper.changes[name] for name in ("passages", "jurors_read_accepted")}
    model = panel()
    assert write(house, model, **knobs).run.status == "done"
    beyond = re.compile(r'passages|"evidence"|jury|juror|rival|other generator')
    assert not [text for text in model.prompts("generate") if beyond.search(text)]
    assert not [text for text in model.prompts("ballot") if "ccepted" in text]
    model = panel()
    write(house, model)
    assert all("# Accepted so far" in text for text in model.prompts("ballot"))


def test_the_editor_may_join_reorder_and_clarify_but_not_add_or_leave_out() -> None:
    case = CASE.model_copy(update={"text": f"{TEXT} So said the mayor, Keller."})
    kept = [
        (GOOD, OTHER),
        ("The river rose two metres, and forty families left their houses.",),
        ("The river rose two metres, so forty families had to leave their houses.",),
        ("The river rose two metres, mayor Keller says, and forty families left their houses.",),
    ]
    refused = [
        BEYOND,
        (GOOD,),
        (OTHER, GOOD, "Nobody was hurt."),
        (OTHER, "Forty families left their houses before Friday."),
        (OTHER, "Forty families left their houses, the school opened as a shelter, and nobody was hurt."),
        (OTHER, "Forty families left 12 houses."),
        (OTHER, "Forty families and Johnson left their houses."),
    ]
    assert [one for one in (*kept, *refused) if why_not_kept((OTHER, GOOD), one, case) is None] == kept


def test_variants_leave_out_what_they_say(house: Courthouse) -> None:
    plain = write(house, panel(), variant="no-editor", assess="none", roles=ASSESSOR)
    assert [stage.stage_kind for stage in plain.stages][-1] == "sentence"
    assert plain.run.verdict.summary == " ".join(plain.run.verdict.details["accepted"])
    alone = write(house, panel(), variant="generator-b", roles=ASSESSOR)
    assert {call.member for call in alone.calls} == {"generator-b", "assessor"}
    assert alone.run.verdict.summary == GOOD


CHECKS = [checked(2, "out-of-context error", "Nobody speaks of penguins."), checked(1, "no error")]


def assessed(house: Courthouse, told: dict[str, Any] | None = None, **knobs: Any) -> Any:
    """The verdict's details and the record of a text of two sentences, the second one invented."""
    model = panel(**{"write": {"sentences": [GOOD, INVENTED]}, "factcheck": {"checks": CHECKS}, **(told or {})})
    judge = {"assessor": {"id": f"judge-{next(RUNS)}"}}
    record = write(house, model, variant="generator-a", roles=judge, reasks=0, **knobs)
    return record.run.verdict.details, record, model


def test_the_measures_on_hand_computed_values() -> None:
    assert faithfulness(["no error", "entity error", "no error", "other error"]) == 50.0
    # Three key facts: told in sentences 1 and 3, in 3, nowhere; of four sentences 1 and 3 tell one.
    lines = [[1, 3], [3], []]
    assert completeness(lines) == pytest.approx(66.67)
    assert conciseness(lines, 4) == 50.0
    assert (faithfulness([]), completeness([]), conciseness([], 0)) == (None, None, None)


def test_a_text_is_scored_sentence_by_sentence_and_by_key_facts_and_as_a_whole(house: Courthouse) -> None:
    details, record, model = assessed(house)
    assert details["unsupported"] == [INVENTED]
    assert "may lack support" in record.run.verdict.note
    (marked,) = shown(Marked, views.summary, record)
    assert [text for text, span in runs(marked) if span] == [INVENTED]
    fine = details["fine_grained"]
    assert [fine[name] for name in ("faithfulness", "completeness", "conciseness")] == [50.0, 50.0, 50.0]
    assert [one["category"] for one in fine["sentences"]] == ["no error", "out-of-context error"]
    assert [one["sentences"] for one in fine["key_facts"]] == [[1], []]
    assert details["assessment"] == {"faithfulness": 90, "completeness": 60, "conciseness": 80}
    _, scores, by_sentence, by_fact = shown(Table, views.measures, record)
    assert [row[0] for row in scores.rows] == ["Fine-grained", "Holistic"]
    assert [row[1:5] for row in scores.rows] == [(50.0, 50.0, 50.0, 150.0), (90, 60, 80, 230.0)]
    assert by_sentence.rows[1] == (2, INVENTED, "out-of-context error", "Nobody speaks of penguins.")
    assert by_fact.rows == (("Families left.", "1"), ("Nobody was hurt.", "not stated"))
    judged = {request.task.name: text_of(request) for request in model.history if "judge" in request.spec.id}
    assert judged.keys() == {"keyfacts", "factcheck", "align", "assess"}
    assert [name for name, text in judged.items() if TEXT.splitlines()[0] not in text] == ["align"]
    assert GOOD not in judged["keyfacts"].replace(CASE.text, "")
    assert not any(CASE.reference in text for text in model.prompts())
    _, _, model = assessed(house, key_facts="reference")
    assert {one.task.name for one in model.history if CASE.reference in text_of(one)} == {"keyfacts"}


ADVICE: dict[str, Any] = {"rationale": "It lacks the river.", "advice": ["Add the river."], "stop": False}


def test_summit_refines_by_the_evaluators_advice_until_it_stops_or_turns_run_out(house: Courthouse) -> None:
    model = panel(advise=ADVICE)
    record = write(house, model, variant="summit", refinements=2, roles={"evaluator": {"id": "critic"}})
    assert [request.task.name for request in model.history] == ["write", "advise", "refine", "advise", "refine"]
    assert {request.spec.id for request in model.history if request.task.name == "advise"} == {"critic"}
    _, first, refine, second, _ = model.prompts()
    assert f"> {GOOD}" in first
    assert all(part in refine for part in ("> It lacks the river.", "> Add the river.", f"> {GOOD}"))
    assert f"> {OTHER}" in second
    assert record.run.verdict.summary == f"{GOOD} {OTHER}"
    (turns,) = [table for table in shown(Table, views.summary, record) if table.title == "Refinement"]
    assert turns.rows[0] == ("Refinement 1", "It lacks the river.", "Add the river.")
    record = write(house, panel(), variant="summit")
    assert [call.task for call in record.calls] == ["write", "advise"], "the evaluator says when it is good"


def test_each_question_is_answered_before_the_summary_in_one_call(house: Courthouse) -> None:
    model = panel()
    record = write(house, model, variant="qa-prompt", question_count=3)
    (request,) = model.history
    assert all((question in text_of(request)) == (number < 3) for number, question in enumerate(QUESTIONS))
    assert list(request.task.answer.model_fields) == ["answers", "sentences"]
    assert record.run.verdict.summary == OTHER
    (table, *_) = shown(Table, views.summary, record)
    assert table.rows == tuple((question, "yes") for question in QUESTIONS[:3])


@pytest.mark.parametrize("variant", ["generator-a", "generator-b", "summit", "qa-prompt"])
def test_a_model_that_writes_alone_is_told_of_no_panel(house: Courthouse, variant: str) -> None:
    model = panel(advise=ADVICE)
    write(house, model, variant=variant, refinements=1)
    assert len(model.history) == (3 if variant == "summit" else 1), "one call, but for the refinement"
    words = "\n".join(model.prompts()).replace(CASE.text, "").casefold()
    assert re.findall(r"jur(?:y|or)|generator|editor|panel|vote|candidate|accepted", words) == []
    assert ("evaluator" in words) == (variant == "summit")
    model = panel()
    write(house, model, variant=variant, shortest=None, longest=4)
    assert "It has at most 4 sentences." in text_of(model.history[0])


ONE: dict[str, Any] = {"model": {"id": "openai/one"}}


def preset(title: str, **more: Any) -> JurisSetup:
    (found,) = [one for one in JURIS.presets if one.title == title]
    return JurisSetup.model_validate(merged(JurisSetup.model_validate(more).model_dump(mode="json"), found.changes))


def test_seats_of_one_model_with_one_prompt_are_told_in_plain_words() -> None:
    jury, generators, assessor = JurisSetup.model_validate(ONE).warnings()
    assert jury.startswith("All 5 jurors are one model (openai/one) with one prompt: they repeat one opinion.")
    assert generators.startswith("Both generators are one model (openai/one) with one prompt")
    assert "--set points_of_view.juror-01=" in jury
    assert assessor.startswith("The final text is not assessed: the assessor has no model of its own")
    setup = changed(preset("Paper, with its models"), {"members.juror-04.id": "ollama/qwen2.5:7b"})
    (told,) = setup.warnings()
    assert told.startswith("Juror 1 and Juror 4 are one model (ollama/qwen2.5:7b) with one prompt")
    two = {**ONE, "members": {"editor": {"id": "openai/two"}}}
    judges = {
        "openai/one": "has no model of its own",
        "openai/two": "takes part in the hearing too (openai/two)",
        "offline": "reads no meaning",
    }
    for model, said in judges.items():
        assert said in JurisSetup.model_validate({**two, "roles": {"assessor": {"id": model}}}).warnings()[-1]
    assert preset("Paper, with its models", model={"id": "openai/gpt-4.1"}).warnings() == (), "it writes nothing there"
    others = {role: {"id": f"openai/{role}"} for role in ("generator", "editor")}
    named = JurisSetup.model_validate({**ONE, "roles": {**others, "assessor": ONE["model"]}})
    assert named.assessor_chosen, "where it only votes"
    assert not named.model_copy(update={"roles": {"assessor": named.model}}).assessor_chosen


@pytest.mark.parametrize("title", ["Paper, with its models", "Seven points of view"])
def test_a_preset_whose_seven_seats_differ_is_not_warned_of(title: str) -> None:
    setup = preset(title, **ONE, roles=ASSESSOR)
    assert setup.warnings() == ()
    seats = [one for one in members(setup) if one.role in ("generator", "juror")]
    differ = {(one.role, one.spec.id, setup.points_of_view.get(one.id)) for one in seats}
    assert len(seats) == len(differ) == 7


def test_the_preset_with_the_papers_models_names_those_of_section_4_1() -> None:
    who = {one.id: one.spec.id for one in members(preset("Paper, with its models", **ONE))}
    families = {
        "generator-a": "mistral:7b", "generator-b": "gemma3:12b", "juror-01": "qwen2.5:7b", "juror-02": "llama3.1:8b",
        "juror-03": "llama-distill", "juror-04": "glm4:9b", "juror-05": "gemma3:12b", "editor": "mistral:7b",
        "assessor": "gpt-4",
    }  # fmt: skip
    assert who.keys() == families.keys()
    assert [name for name, family in families.items() if family not in who[name]] == []


SEVEN: dict[str, str] = next(one for one in JURIS.presets if one.title.startswith("Seven")).changes["points_of_view"]


@pytest.mark.parametrize("stated", [{}, SEVEN], ids=["nothing stated", "seven stated"])
def test_a_point_of_view_reaches_its_seat_alone(house: Courthouse, stated: dict[str, str]) -> None:
    model = panel()
    record = write(house, model, points_of_view=stated, longest=3, order="fixed")
    for task, seats in (("length", 5), ("ballot", 5), ("generate", 2)):
        assert len(set(model.prompts(task)[:seats])) == (seats if stated else 1), task
    assert all((f"> {view}" in "\n".join(model.prompts())) == bool(stated) for view in SEVEN.values())
    (table,) = views.jurors(record)[""]
    assert [row[2] for row in table.rows] == [stated.get(f"juror-0{seat}") for seat in range(1, 6)]


@pytest.mark.parametrize("part", ["roles", "members"])
@pytest.mark.parametrize("own", [{}, {"assessor": {"temperature": 0.4}}], ids=["nothing set", "temperature alone"])
def test_the_assessor_is_never_the_runs_own_model(house: Courthouse, part: str, own: dict[str, Any]) -> None:
    record = write(house, panel(), **{part: own})
    assert not any(call.member == "assessor" for call in record.calls)
    assert record.run.verdict.details["assessment"] is None
    assert "has no model of its own" in str(views.measures(record))


@pytest.mark.usefixtures("server")
def test_the_shell_warns_and_so_does_the_report(house: Courthouse) -> None:
    small = ["--set", "shortest=1", "--set", "longest=1", "--set", "jury_size=2"]
    told = CliRunner().invoke(app, ["run", "news-night-bus", "--model", "openai/one", *small, "--json"])
    assert told.exit_code == 0, told.stderr
    assert told.stderr.startswith("Warning: Both jurors are one model (openai/one) with one prompt")
    result = json.loads(told.stdout)
    assert len(result["warnings"]) == 3
    record = house.record(result["run"])
    page = report.as_html(record, JURIS, house.answers, house.media)
    assert all(f'<p class="notice">{escape(warning)}</p>' in page for warning in record.setup.warnings())
