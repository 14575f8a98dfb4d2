"""One question to one member, with all that decides what is sent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from pydantic import BaseModel

from courtroom.engine.setup import Member, Setup
from courtroom.models.request import Message
from courtroom.models.task import Task

A = TypeVar("A", bound=BaseModel)


class Renders(Protocol):
    """What turns a task into messages."""

    @property
    def without_media(self) -> Renders:
        """The same, with nothing of pictures and videos."""
        ...

    @property
    def fresh(self) -> Renders:
        """The same for another event loop."""
        ...

    async def render(self, task: Task[Any], *, sees: bool) -> Sequence[Message]:
        """The messages; media become their descriptions where the model can't see."""
        ...


@dataclass(frozen=True)
class Asked(Generic[A]):
    """A question as a procedure puts it, before anything is sent."""

    member: Member
    task: Task[A]
    setup: Setup
    """As it is at the stage in which this is asked; its re-asks and budget are obeyed."""
    prompts: Renders
    seed: int
    """The run's; another one draws another sample."""
    path: str
    """Where in the run this is asked."""
    stage: str
