"""A run played again in memory from its record, to have each question as the procedure put it: task, prompts and setup.

The record keeps the messages of a call and not the task that they were made of. The procedure makes the same task again
when it is run again on the same record; nothing is asked, looked up or written.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from courtroom.engine.errors import Abstained, NotOnRecord, QuorumLost
from courtroom.engine.events import Called, Retrieved
from courtroom.engine.ledger import Ledger
from courtroom.engine.payments import Payer
from courtroom.engine.procedure import Procedure
from courtroom.engine.record import Record
from courtroom.engine.services import Asked, Permit, Services
from courtroom.models.capabilities import Capabilities
from courtroom.models.request import Model, Reply, Request, Watch


class RecordLedger(Ledger):
    """Events in a list, after those that are on record."""

    def __init__(self, record: Record, root: str, seen: Callable[[str], Retrieved | None]) -> None:
        super().__init__(record.run.id, root, seen)
        self._record = record

    def called(self, path: str) -> Called | None:
        return self._record.call(path)


@dataclass(frozen=True)
class Recorded:
    """Answers and look-ups from the record, and from nowhere else."""

    on_record: Callable[[str], Reply | None]

    def knows(self, key: str) -> bool:
        return self.on_record(key) is not None

    async def answer(
        self, request: Request, payer: Payer, permit: Permit, watch: Watch | None = None, by: Model | None = None
    ) -> tuple[Reply, bool]:
        if (reply := self.on_record(request.key)) is None:
            raise NotOnRecord("This answer is not on record.")
        return reply, False


async def replay(
    procedure: Procedure,
    record: Record,
    sight: Capabilities,
    root: str,
    on_record: Callable[[str], Reply | None],
    seen: Callable[[str], Retrieved | None],
) -> Mapping[str, Asked[Any]]:
    """The questions of a run by path: those alone whose answers are found again under the same keys."""
    asked: dict[str, Asked[Any]] = {}
    ledger = RecordLedger(record, root, seen)
    services = Services(ledger, Recorded(on_record), sight, asking=lambda one: asked.update({one.path: one}))
    setup, _ = procedure.prepare(record.case, record.setup, record.run.seed)
    deliberate = procedure.deliberation(record.case, setup, record.run.seed, record.interventions, services)
    with suppress(NotOnRecord, QuorumLost, Abstained):  # the run went no further
        await deliberate()
    found = {event.path for event in ledger.events if isinstance(event, Called)}
    return {path: one for path, one in asked.items() if path in found}
