"""Scripted members: they say what is written, no model is asked, and everywhere they are told apart; so are votes that were set."""

from collections.abc import Mapping
from typing import Any

import pytest

from courtroom.courthouse import Courthouse
from courtroom.declarations.changes import changed
from courtroom.engine.record import Record
from courtroom.errors import CourtroomError
from courtroom.models.script import Script
from courtroom.report import as_html
from courtroom.report.transcript import as_markdown, votes_in_long_form
from courtroom.room.scene import scene
from tests.driving import drive, house
from tests.write_prompts import QUESTION

__all__ = ["house"]  # a fixture

WORDS = "I will not be talked out of what I think of this."
GIVES_IN = "Very well, then I go with all of you."
CASES = {
    "mock-jury": ("trial-boatyard-fire", {"jury_size": 6, "rounds": 2, "script.side": "guilty"}),
    "cyberjurors": ("phone-battery", {"jury_size": 5, "rounds": 2, "examination": "shared", "script.side": "buyer"}),
    "discussion": ("trial-boatyard-fire", {"speakers": 5, "script.side": "guilty"}),
    "council": ("trial-boatyard-fire", {"script.side": "guilty"}),
}
SCRIPT = {"script.members": 2, "script.words": [WORDS], "script.gives_in_words": GIVES_IN}


def hear(house: Courthouse, procedure: str, seed: int = 0, **changes: Any) -> Record:
    case, small = CASES[procedure]
    return heard(house, procedure, case, {**small, **changes}, seed)


def heard(house: Courthouse, procedure: str, case: str, changes: Mapping[str, Any], seed: int = 0) -> Record:
    setup = changed(house.procedures[procedure].setup(), changes)
    record = house.record(drive(house, house.new_run(procedure, house.library.case(case), setup, seed)))
    assert record.run.status == "done", record.run.reason
    return record


def scripted(record: Record) -> list[str]:
    return [member.id for member in record.members if member.spec.script]


@pytest.mark.parametrize("procedure", list(CASES))
def test_a_scripted_member_says_what_is_written(house: Courthouse, procedure: str) -> None:
    record = hear(house, procedure, **SCRIPT)
    assert len(ids := scripted(record)) == 2
    side = CASES[procedure][1]["script.side"]
    votes = [vote for cast in record.ballots.values() for vote in cast.values() if vote.member in ids]
    assert {(vote.choice, vote.reasons) for vote in votes} == {(side, (WORDS,))}
    assert {call.model for call in record.calls if call.member in ids} == {"script"}
    answers = (house.answers.request(call.keys[-1]) for call in record.calls if call.model != "script")
    asked = [part for messages in answers for one in messages for part in one.parts if isinstance(part, str)]
    assert any(WORDS in text for text in asked), "the others hear it"
    assert not any("scripted" in text for text in asked), "and are not told"


@pytest.mark.parametrize(
    ("script", "ballot", "heard", "vote"),
    [
        ({"rounds": 2}, 2, ["not-guilty"], "guilty"),
        ({"rounds": 2}, 3, ["not-guilty"], "not-guilty"),
        ({"gives_in_at": 3}, 2, ["not-guilty", "not-guilty", "guilty"], "guilty"),
        ({"gives_in_at": 3}, 2, ["not-guilty"] * 3, "not-guilty"),
    ],
)
def test_it_holds_until_rounds_are_over_or_peers_enough(
    script: dict[str, Any], ballot: int, heard: list[str | None], vote: str
) -> None:
    given = Script(words=("one", "two"), gives_in_words=GIVES_IN, **script)
    said = given.said(("guilty", "not-guilty"), ballot, heard)
    assert said == (vote, GIVES_IN if vote != "guilty" else ("one", "two")[(ballot - 1) % 2])


def test_scripted_members_and_set_votes_are_told_everywhere(house: Courthouse) -> None:
    record = hear(house, "mock-jury", first_votes=3, rounds=1, **SCRIPT)
    procedure = house.procedures["mock-jury"].about(record.case)
    ids, first = scripted(record), next(iter(record.ballots.values()))
    named = [one.name for one in record.members if one.id in ids]
    assert all(name.endswith(" (scripted)") for name in named)
    assert "2 of 6 members are scripted" in " ".join(record.answered_by)
    room = scene(record, procedure)
    given = {(one.ballot, one.member): one.given for one in room.moments if one.kind == "vote"}
    set_first = {who for (ballot, who), how in given.items() if how == "set"}
    assert set_first == first.keys() - set(ids), "a script is not overruled by a set ballot"
    assert "scripted" in room.notice
    rows = votes_in_long_form(record, procedure, house.answers)
    assert sorted(rows["given"]) == ["free"] * 4 + ["script"] * 4 + ["set"] * 4
    text = as_markdown(record, procedure)
    assert named[0] in text.replace("\\", "")
    assert text.count("(set)") == 4
    page = as_html(record, procedure, house.answers, house.media)
    assert page.count('<span class="soft">set</span>') == 4
    assert named[0] in page


def test_a_script_that_can_not_be_followed_is_refused(house: Courthouse) -> None:
    with pytest.raises(CourtroomError, match="Nobody can vote for “innocent” here"):
        hear(house, "mock-jury", **{"script.members": 1, "script.side": "innocent"})
    setup = changed(house.procedures["mock-jury"].setup(), {"script.members": 1})
    with pytest.raises(CourtroomError, match="Give the question options"):
        house.new_run("mock-jury", QUESTION.model_copy(update={"options": ()}), setup, 0)
