"""What if: one finished run, many variants of it, and what would have changed."""

import streamlit as st

from courtroom.evaluation.run_list import RunFilter, RunList
from courtroom.experiments.store import NoSuchExperiment
from courtroom.language import _
from pages.parts.experiments.list import experiment_list
from pages.parts.shared.house import courthouse
from pages.parts.shared.shown import literal
from pages.parts.what_if import what_if_form, what_if_view

house = courthouse()
st.title(_("What if"))

base = st.query_params.get("base")
name = st.query_params.get("experiment") or (None if base else st.session_state.get("what-if"))
if name:
    try:
        kept = house.experiments.store.experiment(name)
    except NoSuchExperiment as error:
        st.error(literal(str(error)))
        st.session_state.pop("what-if", None)
    else:
        if not kept.experiment.dataset.run:
            st.switch_page("pages/experiments.py", query_params={"experiment": kept.id})
        st.session_state["what-if"] = st.query_params["experiment"] = kept.id
        what_if_view(house, kept)
        st.stop()

if not RunList(house.database).newest(RunFilter(status="done"), 1):
    st.info(
        _("No hearing is done yet. When one is, you can ask here what would have changed its outcome."),
        icon=":material/alt_route:",
    )
    if st.button(_("Pick a case"), type="primary"):
        st.switch_page("pages/cases.py")
    st.stop()
what_if_form(house, base or st.session_state.get("what-if-run"))
if house.experiments.store.number(what_ifs=True):
    st.subheader(_("Earlier what-ifs"))
    experiment_list(house, what_ifs=True)
