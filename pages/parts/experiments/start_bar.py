"""What an experiment will take, its file, and the start."""

from __future__ import annotations

from functools import partial

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from courtroom.courthouse import Courthouse
from courtroom.errors import CourtroomError
from courtroom.experiments.estimate import SECONDS_A_CALL, ExperimentEstimate
from courtroom.experiments.spec import Experiment, as_toml
from courtroom.language import _
from pages.parts.experiments.list import open_experiment
from pages.parts.shared.inert import literal
from pages.parts.shared.models_form import typed_keys
from pages.parts.shared.table import table
from pages.parts.shared.units import count, duration, many, money


def start_bar(house: Courthouse, experiment: Experiment) -> None:
    """Start, estimate, download."""
    content = experiment.model_dump_json()
    kept: tuple[str, ExperimentEstimate] | None = st.session_state.get("experiment-takes")
    with st.container(border=True):
        with st.container(horizontal=True, vertical_alignment="center"):
            start = st.button(_("Start"), type="primary", icon=":material/play_arrow:", key="experiment-start")
            ask = st.button(
                _("Estimate"), icon=":material/calculate:", key="experiment-estimate",
                help=_("Says how many calls, tokens and dollars it takes, and how long. Nothing is asked of a model."),
            )  # fmt: skip
            st.download_button(
                _("As a file"), as_toml(experiment), f"{experiment.name}.toml", icon=":material/download:"
            )
        try:
            if ask:
                bar = st.progress(0.0, _("Estimating ..."))
                takes = house.experiments.estimate(experiment, partial(_rehearsed, bar))
                bar.empty()
                kept = st.session_state["experiment-takes"] = (content, takes)
            if kept is not None and kept[0] == content:
                _takes(kept[1])
            if start:
                name = house.experiments.begin(experiment)
                house.experiments.go(name, typed_keys())
                open_experiment(name)
        except CourtroomError as error:
            st.error(literal(str(error)))


def _takes(takes: ExperimentEstimate) -> None:
    st.markdown(
        _(
            "**{cells}** take about **{calls} calls**, {tokens} tokens and {seconds}: {money}. Answers that cells share, or that are on record, save {shared} calls.",
            cells=many(takes.cells, "cell"),
            calls=count(takes.calls),
            tokens=count(takes.tokens),
            seconds=literal(duration(takes.seconds)),
            money=literal(money(takes.money)),
            shared=count(takes.shared),
        ),
        help=_(
            "{rehearsed} cells were rehearsed in memory with the offline model; a real model may go other ways. A call of a language model is taken to last {seconds_a_call} seconds.",
            rehearsed=f"{takes.rehearsed:d}",
            seconds_a_call=f"{SECONDS_A_CALL:.0f}",
        ),
    )
    if takes.training:
        st.caption(_("{training} of these only teach the memory.", training=many(takes.training, "cell")))
    lines = [
        {
            "Arm": arm.arm,
            "Cells": arm.cells,
            "Calls": arm.calls,
            "Tokens": arm.tokens,
            "Time": duration(arm.seconds),
            "Money": money(arm.money),
        }
        for arm in takes.arms
    ]
    table(pd.DataFrame(lines))


def _rehearsed(bar: DeltaGenerator, done: int, total: int) -> None:
    bar.progress(done / max(1, total), _("Estimated {done} of {total}", done=f"{done:d}", total=f"{total:d}"))
