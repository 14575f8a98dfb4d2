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
from pages.parts.experiments.list import open_experiment
from pages.parts.shared.inert import literal
from pages.parts.shared.models_form import typed_keys
from pages.parts.shared.units import count, duration, many, money


def start_bar(house: Courthouse, experiment: Experiment) -> None:
    """Start, estimate, download."""
    content = experiment.model_dump_json()
    kept: tuple[str, ExperimentEstimate] | None = st.session_state.get("experiment-takes")
    with st.container(border=True):
        with st.container(horizontal=True, vertical_alignment="center"):
            start = st.button("Start", type="primary", icon=":material/play_arrow:", key="experiment-start")
            ask = st.button(
                "Estimate", icon=":material/calculate:", key="experiment-estimate",
                help="Says how many calls, tokens and dollars it takes, and how long. Nothing is asked of a model.",
            )  # fmt: skip
            st.download_button("As a file", as_toml(experiment), f"{experiment.name}.toml", icon=":material/download:")
        try:
            if ask:
                bar = st.progress(0.0, "Estimating ...")
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
        f"**{many(takes.cells, 'cell')}** take about **{count(takes.calls)} calls**, {count(takes.tokens)} tokens and "
        f"{literal(duration(takes.seconds))}: {literal(money(takes.money))}. Answers that cells share, or that are on record, save "
        f"{count(takes.shared)} calls.",
        help=f"{takes.rehearsed:d} cells were rehearsed in memory with the offline model; a real model may go other ways. A call of a "
        f"language model is taken to last {SECONDS_A_CALL:.0f} seconds.",
    )
    if takes.training:
        st.caption(f"{many(takes.training, 'cell')} of these only teach the memory.")
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
    st.dataframe(pd.DataFrame(lines), hide_index=True, width="stretch")


def _rehearsed(bar: DeltaGenerator, done: int, total: int) -> None:
    bar.progress(done / max(1, total), f"Estimated {done:d} of {total:d}")
