"""The recipes: the papers' tables and figures as experiments, by paper, with what each needs."""

from __future__ import annotations

from itertools import groupby

import streamlit as st

from courtroom.courthouse import Courthouse
from courtroom.datasets.samples import add_sample, samples
from courtroom.experiments.recipes import Recipe, recipes
from courtroom.language import _
from pages.parts.shared.inert import literal
from pages.parts.shared.units import many

WITHOUT_PAPER = "To begin with"
HOW = "Datasets, above, imports files. The page docs/reproduce.md says where each dataset is found."


def recipe_list(house: Courthouse) -> None:
    """All of them, those of one paper together."""
    st.caption(
        _(
            "Each table and figure of the five papers that rests on runs is an experiment that is ready to use: its rows are the arms, its columns "
            "the measures. You can run it as it stands, or with other cases and models."
        )
    )
    for paper, those in groupby(recipes(), lambda one: one.paper):
        st.subheader(literal(paper) if paper else WITHOUT_PAPER)
        for one in those:
            _recipe(house, one)


def _recipe(house: Courthouse, one: Recipe) -> None:
    with st.container(border=True):
        with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
            where = f"**{literal(one.shows[:1].upper() + one.shows[1:])}** · " if one.shows else ""
            st.markdown(f"{where}{literal(one.experiment.title)}", width="content")
            with st.container(horizontal=True, vertical_alignment="center", width="content"):
                st.badge(many(len(one.experiment.arms), "arm"), color="gray")
                if ready(house, one):
                    st.badge(_("Its cases are here"), icon=":material/check:", color="green")
                else:
                    st.badge(_("Needs a dataset"), icon=":material/dataset:", color="orange")
                st.button(_("Use"), key=f"recipe-{one.name}", on_click=use, args=(house, one))
        st.caption(literal(" ".join(one.remarks)))
        if not ready(house, one):
            st.caption(
                _(
                    "**{missing}** Or use it with other cases of the same kind.",
                    missing=literal(one.missing(house.datasets)),
                ),
                help=literal(HOW),
            )


def ready(house: Courthouse, one: Recipe) -> bool:
    """Whether its cases are here, or come with Courtroom."""
    return not one.missing(house.datasets) or one.experiment.dataset.name in _bundled(house)


def use(house: Courthouse, one: Recipe) -> None:
    """Take it to the form; bundled cases that it needs are added."""
    name = one.experiment.dataset.name
    if one.missing(house.datasets) and name in _bundled(house):
        add_sample(house.datasets, house.library, name)
    st.session_state["experiment-begin"] = one.name
    st.session_state["experiments-part"] = "New"


def _bundled(house: Courthouse) -> set[str]:
    return {sample.name for sample in samples(house.library)}
