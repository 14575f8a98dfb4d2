"""What a court has from outside, in one object. The engine makes it; a procedure never sees it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from courtroom.engine.asked import Asked
from courtroom.engine.events import Event, Noted
from courtroom.engine.gate import Gate
from courtroom.engine.live import Live
from courtroom.engine.ports import Asks, Knows, Ledger, Seats, Sees
from courtroom.engine.purses import Purse, Purses
from courtroom.engine.spent import Spent


@dataclass(frozen=True)
class Services:
    """The record, the models, the knowledge base and the limits of one run, or of one rehearsal."""

    ledger: Ledger
    asker: Asks
    knowledge: Knows
    sight: Sees
    seats: Seats
    gate: Gate
    live: Live = field(default_factory=Live)
    spent: Spent = field(default_factory=Spent)
    purses: Purses | None = None
    """The money of people for a month; None where nothing is paid, as in a rehearsal."""
    payer: str = ""
    """The account of whose the run is; empty where it is nobody's."""
    beside: bool = False
    """Whether what is asked is asked beside the run, and counted apart."""
    asking: Callable[[Asked[Any]], None] = lambda asked: None
    """Is given each question before it is asked."""

    async def purse(self) -> Purse | None:
        """The money of whose the run is; None where it has no limit."""
        return await self.purses.of(self.payer) if self.purses is not None and self.payer else None

    def record(self, event: Event) -> None:
        """Record an event; the run may pause on it if it is new."""
        if self.ledger.add(event):
            self.gate.notice(event)

    def note(self, name: str, text: str, stage: str) -> None:
        """Record one sentence that a reader of the run should know."""
        self.ledger.add(Noted(path=name, stage=stage, text=text))
