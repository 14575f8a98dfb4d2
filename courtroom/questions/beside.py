"""All that is kept beside a run, as it goes into exports and reports."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from courtroom.questions.asides import Aside, AsideStore
from courtroom.questions.audience import AudienceStore
from courtroom.questions.marks import Mark, MarkStore
from courtroom.store.database import Database


@dataclass(frozen=True)
class KeptBeside:
    """What was asked, said and voted beside one run."""

    asides: tuple[tuple[float, Aside], ...] = ()
    """Answers of audits and interviews, with their times."""
    marks: tuple[Mark, ...] = ()
    audience: Mapping[str, Any] | None = None
    """As `AudienceStore.exported` gives it."""


class BesideStore:
    """Reads what is kept beside runs."""

    def __init__(self, database: Database) -> None:
        self._asides, self._marks, self._audiences = AsideStore(database), MarkStore(database), AudienceStore(database)

    def of(self, run: str) -> KeptBeside:
        """All of a run.

        Raises:
            Unreadable: a row is damaged.
        """
        return KeptBeside(self._asides.of(run), self._marks.of(run), self._audiences.exported(run))
