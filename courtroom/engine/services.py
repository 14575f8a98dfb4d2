"""What a court has from outside, in one object. The engine makes it; a procedure never sees it."""

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

from pydantic import BaseModel

from courtroom.declarations.setup import Member, Setup
from courtroom.engine.budget import Payer, Spent, SpentInMonth
from courtroom.engine.errors import NotOnRecord
from courtroom.engine.events import Event
from courtroom.engine.gate import Gate
from courtroom.engine.ledger import Ledger
from courtroom.engine.people import People
from courtroom.knowledge.lessons import Lesson
from courtroom.knowledge.search import Hit, Query
from courtroom.models.capabilities import Capabilities
from courtroom.models.prompts import Renders
from courtroom.models.request import Model, Reply, Request, Watch
from courtroom.models.task import Task

A = TypeVar("A", bound=BaseModel)


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
    stage: str


@dataclass
class OpenCall:
    """A call that waits for its answer."""

    member: str
    title: str
    model: str
    since: float = field(default_factory=time.monotonic)
    """When it was asked, by a clock that nobody sets."""
    text: str = ""


Permit = Callable[[], Awaitable[bool]]
"""Permits one new call, or refuses it by raising; False where it had to wait, so that everything is looked at again."""


class AnswerSource(Protocol):
    """Who gets answers for a court."""

    def knows(self, key: str) -> bool: ...

    async def answer(
        self, request: Request, payer: Payer, permit: Permit, watch: Watch | None = None, by: Model | None = None
    ) -> tuple[Reply, bool]:
        """The reply, and whether it was asked anew.

        Args:
            permit: awaited before it is asked; where it did not wait, the call begins at once.
            by: answers in place of the model that the request names.
        """


LookUp = Callable[[Query, str], Awaitable[tuple[Hit, ...]]]
"""Looks something up; texts are compared by this embedding, or by the server's own where it is empty."""


async def _not_looked_up(query: Query, embedding: str) -> tuple[Hit, ...]:
    raise NotOnRecord("This was not looked up.")


@dataclass(frozen=True)
class Services:
    """The record, the models, the knowledge base and the limits of one run, or of one rehearsal."""

    ledger: Ledger
    asker: AnswerSource
    capabilities: Capabilities
    look_up: LookUp = _not_looked_up
    learn: Callable[[str, str, Lesson], None] = lambda run, path, lesson: None
    """Takes a lesson in; under one path of a run it is taken in once."""
    people: People | None = None
    """Persons in seats; None where nobody is asked."""
    gate: Gate = field(default_factory=Gate)
    calls: dict[str, OpenCall] = field(default_factory=dict)
    """Open calls by path. Written by the loop's thread, read by pages."""
    streaming: bool = False
    """Whether answers are shown as they arrive."""
    spent: Spent = field(default_factory=Spent)
    month: Callable[[], Awaitable[SpentInMonth | None]] | None = None
    """What whose the run is has spent this month; None where it is nobody's, or nothing is paid, as in a rehearsal."""
    beside: bool = False
    """Whether what is asked is asked beside the run, and counted apart."""
    asking: Callable[[Asked[Any]], None] = lambda asked: None

    def record(self, event: Event) -> None:
        """Record an event; the run may pause on it if it is new."""
        if self.ledger.add(event):
            self.gate.notice(event)
