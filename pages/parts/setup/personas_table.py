"""The jury: its size and each juror's persona, every cell editable."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from courtroom.cases.case import Case
from courtroom.courthouse import Courthouse
from courtroom.engine.knobs import Widget
from courtroom.language import _
from pages.parts.setup.panels_bar import panels_bar
from pages.parts.shared.draft import SetupDraft
from pages.parts.shared.inert import declared, literal
from pages.parts.shared.table import heads

LISTS = ("traits", "interests")


def personas_table(house: Courthouse, draft: SetupDraft, case: Case) -> None:
    """Personas are drawn by the seed until one is edited; then the table is the jury."""
    name = draft.drawn[Widget.PERSONAS]
    try:
        jury: list[dict[str, Any]] = draft.complete(case)[name]
    except ValueError:
        st.caption(_("Mend the setup first."))
        return
    panels_bar(house, draft, jury)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        if st.button(_("Draw others"), icon=":material/casino:", help=_("Other personas, by another seed.")):
            draft.values[name] = []
            draft.seed += 1
            draft.version += 1
            st.rerun()
        if draft.values[name] and st.button(_("Back to those drawn by the seed"), icon=":material/restart_alt:"):
            draft.values[name] = []
            draft.version += 1
            st.rerun()
    st.caption(
        _(
            "{jury} jurors. Change any cell; traits and interests are lists with commas. The number of jurors is among the settings.",
            jury=len(jury),
        )
    )
    table = pd.DataFrame([{**row, **{part: ", ".join(row[part]) for part in LISTS}} for row in jury])
    edited = st.data_editor(
        table,
        key=draft.key(f"jury-{len(jury)}-{draft.seed}"),
        width="stretch",
        hide_index=True,
        height=min(640, 60 + 36 * len(jury)),
        column_config=heads(
            table,
            {
                "age": st.column_config.NumberColumn(_("age"), min_value=18, max_value=95, step=1),
                "background": st.column_config.TextColumn(_("background"), width="medium"),
            },
        ),
    )
    rows = [
        {
            **row,
            "age": int(row["age"]),
            **{part: [one.strip() for one in str(row[part]).split(",") if one.strip()] for part in LISTS},
        }
        for row in edited.to_dict("records")
    ]
    if rows != jury:
        draft.values[name] = rows
    if empty := draft.drawn.get(Widget.EMPTY_SEATS):
        field = draft.kind.model_fields[empty]
        draft.values[empty] = st.multiselect(
            literal(field.title or ""),
            range(1, len(jury) + 1),
            [seat for seat in draft.values[empty] if seat <= len(jury)],
            format_func=lambda seat: f"{seat} {jury[seat - 1]['name']}",
            key=draft.key(f"empty-{len(jury)}"),
            help=declared(field.description or "") or None,
        )
