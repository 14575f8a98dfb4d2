"""The comparison table: runs that were added to it on the page Runs, a row each."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from courtroom.courthouse import Courthouse
from courtroom.evaluation.run_list import RunList
from courtroom.evaluation.run_table import run_table
from courtroom.language import _
from pages.parts.runs.picked import TABLE
from pages.parts.shared.records import read
from pages.parts.shared.table import heads
from pages.parts.shared.units import many


def comparison_table(house: Courthouse) -> None:
    """The table, where there is one."""
    runs = RunList(house.database).there(st.session_state.get(TABLE, ()))
    if not runs:
        return
    table = pd.DataFrame(run_table([read(house, run) for run in runs]))
    with st.container(border=True):
        st.markdown(_("**Comparison table: {runs}**", runs=many(len(runs), "run")))
        chosen = st.dataframe(
            table,
            hide_index=True,
            width="stretch",
            key=f"table-{len(runs)}",
            on_select="rerun",
            selection_mode="multi-row",
            column_config=heads(
                table,
                {
                    "share": st.column_config.NumberColumn(_("share"), format="percent"),
                    "cost": st.column_config.NumberColumn(_("cost"), format="dollar"),
                },
            ),
        )
        rows = [runs[number] for number in chosen["selection"]["rows"]]
        with st.container(horizontal=True, vertical_alignment="center"):
            if st.button(_("Compare the chosen rows"), icon=":material/compare:", disabled=not 2 <= len(rows) <= 4):
                st.query_params["runs"] = st.session_state["compared"] = ",".join(rows)
                st.rerun()
            if st.button(_("Take out the chosen rows"), icon=":material/remove:", disabled=not rows):
                st.session_state[TABLE] = [run for run in runs if run not in rows]
                st.rerun()
            st.download_button(_("CSV"), table.to_csv(index=False), "runs.csv", "text/csv", icon=":material/download:")
            if st.button(_("Empty the table"), icon=":material/close:", type="tertiary"):
                del st.session_state[TABLE]
                st.rerun()
