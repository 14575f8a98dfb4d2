"""What those who make many runs need of the courthouse."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from courtroom.cases.case import Case
from courtroom.engine.procedure import Procedure
from courtroom.engine.record import Record
from courtroom.engine.rehearsal import Estimate
from courtroom.engine.runner import Runner
from courtroom.engine.setup import Setup
from courtroom.engine.store import RunStore
from courtroom.models.request import Reply
from courtroom.store.writer import Writer


class House(Protocol):
    """Runs of one store: read, changed, estimated, driven."""

    store: RunStore
    writer: Writer

    @property
    def procedures(self) -> Mapping[str, Procedure]:
        """The published systems by name."""
        ...

    @property
    def runner(self) -> Runner:
        """The engine."""
        ...

    def record(self, run: str) -> Record:
        """A run as it stands."""
        ...

    def fork(
        self, parent: str, setup: Setup, seed: int | None = None, case: Case | None = None, run: str | None = None
    ) -> str:
        """Put a run with something changed on record."""
        ...

    def estimate(
        self,
        procedure: str,
        case: Case,
        setup: Setup,
        seed: int,
        parent: str | None = None,
        known: dict[str, Reply] | None = None,
    ) -> Estimate:
        """What a run would take."""
        ...
