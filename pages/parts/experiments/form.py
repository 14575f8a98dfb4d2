"""An experiment being set up: one that is written already, or a dataset and arms of one's own; what it will take; the start."""

from __future__ import annotations

import streamlit as st

from courtroom.courthouse import Courthouse
from courtroom.datasets import DatasetInfo
from courtroom.errors import CourtroomError
from courtroom.experiments.measures import measures_of
from courtroom.experiments.recipes import Recipe, recipes
from courtroom.experiments.spec import Experiment, parsed, read_toml
from courtroom.language import _, translated
from pages.parts.experiments.arms import chosen_arms
from pages.parts.experiments.files import kept_file
from pages.parts.experiments.samples import sample_buttons
from pages.parts.experiments.start_bar import start_bar
from pages.parts.experiments.written import written_form
from pages.parts.shared.inert import literal
from pages.parts.shared.models_form import keys_form

OWN = ""
FILE = " file"


def experiment_form(house: Courthouse) -> None:
    """From top to bottom: cases, arms, what is measured, what it takes, start."""
    known = {one.name: one for one in recipes()}
    begin = st.selectbox(
        _("Begin with"), [OWN, FILE, *known], key="experiment-begin", format_func=lambda one: _title(one, known)
    )
    experiment: Experiment | None
    if begin == FILE:
        read = _from_file()
        experiment = written_form(house, read, ()) if read else None
    elif begin in known:
        experiment = written_form(house, known[begin].experiment, known[begin].remarks)
    else:
        experiment = _own(house)
    with st.expander(_("Keys"), icon=":material/key:"):
        keys_form(house.connections)
    if experiment is not None:
        start_bar(house, experiment)


def _title(name: str, known: dict[str, Recipe]) -> str:
    if name in known:
        one = known[name]
        return f"{one.experiment.source}: {one.experiment.title}" if one.paper else one.experiment.title
    return _("a file of mine") if name == FILE else _("cases and arms that I choose")


def _from_file() -> Experiment | None:
    given = st.file_uploader(_("An experiment's file"), ["toml"], key="experiment-file")
    if given is None:
        return None
    try:
        return read_toml(kept_file(given.name, given.getvalue()))
    except CourtroomError as error:
        st.error(literal(str(error)))
        return None


def _own(house: Courthouse) -> Experiment | None:
    infos = [info for info in house.datasets.list() if measures_of(info.kind)]
    if not infos:
        st.info(
            _("No dataset has cases whose outcome can be measured. Import one under Datasets, or take bundled cases."),
            icon=":material/dataset:",
        )
        sample_buttons(house)
        return None
    return _chosen(house, infos)


def _chosen(house: Courthouse, infos: list[DatasetInfo]) -> Experiment | None:
    names = {info.name: info for info in infos}
    st.subheader(_("Cases"))
    left, middle, right = st.columns([3, 2, 2])
    info = names[left.selectbox(_("Dataset"), list(names), key="experiment-dataset", format_func=translated)]
    split = middle.selectbox(
        _("Split"), ["", *info.splits], key="experiment-split", format_func=lambda one: one or "all"
    )
    sample = int(right.number_input(_("Cases drawn (0 is all)"), 0, info.count, 0, key="experiment-sample"))
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
    repeats = int(
        b.number_input(_("Repeats"), 1, 100, 1, key="experiment-repeats", help=_("Each with a seed of its own."))
    )
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
    try:
        return parsed(values, "The experiment")
    except CourtroomError as error:
        st.error(literal(str(error)))
        return None
