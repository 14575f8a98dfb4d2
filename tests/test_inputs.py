"""What a role is given reaches it: every input of every task, one by one, down to its parts."""

import asyncio

import pytest

from courtroom.courthouse import Courthouse
from courtroom.procedures import PROCEDURES
from courtroom.procedures.check_templates import unseen
from tests.asked import asked
from tests.driving import house

__all__ = ["house"]  # a fixture


@pytest.mark.parametrize("name", list(PROCEDURES))
@pytest.mark.slow
def test_every_input_of_every_task_changes_what_is_sent(house: Courthouse, name: str) -> None:
    seen: set[str] = set()
    missing: set[str] = set()
    for changes in ({}, *(dict(preset.changes) for preset in PROCEDURES[name].presets)):
        questions = asked(house, name, changes)
        tasks = [one.task for one in questions]
        if questions:  # some presets ask no model
            missing.update(asyncio.run(unseen(questions[0].prompts.fresh, tasks, seen)))
    assert not missing - seen, "no prompt shows these inputs"
