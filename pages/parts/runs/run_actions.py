"""What can be done with a run from the list of runs, besides opening it."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from courtroom import report
from courtroom.courthouse import Courthouse
from courtroom.engine.record import Record
from courtroom.errors import CourtroomError
from courtroom.evaluation.run_list import RunLine
from courtroom.language import _
from pages.parts.shared.inert import literal
from pages.parts.shared.models_form import typed_keys


def more(house: Courthouse, row: RunLine, interrupted: bool) -> None:
    """Continue, export, delete. The run's record is read only when one of these is wanted."""
    with st.popover(_("More")):
        _actions(house, row, interrupted)


def _actions(house: Courthouse, row: RunLine, interrupted: bool) -> None:
    if (row.status in ("paused", "failed") or interrupted) and st.button(_("Continue"), key=f"go-{row.id}"):
        try:
            house.runner.go(row.id, keys=typed_keys())
        except CourtroomError as error:
            st.error(literal(str(error)))
        else:
            st.rerun()
    _download(
        house,
        row,
        "Export as JSON",
        "json",
        lambda record: report.as_json(record, house.answers, house.asides.of(row.id), house.marks.of(row.id)),
    )
    _download(
        house, row, "Export as HTML report", "html",
        lambda record: report.as_html(
            record, house.procedures[row.procedure], house.answers, house.media, house.asides.of(row.id), house.marks.of(row.id),
            house.experiments.repeats.sentence(row.id),
        ),
    )  # fmt: skip
    if st.button(_("Delete"), key=f"delete-{row.id}", icon=":material/delete:", type="tertiary"):
        try:
            house.record(row.id)  # one that can't be read could not be brought back
        except CourtroomError as error:
            st.error(literal(str(error)))
            return
        if house.runner.drives(row.id):
            house.runner.stop(row.id)
        st.session_state["deleted_run"] = house.store.delete(row.id)
        st.rerun()


def _download(house: Courthouse, row: RunLine, title: str, ending: str, write: Callable[[Record], str]) -> None:
    st.download_button(
        literal(title), lambda: write(house.record(row.id)), f"{row.id}.{ending}", key=f"{ending}-{row.id}"
    )
