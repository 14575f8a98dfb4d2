"""A piece of evidence that a model will not look at: over real HTTP, from a server that refuses one piece and answers all else."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from courtroom.cases.dispute import Evidence
from courtroom.courthouse import Courthouse
from courtroom.engine.record import Record
from courtroom.models.connections import Connection
from courtroom.procedures.cyberjurors.tasks import PerceiveEvidence
from courtroom.settings import Settings
from tests.driving import hearing
from tests.openai_server import OpenAIServer, answer_for, refusal, texts_of

CASE = "phone-battery"
REFUSED = "## The piece: seller-2,"


class Refusing:
    """Refuses one piece of evidence, for as long as it is told to."""

    def __init__(self) -> None:
        self.pieces: tuple[str, ...] = (REFUSED,)
        self.until = ""
        self.prompts: list[str] = []

    def answer(self, body: dict[str, Any]) -> web.Response | str:
        prompt = "\n".join(map(texts_of, body["messages"]))
        self.prompts.append(prompt)
        if self.until and self.until in prompt:
            self.pieces = ()
        refused = any(piece in prompt for piece in self.pieces)
        if refused:
            return refusal(400, "This picture is against the content policy.")
        answer = json.loads(answer_for(body, prompt))
        if "is_sufficient" in answer:
            answer["is_sufficient"] = False  # so that each piece is looked at
        return json.dumps(answer)


@pytest.fixture
def refusing() -> Refusing:
    return Refusing()


@pytest.fixture
def house(refusing: Refusing, tmp_path: Path) -> Iterator[Courthouse]:
    with OpenAIServer(answer=refusing.answer) as server:
        house = Courthouse(Settings(home=tmp_path))
        house.connections["lab"] = Connection.model_validate({"provider": "openai", "address": server.url})
        yield house
        house.close()


def heard(house: Courthouse, **knobs: Any) -> Record:
    model = {"id": "openai/eyes", "connection": "lab", "vision": "no", "attempts": 1}
    given = {"model": model, "jury_size": 3, "consensus": 1.0, "rounds": 2, **knobs}
    return hearing(house, "cyberjurors", CASE, **given)


def failed(record: Record, stage: str) -> list[str]:
    return [call.path for call in record.calls if call.value is None and call.stage == stage]


@pytest.mark.parametrize("examination", ["own", "shared"])
def test_a_piece_that_a_model_refuses_does_not_lose_the_case(
    house: Courthouse, refusing: Refusing, examination: str
) -> None:
    record = heard(house, examination=examination)
    assert record.run.status == "done", record.run.reason
    assert all(vote.choice for votes in record.ballots.values() for vote in votes.values())
    told = "Could not be looked at, so that nothing is known of what is seen there: seller-2."
    judged = [prompt for prompt in refusing.prompts if "# Your task: vote" in prompt]
    assert judged
    assert all(told in prompt for prompt in judged)
    assert any("seller-2 could not be looked at by" in note for note in record.notes)
    eyes = 1 if examination == "shared" else 3
    assert len(failed(record, "evidence")) == len(failed(record, "round-2")) == eyes


def test_a_refused_piece_is_asked_for_again_in_the_next_round(house: Courthouse, refusing: Refusing) -> None:
    refusing.until = "# Your task: sum up the round"
    record = heard(house, examination="shared")
    call = record.call("round-2/examiner/perceive-again-seller-2")
    assert call is not None
    assert call.value is not None
    assert record.call("round-2/examiner/analyse") is not None
    judged = [prompt for prompt in refusing.prompts if "# Your task: vote" in prompt]
    assert ["Could not be looked at" in prompt for prompt in judged] == [True] * 3 + [False] * 3


def test_a_piece_may_speak_against_its_own_side() -> None:
    answer = {"evidence_summary": "The seal is whole.", "is_sufficient": True}
    piece = Evidence(id="seller-1", side="seller", text="The seal.")
    task = PerceiveEvidence.model_construct(evidence=piece, in_favour=False)
    for strength in ("none", "against"):
        given = task.form.model_validate({**answer, "support_strength": strength})
        assert task.declared(given).support_strength == strength
    narrow = PerceiveEvidence.model_construct(evidence=piece, in_favour=True)
    with pytest.raises(ValueError, match="strong"):
        narrow.form.model_validate({**answer, "support_strength": "against"})
