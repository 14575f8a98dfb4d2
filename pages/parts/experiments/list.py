"""All experiments, newest first; where there is none, how to begin."""

from __future__ import annotations

import streamlit as st

from courtroom.courthouse import Courthouse
from courtroom.experiments.recipes import FIRST, recipe
from courtroom.language import _
from pages.parts.experiments.recipes import use
from pages.parts.shared.inert import declared, literal
from pages.parts.shared.offered import runs_here
from pages.parts.shared.units import many, moment
from pages.parts.shared.unreadable_rows import unreadable_rows

PAGE = 20


def open_experiment(name: str) -> None:
    """Show one."""
    st.session_state["experiment"] = st.query_params["experiment"] = name
    st.rerun()


def experiment_list(house: Courthouse) -> None:
    """A line for each."""
    store = house.experiments.store
    pages = (store.number() - 1) // PAGE + 1
    if not pages:
        _welcome(house)
        return
    if st.session_state.get("experiments-page", 1) > pages:  # some were deleted
        st.session_state["experiments-page"] = pages
    page = (
        int(st.number_input(_("Page of {pages}", pages=f"{pages:d}"), 1, pages, 1, key="experiments-page", width=160))
        if pages > 1
        else 1
    )
    kept, bad = store.page((page - 1) * PAGE, PAGE)
    unreadable_rows(bad)
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


def _welcome(house: Courthouse) -> None:
    """What an experiment is, one that is ready, and the other ways to begin."""
    if not runs_here():
        return
    st.markdown(
        _(
            "No experiment yet. An experiment runs several *arms* on the same cases: procedures, models, or single settings. It then shows a table that "
            "says which arm is better, by how much, whether the difference holds, and what each costs."
        )
    )
    first = recipe(FIRST)
    if first is not None:
        with st.container(border=True):
            st.subheader(literal(first.experiment.title))
            for remark in first.remarks:
                st.markdown(literal(remark))
            st.button(
                _("Set it up"),
                key="experiment-first",
                type="primary",
                icon=":material/science:",
                on_click=use,
                args=(house, first),
            )
    st.markdown(_("Or begin in another way:"))
    with st.container(horizontal=True):
        for part, title, icon in (
            ("Recipes", "Use a recipe of a paper", ":material/menu_book:"),
            ("Datasets", "Bring a dataset", ":material/upload:"),
            ("New", "Choose cases and arms", ":material/tune:"),
        ):
            st.button(declared(title), key=f"experiment-to-{part}", icon=icon, on_click=_turn_to, args=(part,))


def _turn_to(part: str) -> None:
    st.session_state["experiments-part"] = part
