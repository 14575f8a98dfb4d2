"""The jury: its size and each juror's persona, every cell editable."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from courtroom.cases.case import Case
from pages.parts.shared.draft import Draft
from pages.parts.shared.inert import literal

LISTS = ("traits", "interests")


def personas_table(draft: Draft, case: Case) -> None:
    """Personas are drawn by the seed until one is edited; then the table is the jury."""
    try:
        jury: list[dict[str, Any]] = draft.complete(case)["jury"]
    except ValueError:
        st.caption("Mend the setup first.")
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        if st.button("Draw others", icon=":material/casino:", help="Other personas, by another seed."):
            draft.values["jury"] = []
            draft.seed += 1
            draft.version += 1
            st.rerun()
        if draft.values["jury"] and st.button("Back to those drawn by the seed", icon=":material/restart_alt:"):
            draft.values["jury"] = []
            draft.version += 1
            st.rerun()
    st.caption(
        f"{len(jury)} jurors. Change any cell; traits and interests are lists with commas. The number of jurors is a knob."
    )
    table = pd.DataFrame([{**row, **{name: ", ".join(row[name]) for name in LISTS}} for row in jury])
    edited = st.data_editor(
        table,
        key=draft.key(f"jury-{len(jury)}-{draft.seed}"),
        width="stretch",
        hide_index=True,
        height=min(640, 60 + 36 * len(jury)),
        column_config={
            "age": st.column_config.NumberColumn("age", min_value=18, max_value=95, step=1),
            "background": st.column_config.TextColumn("background", width="medium"),
        },
    )
    rows = [
        {
            **row,
            "age": int(row["age"]),
            **{name: [part.strip() for part in str(row[name]).split(",") if part.strip()] for name in LISTS},
        }
        for row in edited.to_dict("records")
    ]
    if rows != jury:
        draft.values["jury"] = rows
    if "empty_seats" in draft.kind.model_fields:
        field = draft.kind.model_fields["empty_seats"]
        draft.values["empty_seats"] = st.multiselect(
            literal(field.title or ""),
            range(1, len(jury) + 1),
            [seat for seat in draft.values["empty_seats"] if seat <= len(jury)],
            format_func=lambda seat: f"{seat} {jury[seat - 1]['name']}",
            key=draft.key(f"empty-{len(jury)}"),
            help=field.description,
        )
