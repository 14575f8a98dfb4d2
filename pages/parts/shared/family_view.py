"""The family of a run as an indented tree, each fork with what it changed."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from courtroom.courthouse import Courthouse
from courtroom.evaluation.family import Kin
from courtroom.language import _
from pages.parts.shared.beside import change_in_line
from pages.parts.shared.inert import literal
from pages.parts.shared.units import moment

CHANGES = 4
DEEPEST = 8
"""Forks of forks from here on are not indented further."""
SHOWN = 60
"""Runs of a family that are shown; the rest are counted."""


def family_view(house: Courthouse, run: str, marks: Sequence[str] = ()) -> None:
    """All runs of the family; those in `marks` stand out."""
    for one in house.family(run, SHOWN):
        _line(one, one.run.id in (marks or (run,)))
    if (more := len(house.store.families.ids(run)) - SHOWN) > 0:
        st.caption(_("and {kin} more", kin=more))


def _line(kin: Kin, marked: bool) -> None:
    row = kin.run
    indent, line = st.columns([0.2 + 0.5 * min(kin.depth, DEEPEST), 12])
    with indent:
        if kin.depth:
            st.html('<div style="text-align:right;opacity:.6">└─</div>')
    with line:
        icon = ":material/radio_button_checked:" if marked else ":material/radio_button_unchecked:"
        name = f"**{literal(row.id)}**" if marked else literal(row.id)
        if st.button(name, key=f"kin-{row.id}", icon=icon, type="tertiary"):
            st.session_state["run"] = row.id
            st.switch_page("pages/deliberation.py", query_params={"run": row.id})
        outcome = literal(row.verdict.outcome) if row.verdict else literal(row.status)
        st.caption(f"{outcome} · {moment(row.created)} · {_changed(kin)}")


def _changed(kin: Kin) -> str:
    if not kin.depth:
        return _("the first")
    changes = list(kin.changes.all())
    if not changes:
        return _("nothing changed")
    lines = [f"{literal(one.path)}: {literal(change_in_line(*one.values))}" for _, one in changes[:CHANGES]]
    return "; ".join(lines) + (
        _("; and {changes} more", changes=len(changes) - CHANGES) if len(changes) > CHANGES else ""
    )
