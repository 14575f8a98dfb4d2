"""Everything wired together: what the app and the shell open, and close again."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from courtroom.hearings import Hearings

if TYPE_CHECKING:
    from courtroom.experiments.service import Experiments
    from courtroom.report.run_file import RunFiles


class Courthouse(Hearings):
    """One process's view of one store: its runs, and what is made of runs."""

    @cached_property
    def files(self) -> RunFiles:
        from courtroom.report.run_file import RunFiles  # slow to import: only to write or read one

        of = (self.store, self.answers, self.beside, self.media, self.recordings)
        return RunFiles(lambda: self.procedures, self.record, *of)

    @cached_property
    def experiments(self) -> Experiments:
        from courtroom.experiments.service import Experiments  # slow to import: not to list cases or runs
        from courtroom.experiments.store import ExperimentStore

        return Experiments(ExperimentStore(self.database), self)
