"""What a court needs from outside. A run has them on disk and over the network, a rehearsal in memory."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Protocol

from courtroom.engine.events import Called, Event, Retrieved
from courtroom.engine.interventions import Intervention
from courtroom.engine.payments import Payer, Payment
from courtroom.engine.setup import Member
from courtroom.knowledge.lessons import Lesson
from courtroom.knowledge.search import Hit, Query
from courtroom.models.prompts import Prompts
from courtroom.models.request import Model, Reply, Request, Watch
from courtroom.models.spec import ModelSpec

Permit = Callable[[], Awaitable[None] | None]
"""Permits one new call, or refuses it by raising; or gives what to wait for before everything is looked at again."""


class Asks(Protocol):
    """Who gets answers for a court."""

    def knows(self, key: str) -> bool:
        """Whether an answer is on record under this key."""
        ...

    async def answer(
        self, request: Request, payer: Payer, permit: Permit, watch: Watch | None = None, by: Model | None = None
    ) -> tuple[Reply, bool]:
        """The reply, and whether it was asked anew. `permit` is called before.

        Args:
            payer: on whose account a call goes down.
            by: who answers; None is the model that the request names.
        """
        ...


class Ledger(Protocol):
    """Where a court writes down what happens; a rehearsal's is a list."""

    @property
    def run(self) -> str:
        """The run's id; empty in a rehearsal."""
        ...

    @property
    def root(self) -> str:
        """The run from which all of its family stems; empty in a rehearsal of a new one."""
        ...

    @property
    def teaches(self) -> bool:
        """Whether what is learned goes into the knowledge base."""
        ...

    def add(self, event: Event) -> bool:
        """Record an event; False when it is on record already."""
        ...

    def check(self) -> None:
        """Raise `LeaseLost` where another process writes this run by now, so that nothing more is billed."""
        ...

    async def teach(self, lesson: Callable[[], None]) -> None:
        """Teach the knowledge base, after all that was recorded is on disk."""
        ...

    def called(self, path: str) -> Called | None:
        """The call recorded under this path, if any."""
        ...

    def had(self, path: str, key: str) -> bool:
        """Whether this run took the answer under this key at this path, as it stands or before it was worked out anew."""
        ...

    def paid(self, path: str, key: str) -> Payment | None:
        """What this run has paid at this path for the answer under this key, in whatever process; None is nothing."""
        ...

    def failures(self, path: str) -> int:
        """How often the call of this path failed and the run went on to ask it again."""
        ...

    def learned(self, path: str) -> bool:
        """Whether this was learned already."""
        ...

    def retrieval(self, key: str) -> Retrieved | None:
        """What this run or its forebears saw when they looked up the same."""
        ...


class StagesOfInput(Protocol):
    """What persons did to the run."""

    def at(self, index: int) -> StageInput:
        """Case, setup and members as they are at a stage."""
        ...

    def overruled(self, path: str) -> Intervention | None:
        """The answer that a person has put in for a call."""
        ...


@dataclass(frozen=True)
class StageInput:
    """All that a procedure sees of a run's input at one stage."""

    case: Any
    """Without anything that a member must not know. Of the kind that the procedure takes, as `setup` is."""
    unsealed: Any
    setup: Any
    members: tuple[Member, ...]
    prompts: Prompts


class Knows(Protocol):
    """The knowledge base as a court sees it."""

    async def answer(self, query: Query, embedding: str) -> tuple[Hit, ...]:
        """Look something up; texts are compared by this embedding, or by the server's own where it is empty."""
        ...

    def learn(self, run: str, path: str, lesson: Lesson) -> None:
        """Take a lesson in; under one path of a run it is taken in once."""
        ...


class Seats(Protocol):
    """Persons in seats."""

    def person(self, run: str, path: str, member: Member) -> Model:
        """Whoever sits there, to be asked one question."""
        ...


class Sees(Protocol):
    """Which models can see pictures."""

    async def sees(self, spec: ModelSpec) -> bool:
        """Whether pictures may be sent to this model."""
        ...

    async def address(self, spec: ModelSpec) -> str:
        """Where a model is asked, without any credentials; empty for its provider's own address."""
        ...

    async def remember(self, spec: ModelSpec, name: str, value: bool) -> None:
        """Keep what was found out about a model."""
        ...
