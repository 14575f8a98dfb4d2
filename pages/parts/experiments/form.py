"""An experiment being set up: one that is written already, or a dataset and arms of one's own; what it will take; the start."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from courtroom.courthouse import Courthouse
from courtroom.datasets import DatasetInfo
from courtroom.engine.changes import value_at
from courtroom.engine.knobs import setting_in_words
from courtroom.experiments.measures import measures_of
from courtroom.experiments.outcome import models_in
from courtroom.experiments.plan import SECONDS_A_CALL, ExperimentEstimate
from courtroom.experiments.spec import Experiment, adapted, as_toml, has_panel, parsed, read_toml, recipes
from courtroom.language import _, listed, translated
from courtroom.models.offers import Offer
from courtroom.models.spec import OFFLINE, PERSON
from pages.parts.experiments.datasets import kept_file
from pages.parts.experiments.list import open_experiment, sample_buttons
from pages.parts.shared.actions import errors_shown
from pages.parts.shared.knobs import knob_values, varied
from pages.parts.shared.models_form import keys_form, offer_label, reachable, typed_keys
from pages.parts.shared.shown import count, declared, duration, literal, many, money, table

AS_WRITTEN = ""


def written_form(house: Courthouse, written: Experiment, remarks: tuple[str, ...]) -> Experiment | None:
    """What can be changed of it; None as long as its cases are missing."""
    st.markdown(f"**{literal(written.title or written.name)}**")
    if written.source:
        st.caption(literal(written.source))
    if remarks:
        st.caption(literal(" ".join(remarks)))
    kind = next(
        (house.procedures[arm.procedure].case_kind for arm in written.arms if arm.procedure in house.procedures), ""
    )
    infos = {info.name: info for info in house.datasets.list() if not kind or info.kind == kind}
    if not infos:
        st.warning(
            _(
                "No dataset with cases of its kind is here. Import one under the name “{name}”, or take bundled cases.",
                name=literal(written.dataset.name),
            ),
            icon=":material/dataset:",
        )
        sample_buttons(house)
        return None
    key = f"experiment-{written.name}"
    info, split, sample = _cases(written, infos, key)
    left, a, b = st.columns([3, 1, 1])
    names = [arm.name for arm in written.arms]
    arms = left.multiselect(_("Arms"), names, names, key=f"{key}-arms", format_func=translated)
    repeats = a.number_input(
        _("Repeats"), 1, 1_000, written.repeats, key=f"{key}-repeats", help=_("Each with a seed of its own.")
    )
    budget = b.number_input(
        _("Budget (US$)"), 0.0, None, written.budget.money or 0.0, key=f"{key}-budget", help=_("0 is no limit.")
    )
    model = _model(house, written, key)
    if not arms:
        st.caption(_("Choose at least one arm."))
        return None
    with errors_shown():
        chosen: dict[str, Any] = {"split": split, "sample": sample or None, "repeats": repeats, "model": model or None}
        experiment = adapted(written, dataset=info.name, arms=arms, **chosen)
        cases = experiment.dataset if sample else experiment.dataset.model_copy(update={"sample": None, "limit": None})
        limits = experiment.budget.model_copy(update={"money": budget or None})
        return experiment.model_copy(update={"dataset": cases, "budget": limits})
    return None


def _cases(written: Experiment, infos: dict[str, DatasetInfo], key: str) -> tuple[DatasetInfo, str, int]:
    left, middle, right = st.columns([3, 2, 2])
    cases, names = written.dataset, list(infos)
    place = names.index(cases.name) if cases.name in infos else 0
    info = infos[left.selectbox(_("Dataset"), names, place, key=f"{key}-dataset", format_func=translated)]
    splits = ["", *info.splits]
    split = middle.selectbox(
        _("Split"), splits, splits.index(cases.split) if cases.split in splits else 0,
        key=f"{key}-split-{info.name}", format_func=lambda one: one or "all",
    )  # fmt: skip
    drawn = min(cases.sample or 0, info.count)
    sample = right.number_input(_("Cases drawn (0 is all)"), 0, info.count, drawn, key=f"{key}-sample-{info.name}")
    if cases.name not in infos:
        st.caption(
            _(
                "It is written for the dataset “{name}”, which is not here. Other cases of the same kind stand in; the table is then not the paper's.",
                name=literal(cases.name),
            )
        )
    return info, split, sample


def _model(house: Courthouse, written: Experiment, key: str) -> str:
    """The model that takes the place of all; empty where the experiment names its own."""
    own = list(dict.fromkeys(arm.model for arm in written.arms if arm.procedure and arm.model))
    if own in ([], [OFFLINE]):
        return AS_WRITTEN
    offers: dict[str, Offer] = {label: one for label, one in reachable(house.connections).items() if one.id != PERSON}
    chosen = st.selectbox(
        _("Models"), [AS_WRITTEN, *offers], key=f"{key}-model", accept_new_options=True,
        format_func=lambda one: one or _("as written: {own}{value}", own=', '.join(own[:4]), value=' ...' if len(own) > 4 else ''),
        help=_("One model for every member of every arm, in place of those that are written."),
    )  # fmt: skip
    return offers[chosen].id if chosen in offers else (chosen or AS_WRITTEN).strip()


FILES = ["jsonl", "csv", "tsv", "json"]
NOT_VARIED = ("model.id",)
"""Models have a field of their own."""


def chosen_arms(house: Courthouse, kind: str) -> list[dict[str, Any]]:
    """Every chosen procedure or preset with every chosen model and value, then predictions made elsewhere."""
    offered = _offered(house, kind)
    st.subheader(_("Arms"), help=_("Each arm is a row of the table."))
    left, right = st.columns([3, 2])
    chosen = left.multiselect(
        _("Procedures and presets"), list(offered), list(offered)[:1], key=f"experiment-arms-{kind}",
        help=_("Each is an arm. Presets are ways to set a procedure up, such as its paper's baselines."), format_func=translated,
    )  # fmt: skip
    offers = {label: offer for label, offer in reachable(house.connections).items() if offer.id != PERSON}
    models = right.multiselect(
        _("Models"), list(offers), [OFFLINE], key="experiment-models", accept_new_options=True,
        help=_("Each arm is run with each model. Type an id that is not in the list, such as openai/gpt-4o-mini."), format_func=translated,
    )  # fmt: skip
    left, right = st.columns([3, 2])
    path, values = _varied(house, [offered[title]["procedure"] for title in chosen], left, right)
    arms = [
        _arm(house, title, offered[title], offers.get(label) or Offer(id=label.strip()), len(models) > 1, path, value)
        for title in chosen
        for label in models or [OFFLINE]
        for value in (values if path in _paths(house, offered[title]["procedure"]) and values else [None])
    ]
    arms += _predictions()
    if arms:
        table(pd.DataFrame([_shown(house, arm) for arm in arms]), key="experiment-arms-table")
    return arms


def _offered(house: Courthouse, kind: str) -> dict[str, dict[str, Any]]:
    offered: dict[str, dict[str, Any]] = {}
    for one in (one for one in house.procedures.values() if kind in one.kinds):
        offered[one.title] = {"procedure": one.name}
        for preset in one.presets:
            offered[f"{one.title}: {preset.title}"] = {"procedure": one.name, "set": dict(preset.changes)}
    return offered


def _paths(house: Courthouse, procedure: str) -> dict[str, Any]:
    return {path: field for path, field in varied(house.procedures[procedure]).items() if path not in NOT_VARIED}


def _varied(house: Courthouse, procedures: list[str], left: Any, right: Any) -> tuple[str, list[Any]]:
    """One setting and its values; an empty path where none is varied."""
    fields: dict[str, tuple[str, Any]] = {}
    for name in dict.fromkeys(procedures):
        for path, field in _paths(house, name).items():
            fields.setdefault(path, (name, field))
    path = left.selectbox(
        _("Vary one setting"), ["", *fields], key="experiment-vary",
        format_func=lambda one: declared(fields[one][1].title or one) if one else _("none"),
        help=_("Each arm is run with each value of this setting."),
    )  # fmt: skip
    if not path:
        return "", []
    procedure, field = fields[path]
    with right:
        now = value_at(house.procedures[procedure].setup(), path)
        return path, knob_values(field, now, f"experiment-values-{path}", path)


def _arm(
    house: Courthouse, title: str, base: Mapping[str, Any], offer: Offer, several: bool, path: str, value: Any
) -> dict[str, Any]:
    name, changes = [title], dict(base.get("set", {}))
    if several:
        name.append(offer_label(offer))
    if offer.connection:
        changes["model.connection"] = offer.connection
    if value is not None:
        name.append(setting_in_words(house.procedures[base["procedure"]].setup, path, value))
        changes[path] = value
    return {"name": " · ".join(name)[:120], "procedure": base["procedure"], "model": offer.id, "set": changes}


def _predictions() -> list[dict[str, Any]]:
    """One arm for each model of a file of predictions made elsewhere."""
    with st.expander(_("Predictions made elsewhere"), icon=":material/upload_file:"):
        file = st.file_uploader(
            _("A file of answers"), FILES, key="experiment-predictions",
            help=_("A line for each answer: `case` (its id in the dataset), `model`, `prediction`."),
        )  # fmt: skip
    if file is None:
        return []
    path: Path = kept_file(file.name, file.getvalue())
    with errors_shown():
        return [{"name": model or path.stem, "model": model, "predictions": str(path)} for model in models_in(path)]
    return []


def _shown(house: Courthouse, arm: Mapping[str, Any]) -> dict[str, str]:
    if arm.get("predictions"):
        return {"Arm": arm["name"], "Model": arm["model"], "Settings": _("predictions made elsewhere")}
    setup = house.procedures[arm["procedure"]].setup
    changes = listed(setting_in_words(setup, path, value) for path, value in arm["set"].items())
    return {"Arm": arm["name"], "Model": arm["model"], "Settings": changes or _("the procedure's defaults")}


AT_ONCE = 30
"""Up to so many forks are rehearsed without being asked for: a few seconds."""


def start_bar(house: Courthouse, experiment: Experiment) -> None:
    if not experiment.dataset.run and len(experiment.arms) > 1:
        experiment = _hypotheses(house, experiment)
    experiment = _controlled(house, experiment)
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
        with errors_shown():
            small = len(experiment.arms) * experiment.repeats <= AT_ONCE and experiment.dataset.run
            if ask or (small and not start and (kept is None or kept[0] != content)):
                bar = st.progress(0.0, _("Estimating ..."))
                takes = house.experiments.estimate(experiment, partial(rehearsed, bar))
                bar.empty()
                kept = st.session_state["experiment-takes"] = (content, takes)
            if kept is not None and kept[0] == content:
                _takes(kept[1])
            if start:
                if experiment.hypotheses:
                    house.experiments.lock(experiment)
                name = house.experiments.begin(experiment)
                house.experiments.go(name, typed_keys())
                open_experiment(name, what_if=bool(experiment.dataset.run))


def _controlled(house: Courthouse, experiment: Experiment) -> Experiment:
    """With matched controls, where they are wanted; nobody is asked where no arm has a panel."""
    if experiment.dataset.run or not any(has_panel(arm, house.procedures) for arm in experiment.arms):
        return experiment
    if not st.toggle(
        _("Add matched controls"), key="experiment-controls",
        help=_("For each panel: one model with as many tokens, the panel without talk, talk with oneself, no personas, personas of others."),
    ):  # fmt: skip
        return experiment
    kept: tuple[str, Experiment] | None = st.session_state.get("experiment-controlled")
    if kept is None or kept[0] != experiment.digest:
        kept = None
        with errors_shown(), st.spinner(_("Estimating ...")):
            kept = (experiment.digest, house.experiments.with_controls(experiment))
            st.session_state["experiment-controlled"] = kept
    if kept is None:
        return experiment
    table(pd.DataFrame([_shown(house, arm.model_dump()) for arm in kept[1].arms[len(experiment.arms) :]]))
    return experiment.model_copy(update={"arms": kept[1].arms})


def _hypotheses(house: Courthouse, experiment: Experiment) -> Experiment:
    """What somebody expects, to be locked before the first answer; the step can be skipped."""
    arms = [arm.name for arm in experiment.arms]
    kind = next((one.kind for one in house.datasets.list() if one.name == experiment.dataset.name), "")
    measures = list(experiment.measures) or [one.name for one in measures_of(kind).values() if one.usual]
    with st.expander(_("Hypotheses before results (can be skipped)"), icon=":material/lock:"):
        st.caption(
            _(
                "Say what you expect. It is locked when you start, and the report says of each: held, not shown or refuted."
            )
        )
        unit = _("In the measure's own unit: 0.02 of a share is 2 points.")
        once = _("It is tested once, when both arms have so many cases; before, it is not shown.")
        choice = st.column_config.SelectboxColumn
        given = [one.model_dump() for one in experiment.hypotheses]
        columns = ["arm", "than", "measure", "direction", "least", "cases"]
        edited = st.data_editor(
            pd.DataFrame(given, columns=columns),
            num_rows="dynamic",
            hide_index=True,
            column_config={
                "arm": choice(_("Arm"), options=arms, required=True),
                "than": choice(_("Compared with"), options=arms, required=True),
                "measure": choice(_("Measure"), options=measures, required=True),
                "direction": choice(_("Is"), options=["higher", "lower", "different"], default="higher", required=True),
                "least": st.column_config.NumberColumn(_("By at least"), min_value=0.0, default=0.0, help=unit),
                "cases": st.column_config.NumberColumn(
                    _("With so many cases"), min_value=1, step=1, default=1, help=once
                ),
            },
            key=f"experiment-hypotheses-{experiment.digest[:8]}",
        )
        whole = edited.dropna(subset=["arm", "than", "measure"])
        whole = whole.fillna({"direction": "higher", "least": 0.0, "cases": 1})
        rows = whole.astype({"cases": int}).to_dict("records")
        st.caption(
            _(
                "To be locked: {hypotheses}. A line counts once its arm, what it is compared with and its measure are chosen.",
                hypotheses=f"{len(rows):d}",
            )
        )
    with errors_shown():
        return parsed({**experiment.model_dump(mode="json"), "hypotheses": rows}, "The hypotheses")
    return experiment


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
    lines = [(one.arm, one.cells, one.calls, one.tokens, duration(one.seconds), money(one.money)) for one in takes.arms]
    table(pd.DataFrame(lines, columns=["Arm", "Cells", "Calls", "Tokens", "Time", "Money"]))


def rehearsed(bar: DeltaGenerator, done: int, total: int) -> None:
    """Show how far an estimate is."""
    bar.progress(done / max(1, total), _("Estimated {done} of {total}", done=f"{done:d}", total=f"{total:d}"))


OWN = ""
FILE = " file"


def experiment_form(house: Courthouse) -> None:
    """From top to bottom: cases, arms, what is measured, what it takes, start."""
    by_name = {one.name: one for one in recipes()}
    titles = {OWN: _("cases and arms that I choose"), FILE: _("a file of mine")}
    for name, one in by_name.items():
        titles[name] = f"{one.experiment.source}: {one.experiment.title}" if one.paper else one.experiment.title
    begin = st.selectbox(_("Begin with"), list(titles), key="experiment-begin", format_func=titles.__getitem__)
    experiment: Experiment | None
    if begin == FILE:
        experiment, file = None, st.file_uploader(_("An experiment's file"), ["toml"], key="experiment-file")
        if file is not None:
            with errors_shown():
                experiment = read_toml(kept_file(file.name, file.getvalue()))
        experiment = experiment and written_form(house, experiment, ())
    elif begin in by_name:
        experiment = written_form(house, by_name[begin].experiment, by_name[begin].remarks)
    else:
        experiment = _own(house)
    with st.expander(_("Keys"), icon=":material/key:"):
        keys_form(house.connections)
    if experiment is not None:
        start_bar(house, experiment)


def _own(house: Courthouse) -> Experiment | None:
    names = {info.name: info for info in house.datasets.list() if measures_of(info.kind)}
    if not names:
        st.info(
            _("No dataset has cases whose outcome can be measured. Import one under Datasets, or take bundled cases."),
            icon=":material/dataset:",
        )
        sample_buttons(house)
        return None
    st.subheader(_("Cases"))
    left, middle, right = st.columns([3, 2, 2])
    info = names[left.selectbox(_("Dataset"), list(names), key="experiment-dataset", format_func=translated)]
    split = middle.selectbox(
        _("Split"), ["", *info.splits], key="experiment-split", format_func=lambda one: one or "all"
    )
    sample = right.number_input(_("Cases drawn (0 is all)"), 0, info.count, 0, key="experiment-sample")
    arms = chosen_arms(house, info.kind)
    st.subheader(_("Table"))
    known = measures_of(info.kind)
    measures = st.multiselect(
        _("Measures"), list(known), [name for name, one in known.items() if one.usual],
        format_func=lambda name: known[name].title, key=f"experiment-measures-{info.kind}",
    )  # fmt: skip
    a, b, c, d = st.columns([3, 1, 1, 2], vertical_alignment="bottom")
    name = a.text_input(
        _("Name"), info.name[:60], key=f"experiment-name-{info.name}", help=_("Letters, digits, dots and hyphens.")
    )
    repeats = b.number_input(_("Repeats"), 1, 100, 1, key="experiment-repeats", help=_("Each with a seed of its own."))
    budget = c.number_input(_("Budget (US$)"), 0.0, None, 0.0, key="experiment-budget", help=_("0 is no limit."))
    by_category = d.toggle(_("A table for each category"), key="experiment-category")
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
    with errors_shown():
        return parsed(values, "The experiment")
    return None
