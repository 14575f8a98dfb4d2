"""Who answers where a member fails, or refuses a piece: stand-ins, and what is said of those who are missing."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from aiohttp import web

from courtroom import Courthouse, Record, report
from courtroom import film as films
from courtroom.cases.dispute import Evidence
from courtroom.evaluation.turnout import turnout
from courtroom.experiments.spec import Experiment
from courtroom.film.picture import Painter
from courtroom.language import speaking
from courtroom.models.spec import OFFLINE
from courtroom.procedures.cyberjurors.tasks import PerceiveEvidence
from pages.parts.shared.shown import literal
from tests.driving import arms_of, hearing, shell
from tests.openai_server import OpenAIServer, answer_for, refusal, texts_of
from tests.pages import page, texts
from tests.say import there
from tests.test_sharing import add_dataset

pytestmark = pytest.mark.usefixtures("no_pause")
SLOW = {"id": "openai/slow", "connection": "test", "timeout_s": 1.0, "attempts": 1, "vision": "no"}
SMALL: dict[str, Any] = {"jury_size": 4, "rounds": 1, "examination": "shared"}


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    """A server whose every answer comes too late."""
    with OpenAIServer(faults=1.0, only=("hang",)) as server:
        yield server


def heard(house: Courthouse, **knobs: Any) -> Record:
    return hearing(house, "cyberjurors", **{**SMALL, **knobs})


HALF = {f"juror-0{seat}": {**SLOW, "otherwise": OFFLINE} for seat in (3, 4)}


def test_an_experiment_says_what_stand_ins_answered(house: Courthouse, server: OpenAIServer) -> None:
    house.connections.update(there(server))
    arms = arms_of({"helped": {**SMALL, "members": HALF}, "alone": SMALL}, "cyberjurors")
    spec = Experiment.model_validate({"name": "ours", "dataset": {"name": "ours", "limit": 1}, "arms": arms})
    add_dataset(house, "ours")
    name = house.experiments.begin(spec)
    house.experiments.wait(house.experiments.go(name))
    found = house.experiments.results(name)
    told = [note for note in found.notes if "stand-ins" in note]
    (row,) = [row for row in found.rows if row.arm == "helped"]
    assert told == [f"helped: stand-ins answered {row.outcome.stood_in} of {row.outcome.calls} questions."]
    assert row.outcome.stood_in >= 2


SILENT = {f"juror-0{seat}": SLOW for seat in (3, 4)}
MISSING = "2 of 4 voted. The other 2, all of openai/slow, gave no answer. openai/slow did not answer within 1 s."


def test_who_is_missing_and_who_stood_in_is_said_everywhere(
    server: OpenAIServer, app_house: Courthouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    app_house.connections.update(there(server))
    silent, procedure = heard(app_house, members=SILENT), app_house.procedures["cyberjurors"]
    html = report.as_html(silent, procedure, app_house.answers, app_house.media)
    assert MISSING in " ".join(html.split())
    assert "2 without a vote" in html
    assert turnout(heard(app_house)) == ()
    told = films.scene_to_film(silent, procedure)
    drawn: list[str] = []
    text = Painter._text
    noting = lambda self, *given, **how: (drawn.append(given[0]), text(self, *given, **how))[1]  # noqa: E731
    monkeypatch.setattr(Painter, "_text", noting)
    Painter(told, "wide", "light").picture(films.storyboard(told)[-1])
    assert "without a vote" in drawn
    assert MISSING in " ".join(drawn)
    with speaking("zh"):
        assert "没有回答" in films.storyboard(films.scene_to_film(silent, procedure))[-1].turnout
    assert page("runs").dataframe[0].value["Note"][1].startswith(MISSING)
    assert MISSING in shell("runs")
    assert " ".join(json.loads(shell("show", silent.run.id, "--json"))["turnout"]).startswith(MISSING)
    app = page("deliberation", {f"tab-{silent.run.id}": "Votes"}, run=silent.run.id)
    assert all(literal(sentence) in texts(app) for sentence in turnout(silent))
    votes = next(one.value for one in app.dataframe if "member" in one.value)
    assert list(votes.iloc[:, 1])[2:] == ["no answer", "no answer"]
    stood_in = heard(app_house, members=HALF)
    own, instead = (stood_in.call(f"round-1/juror-0{seat}/judge") for seat in (1, 3))
    assert (own.model, own.instead_of) == (OFFLINE, "")  # type: ignore[union-attr]
    assert (instead.model, instead.instead_of, instead.error) == (OFFLINE, "openai/slow", "")  # type: ignore[union-attr]
    assert stood_in.ballots["round-1"]["juror-03"].choice is not None
    assert any("There offline answered instead of openai/slow." in note for note in stood_in.notes)
    assert page("runs").dataframe[0].value["Note"][0].endswith("2 of 4 votes are of stand-ins.")
    app = page("deliberation", {f"tab-{stood_in.run.id}": "Calls"}, run=stood_in.run.id)
    calls = next(one.value for one in app.dataframe if "model" in one.value)
    assert "offline instead of openai/slow" in set(calls["model"])


def test_a_member_that_speaks_as_a_model_is_counted_and_marked(server: OpenAIServer, app_house: Courthouse) -> None:
    said = {"verdict": "seller", "reasoning": ["As an AI language model, I have no eyes, but the crack was shown."]}
    server.faults = 0.0
    server.answer = lambda body: json.dumps(said) if "# Your task: vote" in str(body["messages"]) else None
    app_house.connections.update(there(server))
    record = heard(app_house, members={"juror-03": {**SLOW, "timeout_s": 60}})
    told = f"{record.member('juror-03').name} spoke of itself as a language model."  # type: ignore[union-attr]
    assert record.ballots["round-1"]["juror-03"].choice == "seller"
    app = page("deliberation", {f"tab-{record.run.id}": "Votes"}, run=record.run.id)
    votes = next(one.value for one in app.dataframe if "member" in one.value)
    assert votes.iloc[2, 1].endswith("(speaks of itself as a language model)")
    assert literal(told) in texts(app)
    assert turnout(record) == (told,)
    assert [call.member for call in record.calls if call.speaks_as_model] == ["juror-03"]


CASE = "phone-battery"
REFUSED = "## The piece: seller-2,"


class Refusing:
    """Refuses one piece of evidence, for as long as it is told to."""

    house: Courthouse
    """In which this model is asked."""

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
def refusing(house: Courthouse) -> Iterator[Refusing]:
    refusing = Refusing()
    with OpenAIServer(answer=refusing.answer) as server:
        refusing.house = house
        house.connections.update(there(server))
        yield refusing


def seen(refusing: Refusing, **knobs: Any) -> Record:
    model = {"id": "openai/eyes", "connection": "test", "vision": "no", "attempts": 1}
    given = {"model": model, "jury_size": 3, "consensus": 1.0, "rounds": 2, **knobs}
    return hearing(refusing.house, "cyberjurors", CASE, **given)


def failed(record: Record, stage: str) -> list[str]:
    return [call.path for call in record.calls if call.value is None and call.stage == stage]


@pytest.mark.parametrize("examination", ["own", "shared"])
def test_a_refused_piece_does_not_lose_the_case(refusing: Refusing, examination: str) -> None:
    record = seen(refusing, examination=examination)
    assert record.run.status == "done", record.run.reason
    assert all(vote.choice for votes in record.ballots.values() for vote in votes.values())
    told = "Could not be looked at, so that nothing is known of what is seen there: seller-2."
    judged = [prompt for prompt in refusing.prompts if "# Your task: vote" in prompt]
    assert judged
    assert all(told in prompt for prompt in judged)
    assert any("seller-2 could not be looked at by" in note for note in record.notes)
    eyes = 1 if examination == "shared" else 3
    assert len(failed(record, "evidence")) == len(failed(record, "round-2")) == eyes


def test_a_refused_piece_is_asked_for_again_in_the_next_round(refusing: Refusing) -> None:
    refusing.until = "# Your task: sum up the round"
    record = seen(refusing, examination="shared")
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
