"""A sweep being set up: which run, what is varied, what it will take."""

from __future__ import annotations

from functools import partial

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from courtroom.access.account import Access
from courtroom.courthouse import Courthouse
from courtroom.engine.record import Record
from courtroom.errors import CourtroomError
from courtroom.language import _, translated
from courtroom.sweeps.plan import KINDS, Axis, SweepPlan, grid, singly
from courtroom.sweeps.sweeper import SweepEstimate
from pages.parts.shared.inert import declared, literal
from pages.parts.shared.models_form import typed_keys
from pages.parts.shared.offered import offered
from pages.parts.shared.records import read
from pages.parts.shared.run_choice import runs_to_choose
from pages.parts.shared.table import heads
from pages.parts.shared.units import count, many, moment
from pages.parts.what_if.axes import chosen_axes
from pages.parts.what_if.list import open_sweep

AT_ONCE = 30
"""Up to so many runs are rehearsed without being asked for: a few seconds."""
WAYS = ("What would change this verdict?", "Choose what to vary")


@offered(Access.RUN)
def sweep_form(house: Courthouse, wanted: str | None) -> None:
    """Base run, way, variants, estimate, start."""
    rows = runs_to_choose(house, "sweep-search", [wanted] if wanted else [], "done")
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
    st.session_state["sweep_base"] = run
    base = read(house, run)
    left, right = st.columns([3, 1], vertical_alignment="bottom")
    way = left.segmented_control(
        _("How"),
        WAYS,
        default=WAYS[0],
        key="sweep_way",
        format_func=lambda way: declared(
            house.procedures[base.run.procedure].ending.what_if if way == WAYS[0] else way
        ),
    )
    way = way or WAYS[0]
    seeds = int(
        right.number_input(
            _("Seeds"), 1, 50, 1, key="sweep_seeds",
            help=_("Each variant, the run as it was among them, is heard under so many seeds, from the run's own on. With "
            "several, shares come with intervals, and chance is distinguished from change."),
        )
    )  # fmt: skip
    variants = _proposed(house, base) if way == WAYS[0] else _chosen(house, base)
    if variants is None:
        return
    try:
        plan = house.sweeps.plan(run, variants, range(base.run.seed, base.run.seed + seeds))
    except CourtroomError as error:
        if len(variants) > 1:
            st.error(literal(str(error)))
        else:
            st.caption(_("Choose something to vary, or more seeds than one."))
        return
    _bar(house, plan)


def _proposed(house: Courthouse, base: Record) -> Axis | None:
    """Single changes that fit a budget of calls."""
    budget = st.number_input(
        _("Budget (calls under one seed)"), 1, None, 2000, 100, key="sweep_budget",
        help=_("The cheapest changes are taken first, as many as fit."),
    )  # fmt: skip
    st.caption(
        _(
            "One change at a time: each piece of evidence, each member and each rule left out, and every setting at its other or "
            "neighbouring values."
        )
    )
    key = f"{base.run.id}/{budget}"
    kept = st.session_state.get("sweep_proposed")
    if kept is None or kept[0] != key:
        if not st.button(_("Find the changes"), type="primary", icon=":material/search:"):
            return None
        bar = st.progress(0.0, _("Estimating ..."))
        found = house.sweeps.propose(
            base.run.id,
            int(budget),
            partial(_rehearsed, bar),
        )
        bar.empty()
        kept = st.session_state["sweep_proposed"] = (key, found)
    found = kept[1]
    if not found:
        st.info(_("No change fits this budget. Raise it."), icon=":material/savings:")
        return None
    table = pd.DataFrame(
        [
            {"take": True, "change": translated(v.name), "what": translated(KINDS[v.kind]), "calls": calls}
            for v, calls in found
        ]
    )
    with st.expander(_("{found} changes fit", found=len(found)), expanded=True):
        edited = st.data_editor(
            table, key=f"sweep-take-{key}", hide_index=True, width="stretch", height=320, disabled=["change", "what", "calls"],
            column_config=heads(table, {"calls": st.column_config.NumberColumn(_("calls asked anew"), help=_("Found by a rehearsal."))}),
        )  # fmt: skip
    return singly(tuple(variant for (variant, _), take in zip(found, edited["take"], strict=True) if take))


def _chosen(house: Courthouse, base: Record) -> Axis:
    """What a person picks, one change at a time or all together."""
    axes = chosen_axes(house.procedures[base.run.procedure], base)
    crossed = st.toggle(
        _("Every combination"),
        key="sweep_grid",
        disabled=len(axes) < 2,
        help=_("A grid: one value of each thing at a time, in all combinations, rather than one change at a time."),
    )
    try:
        return grid(*axes) if crossed and len(axes) > 1 else singly(*axes)
    except CourtroomError as error:
        st.error(literal(str(error)))
        return singly()


def _bar(house: Courthouse, plan: SweepPlan) -> None:
    """What it takes, and the start."""
    runs = len(plan.variants) * len(plan.seeds)
    content = plan.model_dump_json()
    kept: tuple[str, SweepEstimate] | None = st.session_state.get("sweep_takes")
    with st.container(border=True):
        text = f"{many(len(plan.variants), 'variant')}, {many(len(plan.seeds), 'seed')}: **{many(runs, 'run')}**"
        with st.container(horizontal=True, vertical_alignment="center"):
            start = st.button(_("Start"), type="primary", icon=":material/play_arrow:", key="sweep_start")
            known = kept is not None and kept[0] == content
            asked = not known and runs > AT_ONCE and st.button(_("Estimate"), key="sweep_estimate")
        if not known and (asked or runs <= AT_ONCE) and not start:
            bar = st.progress(0.0, _("Estimating ..."))
            takes = house.sweeps.estimate(plan, partial(_rehearsed, bar))
            bar.empty()
            kept = st.session_state["sweep_takes"] = (content, takes)
            known = True
        if known and kept is not None:
            takes = kept[1]
            text += _(
                "; about **{ask} calls asked anew**, {serve} served from the record",
                ask=count(takes.ask),
                serve=count(takes.serve),
            )
        st.markdown(f"{text}.", help=_("Tried in memory with the offline model; a real model may go other ways."))
    if start:
        try:
            sweep = house.sweeps.start(plan, typed_keys())
        except CourtroomError as error:
            st.error(literal(str(error)))
        else:
            open_sweep(sweep)


def _rehearsed(bar: DeltaGenerator, done: int, total: int) -> None:
    bar.progress(done / max(1, total), _("Estimated {done} of {total}", done=f"{done:d}", total=f"{total:d}"))
