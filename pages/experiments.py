"""Experiments: datasets, arms over them, and tables of what came of it."""

import streamlit as st

from courtroom.access import Access, may
from courtroom.language import _
from pages.parts.experiments.datasets import draw_datasets
from pages.parts.experiments.form import experiment_form
from pages.parts.experiments.list import experiment_list, opened, recipe_list
from pages.parts.experiments.view import experiment_view
from pages.parts.shared.house import courthouse
from pages.parts.shared.shown import one_of

PARTS = ("Experiments", "New", "Recipes", "Datasets")

house = courthouse()
st.title(_("Experiments"))

name = st.query_params.get("experiment") or st.session_state.get("experiment")
if name and (kept := opened(house, "experiment", name)):
    experiment_view(house, kept)
    st.stop()

parts = [part for part in PARTS if may(Access.RUN) or part in ("Experiments", "Datasets")]
if st.session_state.get("experiments-part") not in parts:
    st.session_state["experiments-part"] = PARTS[0]
part = one_of(_("Part"), parts, "experiments-part", PARTS[0])
if part == "Datasets":
    draw_datasets()
elif part == "New":
    experiment_form(house)
elif part == "Recipes":
    recipe_list(house)
else:
    experiment_list(house)
