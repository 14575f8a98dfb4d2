"""What can be done with a run from the list of runs, besides opening it."""

from __future__ import annotations

import streamlit as st

from courtroom import report
from courtroom.access.account import Resource
from courtroom.courthouse import Courthouse
from courtroom.engine.record import Record
from courtroom.errors import CourtroomError
from courtroom.evaluation.run_list import RunLine
from courtroom.language import _
from courtroom.sharing.rules import may_change
from pages.parts.runs.picked import DELETED, delete
from pages.parts.shared.download import download
from pages.parts.shared.inert import literal
from pages.parts.shared.models_form import typed_keys


def more(house: Courthouse, row: RunLine, interrupted: bool) -> None:
    """Continue, export, delete. The run's record is read only when one of these is wanted."""
    with st.popover(_("More")):
        _actions(house, row, interrupted)


def _actions(house: Courthouse, row: RunLine, interrupted: bool) -> None:
    of = Resource(kind="run", id=row.id)
    mine = may_change(house.database, of)
    waits = (row.status in ("paused", "failed") or interrupted) and not row.imported
    if waits and mine and st.button(_("Continue"), key=f"go-{row.id}"):
        try:
            house.runner.go(row.id, keys=typed_keys())
        except CourtroomError as error:
            st.error(literal(str(error)))
        else:
            st.rerun()
    download(
        house,
        _("Export as JSON"),
        lambda: house.files.export(row.id)[1],
        f"{row.id}.json",
        of,
        icon=None,
        key=f"json-{row.id}",
        help_=_(
            "One file with a hash over all of it. It opens again in another Courtroom: Import run, on this page there."
        ),
    )
    download(
        house,
        _("Export as HTML report"),
        lambda: _report(house, house.record(row.id)),
        f"{row.id}.html",
        of,
        icon=None,
        key=f"html-{row.id}",
    )
    if mine and st.button(_("Delete"), key=f"delete-{row.id}", icon=":material/delete:", type="tertiary"):
        try:
            st.session_state[DELETED] = delete(house, [row.id])
        except CourtroomError as error:
            st.error(literal(str(error)))
            return
        st.rerun()


def _report(house: Courthouse, record: Record) -> str:
    run = record.run.id
    procedure, sure = house.procedures[record.run.procedure], house.experiments.repeats.sentence(run)
    return report.as_html(record, procedure, house.answers, house.media, house.beside.of(run), sure)
