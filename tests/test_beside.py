"""What is asked beside a vote: how sure a member is of it, whether it is as sure as it is right, and on which pieces it rests."""

import random
from typing import Any

import pytest
from sklearn.calibration import calibration_curve
from sklearn.metrics import brier_score_loss

from courtroom.courthouse import Courthouse
from courtroom.datasets.samples import add_sample
from courtroom.engine.events import Voted
from courtroom.engine.record import Record
from courtroom.evaluation.calibration import brier, reliability
from courtroom.experiments.spec import parsed
from courtroom.models.spec import ModelSpec
from tests.driving import done, whole_hearing
from tests.pages import house as app_house
from tests.pages import opened_at, page, texts

__all__ = ["app_house"]  # a fixture

BOTH = {"asks_confidence": True, "asks_pieces": True}
VOTE_BY_TURNS: dict[str, tuple[str, dict[str, Any]]] = {
    "mock-jury": ("trial-boatyard-fire", {"jury_size": 3, "rounds": 1}),
    "cyberjurors": ("camera-fungus", {"jury_size": 3, "rounds": 2, "consensus": 1.0, "examination": "shared"}),
    "courtroom-llm": ("statement-follows", {"judges": 3, "texts": ["e-07"]}),
}


def hear(house: Courthouse, procedure: str, **knobs: Any) -> Record:
    case, given = VOTE_BY_TURNS[procedure]
    return whole_hearing(house, procedure, case, **{**given, **knobs})


@pytest.mark.usefixtures("server")
@pytest.mark.parametrize("procedure", VOTE_BY_TURNS)
def test_every_vote_says_how_sure_it_is_and_what_it_rests_on(house: Courthouse, procedure: str) -> None:
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


def test_brier_score_and_bins_are_scikit_learns() -> None:
    draw = random.Random(4)
    given = [(one := draw.random(), draw.random() < one) for _ in range(400)]
    probabilities, hits = zip(*given, strict=True)
    assert brier(given) == pytest.approx(brier_score_loss(hits, probabilities))
    bins = reliability(given)
    right, means = calibration_curve(hits, probabilities, n_bins=10)
    assert list(bins["probability"]) == pytest.approx(list(means))
    assert list(bins["right"]) == pytest.approx(list(right))
    assert sum(bins["n"]) == 400


def test_an_experiment_tells_who_is_as_sure_as_right(app_house: Courthouse) -> None:
    add_sample(app_house.datasets, app_house.library, "sample-disputes")
    knobs = {"jury_size": 3, "rounds": 1, "examination": "shared", **BOTH}
    arms = [
        {"name": "asked", "procedure": "cyberjurors", "set": knobs},
        {"name": "not asked", "procedure": "cyberjurors", "set": {**knobs, "asks_confidence": False}},
    ]
    names = ["accuracy", "confidence", "confidence_brier", "confidence_calibration", "pieces_used", "not_in_case"]
    dataset = {"name": "sample-disputes", "limit": 3}
    found = done(app_house, parsed({"name": "sure", "dataset": dataset, "measures": names, "arms": arms}, "here"))
    assert found.kept.status == "done", found.kept.reason
    given = found.forecasts()
    assert set(given) == {"asked"}
    assert len(given["asked"]) == 9, "three jurors in three cases"
    line = found.table.line("asked", "all cases")
    assert line.values["confidence_brier"].value == pytest.approx(brier(given["asked"]))
    assert 0 < line.values["pieces_used"].value <= 1
    shown = opened_at("experiments", experiment=found.kept.id)
    assert "Are they as sure as they are right?" in [head.value for head in shown.subheader]
    assert "asked: Brier score" in texts(shown)
