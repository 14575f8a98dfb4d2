"""Where a setup stands as in the procedure's paper, and where not."""

from __future__ import annotations

import json
from typing import Any

import pandas as pd
import streamlit as st

from courtroom.engine.paper import departures, title_of
from courtroom.engine.procedure import Procedure
from courtroom.engine.setup import Setup
from courtroom.language import _
from pages.parts.shared.inert import literal
from pages.parts.shared.table import table


def paper_view(procedure: Procedure, setup: Setup) -> None:
    """A line on how many settings are the paper's; opened, a table of them all, those that differ first."""
    settings = procedure.paper_settings
    if not settings:
        return
    other = {departure.setting.knob: departure.value for departure in departures(setup, settings)}
    same = len(settings) - len(other)
    text = (
        _("All {same} settings as in the paper", same=same)
        if not other
        else _("{same} of {settings} settings as in the paper", same=same, settings=len(settings))
    )
    with st.expander(text, icon=":material/menu_book:" if not other else ":material/compare_arrows:"):
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
        table(pd.DataFrame(rows))
        st.caption(_("{paper}. The preset “Paper” sets all of these.", paper=literal(procedure.paper)))


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
