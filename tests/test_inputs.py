"""What a role is given reaches it: every input of every task, one by one, down to its parts."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any, Literal, get_args, get_origin

import pytest
from pydantic import BaseModel

from courtroom.cases.case import Case
from courtroom.courthouse import Courthouse
from courtroom.law.statute import Both
from courtroom.media.medium import Medium
from courtroom.models.prompts import PromptError
from courtroom.procedures import PROCEDURES
from courtroom.settings import Settings
from tests.asked import Asked, asked

OTHER = "OTHERWISE"
NOT_SHOWN = {
    "Statute": ("cues", "digest"),  # words by which the offline model finds it; where it is from
    "Charge": ("id", "cues"),
    "Precedent": ("id",),
    "LabelledText": ("id",),
}
"""Parts of shared records by which a program, and not a role, finds them."""
Change = tuple[str, Any]
"""Path of a part such as `heard.reasoning`, and the inputs with that part changed."""


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Courthouse]:
    made = Courthouse(Settings(home=tmp_path_factory.mktemp("inputs")))
    yield made
    made.close()


@pytest.mark.parametrize("name", list(PROCEDURES))
@pytest.mark.slow
def test_every_input_of_every_task_changes_what_is_sent(house: Courthouse, name: str) -> None:
    procedure = PROCEDURES[name]
    tried: dict[tuple[str, str], bool] = {}
    for changes in ({}, *(dict(preset.changes) for preset in procedure.presets)):
        for one in fullest(asked(house, name, changes)):
            for path, task in changed_inputs(one):
                key = one.task.name, path
                if not tried.get(key) and not any(covers(left_out, path) for left_out in one.task.offline_only):
                    tried[key] = text(one, task) != one.text()
    unseen = [f"{task}: {path}" for (task, path), reached in tried.items() if not reached]
    assert not unseen, "no prompt shows these inputs: " + ", ".join(unseen)


def covers(left_out: str, path: str) -> bool:
    """Whether a path lies in what only the offline model is given."""
    return path == left_out or path.startswith(f"{left_out}.")


def fullest(everything: list[Asked]) -> list[Asked]:
    """Of each task the question with the most in it."""
    best: dict[str, Asked] = {}
    for one in everything:
        if one.task.name not in best or len(one.task.model_dump_json()) > len(
            best[one.task.name].task.model_dump_json()
        ):
            best[one.task.name] = one
    return list(best.values())


def text(one: Asked, task: Any) -> str:
    """What is sent for the task with its inputs changed; a template that fails on them has read them."""
    try:
        return Asked(one.prompts, task, asyncio.run(one.prompts.render(task, sees=True))).text()
    except PromptError as error:
        return str(error)


def changed_inputs(one: Asked) -> Iterator[tuple[str, Any]]:
    """The task with one part changed after the other. The case itself is what a run shares; see `test_cases_reach`."""
    for name in type(one.task).model_fields:
        value = getattr(one.task, name)
        if isinstance(value, Case):
            continue
        for path, new in changes_of(value, name, type(one.task).model_fields[name].annotation):
            yield path, one.task.model_copy(update={name: new})


def changes_of(value: Any, path: str, kind: Any = None) -> Iterator[Change]:
    """A value with one of its parts changed; of a list, its length and each part of its first member."""
    if isinstance(value, Medium):
        yield path, value.model_copy(update={"id": OTHER})
    elif isinstance(value, Both):
        yield path, Both(en=f"{value.en} {OTHER}", zh=f"{value.zh} {OTHER}")  # a prompt has it in one language
    elif isinstance(value, BaseModel):
        for name, field in type(value).model_fields.items():
            if name in NOT_SHOWN.get(type(value).__name__, ()):
                continue
            for inner, new in changes_of(getattr(value, name), f"{path}.{name}", field.annotation):
                yield inner, value.model_copy(update={name: new})
    elif isinstance(value, tuple | list) and value:
        yield path, (*value, *value[:1]) if len(value) == 1 else tuple(value[:-1])
        for inner, new in changes_of(value[0], path):
            yield inner, (new, *value[1:])
    elif isinstance(value, bool):
        yield path, not value
    elif isinstance(value, int | float):
        yield path, value + 1
    elif isinstance(value, str) and value:
        choices = [
            choice for part in (kind, *get_args(kind)) if get_origin(part) is Literal for choice in get_args(part)
        ]
        others = [choice for choice in choices if choice != value]
        yield path, others[0] if others else f"{value} {OTHER}"
