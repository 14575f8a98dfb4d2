"""All that a procedure asks, rendered as a language model would be sent it; collected from rehearsals."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from courtroom import Case, Courthouse, Medium
from courtroom.declarations.changes import merged
from courtroom.engine.interventions import Intervention
from courtroom.models.prompts import Prompts
from courtroom.models.request import Message
from courtroom.models.task import Room, Task
from courtroom.procedures import PROCEDURES
from tests.samples import sample

MODEL = "openai/somebodys-own"
"""Nobody is asked; a model without a card is taken to see pictures."""


@dataclass(frozen=True)
class Asked:
    """One question as it was rendered."""

    prompts: Prompts
    task: Task[Any]
    messages: tuple[Message, ...]

    def text(self) -> str:
        """All of it in the order in which it is sent; a picture or video as a line of its own."""
        lines = []
        for message in self.messages:
            parts = [part if isinstance(part, str) else f"[{part.kind} {part.id}]\n" for part in message.parts]
            lines.append("\n".join([f"===== {message.role}", *parts]))
        return "\n".join(lines)


def asked(
    house: Courthouse,
    procedure: str,
    changes: Mapping[str, Any] | None = None,
    case: Case | None = None,
    interventions: Sequence[Intervention] = (),
) -> list[Asked]:
    """What a run with these changes of the default setup would ask, in the order in which it would ask it."""
    found = PROCEDURES[procedure]
    values = merged(found.setup().model_dump(mode="json"), changes or {})
    values = merged(values, {"model": {"id": MODEL}})
    said: list[Asked] = []
    real = Prompts.render

    async def render(prompts: Prompts, task: Task[Any], *, sees: bool, room: Room = "generous") -> tuple[Message, ...]:
        messages = await real(prompts, task, sees=sees, room=room)
        said.append(Asked(prompts, task, messages))
        return messages

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Prompts, "render", render)
        heard = case or sample(house, found.kinds[0])
        house.estimate(procedure, heard, found.setup.model_validate(values), 0, interventions=interventions)
    return said


def leaves(value: Any) -> Iterator[str]:
    """All texts within an answer."""
    if isinstance(value, dict | list | tuple):
        for part in value.values() if isinstance(value, dict) else value:
            yield from leaves(part)
    elif isinstance(value, str) and value:
        yield value


def media_of(asked: Asked) -> list[Medium]:
    """The pictures and videos that go with a question."""
    return [part for message in asked.messages for part in message.parts if isinstance(part, Medium)]
