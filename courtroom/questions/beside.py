"""All that is kept beside a run, as it goes into exports and reports."""

from dataclasses import dataclass

from courtroom.questions.asides import Aside, AsideStore
from courtroom.questions.audience import AudienceStore
from courtroom.questions.audience_file import ExportedAudience, exported, take_in
from courtroom.questions.marks import Mark, MarkStore
from courtroom.store.database import Database


@dataclass(frozen=True)
class KeptBeside:
    """What was asked, said and voted beside one run."""

    asides: tuple[tuple[float, Aside], ...] = ()
    """Answers of audits and interviews, with their times."""
    marks: tuple[Mark, ...] = ()
    audience: ExportedAudience | None = None


class BesideStore:
    """Reads what is kept beside runs."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._asides, self._marks, self._audiences = AsideStore(database), MarkStore(database), AudienceStore(database)

    def of(self, run: str) -> KeptBeside:
        return KeptBeside(self._asides.of(run), self._marks.of(run), exported(self._audiences, run))

    def take_in(self, run: str, beside: KeptBeside) -> None:
        """Keep what a file holds of it, within a transaction of the caller's."""
        self._asides.take_in(run, beside.asides)
        self._marks.take_in(run, beside.marks)
        if beside.audience:
            take_in(self._database, run, beside.audience)
