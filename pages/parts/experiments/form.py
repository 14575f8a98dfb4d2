"""An experiment being set up: a written one, or a dataset and arms of one's own; what it will take; the start."""

from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from courtroom.courthouse import Courthouse
from courtroom.datasets import DatasetInfo
from courtroom.declarations.changes import value_at
from courtroom.declarations.knobs import setting_in_words
from courtroom.experiments.measures import measures_of
from courtroom.experiments.mirror import is_mirror
from courtroom.experiments.outcome import models_in
from courtroom.experiments.plan import SECONDS_A_CALL, ExperimentEstimate
from courtroom.experiments.spec import Cases, Experiment, adapted, as_toml, has_panel, parsed, read_toml, recipes
from courtroom.language import _, listed, translated
from courtroom.models.offers import Offer
from courtroom.models.spec import OFFLINE, PERSON
from pages.parts.experiments.datasets import kept_file
from pages.parts.experiments.list import open_experiment, sample_buttons
from pages.parts.experiments.mirror import mirror_form
from pages.parts.shared.knobs import knob_values, varied
from pages.parts.shared.models_form import keys_form, offer_label, reachable, typed_keys
from pages.parts.shared.shown import count, duration, errors_shown, literal, many, money, table, uploader


def written_form(house: Courthouse, written: Experiment, remarks: tuple[str, ...]) -> Experiment | None:
    """What can be changed of it; None as long as its cases are missing."""
    st.markdown(f"**{literal(written.title or written.name)}**")
    if written.source:
        st.caption(literal(written.source))
    if remarks:
        st.caption(literal(" ".join(remarks)))
    known = [house.procedures[arm.procedure] for arm in written.arms if arm.procedure in house.procedures]
    infos = {info.name: info for info in house.datasets.newest() if all(info.kind in one.kinds for one in known)}
    if not infos:
        name = literal(written.dataset.name)
        st.warning(_("No dataset of its kind is here. Import one as “{name}”, or take bundled cases.", name=name))
        sample_buttons(house)
        return None
    key = f"experiment-{written.name}"
    info, split, sample = _cases(infos, key, written.dataset)
    if written.dataset.name not in infos:
        text = _("It is written for the dataset “{name}”, which is not here.", name=literal(written.dataset.name))
        st.caption(text + " " + _("Other cases of its kind stand in, so the table is not the paper's."))
    left, a, b = st.columns([3, 1, 1])
    names = [arm.name for arm in written.arms]
    there = [arm.name for arm in written.arms if not arm.predictions or Path(arm.predictions).exists()]
    arms = left.multiselect(_("Arms"), names, there, key=f"{key}-arms", format_func=translated)
    repeats, budget = _repeats_and_budget(a, b, key, written.repeats, written.budget.money or 0.0)
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


def _cases(infos: dict[str, DatasetInfo], key: str, cases: Cases | None = None) -> tuple[DatasetInfo, str, int]:
    """A dataset, a split of it and how many cases; `cases`: what stands there at first."""
    left, middle, right = st.columns([3, 2, 2])
    names = list(infos)
    place = names.index(cases.name) if cases and cases.name in infos else 0
    info = infos[left.selectbox(_("Dataset"), names, place, key=f"{key}-dataset", format_func=translated)]
    splits = ["", *info.splits]
    place = splits.index(cases.split) if cases and cases.split in splits else 0
    of = f"split-{info.name}"
    split = middle.selectbox(_("Split"), splits, place, key=f"{key}-{of}", format_func=lambda one: one or _("all"))
    drawn = min(cases.sample or 0, info.count) if cases else 0
    sample = right.number_input(_("Cases drawn (0 is all)"), 0, info.count, drawn, key=f"{key}-sample-{info.name}")
    return info, split, sample


def _repeats_and_budget(left: Any, right: Any, key: str, repeats: int, money: float) -> tuple[int, float]:
    about, no_limit = _("Each with a seed of its own."), _("0 is no limit.")
    times = left.number_input(_("Repeats"), 1, 1_000, repeats, key=f"{key}-repeats", help=about)
    limit = right.number_input(_("Budget (US$)"), 0.0, None, money, key=f"{key}-budget", help=no_limit)
    return times, limit


def _model(house: Courthouse, written: Experiment, key: str) -> str:
    """The model that takes the place of all; empty where the experiment names its own."""
    own = list(dict.fromkeys(arm.model for arm in written.arms if arm.procedure and arm.model))
    if own in ([], [OFFLINE]):
        return ""
    named = ", ".join(own[:4]) + (" ..." if len(own) > 4 else "")
    offers: dict[str, Offer] = {label: one for label, one in reachable(house.connections).items() if one.id != PERSON}
    about = _("One model for every member of every arm, in place of those that are written.")
    looks: dict[str, Any] = {"key": f"{key}-model", "accept_new_options": True, "help": about}
    looks["format_func"] = lambda one: one or _("as written: {own}", own=named)
    chosen = st.selectbox(_("Models"), ["", *offers], **looks)
    return offers[chosen].id if chosen in offers else (chosen or "").strip()


FILES = ["jsonl", "csv", "tsv", "json"]
NOT_VARIED = ("model.id",)
"""Models have a field of their own."""


def chosen_arms(house: Courthouse, kind: str) -> list[dict[str, Any]]:
    """Every chosen procedure or preset with every chosen model and value, then predictions made elsewhere."""
    offered: dict[str, dict[str, Any]] = {}
    for one in (one for one in house.procedures.values() if kind in one.kinds):
        offered[one.title] = {"procedure": one.name}
        for preset in one.presets:
            offered[f"{one.title}: {preset.title}"] = {"procedure": one.name, "set": dict(preset.changes)}
    st.subheader(_("Arms"), help=_("Each arm is a row of the table."))
    left, right = st.columns([3, 2])
    about = _("Each is an arm. Presets are ways to set a procedure up.")
    looks: dict[str, Any] = {"key": f"experiment-arms-{kind}", "help": about, "format_func": translated}
    chosen = left.multiselect(_("Procedures and presets"), list(offered), list(offered)[:1], **looks)
    offers = {label: offer for label, offer in reachable(house.connections).items() if offer.id != PERSON}
    about = _("Each arm is run with each model. Type an id that is not in the list.")
    looks = {"key": "experiment-models", "accept_new_options": True, "help": about, "format_func": translated}
    models = right.multiselect(_("Models"), list(offers), [OFFLINE], **looks)
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
        _arms_table(house, arms, "experiment-arms-table")
    return arms


def _paths(house: Courthouse, procedure: str) -> dict[str, Any]:
    return {path: field for path, field in varied(house.procedures[procedure]).items() if path not in NOT_VARIED}


def _varied(house: Courthouse, procedures: list[str], left: Any, right: Any) -> tuple[str, list[Any]]:
    """One setting and its values; an empty path where none is varied."""
    fields: dict[str, tuple[str, Any]] = {}
    for name in dict.fromkeys(procedures):
        for path, field in _paths(house, name).items():
            fields.setdefault(path, (name, field))
    about = _("Each arm is run with each value of this setting.")
    titles = {"": _("none"), **{path: translated(field.title or path) for path, (_procedure, field) in fields.items()}}
    key, words = "experiment-vary", titles.__getitem__
    path = left.selectbox(_("Vary one setting"), list(titles), key=key, format_func=words, help=about)
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
        about = _("A line for each answer: `case` (its id in the dataset), `model`, `prediction`.")
        file = uploader(st, _("A file of answers"), FILES, key="experiment-predictions", about=about)
    if file is None:
        return []
    path: Path = kept_file(file.name, file.getvalue())
    with errors_shown():
        return [{"name": model or path.stem, "model": model, "predictions": str(path)} for model in models_in(path)]
    return []


def _arms_table(house: Courthouse, arms: Iterable[Mapping[str, Any]], key: str | None = None) -> None:
    rows = []
    for arm in arms:
        told = _("predictions made elsewhere")
        if not arm.get("predictions"):
            setup = house.procedures[arm["procedure"]].setup
            changes = listed(setting_in_words(setup, path, value) for path, value in arm["set"].items())
            told = changes or _("the procedure's defaults")
        rows.append({"Arm": arm["name"], "Model": arm["model"], "Settings": told})
    table(rows, key=key)


MAX_FORKS_REHEARSED_UNASKED = 30


def start_bar(house: Courthouse, experiment: Experiment) -> None:
    if not experiment.dataset.run and len(experiment.arms) > 1:
        experiment = _hypotheses(house, experiment)
    experiment = _controlled(house, experiment)
    about = _(
        "Changes names, gender, age and the like of a party, one at a time. You read each change before it is heard."
    )
    offers = not (experiment.dataset.run or is_mirror(experiment))
    if offers and st.toggle(_("Would it be the same for somebody else?"), key="experiment-mirror", help=about):
        if (mirrored := mirror_form(house, experiment)) is None:
            return
        experiment = mirrored
    about = _(
        "Calls that are ready at the same time go out as one batch, where the provider takes batches: OpenAI and "
        "Anthropic do. Each round may take up to a day."
    )
    by_batch = st.toggle(_("By batch, at half the price"), experiment.batch, key="experiment-batch", help=about)
    experiment = experiment.model_copy(update={"batch": by_batch})
    content = experiment.model_dump_json()
    kept: tuple[str, ExperimentEstimate] | None = st.session_state.get("experiment-takes")
    with st.container(border=True):
        with st.container(horizontal=True, vertical_alignment="center"):
            start = st.button(_("Start"), type="primary", icon=":material/play_arrow:", key="experiment-start")
            about = _("Says how many calls, tokens and dollars it takes, and how long. Nothing is asked of a model.")
            ask = st.button(_("Estimate"), icon=":material/calculate:", key="experiment-estimate", help=about)
            file = f"{experiment.name}.toml"
            st.download_button(_("As a file"), as_toml(experiment), file, icon=":material/download:")
        with errors_shown():
            small = len(experiment.arms) * experiment.repeats <= MAX_FORKS_REHEARSED_UNASKED and experiment.dataset.run
            if ask or (small and not start and (kept is None or kept[0] != content)):
                bar = st.progress(0.0, _("Estimating ..."))
                takes = house.experiments.estimate(experiment, partial(rehearsed, bar))
                bar.empty()
                kept = st.session_state["experiment-takes"] = (content, takes)
            if kept is not None and kept[0] == content:
                _takes(kept[1], by_batch=by_batch)
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
    why = _("For each panel: one model with as many tokens; no talk; talk with oneself; no personas; others' personas.")
    if not st.toggle(_("Add matched controls"), key="experiment-controls", help=why):
        return experiment
    kept: tuple[str, Experiment] = st.session_state.get("experiment-controlled", ("", experiment))
    if kept[0] != experiment.digest:
        kept = ("", experiment)
        with errors_shown(), st.spinner(_("Estimating ...")):
            controlled = house.experiments.with_controls(experiment)
            kept = st.session_state["experiment-controlled"] = (experiment.digest, controlled)
    if kept[0]:
        _arms_table(house, (arm.model_dump() for arm in kept[1].arms[len(experiment.arms) :]))
    return experiment.model_copy(update={"arms": kept[1].arms})


def _hypotheses(house: Courthouse, experiment: Experiment) -> Experiment:
    """What somebody expects, to be locked before the first answer; the step can be skipped."""
    arms = [arm.name for arm in experiment.arms]
    kind = next((one.kind for one in house.datasets.newest() if one.name == experiment.dataset.name), "")
    measures = list(experiment.measures) or [one.name for one in measures_of(kind).values() if one.usual]
    with st.expander(_("Hypotheses before results (can be skipped)"), icon=":material/lock:"):
        st.caption(_("Say what you expect. It is locked at the start; the report says: held, not shown or refuted."))
        unit = _("In the measure's own unit: 0.02 of a share is 2 points.")
        once = _("It is tested once, when both arms have so many cases; before, it is not shown.")
        choice, number = st.column_config.SelectboxColumn, st.column_config.NumberColumn
        given = [one.model_dump() for one in experiment.hypotheses]
        columns: dict[str, Any] = {
            "arm": choice(_("Arm"), options=arms, required=True),
            "than": choice(_("Compared with"), options=arms, required=True),
            "measure": choice(_("Measure"), options=measures, required=True),
            "direction": choice(_("Is"), options=["higher", "lower", "different"], default="higher", required=True),
            "least": number(_("By at least"), min_value=0.0, default=0.0, help=unit),
            "cases": number(_("With so many cases"), min_value=1, step=1, default=1, help=once),
        }
        frame, key = pd.DataFrame(given, columns=list(columns)), f"experiment-hypotheses-{hash((*arms, *measures))}"
        edited = st.data_editor(frame, num_rows="dynamic", hide_index=True, column_config=columns, key=key)
        whole = edited.dropna(subset=["arm", "than", "measure"]).fillna({"direction": "higher", "least": 0, "cases": 1})
        rows = whole.astype({"cases": int}).to_dict("records")
        locked = {"hypotheses": len(rows)}
        st.caption(_("To be locked: {hypotheses}. A line counts once both arms and the measure are chosen.", **locked))
    with errors_shown():
        return parsed({**experiment.model_dump(mode="json"), "hypotheses": rows}, "The hypotheses")
    return experiment


def _takes(takes: ExperimentEstimate, *, by_batch: bool) -> None:
    values = {name: count(getattr(takes, name)) for name in ("calls", "tokens", "shared")}
    values |= {"cells": many(takes.cells, "cell"), "money": literal(money(takes.money))}
    values["seconds"] = _("the time of their batches") if by_batch else duration(takes.seconds)
    text = _("For **{cells}** it takes about **{calls} calls**, {tokens} tokens and {seconds}: {money}.", **values)
    text += " " + _("Answers that cells share, or that are on record, save {shared} calls.", **values)
    about = _("Rehearsed in memory with the offline model: {cells}.", cells=many(takes.rehearsed, "cell"))
    about += " " + _("A call of a language model is taken to last {seconds} seconds.", seconds=round(SECONDS_A_CALL))
    st.markdown(text, help=about)
    if takes.training:
        st.caption(_("Only to teach the memory: {training}.", training=many(takes.training, "cell")))
    lines = [(one.arm, one.cells, one.calls, one.tokens, duration(one.seconds), money(one.money)) for one in takes.arms]
    table(lines, ["Arm", "Cells", "Calls", "Tokens", "Time", "Money"])


def rehearsed(bar: DeltaGenerator, done: int, total: int) -> None:
    """Show how far an estimate is."""
    bar.progress(done / max(1, total), _("Estimated {done} of {total}", done=done, total=total))


OWN = ""
FILE = " file"


def experiment_form(house: Courthouse) -> None:
    """From top to bottom: cases, arms, what is measured, what it takes, start."""
    by_name = {one.name: one for one in recipes()}
    titles = {OWN: _("cases and arms that I choose"), FILE: _("a file of mine")}
    for name, one in by_name.items():
        title = translated(one.experiment.title)
        titles[name] = f"{one.experiment.source}: {title}" if one.paper else title
    begin = st.selectbox(_("Begin with"), list(titles), key="experiment-begin", format_func=titles.__getitem__)
    experiment: Experiment | None
    if begin == FILE:
        experiment, file = None, uploader(st, _("An experiment's file"), ["toml"], key="experiment-file")
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
    names = {info.name: info for info in house.datasets.newest() if measures_of(info.kind)}
    if not names:
        st.info(_("No dataset has cases with a known outcome. Import one under Datasets, or take bundled cases."))
        sample_buttons(house)
        return None
    st.subheader(_("Cases"))
    info, split, sample = _cases(names, "experiment")
    arms = chosen_arms(house, info.kind)
    st.subheader(_("Table"))
    known = measures_of(info.kind)
    titles = {name: translated(one.title) for name, one in known.items()}
    usual, key = [name for name, one in known.items() if one.usual], f"experiment-measures-{info.kind}"
    measures = st.multiselect(_("Measures"), list(titles), usual, format_func=titles.__getitem__, key=key)
    a, b, c, d = st.columns([3, 1, 1, 2], vertical_alignment="bottom")
    about, key = _("Letters, digits, dots and hyphens."), f"experiment-name-{info.name}"
    name = a.text_input(_("Name"), info.name[:60], key=key, help=about)
    repeats, budget = _repeats_and_budget(b, c, "experiment", 1, 0.0)
    by_category = d.toggle(_("A table for each category"), key="experiment-category")
    if not arms:
        st.caption(_("Choose at least one arm."))
        return None
    cases = {"name": info.name, "split": split or None, "sample": sample or None}
    values = {"name": name, "dataset": cases, "arms": arms, "repeats": repeats, "budget": {"money": budget or None}}
    values |= {"measures": tuple(measures), "by_category": by_category}
    with errors_shown():
        return parsed(values, "The experiment")
    return None
