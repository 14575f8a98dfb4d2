"""What is asked beside a vote: how sure a member is of it, and on which pieces of the case it rests."""

from typing import Any

import pytest

from courtroom.courthouse import Courthouse
from courtroom.engine.events import Voted
from courtroom.engine.record import Record
from courtroom.models.spec import ModelSpec
from tests.driving import drive
from tests.openai_server import OpenAIServer
from tests.pages import house as app_house
from tests.pages import page

__all__ = ["app_house"]  # a fixture

BOTH = {"asks_confidence": True, "asks_pieces": True}
VOTE_BY_TURNS: dict[str, tuple[str, dict[str, Any]]] = {
    "mock-jury": ("trial-boatyard-fire", {"jury_size": 3, "rounds": 1}),
    "cyberjurors": ("camera-fungus", {"jury_size": 3, "rounds": 2, "consensus": 1.0, "examination": "shared"}),
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


def test_the_page_draws_how_sure_members_are(app_house: Courthouse) -> None:
    record = hear(app_house, "mock-jury", jury_size=12, talk="follow-graph", rounds=2, **BOTH)
    app = page("deliberation", {f"tab-{record.run.id}": "What moved it"}, run=record.run.id)
    heads = [head.value for head in app.subheader]
    assert {"How sure are they?", "What do votes rest on?"} <= {*heads}
