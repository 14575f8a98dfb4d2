"""The first minute in an empty install: one case, one button, a whole hearing."""

from __future__ import annotations

import streamlit as st

from courtroom.access.account import Access
from courtroom.cases.library import ListedCase
from courtroom.courthouse import Courthouse
from courtroom.errors import CourtroomError
from courtroom.language import _
from pages.parts.shared.house import look_at
from pages.parts.shared.inert import escaped, literal
from pages.parts.shared.offered import offered

FIRST = "vacuum-charging"
"""The sample that a newcomer is shown."""


@offered(Access.RUN)
def welcome(house: Courthouse) -> None:
    """Nothing once there is a run, or where there is no sample."""
    if house.store.has_runs():
        return
    case = next((case for case in house.library.cases() if case.id == FIRST), None)
    if case is None:
        return
    with st.container(border=True, key="welcome"):
        picture, words = st.columns([2, 5], gap="large", vertical_alignment="center")
        if case.picture and case.picture.sha256:
            picture.image(house.media.image(case.picture.sha256, 640), width="stretch")
        with words:
            st.html(f'<div style="font-size:1.6rem;font-weight:650;line-height:1.25">{escaped(case.title)}</div>')
            st.markdown(
                _(
                    "Seventeen jurors with different lives look at the evidence, vote, read each other's reasons and vote "
                    "again. Watch them from the first question to the verdict; then change one thing, and see both side by side."
                )
            )
            if st.button(_("Watch this hearing"), type="primary", icon=":material/play_arrow:", key="watch-first"):
                _watch(house, case)


def _watch(house: Courthouse, case: ListedCase) -> None:
    procedure = next(one for one in house.procedures.values() if one.case_kind == case.kind)
    try:
        run = house.new_run(procedure.name, house.library.case(case.id), procedure.setup(), 0)
        house.runner.go(run)
    except CourtroomError as error:
        st.error(literal(str(error)))
        return
    look_at(run)
    st.session_state["play"] = run
    st.switch_page("pages/deliberation.py", query_params={"run": run})
