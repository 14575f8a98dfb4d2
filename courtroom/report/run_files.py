"""Runs that go from one install to another: exported as files, and imported to be read."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from courtroom.access.account import Access
from courtroom.access.acting import needs
from courtroom.engine.answers import AnswerStore
from courtroom.engine.procedure import Procedure
from courtroom.engine.record import Record
from courtroom.engine.store import RunStore
from courtroom.errors import CourtroomError
from courtroom.media.store import MediaStore
from courtroom.questions.beside import BesideStore, KeptBeside
from courtroom.report.export import as_json
from courtroom.report.page import as_html
from courtroom.report.run_file import HARMFUL, RunFile, read_run_file
from courtroom.store.failures import REFUSALS


class RunFiles:
    """Writes and reads the files of runs.

    Args:
        procedures: gives those of this install, by name; they take long to import.
        record: a run as it stands on record.
    """

    def __init__(
        self,
        procedures: Callable[[], Mapping[str, Procedure]],
        record: Callable[[str], Record],
        store: RunStore,
        answers: AnswerStore,
        beside: BesideStore,
        media: MediaStore,
    ) -> None:
        self._procedures, self._record = procedures, record
        self._store, self._answers, self._beside, self._media = store, answers, beside, media

    def export(self, run: str) -> tuple[str, str]:
        """Name and content of a run's file, with what is kept beside it."""
        return f"{run}.json", as_json(self._record(run), self._answers, self._beside.of(run))

    @needs(Access.RUN)
    def take_in(self, data: bytes) -> str:
        """Import a run to be read, and forked; its id. All of it is on record or nothing.

        Raises:
            CourtroomError: the file was changed, holds no run, or one that is here already.
        """
        procedures = self._procedures()
        file = read_run_file(data, procedures)
        if self._store.is_there(file.run.id):
            raise CourtroomError(f"The run {file.run.id} is here already. Open it on the page Runs.")
        if self._store.families.leads_to(file.run.parent, file.run.id):
            raise CourtroomError("This run is said to be a fork of itself. Ask for the file anew.")
        try:
            with self._store.together():
                self._put(file)
                self._try(file.run.id, procedures[file.run.procedure])
        except REFUSALS as error:
            raise CourtroomError(
                "This file says the same thing twice in different words. Ask for the file anew."
            ) from error
        return file.run.id

    def _put(self, file: RunFile) -> None:
        run = file.run.id
        self._store.take_in(file.row(), file.case, file.setup, file.events, file.overtaken)
        self._store.interventions.put(run, file.interventions)
        self._store.payments.take_in(run, {path: paid.payment() for path, paid in file.payments.items()})
        self._answers.take_in(run, {key: (one.request, one.reply) for key, one in file.answers.items()}, file.parts)
        self._beside.take_in(run, KeptBeside(file.asides, file.marks, file.audience))

    def _try(self, run: str, procedure: Procedure) -> None:
        """Read it once as pages do, before anybody has to: what falls over it is reported now, and it is not kept."""
        try:
            as_html(self._record(run), procedure, self._answers, self._media, self._beside.of(run))
        except HARMFUL as error:
            raise CourtroomError(
                "This run does not hold together, so that it can't be shown. Ask for the file anew."
            ) from error
