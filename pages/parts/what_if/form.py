"""A what-if being set up: which run, what is varied, what it will take."""

from functools import partial

import pandas as pd
import streamlit as st

from courtroom.access.account import Access
from courtroom.courthouse import Courthouse
from courtroom.engine.changes import value_at
from courtroom.engine.knobs import path_in_words
from courtroom.engine.procedure import Procedure
from courtroom.engine.record import Record
from courtroom.errors import CourtroomError
from courtroom.experiments.what_if import (
    CHANGES,
    Axis,
    evidence_left_out,
    grid,
    members_left_out,
    rules_left_out,
    singly,
    values,
)
from courtroom.language import _, translated
from pages.parts.experiments.form import rehearsed, start_bar
from pages.parts.shared.actions import errors_shown
from pages.parts.shared.inert import declared, literal
from pages.parts.shared.knobs import knob_values, varied
from pages.parts.shared.offered import offered
from pages.parts.shared.run_choice import runs_to_choose
from pages.parts.shared.table import heads, moment

WAYS = ("What would change this verdict?", "Choose what to vary")


@offered(Access.RUN)
def what_if_form(house: Courthouse, wanted: str | None) -> None:
    rows = runs_to_choose(house, "what-if-search", [wanted] if wanted else [], "done")
    if not rows:
        st.info(_("No run fits what you search for."), icon=":material/search_off:")
        return
    ids = list(rows)
    run = st.selectbox(
        _("Run"),
        ids,
        ids.index(wanted) if wanted in ids else 0,
        format_func=lambda i: f"{rows[i].title} · {rows[i].outcome or ''} · {moment(rows[i].created)} · {i}",
        help=_("The run that is asked about. What a variant does not touch is served from its record."),
    )
    st.session_state["what-if-run"] = run
    base = house.runner.latest.of(run)
    left, right = st.columns([3, 1], vertical_alignment="bottom")
    way = left.segmented_control(
        _("How"),
        WAYS,
        default=WAYS[0],
        key="what-if-way",
        format_func=lambda way: declared(
            house.procedures[base.run.procedure].ending.what_if if way == WAYS[0] else way
        ),
    )
    way = way or WAYS[0]
    seeds = right.number_input(
        _("Seeds"), 1, 50, 1, key="what-if-seeds",
        help=_("Each variant, the run as it was among them, is heard under so many seeds, from the run's own on. With "
        "several, shares come with intervals, and chance is distinguished from change."),
    )  # fmt: skip
    variants = _proposed(house, base) if way == WAYS[0] else _chosen(house, base)
    if variants is None:
        return
    try:
        experiment = house.experiments.what_ifs.experiment(run, variants, range(base.run.seed, base.run.seed + seeds))
    except CourtroomError as error:
        if len(variants) > 1:
            st.error(literal(str(error)))
        else:
            st.caption(_("Choose something to vary, or more seeds than one."))
        return
    start_bar(house, experiment)


def _proposed(house: Courthouse, base: Record) -> Axis | None:
    """Single changes that fit a budget of calls."""
    budget = st.number_input(
        _("Budget (calls under one seed)"), 1, None, 2000, 100, key="what-if-budget",
        help=_("The cheapest changes are taken first, as many as fit."),
    )  # fmt: skip
    st.caption(
        _(
            "One change at a time: each piece of evidence, each member and each rule left out, and every setting at its other or "
            "neighbouring values."
        )
    )
    key = f"{base.run.id}/{budget}"
    kept = st.session_state.get("what-if-proposed")
    if kept is None or kept[0] != key:
        if not st.button(_("Find the changes"), type="primary", icon=":material/search:"):
            return None
        bar = st.progress(0.0, _("Estimating ..."))
        proposal = house.experiments.what_ifs.propose(base.run.id, budget, partial(rehearsed, bar))
        bar.empty()
        kept = st.session_state["what-if-proposed"] = (key, proposal)
    proposal = kept[1]
    if not proposal:
        st.info(_("No change fits this budget. Raise it."), icon=":material/savings:")
        return None
    table = pd.DataFrame(
        [
            {"take": True, "change": translated(v.name), "what": translated(CHANGES[v.kind or "base"]), "calls": calls}
            for v, calls in proposal
        ]
    )
    with st.expander(_("{found} changes fit the budget", found=len(proposal)), expanded=True):
        edited = st.data_editor(
            table, key=f"what-if-take-{key}", hide_index=True, width="stretch", height=320, disabled=["change", "what", "calls"],
            column_config=heads(table, {"calls": st.column_config.NumberColumn(_("calls asked anew"), help=_("Found by a rehearsal."))}),
        )  # fmt: skip
    return singly(tuple(variant for (variant, _), take in zip(proposal, edited["take"], strict=True) if take))


def _chosen(house: Courthouse, base: Record) -> Axis:
    """What a person picks, one change at a time or all together."""
    axes = _chosen_axes(house.procedures[base.run.procedure], base)
    crossed = st.toggle(
        _("Every combination"),
        key="what-if-grid",
        disabled=len(axes) < 2,
        help=_("A grid: one value of each thing at a time, in all combinations, rather than one change at a time."),
    )
    with errors_shown():
        return grid(*axes) if crossed and len(axes) > 1 else singly(*axes)
    return singly()


def _chosen_axes(procedure: Procedure, base: Record) -> list[Axis]:
    """The axes, in the order in which they stand on the page."""
    turns = {
        "Each piece of evidence": evidence_left_out(base.case),
        "Each member": members_left_out(procedure, base.setup, base.case, base.run.seed),
        "Each rule": rules_left_out(base.setup),
    }
    offered = {f"{translated(title)} ({len(axis)})": axis for title, axis in turns.items() if axis}
    left_out = st.multiselect(
        _("Leave out in turn"), list(offered), key=f"what-if-drop-{base.run.id}", format_func=translated
    )
    axes = [offered[title] for title in left_out]
    fields = varied(procedure)
    paths = st.multiselect(
        _("Vary"),
        list(fields),
        format_func=lambda path: declared(path_in_words(procedure.setup, path)),
        key=f"what-if-vary-{base.run.id}",
    )
    for path in paths:
        given = knob_values(fields[path], value_at(base.setup, path), f"what-if-{base.run.id}-{path}", path)
        if given:
            axes.append(values(procedure.setup, path, given))
    return axes
