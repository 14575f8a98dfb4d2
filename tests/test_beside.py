"""What is asked beside a vote: how sure a member is of it, and on which pieces of the case it rests."""

from typing import Any

import pytest

from courtroom.courthouse import Courthouse
from courtroom.declarations.changes import changed
from courtroom.engine.events import Voted
from courtroom.engine.record import Record
from courtroom.models.spec import ModelSpec
from tests.driving import drive
from tests.openai_server import OpenAIServer
from tests.pages import house as app_house
from tests.pages import page, texts

__all__ = ["app_house"]  # a fixture

BOTH = {"asks_confidence": True, "asks_pieces": True}
VOTE_BY_TURNS: dict[str, tuple[str, dict[str, Any]]] = {
    "mock-jury": ("trial-boatyard-fire", {"jury_size": 3, "rounds": 1}),
    "cyberjurors": ("camera-fungus", {"jury_size": 3, "rounds": 2, "consensus": 1.0, "examination": "shared"}),
    "discussion": ("concert-tickets", {"speakers": 2}),
    "courtroom-llm": ("statement-follows", {"judges": 3, "texts": ["e-07"]}),
}


def hear(house: Courthouse, procedure: str, **knobs: Any) -> Record:
    case, given = VOTE_BY_TURNS[procedure]
    setup = house.procedures[procedure].setup.model_validate({**given, **knobs})
    record = house.record(drive(house, house.new_run(procedure, house.library.case(case), setup, 0)))
    assert record.run.status == "done", record.run.reason
    return record


@pytest.mark.parametrize("procedure", VOTE_BY_TURNS)
def test_every_vote_says_how_sure_it_is_and_what_it_rests_on(
    house: Courthouse, procedure: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with OpenAIServer() as server:
        server.known(monkeypatch)
        record = hear(house, procedure, model=ModelSpec(id="openai/any", vision="no"), **BOTH)
    pieces = {name for name, _ in record.case.parts()} | {"other"}
    votes = [vote for vote in record.of(Voted) if vote.choice]
    assert votes
    assert all(vote.confidence is not None and 0 <= vote.confidence <= 100 for vote in votes)
    assert {piece for vote in votes for piece in vote.rests_on} <= pieces
    assert any(vote.rests_on for vote in votes) == bool(record.case.parts())


def test_who_is_not_asked_says_nothing_beside_its_vote(house: Courthouse) -> None:
    for vote in hear(house, "mock-jury").of(Voted):
        assert (vote.confidence, vote.rests_on) == (None, ())
        assert not {"confidence", "rests_on"} & vote.model_dump().keys(), "files are as they were before"


def test_the_offline_model_is_as_sure_as_its_draws_agree(house: Courthouse) -> None:
    votes = hear(house, "mock-jury", jury_size=12, **BOTH).of(Voted)
    assert all(vote.confidence is not None for vote in votes)
    assert any(50 <= (vote.confidence or 0) < 100 for vote in votes)
    assert all(vote.rests_on for vote in votes), "the formula quotes what weighs most"


def test_a_fork_that_asks_more_asks_the_votes_anew(house: Courthouse) -> None:
    record = hear(house, "cyberjurors")
    setup = changed(record.setup, {"asks_confidence": True})
    fork = house.record(drive(house, house.fork(record.run.id, setup)))
    assert {call.task for call in fork.calls if call.source == "asked"} >= {"judge"}
    assert {call.task for call in fork.calls if call.source == "recorded"} >= {"perceive"}
    assert all(vote.confidence is not None for vote in fork.of(Voted))


def test_what_was_said_beside_a_vote_goes_with_the_run(house: Courthouse) -> None:
    record = hear(house, "mock-jury", **BOTH)
    _, text = house.files.export(record.run.id)
    house.store.delete(record.run.id)
    again = house.record(house.files.take_in(text.encode()))
    assert [vote.confidence for vote in again.of(Voted)] == [vote.confidence for vote in record.of(Voted)]


def test_the_page_draws_how_sure_members_are(app_house: Courthouse) -> None:
    record = hear(app_house, "mock-jury", jury_size=12, talk="follow-graph", rounds=2, **BOTH)
    app = page("deliberation", {f"tab-{record.run.id}": "What moved it"}, run=record.run.id)
    heads = [head.value for head in app.subheader]
    assert {"How sure are they?", "What do votes rest on?"} <= {*heads}
    assert "No vote rests on" in texts(app) or all(
        any(piece in vote.rests_on for vote in record.of(Voted)) for piece, _ in record.case.parts()
    )
