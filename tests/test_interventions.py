"""What a person does to a run: put on record, taking effect just where it may, undone, forked, refused in words."""

import json
from pathlib import Path

import pytest

from courtroom import Courthouse, ModelSpec, Record, Settings, narrowed, report
from courtroom.engine.interventions import AddEvidence, AddNote, ChangeSetup, InterventionRefused, Overrule
from courtroom.engine.people import NoSuchSeat
from courtroom.engine.run import Control
from courtroom.judging.options import Proposal
from courtroom.models.schema import schema_of
from courtroom.procedures.mock_jury.tasks import Ballot
from courtroom.report.transcript import votes_in_long_form
from pages.parts.shared.blocks_view import unfit
from tests.driving import answered_by, drive, hearing, prepared, until
from tests.samples import sample
from tests.scripted_jury import Jury
from tests.toy import text_of

SMALL = {"jury_size": 5, "rounds": 3, "consensus": 1.0}


def paused_before(house: Courthouse, stage: str = "round 1", **knobs: object) -> str:
    """A jury's run that waits after a stage."""
    record = hearing(house, "cyberjurors", control=Control(stage=stage), **SMALL, **knobs)
    assert record.run.status == "paused"
    return record.run.id


def on(house: Courthouse, run: str, control: Control | None = None) -> Record:
    drive(house, run, control)
    return house.record(run)


def answers(record: Record) -> dict[str, object]:
    return {call.path: call.value for call in record.calls}


def overruled(record: Record, reason: str) -> Overrule:
    """The third juror's first vote, turned round."""
    path = "round-1/juror-03/judge"
    voted = record.call(path).value["verdict"]  # type: ignore[union-attr, index]
    return Overrule(path=path, value={"verdict": "seller" if voted == "buyer" else "buyer", "reasoning": [reason]})


def test_a_changed_persona_holds_from_the_next_round_on(house: Courthouse) -> None:
    run = paused_before(house)
    early = house.record(run)
    house.interventions.intervene(run, ChangeSetup(key="jury.2.traits", value=["stubborn"]), who="Ada")
    record = on(house, run)
    before, after = ({p: v for p, v in answers(one).items() if p.startswith("round-1")} for one in (early, record))
    assert before == after
    (made,) = record.interventions
    was = list(early.members[1].persona.traits)  # type: ignore[union-attr]
    assert (made.who, made.index, made.before, made.after) == ("Ada", 3, was, ["stubborn"])
    assert record.member("juror-02").persona.traits == ("stubborn",)  # type: ignore[union-attr]
    assert early.asked == sum(c.asked for c in record.calls if c.stage in ("evidence", "round-1"))
    fork = on(house, house.fork(run, record.setup))
    assert (fork.asked, answers(fork)) == (0, answers(record))
    assert [one.action for one in fork.interventions] == [made.action]


def test_late_evidence_and_notes_hold_from_the_next_stage(house: Courthouse) -> None:
    jury = Jury()
    jury.votes = lambda request: "seller" if "juror-01" in request.tag else "buyer"
    answered_by(house, jury)
    run = paused_before(house, model=ModelSpec(id="scripted"))
    evidence = AddEvidence(side="seller", text="A carrier's scan shows the table undamaged at the door.")
    house.interventions.intervene(run, evidence)
    house.interventions.intervene(run, AddNote(text="Speak plainly."), who="Ada")
    count = len(jury.asked)
    record = on(house, run)
    assert record.run.status == "done", record.run.reason
    said = list(map(text_of, jury.asked))
    assert not any("undamaged at the door" in text or "Speak plainly" in text for text in said[:count])
    assert all("undamaged at the door" in text and "> Speak plainly." in text for text in said[count:])
    assert json.loads(report.as_json(record, house.answers))["interventions"][1]["who"] == "Ada"
    assert "Speak plainly." in report.as_html(record, house.procedures["cyberjurors"], house.answers, house.media)


def test_an_intervention_is_undone_until_something_was_asked(house: Courthouse) -> None:
    run = paused_before(house)
    plain = on(house, house.fork(run, house.record(run).setup))
    overruling = overruled(house.record(run), "No.")
    house.interventions.undo(run, house.interventions.intervene(run, overruling).id)
    assert house.record(run).interventions == ()
    early = {p: v for p, v in answers(plain).items() if not p.startswith(("round-3", "verdict"))}
    assert answers(on(house, run, Control(stage="round 2"))) == early
    late = house.interventions.intervene(run, overruling)
    on(house, run, Control(stage="round 1"))
    assert on(house, run, Control(stage="round 2")).run.status == "paused"
    with pytest.raises(InterventionRefused, match="Since then"):
        house.interventions.undo(run, late.id)
    record = house.record(run)
    votes = votes_in_long_form(record, house.procedures["cyberjurors"], house.answers)
    (row,) = votes[votes["given"] != "free"].to_dict("records")
    assert (row["member"], row["given"], row["model"]) == ("juror-03", "overruled", "person")


def test_what_does_not_fit_is_refused_with_the_reason(house: Courthouse) -> None:
    run = paused_before(house)
    refused: list[tuple[object, str]] = [
        (Overrule(path="round-2/juror-01/judge", value={}), "Nothing was answered"),
        (Overrule(path="round-1/juror-01/judge", value={"verdict": "nobody"}), "doesn't fit"),
        (ChangeSetup(key="rounds", value="many"), "rounds"),
        (ChangeSetup(key="jury.99.traits", value=[]), "99"),
        (AddEvidence(side="", text="x"), "buyer"),
    ]
    for action, said in refused:
        with pytest.raises(InterventionRefused, match=said):
            house.interventions.intervene(run, action)  # type: ignore[arg-type]
    assert house.record(run).interventions == ()
    done = on(house, run)
    with pytest.raises(InterventionRefused, match="Fork it"):
        house.interventions.intervene(done.run.id, AddNote(text="Too late."))


WORDS = {
    *("reason", "reasoning", "summary", "argument", "on_first"),
    *("explanation", "key_arguments", "thought", "suggestions"),
}
"""Fields that hold free text, in which a change of words changes no decision."""


@pytest.mark.parametrize("name", ["cyberjurors", "verdict", "juris"])
def test_an_overruled_answer_changes_what_rests_on_it(house: Courthouse, name: str) -> None:
    procedure = house.procedures[name]
    plain = hearing(house, name, sample(house, procedure.kinds[0]))
    calls = [(call, field) for call in plain.calls for field in (call.value or {}) if field in WORDS]
    middle, field = next(one for one in calls[len(calls) // 2 :] if isinstance(one[0].value[one[1]], str))
    value = {**middle.value, field: f"{middle.value[field]} So it is overruled."}
    planned = house.interventions.planned(plain, [Overrule(path=middle.path, value=value)])
    changed = on(house, house.fork(plain.run.id, plain.setup, interventions=planned))
    assert changed.run.status == "done", changed.run.reason
    keys = {call.path: call.keys for call in plain.calls}
    for call in changed.calls:
        if keys.get(call.path) == call.keys:
            assert call.value == plain.call(call.path).value  # type: ignore[union-attr]
            assert not call.asked
    order = [call.path for call in plain.calls]
    rest = {call.path for call in changed.calls if keys.get(call.path) != call.keys and call.path != middle.path}
    assert all(path not in keys or order.index(path) > order.index(middle.path) for path in rest)


def test_two_people_at_once_lose_nothing_and_do_nothing_twice(house: Courthouse) -> None:
    run = paused_before(house)
    seen = house.store.interventions.count(run)
    house.interventions.intervene(run, AddNote(text="First."), who="Ada", seen=seen)
    with pytest.raises(InterventionRefused, match="Somebody else"):
        house.interventions.intervene(run, AddNote(text="Second."), who="Bo", seen=seen)
    for seen in (house.store.interventions.count(run), None):
        house.interventions.intervene(run, AddNote(text="Second."), who="Bo", seen=seen, name="bo-1")
    assert [(one.number, one.who) for one in house.record(run).interventions] == [(1, "Ada"), (2, "Bo")]


def waiting(house: Courthouse, run: str, count: int = 1) -> None:
    """Until so many questions wait."""
    until(lambda: len(house.people.waiting(run)) >= count, "questions to a person")


def seated(house: Courthouse, *members: str, **spec: object) -> str:
    people = {name: {"id": "person", **spec} for name in members}
    run = prepared(house, "cyberjurors", **{**SMALL, "rounds": 1, "examination": "shared", "members": people})
    house.runner.go(run)
    return run


def test_a_person_answers_through_the_seats_link(house: Courthouse) -> None:
    run = seated(house, "juror-02", "juror-04")
    waiting(house, run, 2)
    seat = house.people.seat(run, "juror-02")
    with pytest.raises(NoSuchSeat, match="no seat"):
        house.people.open("guess")
    assert house.people.open(seat.token) == seat
    assert house.people.seat(run, "juror-02").token == seat.token
    assert len(seat.token) >= 32
    (question,) = house.people.questions(seat)
    assert question.member == "juror-02"
    house.people.answer(seat, question, {"verdict": "maybe", "reasoning": ["Hm."]})
    waiting(house, run, 2)
    assert house.people.questions(seat)[-1].key != question.key, "what does not fit is asked again"
    for name in ("juror-02", "juror-04"):
        own = house.people.seat(run, name)
        asked = house.people.questions(own)[-1]
        assert house.people.answer(own, asked, {"verdict": "seller", "reasoning": ["I have seen it."]})
        assert not house.people.answer(own, asked, {"verdict": "buyer", "reasoning": ["Twice."]})
    record = on(house, run)
    call = record.call("round-1/juror-02/judge")
    assert (call.source, call.model, call.value["verdict"]) == ("person", "person", "seller")  # type: ignore[index]
    fork = on(house, house.fork(run, record.setup))
    assert (fork.asked, answers(fork)) == (0, answers(record))


def test_a_late_seat_abstains_or_falls_to_a_model(house: Courthouse) -> None:
    record = on(house, seated(house, "juror-02", wait_s=0.3))
    assert record.ballots["round-1"]["juror-02"].choice is None
    assert "did not answer in time" in record.call("round-1/juror-02/judge").error  # type: ignore[union-attr]
    run = seated(house, "juror-03", wait_s=0.3, otherwise="offline")
    record = on(house, run)
    assert record.ballots["round-1"]["juror-03"].choice is not None
    assert any("There offline answered instead of person" in note for note in record.notes)
    call = record.call("round-1/juror-03/judge")
    assert (call.source, call.model) == ("asked", "offline")  # nobody says that a person gave it
    fork = on(house, house.fork(run, record.setup))
    assert (fork.asked, answers(fork)) == (0, answers(record))
    assert house.people.waiting(fork.run.id) == []


def test_a_run_waits_for_a_person_after_a_restart(house: Courthouse, tmp_path: Path) -> None:
    run = seated(house, "juror-02")
    waiting(house, run)
    seat = house.people.seat(run, "juror-02")
    house.close()
    again = Courthouse(Settings(home=tmp_path))
    again.runner.go(run)
    waiting(again, run)
    (question,) = (one for one in again.people.questions(seat) if one.answer is None)
    assert again.people.answer(seat, question, {"verdict": "buyer", "reasoning": ["Back again."]})
    assert on(again, run).run.status == "done"


def test_a_person_is_told_which_fields_do_not_fit_and_may_say_none() -> None:
    vote = json.loads(schema_of(narrowed(Ballot, {"vote": ("A", "B")}), room="free"))
    assert unfit(vote, {"statement": " ", "vote": None}) == ["Statement", "Vote"]
    assert unfit(vote, {"statement": "So it is.", "vote": "B"}) == []
    proposal = json.loads(schema_of(narrowed(Proposal, {"same_as": ("A",)}), room="free"))
    assert unfit(proposal, {"reasons": ["It is near."], "answer": "The bridge.", "same_as": None}) == []
    assert unfit(proposal, {"reasons": [], "answer": "The bridge.", "same_as": None}) == ["Reasons"]
