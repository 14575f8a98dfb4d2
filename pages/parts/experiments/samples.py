"""Bundled cases, to be taken as datasets by a click."""

from __future__ import annotations

import streamlit as st

from courtroom.access.account import Access
from courtroom.courthouse import Courthouse
from courtroom.datasets.samples import CaseSample, add_sample, samples
from courtroom.language import _
from pages.parts.shared.inert import literal
from pages.parts.shared.offered import offered


@offered(Access.RUN)
def sample_buttons(house: Courthouse) -> None:
    """A button for each; one that is here already says so."""
    here = {info.name for info in house.datasets.list()}
    st.caption(_("Cases that come with Courtroom, as datasets. They are few and made up: good to try things with."))
    with st.container(horizontal=True):
        for one in samples(house.library):
            st.button(
                f"{literal(one.title)} ({one.count:d})",
                key=f"sample-{one.name}",
                icon=":material/check:" if one.name in here else ":material/add:",
                disabled=one.name in here,
                help=_("Add the dataset “{name}”.", name=literal(one.name)),
                on_click=_add,
                args=(house, one),
            )


def _add(house: Courthouse, sample: CaseSample) -> None:
    add_sample(house.datasets, house.library, sample.name)
    st.session_state["dataset_chosen"] = st.session_state["experiment-dataset"] = sample.name
