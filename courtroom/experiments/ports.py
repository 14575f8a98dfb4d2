"""What experiments need of the rest."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from courtroom.cases.case import Case
from courtroom.datasets import Datasets
from courtroom.engine.procedure import Procedure
from courtroom.engine.record import Record
from courtroom.engine.rehearsal import Estimate
from courtroom.engine.runner import Runner
from courtroom.engine.setup import Setup
from courtroom.engine.store import RunStore
from courtroom.knowledge.search import Knowledge
from courtroom.models.request import Reply
from courtroom.store.writer import Writer


class House(Protocol):
    """What an experiment needs of the courthouse."""

    store: RunStore
    writer: Writer
    datasets: Datasets

    @property
    def procedures(self) -> Mapping[str, Procedure]:
        """The published systems by name."""
        ...

    @property
    def knowledge(self) -> Knowledge:
        """The knowledge base."""
        ...

    @property
    def runner(self) -> Runner:
        """The engine."""
        ...

    def record(self, run: str) -> Record:
        """A run as it stands."""
        ...

    def new_run(
        self, procedure: str, case: Case, setup: Setup, seed: int, run: str | None = None, origin: str = "input"
    ) -> str:
        """Put a run on record."""
        ...

    def planned_run(
        self, procedure: str, case: Case, setup: Setup, seed: int, run: str | None = None, origin: str = "input"
    ) -> Callable[[], str]:
        """What puts a run on record."""
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

    def price(self, estimate: Estimate) -> float | None:
        """US dollars that an estimate comes to."""
        ...
