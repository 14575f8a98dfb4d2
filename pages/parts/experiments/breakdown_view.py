"""An experiment's results by what cases and runs are like: a figure, and the same as a table."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from courtroom.experiments.breakdown import Breakdown
from courtroom.experiments.measures import Measure
from courtroom.experiments.results import LEARNING, ExperimentResults
from courtroom.figures.breakdown import draw_breakdown
from courtroom.language import _, translated
from pages.parts.shared.inert import literal
from pages.parts.shared.table import table


def breakdown_view(found: ExperimentResults, group: str, measure: Measure, theme: str) -> None:
    """By category, difficulty, rounds and votes, where cells differ in these; then the memory's learning curve."""
    features = found.features(group)
    titles = {one.name: one.title for one in features}
    if titles:
        st.subheader(
            _("What the results depend on"), help=_("n is the number of cases. Bars are 95 % intervals over cases.")
        )
        by = st.segmented_control(
            _("Results by"),
            list(titles),
            format_func=lambda one: literal(titles[one]),
            default=next(iter(titles)),
            required=True,
            key="experiment-by",
        )
        _drawn(found.breakdown(by, measure, group), "by", theme)
    if found.trained:
        st.subheader(
            _("Learning curve"),
            help=_(
                "Each case is judged before it is learned from. Cases are taken together in blocks, in their order."
            ),
        )
        _drawn(found.breakdown(LEARNING, measure), LEARNING, theme)


def _drawn(one: Breakdown, key: str, theme: str) -> None:
    if not one.points:
        st.caption(_("{title} has no value here.", title=literal(one.measure.title)))
        return
    st.plotly_chart(draw_breakdown(one, theme), key=f"experiment-{key}-figure")
    with st.expander(_("The same as a table")):
        form = "percent" if one.measure.percent else "%.3g"
        values = {
            name: st.column_config.NumberColumn(translated(name), format=form)
            for name in (one.measure.title, "from", "to")
        }
        shares = {"share of cells": st.column_config.NumberColumn(_("share of cells"), format="percent")}
        table(pd.DataFrame(one.rows()), {**values, **shares})
