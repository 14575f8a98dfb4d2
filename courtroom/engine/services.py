"""What a court has from outside, in one object. The engine makes it; a procedure never sees it."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

from pydantic import BaseModel

from courtroom.engine.budget import MonthlyBudget, MonthlyBudgets, Payer, Spent
from courtroom.engine.errors import NotOnRecord
from courtroom.engine.events import Event, Noted
from courtroom.engine.gate import Gate
from courtroom.engine.ledger import Ledger
from courtroom.engine.people import People
from courtroom.engine.setup import Member, Setup
from courtroom.knowledge.lessons import Lesson
from courtroom.knowledge.search import Hit, Query
from courtroom.models.capabilities import Capabilities
from courtroom.models.request import Message, Model, Reply, Request, Watch
from courtroom.models.task import Room, Task

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

    async def render(self, task: Task[Any], *, sees: bool, room: Room = "generous") -> Sequence[Message]:
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


@dataclass
class Live:
    """Open calls of one run by path. Written by the loop's thread, read by pages."""

    streaming: bool = False
    calls: dict[str, OpenCall] = field(default_factory=dict)

    def watch(self, path: str) -> Callable[[str], None] | None:
        """Where a streaming model shows the text so far; None where nobody would see it."""
        if not self.streaming:
            return None

        def tell(text: str) -> None:
            if call := self.calls.get(path):
                call.text = text

        return tell

    def snapshot(self) -> dict[str, OpenCall]:
        return dict(self.calls)


Permit = Callable[[], Awaitable[None] | None]
"""Permits one new call, or refuses it by raising; or gives what to wait for before everything is looked at again."""


class AnswerSource(Protocol):
    """Who gets answers for a court."""

    def knows(self, key: str) -> bool: ...

    async def answer(
        self, request: Request, payer: Payer, permit: Permit, watch: Watch | None = None, by: Model | None = None
    ) -> tuple[Reply, bool]:
        """The reply, and whether it was asked anew. `permit` is called before; `by` answers in place of the model that the request names."""
        ...


LookUp = Callable[[Query, str], Awaitable[tuple[Hit, ...]]]
"""Looks something up; texts are compared by this embedding, or by the server's own where it is empty."""


async def _not_looked_up(query: Query, embedding: str) -> tuple[Hit, ...]:
    raise NotOnRecord("This was not looked up.")


@dataclass(frozen=True)
class Services:
    """The record, the models, the knowledge base and the limits of one run, or of one rehearsal."""

    ledger: Ledger
    asker: AnswerSource
    sight: Capabilities
    look_up: LookUp = _not_looked_up
    learn: Callable[[str, str, Lesson], None] = lambda run, path, lesson: None
    """Takes a lesson in; under one path of a run it is taken in once."""
    people: People | None = None
    """Persons in seats; None where nobody is asked."""
    gate: Gate = field(default_factory=Gate)
    live: Live = field(default_factory=Live)
    spent: Spent = field(default_factory=Spent)
    monthly_budgets: MonthlyBudgets | None = None
    """The money of people for a month; None where nothing is paid, as in a rehearsal."""
    payer: str = ""
    """The account of whose the run is; empty where it is nobody's."""
    beside: bool = False
    """Whether what is asked is asked beside the run, and counted apart."""
    asking: Callable[[Asked[Any]], None] = lambda asked: None

    async def monthly_budget(self) -> MonthlyBudget | None:
        """The money of whose the run is; None where it has no limit."""
        return await self.monthly_budgets.of(self.payer) if self.monthly_budgets is not None and self.payer else None

    def record(self, event: Event) -> None:
        """Record an event; the run may pause on it if it is new."""
        if self.ledger.add(event):
            self.gate.notice(event)

    def note(self, name: str, text: str, stage: str) -> None:
        """Record one sentence that a reader of the run should know."""
        self.ledger.add(Noted(path=name, stage=stage, text=text))
