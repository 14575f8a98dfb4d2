"""JURIS: the length by majority, ballots, ties, the editor's pass, the baselines; with a scripted and the offline model."""

from typing import Any

import pytest
from pydantic import ValidationError

from courtroom.cases.document import Document
from courtroom.courthouse import Courthouse
from courtroom.engine.blocks import Diff, Marked, runs
from courtroom.evaluation.grounding import grounding, where
from courtroom.evaluation.summaries import lead, overlap
from courtroom.procedures.juris import views
from courtroom.procedures.juris.kept import why_not_kept
from courtroom.procedures.juris.procedure import most_proposed
from courtroom.procedures.juris.setup import JurisSetup
from tests.juris import ASSESSOR, CASE, GOOD, INVENTED, OTHER, TEXT, panel, rendered, write
from tests.toy import Scripted


@pytest.mark.parametrize(
    ("proposed", "length"),
    [((3, 5, 5, 7, 5), 5), ((3, 3, 8, 8, 6), 8), ((4, 4, 6, 6), 4), ((2, 3, 4), 3), ((9,), 9)],
)
def test_the_most_proposed_length_counts_and_of_several_the_one_nearest_the_median(
    proposed: tuple[int, ...], length: int
) -> None:
    assert most_proposed(proposed) == length


def test_every_sentence_is_a_ballot_and_the_majority_takes_it(house: Courthouse) -> None:
    record = write(house, panel(votes=lambda request: "B" if request.task.seat > 2 else "A"), roles=ASSESSOR)
    assert [stage.name for stage in record.stages] == [
        "Length", "Sentence 1", "Sentence 2", "Sentence 3", "Editing", "Assessment",
    ]  # fmt: skip
    assert record.run.verdict.details["accepted"] == [f"{OTHER} {n}" for n in range(3)]
    assert {path: tally.counts for path, tally in record.tallies.items()} == {
        f"sentence-{n}": {"A": 2, "B": 3} for n in (1, 2, 3)
    }
    assert not any(vote.changed for votes in record.ballots.values() for vote in votes.values())


def test_a_tie_goes_to_the_candidate_that_the_document_supports_better(house: Courthouse) -> None:
    model = panel(
        votes=lambda request: "AB"[request.task.seat % 2],
        sentences=lambda request: f"{INVENTED if request.task.letter == 'A' else GOOD} {len(request.task.accepted)}",
    )
    record = write(house, model, jury_size=4)
    assert record.run.verdict.details["accepted"][0].startswith(GOOD)
    assert any("was a tie; candidate B was taken" in note for note in record.notes)


def test_two_equal_candidates_need_no_ballot(house: Courthouse) -> None:
    record = write(house, panel(sentences=lambda request: f"{GOOD} {len(request.task.accepted)}"))
    assert not record.ballots
    assert sum("without a ballot" in note for note in record.notes) == 3


@pytest.mark.parametrize(
    ("proposed", "range_", "length"),
    [
        *((99, {}, 5), (99, {"longest": 4}, 4), (1, {}, 3), (99, {"longest": None}, 5), (1, {"shortest": None}, 1)),
        (1, {"shortest": 8}, 5),  # the document has five sentences
    ],
)
def test_a_length_outside_the_range_is_cut_to_it_and_never_asked_again(
    house: Courthouse, proposed: int, range_: dict[str, Any], length: int
) -> None:
    model = panel(lengths=lambda request: proposed, sentences=lambda request: f"{GOOD} {len(request.task.accepted)}")
    record = write(house, model, **range_)
    assert sum(request.task.name == "length" for request in model.history) == 5
    assert not any("from 3 to 10" in rendered(request) for request in model.history)
    assert sum(stage.stage_kind == "sentence" for stage in record.stages) == length
    cut = f"The jury decided on a length of {proposed}; the range makes it {length}."
    assert (cut in record.notes) == (proposed != length)
    assert record.asked <= house.procedures["juris"].at_most(CASE, record.setup)


def test_a_jury_of_which_fewer_than_the_quorum_answer_stops_the_run_in_words(house: Courthouse) -> None:
    record = write(house, panel(votes=lambda request: "A" if request.task.seat == 1 else "neither"), reasks=0)
    assert record.run.status == "failed"
    assert "Only 1 of 5 members could vote in Sentence 1" in record.run.reason


@pytest.mark.parametrize(
    ("model", "few"),
    [
        (panel(sentences=lambda request: "  "), "0 of 2 generators had a sentence"),
        (panel(lengths=lambda request: 3 if request.task.seat == 1 else 0), "1 of 5 jurors proposed a length"),
    ],
)
def test_too_few_lengths_and_no_sentence_stop_the_run_in_the_same_words(
    house: Courthouse, model: Scripted, few: str
) -> None:
    record = write(house, model, reasks=0)
    assert record.run.reason == (
        f"Only {few}, fewer than the quorum asks for. "
        "Check the models' server and keys, then continue: those who failed are asked again."
    )


def test_a_dynamic_jury_is_drawn_anew_from_the_pool_by_the_seed(house: Courthouse) -> None:
    record = write(house, panel(), jury="dynamic", pool=9, jury_size=3)
    benches = [tuple(sorted(votes)) for votes in record.ballots.values()]
    assert {len(bench) for bench in benches} == {3}
    assert len(set(benches)) > 1
    again = write(house, panel(), jury="dynamic", pool=9, jury_size=3)
    assert [tuple(sorted(votes)) for votes in again.ballots.values()] == benches


def test_one_seat_more_keeps_all_who_were_drawn(house: Courthouse) -> None:
    five, six = (write(house, panel(), jury="dynamic", pool=25, jury_size=size).ballots.values() for size in (5, 6))
    assert all(set(few) < set(more) for few, more in zip(five, six, strict=True))
    wide = write(house, panel(), jury="dynamic", pool=26, jury_size=5).ballots.values()
    assert all(len(set(few) - set(other)) <= 1 for few, other in zip(five, wide, strict=True))


ACCEPTED = (f"{OTHER} 0", GOOD)
EDITS = {
    "a short sentence": (OTHER, GOOD, "Nobody was hurt."),
    "a day": (OTHER, "Forty families left their houses before Friday."),
    "a clause": (OTHER, "Forty families left their houses, the school opened as a shelter, and nobody was hurt."),
    "a number": (OTHER, "Forty families left 12 houses."),
    "a name": (OTHER, "Forty families and Johnson left their houses."),
    "another matter": (OTHER, GOOD, "The mayor opened the school as a shelter."),
}
"""The last one is true to the document: the jury has not accepted it."""


@pytest.mark.parametrize("what", EDITS)
def test_the_editor_that_adds_something_is_asked_again_and_then_the_accepted_sentences_stand(
    house: Courthouse, what: str
) -> None:
    model = panel(
        sentences=lambda request: ACCEPTED[len(request.task.accepted)], lengths=lambda request: 2, edited=EDITS[what]
    )
    record = write(house, model, shortest=2)
    assert [request.task.name for request in model.history].count("edit") == 3
    assert record.run.verdict.details["accepted"] == list(ACCEPTED)
    assert record.run.verdict.summary == " ".join(ACCEPTED)
    assert any("nothing else: the accepted sentences stand" in note for note in record.notes)


def test_as_in_the_paper_the_editors_text_is_taken_as_it_is_and_what_goes_beyond_is_marked(house: Courthouse) -> None:
    edited = EDITS["another matter"]
    sentences = {"sentences": lambda request: ACCEPTED[len(request.task.accepted)], "lengths": lambda request: 2}
    model = panel(**sentences, edited=edited)
    record = write(house, model, shortest=2, check_edit=False)
    (edit,) = [rendered(request) for request in model.history if request.task.name == "edit"]
    assert "word by word" not in edit
    assert "keep their order" in edit
    assert record.run.verdict is not None
    assert record.run.verdict.summary == " ".join(edited)
    assert record.run.verdict.details["unsupported"] == [edited[-1]]
    assert not any("accepted sentences stand" in note for note in record.notes)


@pytest.mark.parametrize("told", [True, False])
def test_a_generator_is_told_the_length_unless_it_is_given_what_the_paper_gives_it(
    house: Courthouse, told: bool
) -> None:
    model = panel()
    write(house, model, tell_target=told)
    asked = [rendered(request) for request in model.history if request.task.name == "generate"]
    assert all(("of 3 sentences" in text) is told for text in asked)
    assert all("Accepted so far: " in text for text in asked)


@pytest.mark.parametrize(
    ("edited", "kept"),
    [
        ((GOOD, OTHER), True),
        (("The river rose two metres, and forty families left their houses.",), True),
        ((GOOD,), False),
        (("The river rose two metres, so forty families had to leave their houses.",), True),
        (("The river rose two metres, mayor Keller says, and forty families left their houses.",), True),
    ],
)
def test_the_editor_may_join_reorder_and_clarify_but_leave_nothing_out(edited: tuple[str, ...], kept: bool) -> None:
    case = CASE.model_copy(update={"text": f"{TEXT} So said the mayor, Keller."})
    assert (why_not_kept((OTHER, GOOD), edited, case) is None) == kept


def test_the_editor_reads_the_accepted_sentences_and_may_not_add_from_the_document(house: Courthouse) -> None:
    model = panel()
    write(house, model)
    (edit,) = [rendered(request) for request in model.history if request.task.name == "edit"]
    assert all(sentence in edit for sentence in (f"{GOOD} 0", f"{GOOD} 2"))
    assert "even if the document says it" in edit


def test_what_a_writer_makes_up_is_flagged(house: Courthouse) -> None:
    record = write(house, panel(told={"write": {"sentences": [GOOD, INVENTED]}}), variant="generator-a")
    verdict = record.run.verdict
    assert verdict.details["unsupported"] == [INVENTED]
    assert "may lack support" in verdict.note
    marked = next(block for block in views.summary(record)[""] if isinstance(block, Marked))
    assert [text for text, span in runs(marked) if span] == [INVENTED]


def test_what_the_editor_changes_is_shown(house: Courthouse) -> None:
    record = write(house, panel(edited=(f"{GOOD} 0 1 2",)))
    diff = next(block for block in views.summary(record)[""] if isinstance(block, Diff))
    assert (diff.before, diff.after) == (f"{GOOD} 0 {GOOD} 1 {GOOD} 2", f"{GOOD} 0 1 2")


def test_variants_leave_out_what_they_say(house: Courthouse) -> None:
    plain = write(house, panel(), variant="no-editor", assess=False, roles=ASSESSOR)
    assert [stage.stage_kind for stage in plain.stages][-1] == "sentence"
    alone = write(house, panel(), variant="generator-b", roles=ASSESSOR)
    assert {call.member for call in alone.calls} == {"generator-b", "assessor"}
    assert alone.run.verdict.summary == GOOD


def test_a_reference_summary_reaches_no_member(house: Courthouse) -> None:
    model = panel()
    write(house, model, roles=ASSESSOR)
    assert not any(
        "drove forty families" in str(part)
        for request in model.history
        for message in request.messages
        for part in message.parts
    )


def test_knobs_that_contradict_each_other_are_refused() -> None:
    with pytest.raises(ValidationError, match="Swap them"):
        JurisSetup(shortest=8, longest=3)
    with pytest.raises(ValidationError, match="smaller than the jury"):
        JurisSetup(jury="dynamic", pool=3, jury_size=5)


def test_views_show_each_ballot_with_support_critiques_and_agreement(house: Courthouse) -> None:
    record = write(house, panel(votes=lambda request: "B" if request.task.seat == 1 else "A"))
    shown = views.ballots(record)
    assert list(shown) == ["Sentence 1", "Sentence 2", "Sentence 3"]
    beside, support, critiques = shown["Sentence 1"]
    assert [part.title for part in beside.blocks] == [
        "Candidate A · 80% supported · 4 votes", "Candidate B · 80% supported · 1 vote",
    ]  # fmt: skip
    assert isinstance(support, Marked)
    assert (GOOD, "A") in [(text, span.choice) for text, span in runs(support) if span]
    assert len(critiques.rows) == 5
    (agreement,) = views.jurors(record)[""]
    assert [row[-1] for row in agreement.rows] == [0.0, 1.0, 1.0, 1.0, 1.0]


def test_every_sample_document_is_summarised_offline_better_than_by_its_first_three_sentences(
    house: Courthouse,
) -> None:
    ours, first = [], []
    documents = [case.id for case in house.library.cases() if case.kind == "document"]
    assert len(documents) == 12
    for name in documents:
        case = house.library.case(name)
        record = write(house, case=case)
        assert record.run.wall_s < 10
        ours.append(overlap(record.run.verdict.summary, case.reference))
        first.append(overlap(lead(case.text, 3), case.reference))
    for measure in ("rouge_1", "rouge_2", "rouge_l"):
        assert sum(getattr(o, measure) for o in ours) >= sum(getattr(o, measure) for o in first)


@pytest.mark.slow
def test_a_long_document_of_many_sentences_is_summarised(house: Courthouse) -> None:
    text = " ".join(
        f"On day {n} the crew of ship {n % 97} sailed to port {n % 31} with {n * 7} crates." for n in range(2500)
    )
    record = write(house, case=Document(id="log", title="Log", text=text))
    assert record.run.verdict is not None, record.run.reason


# --- measures -----------------------------------------------------------------------------------------------


def test_grounding_is_the_share_of_words_in_at_most_two_sentences() -> None:
    found = grounding("Forty families opened the school.", TEXT)
    assert found.share == 1.0
    assert {TEXT[start:end] for start, end in found.spans} == {GOOD, "The mayor opened the school as a shelter."}
    assert grounding("Forty penguins left.", TEXT).share == pytest.approx(2 / 3)
    assert grounding(INVENTED, TEXT).share == 0.0
    assert not grounding(INVENTED, TEXT).supported
    assert grounding("It was.", TEXT).share == 1.0


def test_a_quotation_is_found_apart_from_case_and_white_space() -> None:
    place = where("“forty\n families”", TEXT)
    assert place is not None
    assert TEXT[slice(*place)] == "Forty families"
    assert where("fifty families", TEXT) is None
    assert where("", TEXT) is None
