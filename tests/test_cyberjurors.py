"""CyberJurors against algorithm 1 of its paper, by a scripted model; what each stage is shown: its inputs of the equations, no more."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from courtroom import Courthouse, Hit, Medium, ModelSpec, Record, Search
from courtroom.cases.dispute import Dispute, Evidence, PrecedentBatch
from courtroom.engine.interventions import AddEvidence
from courtroom.engine.run import Control
from courtroom.knowledge.bases import dispute_text, from_dispute
from courtroom.models.request import Request
from courtroom.models.wire import to_wire
from courtroom.panel.follow_graph import FollowGraph
from courtroom.procedures.cyberjurors.procedure import CYBERJURORS
from tests import pictures
from tests.asked import leaves
from tests.driving import answered_by, drive, hearing, prepared, whole_hearing
from tests.scripted_jury import Jury
from tests.toy import text_of

CASE = "phone-battery"


@pytest.fixture
def jury() -> Jury:
    return Jury()


@pytest.fixture
def house(house: Courthouse, jury: Jury) -> Courthouse:
    """One in which the jury answers, whichever model is asked."""
    return answered_by(house, jury)


def hear(house: Courthouse, case: Dispute | None = None, seed: int = 0, **knobs: Any) -> Record:
    given = {"model": ModelSpec(id="scripted", vision="no"), "jury_size": 5, **knobs}
    return whole_hearing(house, "cyberjurors", case or CASE, seed, **given)


def tasks(record: Record) -> Counter[str]:
    return Counter(call.task for call in record.calls)


def asked(jury: Jury, *names: str) -> list[Request]:
    return [request for request in jury.asked if request.task.name in names]


@pytest.fixture
def case(house: Courthouse) -> Dispute:
    return house.library.case(CASE)


def test_each_juror_examines_for_itself_and_only_once_over_all_rounds(house: Courthouse, jury: Jury) -> None:
    record = hear(house, consensus=1.0)
    # three pieces by the buyer, two by the seller; where one piece alone is left nothing is selected
    assert tasks(record) == {"extract": 5, "select": 15, "perceive": 25, "analyse": 5, "judge": 15, "summarise": 3}
    assert " ".join(stage.path for stage in record.stages) == "evidence precedents round-1 round-2 round-3 verdict"
    shared = hear(house, examination="shared", consensus=1.0)
    assert tasks(shared) == {"extract": 1, "select": 3, "perceive": 5, "analyse": 1, "judge": 15, "summarise": 3}
    assert tasks(hear(house, examination="shared", grounding_rounds=2))["perceive"] == 2 * 2, "so many for each side"
    assert {call.member for call in shared.calls if call.task == "perceive"} == {"examiner"}
    jury.sufficient = True
    assert tasks(hear(house, seed=1))["perceive"] == 5 * 2, "it ends early when a side is sufficiently verified"


@pytest.mark.parametrize(
    ("variant", "expected"),
    [
        ("baseline", {"judge-at-once": 1}),
        ("rules", {"judge-at-once": 1}),
        ("sr-cot", {"extract": 1, "select": 2, "perceive": 2, "analyse": 1, "judge": 1}),
        ("iv-cot", {"extract": 1, "select": 3, "perceive": 5, "analyse": 1, "judge": 1}),
        ("iv-cot-lite", {"extract": 1, "select": 3, "perceive": 5, "analyse": 1, "judge": 1}),
        ("jury", {"extract": 5, "select": 15, "perceive": 25, "analyse": 5, "judge": 5, "summarise": 1}),
        ("cyberjurors", {"extract": 5, "select": 15, "perceive": 25, "analyse": 5, "judge": 5, "summarise": 1}),
    ],
)
def test_a_variant_asks_what_the_paper_says(house: Courthouse, variant: str, expected: dict[str, int]) -> None:
    record = hear(house, variant=variant)
    assert tasks(record) == expected
    assert bool(record.retrievals) == (variant == "cyberjurors")


def test_rules_are_in_the_prompt_from_the_variant_rules_on(house: Courthouse, jury: Jury, case: Dispute) -> None:
    for variant in ("baseline", "rules"):
        hear(house, variant=variant)
        assert all(one.text in text_of(jury.asked[-1]) for one in (*case.chat, *case.evidence)), "the whole case"
        assert ("Rules for the verdict" in text_of(jury.asked[-1])) is (variant == "rules")


def test_discussion_ends_when_the_majority_exceeds_the_threshold_not_at_it(house: Courthouse, jury: Jury) -> None:
    jury.votes = lambda request: "seller" if request.tag.endswith("juror-01") else "buyer"
    assert len(hear(house, consensus=0.8).tallies) == 3  # 4 of 5 is 0.8, not more
    assert len(hear(house, consensus=0.79).tallies) == 1
    # Who abstains counts among those who could agree.
    jury.votes = lambda request: "neither" if request.tag.endswith("juror-01") else "buyer"
    assert len(hear(house, seed=1, consensus=0.8).tallies) == 3  # 4 of 5, although 4 of the 4 who voted
    assert len(hear(house, seed=1, consensus=0.8, empty_seats=(1,)).tallies) == 1, "an empty seat does not count"


def test_the_summary_after_the_last_round_is_the_rationale_of_the_verdict(house: Courthouse, jury: Jury) -> None:
    record = hear(house, rounds=2, consensus=1.0)
    made = [call.value for call in record.calls if call.task == "summarise"]
    assert len(made) == len(record.tallies)
    sections = ("prevailing_orientation", "key_arguments", "debate_intensity")
    assert record.run.verdict.summary == "\n\n".join(made[-1][section] for section in sections)


def test_a_tie_goes_where_it_is_set_to_go_and_the_verdict_says_so(house: Courthouse, jury: Jury) -> None:
    jury.votes = lambda request: "seller" if request.tag.endswith(("01", "02")) else "buyer"
    for side in ("buyer", "seller"):
        verdict = hear(house, jury_size=4, tie=side, rounds=1).run.verdict
        assert (verdict.outcome, "tie" in verdict.note) == (side, True)


def test_a_juror_hears_those_whom_it_follows_and_nobody_else(house: Courthouse, jury: Jury) -> None:
    record = hear(house, consensus=1.0, graph=FollowGraph(edges=((0, 1), (0, 3))), rounds=3)
    names = [member.name for member in record.members if member.role == "juror"]
    by_tag = {request.tag: request for request in jury.asked if request.task.name == "judge"}
    own = str(by_tag["0/juror-01"].messages[1].parts[-1])
    assert all(f"{names[j]} voted for" in own for j in (1, 3))
    assert not any(f"{names[j]} voted for" in own for j in (2, 4))
    for number, is_told in ((1, False), (2, True)):
        said = [record.call(f"round-{number}/juror-0{seat}/judge").value["reasoning"] for seat in (2, 4)]
        assert {f"> - {reason}" in own for reasons in said for reason in reasons} == {is_told}, "the round before"
    alone = str(by_tag["0/juror-02"].messages[1].parts[-1])
    assert alone.count("voted for") == alone.count(" you voted for") == 2
    assert "None of the others' own words reach you: what they think you have as the clerk sums it up." in alone
    assert "You hear 2 of the 4 other jurors in their own words, and all of them as the clerk sums up." in own
    assert record.setup.warnings() == (
        f"Nobody's words reach these in the follow-graph: {', '.join(names[seat] for seat in (1, 2, 3, 4))}.",
    )


def test_a_juror_knows_what_it_said_and_the_last_round_but_not_under_paper(house: Courthouse, jury: Jury) -> None:
    plain = {"wording": "plain", "recall": "all"}
    paper = {"wording": "paper", "recall": "nothing"}
    said = {
        "In round 1 you voted for the buyer; you said:",
        "In round 2 you voted for the buyer; you said:",
        "This is round 3 of at most 3, the last",
        "There are two outcomes and no third",
        "a vote for the buyer means that what the buyer asks for is granted as it stands",
        "Name others by their whole names",
        "use those that touch it, and leave the others aside.",
        "What caused it need not be shown: where the fact is settled",
        "counts as given, in the listing as well as in the chat.",
        "> buyer-1 (submission 1), ",
    }
    for knobs, expected in ((plain, said), (paper, set())):
        jury.asked.clear()
        hear(house, consensus=1.0, rounds=3, **knobs)
        last = text_of(asked(jury, "judge")[-1])
        assert {one for one in said if one in last} == expected
        assert "Still the vote is your own" in last
        assert ("Rules for the verdict" in text_of(asked(jury, "summarise")[0])) == bool(expected)
        assert ("says with the piece" in text_of(asked(jury, "perceive")[0])) == bool(expected)
        assert ("say each thing once" in text_of(asked(jury, "analyse")[0])) == bool(expected)
    assert {"wording", "recall", "graph.least", "model.lengths"} <= {one.knob for one in CYBERJURORS.paper_settings}


def test_late_evidence_is_new_in_its_round_and_awaits_an_answer(house: Courthouse, jury: Jury) -> None:
    given = {"model": ModelSpec(id="scripted", vision="no"), "jury_size": 2, "rounds": 3, "consensus": 1.0}
    run = drive(house, prepared(house, "cyberjurors", CASE, **given), Control(stage="round 1"))
    house.interventions.intervene(run, AddEvidence(side="buyer", text="The neighbour saw it."))
    drive(house, run, Control(stage="round 2"))
    house.interventions.intervene(run, AddEvidence(side="seller", text="He was away that week."))
    drive(house, run)
    new, open_ = "New in this round", "The seller has not answered this."
    for name, rounds in (("judge", ((), (new, open_), (new,))), ("summarise", ((), (new, open_), (new,)))):
        said = {request.task.round: text_of(request) for request in asked(jury, name)}
        told = [tuple(words for words in (new, open_) if words in said[number]) for number in (1, 2, 3)]
        assert tuple(told) == rounds, name
        examined, came_in = said[3].find("The two sides against each other"), said[3].index("# Evidence that came in")
        assert examined < came_in < said[3].index("# Your task"), name
        assert said[3].count("New in this round") == 1, "what came in before is known"


def test_one_changed_persona_asks_one_verdict_anew_and_no_perception(house: Courthouse, jury: Jury) -> None:
    first = hear(house, rounds=1, consensus=1.0).setup

    def anew(**changes: Any) -> list[str]:
        jury.asked.clear()
        hear(house, rounds=1, consensus=1.0, **{"jury": first.jury, "graph": first.graph, **changes})
        return [request.task.name for request in jury.asked]

    changed = first.jury[2].model_copy(update={"traits": ("stubborn",), "name": "Somebody Else"})
    assert anew(jury=(*first.jury[:2], changed, *first.jury[3:])) == ["judge", "summarise"]
    rules = (*first.rules[1:], "A torn label decides.")
    assert {"extract", "analyse"} < {*anew(rules=rules)}, "the examiner is told the rules"
    hear(house, rounds=1, consensus=1.0, jury=first.jury, graph=first.graph, wording="paper")
    assert anew(rules=rules, wording="paper") == ["judge"] * 5 + ["summarise"], "no examination is asked anew"


def test_a_juror_votes_on_all_that_its_examination_found(house: Courthouse, jury: Jury) -> None:
    record = hear(house, jury_size=1, rounds=1)
    (judged,) = map(text_of, asked(jury, "judge"))
    looked_at = {call.path.rpartition("-")[0]: call for call in record.calls if call.task == "perceive"}
    for call in record.calls:
        if call.task in ("extract", "perceive", "analyse"):
            told = dict(call.value)
            if call.task == "perceive" and call not in looked_at.values():
                del told["sufficiency_reason"]  # how a side stands after its last piece is all that counts
            missing = {text for text in leaves(told) if text.rstrip(".") not in judged}
            assert missing <= {"image", "video", "high", "medium", "low", "none", "against"}, call.path


def test_selection_and_perception_see_what_is_left_of_one_side(house: Courthouse, jury: Jury, case: Dispute) -> None:
    record = hear(house, jury_size=2)
    for request in asked(jury, "select", "perceive"):
        task: Any = request.task
        left = [piece.id for piece in (task.candidates if task.name == "select" else (task.evidence,))]
        assert {piece.id for piece in case.evidence if piece.text in text_of(request)} == {*left}
        assert {piece[: piece.index("-")] for piece in left} == {task.side}
        assert task.name != "select" or f'"enum": {json.dumps(left)}' in text_of(request)
    taken = record.call("evidence/juror-01/select-buyer-1").value["selected_evidence_id"]
    later = next(r.task for r in asked(jury, "select") if r.tag.endswith("01") and r.task.looked_at)
    assert taken not in {piece.id for piece in later.candidates}


def test_after_perception_the_paper_sends_no_texts_of_evidence(house: Courthouse, jury: Jury, case: Dispute) -> None:
    hear(house, jury_size=2, wording="paper")
    sent = asked(jury, "analyse", "judge", "summarise")
    assert {request.task.name for request in sent} == {"analyse", "judge", "summarise"}
    assert not any(piece.text in text_of(request) for request in sent for piece in case.evidence)
    assert all(line.text in text_of(request) for request in sent for line in case.chat)


def test_a_piece_not_examined_is_told_in_its_sides_own_words(house: Courthouse, jury: Jury, case: Dispute) -> None:
    jury.sufficient = True
    hear(house, jury_size=2)
    everything = {piece.id for piece in case.evidence}
    for request in asked(jury, "analyse", "judge"):
        task: Any = request.task
        left = {piece.id for piece in task.unexamined}
        assert left
        told = {piece.id for piece in case.evidence if piece.text in text_of(request)}
        assert told == everything, "who weighs has each piece's own words"
    clerk = asked(jury, "summarise")[0]
    assert all(piece.text in text_of(clerk) for piece in case.evidence), "jurors cite them"


def test_who_hears_its_own_side_alone_answers_what_the_clerk_sums_up(house: Courthouse, jury: Jury) -> None:
    jury.votes = lambda request: "seller" if request.tag.endswith("juror-03") else "buyer"
    hear(house, rounds=2, consensus=1.0, graph=FollowGraph(edges=((0, 1), (1, 0), (1, 2), (3, 2))))
    second = {request.tag: text_of(request) for request in asked(jury, "judge") if request.task.round == 2}
    assert all("answer what speaks against you" in text for text in second.values()), "the clerk says what all say"
    assert all("do not only repeat yourself" in text for text in second.values())


@pytest.mark.parametrize(
    ("share", "words"),
    [
        (0.8, "ends with the round in which more than 80 % of all jurors vote alike, at the latest with round 2"),
        (1.0, "All rounds are held, and the majority of the last decides."),
    ],
)
def test_a_juror_is_told_when_the_discussion_ends(house: Courthouse, jury: Jury, share: float, words: str) -> None:
    jury.votes = lambda request: "seller" if request.tag.endswith(("01", "02", "03")) else "buyer"
    hear(house, jury_size=6, rounds=2, consensus=share)
    first, last = (text_of(asked(jury, "judge")[place]) for place in (0, -1))
    assert words in first
    assert words not in last
    assert "the last: the majority of this round decides." in last


def test_the_clerk_knows_what_jurors_cite_of_a_shared_examination(house: Courthouse, jury: Jury) -> None:
    record = hear(house, rounds=1, examination="shared")
    (clerk,) = asked(jury, "summarise")
    found = [call.value["evidence_summary"] for call in record.calls if call.task == "perceive"]
    norms = {norm for request in asked(jury, "judge") for norm in request.task.memory}
    assert found
    assert norms
    assert all(words in text_of(clerk) for words in (*found, *norms))


def test_made_up_pictures_alone_are_called_illustrations(house: Courthouse, jury: Jury, case: Dispute) -> None:
    real = case.model_copy(update={"fictional": False})
    for heard, wording, told in ((case, "plain", True), (case, "paper", False), (real, "plain", False)):
        jury.asked.clear()
        hear(house, heard, jury_size=1, rounds=1, wording=wording)
        assert {"are drawn: take each as" in text_of(request) for request in jury.asked} == {told}
    jury.asked.clear()
    hear(house, house.library.case("camera-fungus"), jury_size=1, rounds=1)
    told_when = "> seller-1 (submission 1, came in 2026-04-26 09:15), "
    assert told_when in text_of(asked(jury, "judge")[0]), "when an examined piece came in"


def test_earlier_clues_come_with_what_was_seen_and_what_it_argues(house: Courthouse, jury: Jury) -> None:
    record = hear(house, jury_size=1)
    first = record.call("evidence/juror-01/perceive-buyer-1").value
    finding = first["visual_findings"][0]
    for name, earlier in (("select", "looked_at"), ("perceive", "before")):
        later = next(r for r in asked(jury, name) if r.task.side == "buyer" and getattr(r.task, earlier))
        wanted = [finding["description"], finding["benefit_analysis"], first["sufficiency_reason"]]
        wanted += [first["evidence_summary"], record.case.transaction.product, record.case.chat[-1].text]
        assert all(text in text_of(later) for text in wanted), name


def test_examinations_that_differ_by_sampling_alone_are_asked_once_when_cold(house: Courthouse, jury: Jury) -> None:
    def examined(seed: int, **knobs: Any) -> int:
        jury.asked.clear()
        record = hear(house, jury_size=3, rounds=1, seed=seed, **knobs)
        assert len(asked(jury, "judge")) == 3
        assert bool([note for note in record.notes if "asked once" in note]) == (len(asked(jury, "extract")) < 3)
        return len(asked(jury, "extract"))

    cold, other = ModelSpec(id="cold", vision="no", temperature=0), ModelSpec(id="other", vision="no", temperature=0)
    assert examined(1) == 3
    assert examined(2, model=cold) == 1
    assert examined(3, model=cold, members={"juror-02": other}) == 2
    assert examined(4, model=cold, persona_examines=True) == 3


@pytest.mark.parametrize("variant", ["baseline", "rules", "sr-cot", "iv-cot", "iv-cot-lite"])
def test_a_single_model_hears_of_no_jury_or_norms(house: Courthouse, jury: Jury, case: Dispute, variant: str) -> None:
    late = Evidence(id="seller-9", side="seller", text="A receipt was found behind the sofa.", late=True)
    hear(house, case.model_copy(update={"evidence": (*case.evidence, late)}), variant=variant, rules=())
    words = " ".join(text_of(request) for request in jury.asked).lower()
    others = ("jury", "juror", "clerk", "norm that", "norms", "vote", "those who decide", "whoever reads")
    assert not any(word in words for word in others)
    looks = [text_of(request) for request in asked(jury, "perceive", "analyse")]
    assert all("When you decide, you have" in text for text in looks), "it decides itself, by what it has found"


@pytest.mark.parametrize("order", ["paper", "reasons-first"])
def test_the_fields_of_an_answer_stand_in_the_order_of_the_setup(house: Courthouse, jury: Jury, order: str) -> None:
    hear(house, jury_size=1, rounds=1, field_order=order)
    of_select, of_perceive = ("selected_evidence_id", "reason"), ("is_sufficient", "sufficiency_reason")
    fields = {"select": of_select, "perceive": of_perceive, "judge": ("verdict", "reasoning")}
    for name, (decision, reason) in fields.items():
        form = text_of(asked(jury, name)[0]).rpartition("Answer with one JSON object")[2]
        assert (form.index(f'"{decision}"') < form.index(f'"{reason}"')) == (order == "paper"), name


def test_the_analysis_is_shown_key_frames_alone(house: Courthouse, jury: Jury, case: Dispute, tmp_path: Path) -> None:
    kept = house.media.take(pictures.clip(tmp_path / "a.webm", 80, codec="VP80").read_bytes(), "a.webm")
    clip = Medium(id="clip", kind="video", file="a.webm", sha256=kept)
    pieces = [p.model_copy(update={"media": (clip,) if p.id == "buyer-1" else ()}) for p in case.evidence]
    jury.seen = {"media_index": 0, "timestamp": "00:02-00:05"}
    case = case.model_copy(update={"evidence": tuple(pieces)})
    hear(house, case, jury_size=1, rounds=1, model=ModelSpec(id="scripted", vision="yes"))

    def labels(name: str) -> list[str]:
        wires = [to_wire(request.messages, house.media) for request in asked(jury, name)]
        parts = [part for wire in wires for message in wire for part in message["content"] if isinstance(part, dict)]
        return [part["text"] for part in parts if part["type"] == "text" and part["text"].startswith(("Video", "at "))]

    assert labels("perceive")[0] == "Video 0, 30 frames:"
    assert labels("analyse") == ["Video 0, 2 frames:", "at 00:02.5:", "at 00:05.4:"]


def found(record: Record) -> tuple[Hit, ...]:
    (searched,) = [retrieval for retrieval in record.retrievals if isinstance(retrieval.query, Search)]
    return searched.hits


def test_a_dispute_never_meets_the_precedent_that_was_made_of_it(house: Courthouse, jury: Jury, case: Dispute) -> None:
    own = from_dispute(case).model_copy(update={"norms": ("The jury decided just this case so.",)})
    house.knowledge.of("precedents").add([own, own.model_copy(update={"id": "copied"})])
    assert {own.id, "copied"}.isdisjoint(hit.id for hit in found(hear(house, jury_size=2, precedents=5)))
    assert not any("decided just this case" in text_of(request) for request in jury.asked)


def test_a_precedent_without_norms_displaces_none_that_has_some(house: Courthouse, jury: Jury, case: Dispute) -> None:
    text = dispute_text(case)
    bare = [
        precedent.model_copy(update={"id": f"bare-{n}", "dispute": f"{text}\n{n}", "norms": (), "category": "Other"})
        for n, precedent in enumerate(house.knowledge.of("precedents").all()[:6])
    ]
    house.knowledge.of("precedents").add(bare)
    hits = found(hear(house, jury_size=2, precedents=3))
    assert [bool(hit.record["norms"]) for hit in hits] == [True] * 3
    batch = PrecedentBatch(id="b", title="B", precedents=tuple(bare[:2]))
    first, second = hearing(house, "distillation", batch).retrievals
    assert all(hit.record["norms"] for hit in (*first.hits, *second.hits))
    assert second.hits[0].id == "bare-0", "the norms distilled before are in view"
    assert {text_of(one).count("Category") for one in asked(jury, "reflect")} == {0}, "it is not said to be Other"


def test_a_precedent_is_the_whole_dispute_with_its_chat_and_what_its_media_show(case: Dispute) -> None:
    long = case.evidence[0].model_copy(update={"text": "The battery is weak. " * 400 + "That is all."})
    precedent = from_dispute(case.model_copy(update={"evidence": (long, *case.evidence[1:])}))
    decided = (precedent.buyer_votes, precedent.seller_votes, precedent.winner, precedent.norms)
    assert decided == (case.jury.buyer, case.jury.seller, case.jury.winner, ())
    text = precedent.dispute
    assert text.count("The battery is weak.") == 400
    told = [*(one.text for one in (*case.chat, *case.evidence[1:])), *(one.description for one in case.media())]
    deal = case.transaction
    told += [case.category, deal.product, deal.condition, deal.description, deal.order_state]
    assert all(one in text for one in told)
