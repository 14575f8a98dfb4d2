"""All experiments, newest first."""

from __future__ import annotations

import streamlit as st

from courtroom.courthouse import Courthouse
from courtroom.language import _
from pages.parts.shared.inert import literal
from pages.parts.shared.units import many, moment


def open_experiment(name: str) -> None:
    """Show one."""
    st.session_state["experiment"] = st.query_params["experiment"] = name
    st.rerun()


def experiment_list(house: Courthouse) -> None:
    """A line for each."""
    store = house.experiments.store
    for error in store.unreadable():
        st.warning(literal(str(error)), icon=":material/broken_image:")
    kept = store.experiments()
    if not kept:
        st.info(_("No experiment yet. Choose New above: pick a dataset and arms."), icon=":material/science:")
        return
    for one in kept:
        counts = store.counts(one.id)
        done = sum(number for (_, state), number in counts.items() if state == "done")
        with st.container(border=True, horizontal=True, vertical_alignment="center"):
            st.markdown(
                _(
                    "**{title}** · {name} · {arms} · {done} of {values} cells · {status} · {created}",
                    title=literal(one.experiment.title or one.name),
                    name=literal(one.experiment.dataset.name),
                    arms=many(len(one.experiment.arms), "arm"),
                    done=f"{done:,}",
                    values=f"{sum(counts.values()):,}",
                    status=literal(one.status),
                    created=moment(one.created),
                )
            )
            if st.button(_("Open"), key=f"open-{one.id}", type="primary"):
                open_experiment(one.id)
