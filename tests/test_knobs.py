"""The knobs that studies of juries turn: each is off by default, changes the prompts that it names, and makes the arms of an
experiment."""

from typing import Any

import pytest

from courtroom.courthouse import Courthouse
from courtroom.datasets.samples import add_sample
from courtroom.declarations.changes import value_at
from courtroom.experiments.spec import parsed
from tests.driving import done, house
from tests.write_prompts import FOLDER, KNOBS, OFF, under

__all__ = ["house"]  # a fixture

SAID = {
    "count-seen-all": "# How the jury stands\n\nThe last ballot of the whole jury before this round, you included: guilty",
    "cyberjurors-count-seen-heard": "How those whom you hear voted in the round before: buyer",
    "discussion-recall-line": "began with these words in turn 1",
    "peers-unnamed": "Names are withheld, yours too: do not say who you are. Who is who from round",
    "scripted": "> I vote guilty and have nothing to add.",
    "council-doubt-hesitation": "pause before acting",
}
"""What a prompt says under a knob, and without it does not say."""


def begins_with(now: Any, given: Any) -> bool:
    """Whether a setting is as given, with all that was drawn after it."""
    return bool((now[: len(given)] if isinstance(given, list) else now) == given)


@pytest.mark.parametrize("name", list(KNOBS))
def test_the_prompts_under_a_knob_are_those_on_file(house: Courthouse, name: str) -> None:
    assert under(house, *KNOBS[name]) == (FOLDER / f"knob-{name}.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", list(SAID))
def test_two_arms_of_a_knob_run_offline_and_ask_otherwise(house: Courthouse, name: str) -> None:
    procedure, changes = KNOBS[name]
    case, _, small = OFF[procedure]
    sample = "sample-trials" if case.startswith("trial") else "sample-disputes"
    add_sample(house.datasets, house.library, sample)
    arms = [
        {"name": arm, "procedure": procedure, "set": {**small, **given}}
        for arm, given in (("off", {}), ("on", changes))
    ]
    file = {"name": f"knob-{name}", "dataset": {"name": sample, "ids": [case]}, "arms": arms}
    found = done(house, parsed(file, name))
    assert [row.state for row in found.rows] == ["done"] * 2, found.failures
    for arm, given in (("off", {}), ("on", changes)):
        setup = house.record(house.experiments.runs(found.kept.id, arm)[0]).setup
        assert all(begins_with(value_at(setup, path), value) for path, value in {**small, **given}.items())
        assert (SAID[name] in under(house, procedure, given)) is (arm == "on")
