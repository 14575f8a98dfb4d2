"""What experiments need of the rest."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from courtroom.cases.case import Case
from courtroom.datasets import Datasets
from courtroom.engine.house import House
from courtroom.engine.rehearsal import Estimate
from courtroom.engine.setup import Setup
from courtroom.knowledge.search import Knowledge
from courtroom.settings import Settings
from courtroom.store.database import Database


class ExperimentHouse(House, Protocol):
    """What an experiment needs of the courthouse."""

    settings: Settings
    database: Database
    datasets: Datasets

    @property
    def knowledge(self) -> Knowledge:
        """The knowledge base."""
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

    def price(self, estimate: Estimate) -> float | None:
        """US dollars that an estimate comes to."""
        ...

    def close(self) -> None:
        """Let go of the store."""
        ...
