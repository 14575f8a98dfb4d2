"""A run played again in memory from its record, to have each question as the procedure put it: task, prompts and setup.

The record keeps the messages of a call and not the task that they were made of. The procedure makes the same task again
when it is run again on the same record; nothing is asked, looked up or written.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from courtroom.engine.asked import Asked
from courtroom.engine.control import Control
from courtroom.engine.deliberation import Deliberation
from courtroom.engine.errors import Abstained, QuorumLost
from courtroom.engine.events import Called, Retrieved
from courtroom.engine.gate import Gate
from courtroom.engine.payments import Payer
from courtroom.engine.ports import Asks, Permit, Sees
from courtroom.engine.procedure import Procedure
from courtroom.engine.record import Record
from courtroom.engine.rehearsal import MemoryLedger, NobodySits
from courtroom.engine.services import Services
from courtroom.errors import CourtroomError
from courtroom.knowledge.lessons import Lesson
from courtroom.knowledge.search import Hit, Query
from courtroom.models.request import Model, Reply, Request, Watch


class NotOnRecord(CourtroomError):
    """The run went no further, or its prompts have changed since."""


class RecordLedger(MemoryLedger):
    """Events in a list, after those that are on record."""

    def __init__(self, record: Record, root: str, seen: Callable[[str], Retrieved | None]) -> None:
        super().__init__(seen=seen, run=record.run.id, root=root)
        self._record = record
        self._had = {(call.path, key) for call in (*record.calls, *record.overtaken) for key in call.keys}

    def called(self, path: str) -> Called | None:
        """The call on record."""
        return self._record.call(path)

    def had(self, path: str, key: str) -> bool:
        """Whether the run took this answer at this path."""
        return (path, key) in self._had


@dataclass(frozen=True)
class Recorded:
    """Answers and look-ups from the record, and from nowhere else."""

    on_record: Callable[[str], Reply | None]

    def knows(self, key: str) -> bool:
        """See `ports.Asks`."""
        return self.on_record(key) is not None

    async def answer(
        self, request: Request, payer: Payer, permit: Permit, watch: Watch | None = None, by: Model | None = None
    ) -> tuple[Reply, bool]:
        """See `ports.Asks`.

        Raises:
            NotOnRecord: there is no such answer.
        """
        if (reply := self.on_record(request.key)) is None:
            raise NotOnRecord("This answer is not on record.")
        return reply, False


class NothingKnown:
    """A knowledge base in which nothing can be looked up: what the run saw is on record."""

    async def answer(self, query: Query, embedding: str) -> tuple[Hit, ...]:
        """Never known.

        Raises:
            NotOnRecord: always.
        """
        raise NotOnRecord("This was not looked up.")

    def learn(self, run: str, path: str, lesson: Lesson) -> None:
        """Never called, as all counts as learned."""


def in_memory(
    ledger: MemoryLedger, asker: Asks, sight: Sees, asking: Callable[[Asked[Any]], None] = lambda asked: None
) -> Services:
    """What a court, or one question, has where nothing is looked up or written and nobody is in a seat."""
    return Services(
        ledger=ledger,
        asker=asker,
        knowledge=NothingKnown(),
        sight=sight,
        seats=NobodySits(),
        gate=Gate(Control(), -1, paused=lambda why, control: None, resumed=lambda: None),
        asking=asking,
    )


async def replay(
    procedure: Procedure,
    record: Record,
    sight: Sees,
    root: str,
    on_record: Callable[[str], Reply | None],
    seen: Callable[[str], Retrieved | None],
) -> Mapping[str, Asked[Any]]:
    """The questions of a run by path: those alone whose answers are found again under the same keys.

    Args:
        root: the run from which all of its family stems.
        on_record: the answer under a key.
        seen: what the run or a forebear saw when it looked something up.
    """
    asked: dict[str, Asked[Any]] = {}
    ledger = RecordLedger(record, root, seen)
    services = in_memory(ledger, Recorded(on_record), sight, lambda one: asked.update({one.path: one}))
    run = Deliberation(procedure, record.case, record.setup, record.run.seed, record.interventions, services)
    with suppress(NotOnRecord, QuorumLost, Abstained):  # the run went no further
        await run.verdict()
    found = {event.path for event in ledger.events if isinstance(event, Called)}
    return {path: one for path, one in asked.items() if path in found}
