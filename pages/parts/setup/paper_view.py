"""Where a setup stands as in the procedure's paper, and where not."""

from __future__ import annotations

import json
from typing import Any

import streamlit as st

from courtroom.engine.paper import departures, title_of
from courtroom.engine.procedure import Procedure
from courtroom.engine.setup import Setup
from pages.parts.shared.inert import literal


def paper_view(procedure: Procedure, setup: Setup) -> None:
    """A line on how many settings are the paper's; opened, a table of them all, those that differ first."""
    settings = procedure.paper_settings
    if not settings:
        return
    other = {departure.setting.knob: departure.value for departure in departures(setup, settings)}
    same = len(settings) - len(other)
    told = (
        f"All {same} settings as in the paper" if not other else f"{same} of {len(settings)} settings as in the paper"
    )
    with st.expander(told, icon=":material/menu_book:" if not other else ":material/compare_arrows:"):
        rows = [
            {
                "Setting": title_of(type(setup), setting.knob),
                "Paper": _text(setting.value),
                "Here": _text(other.get(setting.knob, setting.value)),
                "Differs": setting.knob in other,
                "Source": setting.source,
                "Note": setting.note,
            }
            for setting in sorted(settings, key=lambda setting: setting.knob not in other)
        ]
        st.dataframe(rows, hide_index=True, width="stretch")
        st.caption(literal(f"{procedure.paper}. The preset “Paper” sets all of these."))


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
