"""Whether members are as sure as they are right: Brier score, figure, and the bins with their numbers."""

from collections.abc import Mapping, Sequence

import pandas as pd
import streamlit as st

from courtroom.evaluation.calibration import Forecast, brier, reliability
from courtroom.figures.graph import draw_reliability
from courtroom.language import N_, _
from pages.parts.shared.shown import literal, table


def reliability_view(given: Mapping[str, Sequence[Forecast]], key: str) -> None:
    """Draw forecasts by whose they are, such as an arm's."""
    bins = {name: reliability(forecasts) for name, forecasts in given.items()}
    for name, forecasts in given.items():
        values = {"name": literal(name), "score": f"{brier(forecasts):.3f}", "votes": f"{len(forecasts):,}"}
        st.markdown(_("{name}: Brier score **{score}**, n = {votes} votes", **values))
    st.caption(
        _(
            "Of each member's last vote. A confidence of 0 counts as an even chance among the choices, 100 as certain. A Brier score of 0 is perfect; whoever always gives two choices an even chance has 0.25."
        )
    )
    st.plotly_chart(draw_reliability(bins, st.context.theme.type or "light"), key=f"reliability-{key}")
    titles = {"probability": N_("how sure"), "right": N_("right")}
    shares = {name: st.column_config.NumberColumn(_(title), format="percent") for name, title in titles.items()}
    table(pd.concat(bins, names=[""]).reset_index(level=0), shares)
