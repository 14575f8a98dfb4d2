"""Matched controls of a panel: which arms they are, and as many tokens."""

import pytest

from courtroom.courthouse import Courthouse
from courtroom.datasets.samples import add_sample
from courtroom.errors import CourtroomError
from courtroom.experiments.spec import TITLES, adapted, parsed


def test_a_panel_has_its_controls_and_the_samples_take_as_many_tokens(house: Courthouse) -> None:
    add_sample(house.datasets, house.library, "sample-trials")
    arms = [{"name": "panel", "procedure": "mock-jury", "set": {"jury_size": 6, "rounds": 2, "first_votes": 3}}]
    panel = parsed({"name": "x", "dataset": {"name": "sample-trials", "limit": 2}, "arms": arms}, "x")
    whole = house.experiments.with_controls(panel)
    assert [arm.name for arm in whole.arms[1:]] == [f"panel: {title}" for title in TITLES.values()]
    values = {"model.vision": "no", "first_votes": None}
    tokens = {}
    for arm in whole.arms[:3]:
        counted = adapted(whole, arms=[arm.name], model="counted", values=values)
        tokens[arm.name] = house.experiments.estimate(counted).tokens
    assert tokens["panel: one model, as many tokens"] == pytest.approx(tokens["panel"], rel=0.3)
    assert tokens["panel: without talk"] <= tokens["panel"]
    with pytest.raises(CourtroomError, match="no arm with a panel"):
        house.experiments.with_controls(whole, ["nobody"])
