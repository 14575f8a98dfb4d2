"""How far an experiment is, what it has taken so far, and the buttons that steer it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Literal

import pandas as pd
import streamlit as st

from courtroom.access.account import Access
from courtroom.access.acting import may
from courtroom.courthouse import Courthouse
from courtroom.errors import CourtroomError
from courtroom.experiments.store import State, StoredExperiment
from courtroom.language import _
from pages.parts.shared.inert import literal
from pages.parts.shared.models_form import typed_keys
from pages.parts.shared.offered import offered
from pages.parts.shared.table import table
from pages.parts.shared.units import count, duration, money

STATUS: dict[str, tuple[str, str, Literal["blue", "orange", "green"]]] = {
    "running": (":material/play_circle:", "Running", "blue"),
    "paused": (":material/pause_circle:", "Paused", "orange"),
    "done": (":material/check_circle:", "Done", "green"),
}
STATES: tuple[State, State, State] = ("done", "failed", "waiting")


def progress_view(house: Courthouse, kept: StoredExperiment) -> None:
    """Status and buttons; while it is not done, how far it is, in all and for each arm."""
    store = house.experiments.store
    counts = store.counts(kept.id)
    total = sum(counts.values())
    ended = sum(many for (_, state), many in counts.items() if state != "waiting")
    icon, word, colour = STATUS[kept.status]
    with st.container(horizontal=True, vertical_alignment="center"):
        st.badge(word, icon=icon, color=colour)
        if (
            may(Access.RUN)
            and kept.status == "running"
            and st.button(_("Pause"), icon=":material/pause:", key="experiment-pause")
        ):
            do(lambda: house.experiments.pause(kept.id))
        if (
            may(Access.RUN)
            and kept.status == "paused"
            and st.button(_("Go on"), icon=":material/play_arrow:", key="experiment-go", type="primary")
        ):
            do(lambda: house.experiments.go(kept.id, typed_keys()))
        if kept.status == "paused":
            _budget(house, kept)
        with st.popover(_("Delete"), icon=":material/delete:"):
            st.caption(
                _("The experiment and its runs are deleted. All answers stay: the same experiment again asks nothing.")
            )
            if st.button(_("Delete the experiment"), key="experiment-delete", type="primary"):
                house.experiments.delete(kept.id)
                leave()
    if kept.reason:
        st.caption(literal(kept.reason))
    if ended < total:
        spent = [cost for _, _, cost in store.took(kept.id).values()]
        paid = (
            _(", {cost} so far", cost=literal(money(sum(cost for cost in spent if cost is not None))))
            if any(spent)
            else ""
        )
        st.progress(
            ended / total,
            _(
                "{ended} of {total} cells{left}{paid}",
                ended=f"{ended:,}",
                total=f"{total:,}",
                left=_left(kept, ended, total),
                paid=paid,
            ),
        )
        _by_arm(kept, counts, store.took(kept.id))


def _by_arm(
    kept: StoredExperiment, counts: Mapping[tuple[int, State], int], took: Mapping[int, tuple[int, int, float | None]]
) -> None:
    lines = []
    for place, arm in enumerate(kept.experiment.arms):
        done, failed, waiting = (counts.get((place, state), 0) for state in STATES)
        calls, tokens, cost = took.get(place, (0, 0, 0.0))
        share = (done + failed) / max(1, done + failed + waiting)
        lines.append(
            {"Arm": arm.name, "Progress": share, "Done": done, "Failed": failed, "Calls": count(calls),
             "Tokens": count(tokens), "Money": money(cost) if calls else "–"}
        )  # fmt: skip
    bar = st.column_config.ProgressColumn(_("Progress"), format="percent", min_value=0, max_value=1)
    table(pd.DataFrame(lines), {"Progress": bar})


@offered(Access.RUN)
def _budget(house: Courthouse, kept: StoredExperiment) -> None:
    """Another budget: money, and calls or tokens where they are limited."""
    with st.popover(_("Budget"), icon=":material/payments:"):
        st.caption(_("Of the whole experiment; 0 is no limit."))
        now = kept.experiment.budget
        money_ = st.number_input(_("US$"), 0.0, None, now.money or 0.0, key="experiment-new-budget")
        given: dict[str, float | None] = {"money": money_ or None}
        for name, title in (("calls", "Calls"), ("tokens", "Tokens")):
            limit = getattr(now, name)
            if limit is not None:
                given[name] = int(st.number_input(title, 0, None, limit, key=f"experiment-new-{name}")) or None
        if st.button(_("Set"), key="experiment-set-budget"):
            budget = now.model_copy(update=given)
            house.experiments.store.replace(kept.experiment.model_copy(update={"budget": budget}))
            st.rerun()


def _left(kept: StoredExperiment, ended: int, total: int) -> str:
    """About how long it still takes, from how fast cells ended since this session looks."""
    if kept.status != "running":
        return ""
    seen = st.session_state.setdefault(f"experiment-seen-{kept.id}", (time.monotonic(), ended))
    since, gone = time.monotonic() - seen[0], ended - seen[1]
    return _(", about {since} left", since=duration(since / gone * (total - ended))) if gone > 0 else ""


def leave() -> None:
    """Back to the list."""
    st.session_state.pop("experiment", None)
    st.query_params.clear()
    st.rerun()


def do(act: Callable[[], object]) -> None:
    """Do something and draw the page again; what goes wrong is shown."""
    try:
        act()
    except CourtroomError as error:
        st.error(literal(str(error)))
    else:
        st.rerun()
