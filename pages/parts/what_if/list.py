"""Earlier sweeps, newest first."""

from __future__ import annotations

from collections import Counter

import streamlit as st

from courtroom.courthouse import Courthouse
from courtroom.language import _
from pages.parts.shared.inert import literal
from pages.parts.shared.units import count, moment
from pages.parts.shared.unreadable_rows import unreadable_rows

SHOWN = 20


def sweep_list(house: Courthouse) -> None:
    """A line each, with how far it is."""
    sweeps, bad = house.sweeps.store.newest(SHOWN)
    if not sweeps and not bad:
        return
    st.subheader(_("Earlier what-ifs"))
    unreadable_rows(bad)
    for sweep in sweeps:
        cells = house.sweeps.store.cells(sweep.id)
        done = Counter(cell.status for cell in cells)["done"]
        with st.container(border=True):
            words, act = st.columns([8, 1], vertical_alignment="center")
            words.markdown(
                _(
                    "**{title}**  \n:small[:gray[{status} · {done} of {cells} runs · {variants} variants · {created}]]",
                    title=literal(sweep.title),
                    status=literal(sweep.status),
                    done=f"{done:d}",
                    cells=len(cells),
                    variants=len(sweep.plan.variants),
                    created=moment(sweep.created),
                )
            )
            if act.button(_("Open"), key=f"open-{sweep.id}"):
                open_sweep(sweep.id)
    if (older := house.sweeps.store.number() - SHOWN) > 0:
        st.caption(_("and {sweeps} older ones", sweeps=count(older)))


def open_sweep(sweep: str) -> None:
    """Make this the sweep that the page shows."""
    st.session_state["sweep"] = sweep
    st.query_params.clear()
    st.query_params["sweep"] = sweep
    st.rerun()
