"""What a role is given reaches it: every input of every task, one by one, down to its parts."""

import asyncio
from collections.abc import Iterator

import pytest

from courtroom.courthouse import Courthouse
from courtroom.engine.check_templates import unseen
from courtroom.procedures import PROCEDURES
from courtroom.settings import Settings
from tests.asked import asked


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Courthouse]:
    made = Courthouse(Settings(home=tmp_path_factory.mktemp("inputs")))
    yield made
    made.close()


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
