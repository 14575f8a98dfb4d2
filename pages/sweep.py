"""What if: one finished run, many variants of it, and what would have changed."""

from __future__ import annotations

import streamlit as st

from courtroom.evaluation.run_list import RunList, Wanted
from courtroom.language import _
from courtroom.sweeps.store import NoSuchSweep
from pages.parts.shared.house import courthouse
from pages.parts.shared.inert import literal
from pages.parts.what_if.form import sweep_form
from pages.parts.what_if.list import sweep_list
from pages.parts.what_if.view import sweep_view

house = courthouse()
st.title(_("What if"))

base = st.query_params.get("base")
sweep = st.query_params.get("sweep") or (None if base else st.session_state.get("sweep"))
if sweep:
    try:
        row = house.sweeps.store.sweep(sweep)
    except NoSuchSweep:
        st.error(
            _(
                "There is no sweep {sweep} here; it may have been deleted. Choose another, or begin a new one.",
                sweep=literal(sweep),
            )
        )
        st.session_state.pop("sweep", None)
    else:
        st.session_state["sweep"] = st.query_params["sweep"] = sweep
        sweep_view(house, row)
        st.stop()

if not RunList(house.database).newest(Wanted(status="done"), 1):
    st.info(
        _("No hearing is done yet. When one is, you can ask here what would have changed its outcome."),
        icon=":material/alt_route:",
    )
    if st.button(_("Pick a case"), type="primary"):
        st.switch_page("pages/cases.py")
    st.stop()
sweep_form(house, base or st.session_state.get("sweep_base"))
sweep_list(house)
