"""Earlier sweeps, newest first."""

from __future__ import annotations

from collections import Counter

import streamlit as st

from courtroom.courthouse import Courthouse
from pages.parts.shared.inert import literal
from pages.parts.shared.units import moment
from pages.parts.shared.unreadable_rows import unreadable_rows

SHOWN = 20


def sweep_list(house: Courthouse) -> None:
    """A line each, with how far it is."""
    sweeps, bad = house.sweeps.store.sweeps(), house.sweeps.store.unreadable()
    if not sweeps and not bad:
        return
    st.subheader("Earlier what-ifs")
    unreadable_rows(bad)
    for sweep in sweeps[:SHOWN]:
        cells = house.sweeps.store.cells(sweep.id)
        done = Counter(cell.status for cell in cells)["done"]
        with st.container(border=True):
            told, act = st.columns([8, 1], vertical_alignment="center")
            told.markdown(
                f"**{literal(sweep.title)}**  \n:small[:gray[{literal(sweep.status)} · {done:d} of {len(cells)} runs · "
                f"{len(sweep.plan.variants)} variants · {moment(sweep.created)}]]"
            )
            if act.button("Open", key=f"open-{sweep.id}"):
                open_sweep(sweep.id)
    if len(sweeps) > SHOWN:
        st.caption(f"and {len(sweeps) - SHOWN} older ones")


def open_sweep(sweep: str) -> None:
    """Make this the sweep that the page shows."""
    st.session_state["sweep"] = sweep
    st.query_params.clear()
    st.query_params["sweep"] = sweep
    st.rerun()
