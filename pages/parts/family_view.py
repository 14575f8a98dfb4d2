"""The family of a run as an indented tree, each fork with what it changed."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from courtroom.courthouse import Courthouse
from courtroom.evaluation.family import Kin
from pages.parts.beside import told
from pages.parts.inert import literal
from pages.parts.units import moment

CHANGES = 4
SHOWN = 60
"""Runs of a family that are shown; the rest are counted."""


def family_view(house: Courthouse, run: str, marks: Sequence[str] = ()) -> None:
    """All runs of the family; those in `marks` stand out."""
    kin = house.family(run)
    for one in kin[:SHOWN]:
        _line(house, one, one.run.id in (marks or (run,)))
    if len(kin) > SHOWN:
        st.caption(f"and {len(kin) - SHOWN} more")


def _line(house: Courthouse, kin: Kin, marked: bool) -> None:
    row = kin.run
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if kin.depth:
            st.html(f'<span style="padding-left:{1.6 * (kin.depth - 1):.1f}rem;opacity:.6">└─</span>', width="content")
        st.page_link(
            "pages/deliberation.py",
            label=f"**{literal(row.id)}**" if marked else literal(row.id),
            icon=":material/radio_button_checked:" if marked else ":material/radio_button_unchecked:",
            query_params={"run": row.id},
        )
        outcome = literal(row.verdict.outcome) if row.verdict else row.status
        st.caption(f"{outcome} · {moment(row.created)} · {_changed(kin)}", width="stretch")


def _changed(kin: Kin) -> str:
    if not kin.depth:
        return "the first"
    changes = list(kin.changes.all())
    if not changes:
        return "nothing changed"
    told_ = [
        f"{literal(one.path)}: {literal(_short(one.values[0]))} → {literal(_short(one.values[1]))}"
        for _, one in changes[:CHANGES]
    ]
    return "; ".join(told_) + (f"; and {len(changes) - CHANGES} more" if len(changes) > CHANGES else "")


def _short(value: object) -> str:
    text = told(value).replace("\n", ", ")
    return text if len(text) <= 50 else f"{text[:49]}…"
