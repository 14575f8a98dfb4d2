"""An experiment being set up: a dataset, arms, repeats, measures, a budget; what it will take; the start."""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from courtroom.courthouse import Courthouse
from courtroom.datasets import DatasetInfo
from courtroom.errors import CourtroomError
from courtroom.experiments.elsewhere import models_in
from courtroom.experiments.estimate import ExperimentEstimate
from courtroom.experiments.measures import measures_of
from courtroom.experiments.spec import Experiment, as_toml, parsed, read_toml
from courtroom.language import _, translated
from pages.parts.experiments.list import open_experiment
from pages.parts.shared.inert import literal
from pages.parts.shared.models_form import keys_form, typed_keys
from pages.parts.shared.units import count, many, money

FILES = ["jsonl", "csv", "tsv", "json"]


def experiment_form(house: Courthouse) -> None:
    """From top to bottom: cases, arms, what is measured, what it takes, start."""
    infos = [info for info in house.datasets.list() if measures_of(info.kind)]
    if not infos:
        st.info(
            _("No dataset has cases whose outcome can be measured. Import one under Datasets."),
            icon=":material/dataset:",
        )
        return
    experiment = _from_file() or _chosen(house, infos)
    if experiment is not None:
        _bar(house, experiment)


def _from_file() -> Experiment | None:
    with st.expander(_("From a file"), icon=":material/upload_file:"):
        given = st.file_uploader(_("An experiment's file"), ["toml"], key="experiment-file")
    if given is None:
        return None
    try:
        return read_toml(_kept(given.name, given.getvalue()))
    except CourtroomError as error:
        st.error(literal(str(error)))
        return None


def _chosen(house: Courthouse, infos: list[DatasetInfo]) -> Experiment | None:
    names = {info.name: info for info in infos}
    left, middle, right = st.columns([3, 2, 2])
    info = names[left.selectbox(_("Dataset"), list(names), key="experiment-dataset", format_func=translated)]
    split = middle.selectbox(
        _("Split"), ["", *info.splits], key="experiment-split", format_func=lambda one: one or "all"
    )
    sample = int(right.number_input(_("Cases drawn (0 is all)"), 0, info.count, 0, key="experiment-sample"))
    arms = [*_procedure_arms(house, info.kind), *_prediction_arms()]
    known = measures_of(info.kind)
    measures = st.multiselect(
        _("Measures"), list(known), [name for name, one in known.items() if one.usual],
        format_func=lambda name: known[name].title, key=f"experiment-measures-{info.kind}",
    )  # fmt: skip
    a, b, c, d = st.columns([3, 1, 1, 2], vertical_alignment="bottom")
    name = a.text_input(
        _("Name"), info.name, key=f"experiment-name-{info.name}", help=_("Letters, digits, dots and hyphens.")
    )
    repeats = int(
        b.number_input(_("Repeats"), 1, 100, 1, key="experiment-repeats", help=_("Each with a seed of its own."))
    )
    budget = c.number_input(_("Budget (US$)"), 0.0, None, 0.0, key="experiment-budget", help=_("0 is no limit."))
    by_category = d.toggle(_("A table for each category"), key="experiment-category")
    with st.expander(_("Keys"), icon=":material/key:"):
        keys_form(house.connections)
    if not arms:
        st.caption(_("Choose at least one arm."))
        return None
    values = {
        "name": name,
        "dataset": {"name": info.name, "split": split or None, "sample": sample or None},
        "repeats": repeats,
        "measures": tuple(measures),
        "by_category": by_category,
        "budget": {"money": budget or None},
        "arms": arms,
    }
    try:
        return parsed(values, "The experiment")
    except CourtroomError as error:
        st.error(literal(str(error)))
        return None


def _procedure_arms(house: Courthouse, kind: str) -> list[dict[str, Any]]:
    """One arm for each chosen preset and model."""
    offered: dict[str, dict[str, Any]] = {}
    for procedure in house.procedures.values():
        if procedure.case_kind == kind:
            offered[procedure.title] = {"procedure": procedure.name}
            for preset in procedure.presets:
                offered[f"{procedure.title}: {preset.title}"] = {
                    "procedure": procedure.name,
                    "set": dict(preset.changes),
                }
    left, right = st.columns([3, 2])
    chosen = left.multiselect(
        _("Arms"), list(offered), list(offered)[:1], key=f"experiment-arms-{kind}",
        help=_("Procedures with their defaults, and their presets. A file can say more."), format_func=translated,
    )  # fmt: skip
    models = right.text_input(
        _("Models"), "offline", key="experiment-models", help=_("With commas; each arm is run with each model."),
    ).split(",")  # fmt: skip
    models = [model.strip() for model in models if model.strip()] or ["offline"]
    return [
        {"name": title if len(models) == 1 else f"{title} · {model}", "model": model, **offered[title]}
        for title in chosen
        for model in models
    ]


def _prediction_arms() -> list[dict[str, Any]]:
    """One arm for each model of a file of predictions made elsewhere."""
    given = st.file_uploader(
        _("Predictions made elsewhere"), FILES, key="experiment-predictions",
        help=_("A line for each answer: `case` (its id in the dataset), `model`, `prediction`."),
    )  # fmt: skip
    if given is None:
        return []
    path = _kept(given.name, given.getvalue())
    try:
        return [
            {"name": model or path.stem, "model": model, "predictions": str(path)} for model in models_in(path)
        ]  # fmt: skip
    except CourtroomError as error:
        st.error(literal(str(error)))
        return []


def _kept(name: str, content: bytes) -> Path:
    """An uploaded file on disk, as long as this session lasts."""
    folder = st.session_state.setdefault("experiment-folder", tempfile.TemporaryDirectory(prefix="courtroom-"))
    path = Path(folder.name) / Path(name).name
    path.write_bytes(content)
    return path


def _bar(house: Courthouse, experiment: Experiment) -> None:
    """What it takes, the file, and the start."""
    content = experiment.model_dump_json()
    kept: tuple[str, ExperimentEstimate] | None = st.session_state.get("experiment-takes")
    with st.container(border=True):
        with st.container(horizontal=True, vertical_alignment="center"):
            start = st.button(_("Start"), type="primary", icon=":material/play_arrow:", key="experiment-start")
            ask = st.button(_("Estimate"), icon=":material/calculate:", key="experiment-estimate")
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
    if takes.training:
        st.caption(_("{training} of these only teach the memory.", training=many(takes.training, "cell")))
    st.markdown(
        _(
            "**{cells}** take about **{calls} calls** and {tokens} tokens: {money}. Answers that cells share, or that are on record, save {shared} calls.",
            cells=many(takes.cells, "cell"),
            calls=count(takes.calls),
            tokens=count(takes.tokens),
            money=literal(money(takes.money)),
            shared=count(takes.shared),
        ),
        help=_(
            "{rehearsed} cells were rehearsed in memory with the offline model; a real model may go other ways.",
            rehearsed=f"{takes.rehearsed:d}",
        ),
    )
    for arm in takes.arms:
        st.caption(
            _(
                "{arm}: {calls} calls, {tokens} tokens, {money}",
                arm=literal(arm.arm),
                calls=count(arm.calls),
                tokens=count(arm.tokens),
                money=literal(money(arm.money)),
            )
        )


def _rehearsed(bar: DeltaGenerator, done: int, total: int) -> None:
    bar.progress(done / max(1, total), _("Estimated {done} of {total}", done=f"{done:d}", total=f"{total:d}"))
