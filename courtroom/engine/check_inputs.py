"""Inputs of tasks that no prompt shows: each part of an input is changed in turn, and the prompt must change with it."""

from collections.abc import Collection, Iterator
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel

from courtroom.cases.case import Case
from courtroom.law import Both
from courtroom.media.medium import Medium
from courtroom.models.apart import PromptError
from courtroom.models.prompts import Prompts
from courtroom.models.task import Task

OTHER = "OTHERWISE"
NOT_SHOWN = {
    "Statute": ("cues", "digest"),  # words by which the offline model finds it; where it is from
    "Charge": ("id", "cues"),
    "Precedent": ("id",),
    "LabelledText": ("id",),
}
"""Parts of shared records by which a program, and not a role, finds them."""


async def unseen(prompts: Prompts, tasks: Collection[Task[Any]], seen: set[str]) -> list[str]:
    """Parts of inputs that no prompt of these tasks shows, as `task: input.part`, in the order in which they were tried.

    Args:
        tasks: questions that were asked; of each kind the one with the most in it is tried.
        seen: the parts that were shown by other questions; those that are shown by these are added.
    """
    fullest: dict[str, Task[Any]] = {}
    for task in sorted(tasks, key=lambda task: len(task.model_dump_json())):
        fullest[task.name] = task
    missing = []
    for task in fullest.values():
        before = await prompts.render(task, sees=True)
        for path, changed in _changed(task):
            name = f"{task.name}: {path}"
            if name in seen or any(path == part or path.startswith(f"{part}.") for part in task.offline_only):
                continue
            try:
                shown = await prompts.render(changed, sees=True) != before
            except PromptError:  # a template that fails on a value has read it
                shown = True
            if shown:
                seen.add(name)
            else:
                missing.append(name)
    return missing


def _changed(task: Task[Any]) -> Iterator[tuple[str, Task[Any]]]:
    for name, field in type(task).model_fields.items():
        value = getattr(task, name)
        if not isinstance(value, Case):
            for path, new in changes_of(value, name, field.annotation):
                yield path, task.model_copy(update={name: new})


def changes_of(value: Any, path: str, kind: Any = None) -> Iterator[tuple[str, Any]]:
    """A value with one of its parts changed, by the path of the part; of a list, its length and each part of its first member."""
    if isinstance(value, Medium):
        yield path, value.model_copy(update={"id": OTHER})
    elif isinstance(value, Both):
        yield path, Both(en=f"{value.en} {OTHER}", zh=f"{value.zh} {OTHER}")  # a prompt has it in one language
    elif isinstance(value, BaseModel):
        for name, field in type(value).model_fields.items():
            if name not in NOT_SHOWN.get(type(value).__name__, ()):
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
        literals = [part for part in (kind, *get_args(kind)) if get_origin(part) is Literal]
        others = [choice for part in literals for choice in get_args(part) if choice != value]
        yield path, others[0] if others else f"{value} {OTHER}"
