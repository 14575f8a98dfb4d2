"""Are members as sure as they are right? Confidence against known outcomes, by hand, in a run and in an experiment."""

import random

import pytest
from sklearn.calibration import calibration_curve
from sklearn.metrics import brier_score_loss

from courtroom.courthouse import Courthouse
from courtroom.datasets.samples import add_sample
from courtroom.evaluation.calibration import brier, reliability
from courtroom.experiments.spec import parsed
from tests.driving import done
from tests.pages import house, opened_at, texts
from tests.test_beside import BOTH

__all__ = ["house"]  # a fixture


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


def test_an_experiment_tells_who_is_as_sure_as_right(house: Courthouse) -> None:  # noqa: F811
    add_sample(house.datasets, house.library, "sample-disputes")
    knobs = {"jury_size": 3, "rounds": 1, "examination": "shared", **BOTH}
    arms = [
        {"name": "asked", "procedure": "cyberjurors", "set": knobs},
        {"name": "not asked", "procedure": "cyberjurors", "set": {**knobs, "asks_confidence": False}},
    ]
    names = ["accuracy", "confidence", "confidence_brier", "confidence_calibration", "pieces_used", "not_in_case"]
    dataset = {"name": "sample-disputes", "limit": 3}
    found = done(house, parsed({"name": "sure", "dataset": dataset, "measures": names, "arms": arms}, "here"))
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
