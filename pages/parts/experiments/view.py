"""One experiment: how far it is, its table, which differences hold, its figures, its cells."""

from __future__ import annotations

import time
from typing import Literal

import pandas as pd
import streamlit as st

from courtroom.courthouse import Courthouse
from courtroom.errors import CourtroomError
from courtroom.experiments.frames import frame_of
from courtroom.experiments.measures import Measure
from courtroom.experiments.results import ExperimentResults
from courtroom.experiments.store import StoredExperiment
from courtroom.experiments.words import number, sentence, summary
from courtroom.experiments.written import latex, markdown, marks
from courtroom.figures.experiment import draw_frontier, draw_matrix, draw_values, run_of
from courtroom.language import N_, _, translated
from pages.parts.experiments.breakdown_view import breakdown_view
from pages.parts.shared.inert import literal
from pages.parts.shared.models_form import typed_keys
from pages.parts.shared.table import table
from pages.parts.shared.units import count, duration, money

LIVE_S = 1.0
STATUS: dict[str, tuple[str, str, Literal["blue", "orange", "green"]]] = {
    "running": (":material/play_circle:", "Running", "blue"),
    "paused": (":material/pause_circle:", "Paused", "orange"),
    "done": (":material/check_circle:", "Done", "green"),
}
MOST_MATRIX = 3_000
"""Marks that the matrix may have: more are slow to draw in a browser."""


def experiment_view(house: Courthouse, kept: StoredExperiment) -> None:
    """Progress above, then what came of it."""
    experiment, store = kept.experiment, house.experiments.store
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(
            _(
                "**{title}** · {name}, version {version}",
                title=literal(experiment.title or experiment.name),
                name=literal(experiment.dataset.name),
                version=literal((experiment.dataset.version or "")[:8]),
            )
        )
        if st.button(_("All experiments"), icon=":material/arrow_back:", key="experiment-back"):
            _leave()
    drawn = (kept.status, _ended(house, kept.id))

    @st.fragment(run_every=LIVE_S if kept.status == "running" else None)
    def live() -> None:
        now = store.experiment(kept.id)
        _progress(house, now)
        if now.status != drawn[0]:
            st.rerun()

    live()
    if not drawn[1]:
        st.info(_("No cell is done yet."), icon=":material/hourglass_empty:")
        return
    with st.spinner(_("Adding up ...")):
        found = _results(house, kept.id, tuple(sorted(store.counts(kept.id).items())), experiment.model_dump_json())
    if kept.status == "running":
        st.caption(_("The table shows what was done when the page was drawn."))
        if st.button(_("Draw again"), icon=":material/refresh:", key="experiment-draw"):
            st.rerun()
    if found.table.lines:
        _shown(house, found)
    _every_cell(found)


def _shown(house: Courthouse, found: ExperimentResults) -> None:
    groups = found.table.groups
    group = (
        st.selectbox(_("Cases"), groups, key="experiment-group", format_func=translated)
        if len(groups) > 1
        else groups[0]
    )
    table(_table(found, group))
    for note in found.notes:
        st.caption(literal(note))
    pairs = [pair for pair in found.pairs if pair.group == group]
    overall = [one for one in found.overall if one.group == group]
    for line in summary(pairs, overall):
        st.markdown(literal(line))
    if pairs:
        with st.expander(_("Every pair of arms ({pairs})", pairs=len(pairs))):
            for pair in pairs:
                st.markdown(f"- {literal(sentence(pair))}")
    known = {measure.name: measure for measure in found.measures}
    measure = known[
        st.selectbox(_("Figures of"), list(known), format_func=lambda one: known[one].title, key="experiment-of")
    ]
    theme = st.context.theme.type or "light"
    st.plotly_chart(draw_values(found.table, group, measure, theme), key="experiment-values")
    if any(spent.calls for spent in found.table.spent.values()):
        st.subheader(_("What it costs"), help=_("The line joins the arms that no other arm beats for less."))
        st.plotly_chart(draw_frontier(found.table, group, measure, theme), key="experiment-frontier")
    breakdown_view(found, group, measure, theme)
    if measure.each is not None:
        _matrix(house, found, group, measure, theme)


def _matrix(house: Courthouse, found: ExperimentResults, group: str, measure: Measure, theme: str) -> None:
    groups = [found.groups[arm, group] for arm in found.arms if (arm, group) in found.groups]
    marks_ = sum(len(one.by_case) for one in groups)
    st.subheader(_("Arms and cases"), help=_("A circle is right, a cross is wrong. Choose a mark to open its run."))
    if marks_ > MOST_MATRIX:
        st.caption(_("{marks} marks are too many to draw; the cells below have them all.", marks=f"{marks_:,}"))
        return
    event = st.plotly_chart(
        draw_matrix(groups, measure, theme), key="experiment-matrix", on_select="rerun", selection_mode="points"
    )
    for point in event["selection"]["points"]:
        arm, case = point["customdata"]
        if run := run_of(found.rows, arm, case):
            st.session_state["run"] = run
            st.switch_page("pages/deliberation.py", query_params={"run": run})
        st.caption(
            _("{arm} on {case} is a prediction made elsewhere: there is no run.", arm=literal(arm), case=literal(case))
        )


def _progress(house: Courthouse, kept: StoredExperiment) -> None:
    store = house.experiments.store
    counts = store.counts(kept.id)
    total = sum(counts.values())
    ended = sum(many for (_, state), many in counts.items() if state != "waiting")
    failed = sum(many for (_, state), many in counts.items() if state == "failed")
    icon, word, colour = STATUS[kept.status]
    with st.container(horizontal=True, vertical_alignment="center"):
        st.badge(translated(word), icon=icon, color=colour)
        if kept.status == "running" and st.button(_("Pause"), icon=":material/pause:", key="experiment-pause"):
            _do(lambda: house.experiments.pause(kept.id))
        if kept.status == "paused" and st.button(
            _("Go on"), icon=":material/play_arrow:", key="experiment-go", type="primary"
        ):
            _do(lambda: house.experiments.go(kept.id, typed_keys()))
        if (
            failed
            and kept.status != "running"
            and st.button(
                _("Try the {failed} failed cells again", failed=f"{failed:,}"),
                icon=":material/replay:",
                key="experiment-again",
            )
        ):
            _do(lambda: house.experiments.try_again(kept.id, typed_keys()))
        if kept.status == "paused":
            _raise(house, kept)
        with st.popover(_("Delete"), icon=":material/delete:"):
            st.caption(
                _("The experiment and its runs are deleted. All answers stay: the same experiment again asks nothing.")
            )
            if st.button(_("Delete the experiment"), key="experiment-delete", type="primary"):
                house.experiments.delete(kept.id)
                _leave()
    if kept.reason:
        st.caption(literal(kept.reason))
    if ended < total:
        st.progress(
            ended / total,
            _("{ended} of {total} cells{left}", ended=f"{ended:,}", total=f"{total:,}", left=_left(kept, ended, total)),
        )
    took = store.took(kept.id)
    for place, arm in enumerate(kept.experiment.arms):
        if place in took:
            calls, tokens, cost = took[place]
            done = counts.get((place, "done"), 0)
            st.caption(
                _(
                    "{name}: {done} done, {calls} calls, {tokens} tokens, {cost}",
                    name=literal(arm.name),
                    done=f"{done:,}",
                    calls=count(calls),
                    tokens=count(tokens),
                    cost=literal(money(cost)),
                )
            )


def _raise(house: Courthouse, kept: StoredExperiment) -> None:
    """Another budget."""
    with st.popover(_("Budget"), icon=":material/payments:"):
        now = kept.experiment.budget
        new = st.number_input(
            _("US$ for the whole experiment (0 is no limit)"), 0.0, None, now.money or 0.0, key="experiment-new-budget"
        )
        if st.button(_("Set"), key="experiment-set-budget"):
            budget = now.model_copy(update={"money": new or None})
            house.experiments.store.replace(kept.experiment.model_copy(update={"budget": budget}))
            st.rerun()


def _left(kept: StoredExperiment, ended: int, total: int) -> str:
    """About how long it still takes, from how fast cells ended since this session looks."""
    if kept.status != "running":
        return ""
    seen = st.session_state.setdefault(f"experiment-seen-{kept.id}", (time.monotonic(), ended))
    since, gone = time.monotonic() - seen[0], ended - seen[1]
    return _(", about {since} left", since=duration(since / gone * (total - ended))) if gone > 0 else ""


def _table(found: ExperimentResults, group: str) -> pd.DataFrame:
    better = marks(found.pairs)
    lines = []
    for arm in found.arms:
        if (line := found.table.line(arm, group)) is None:
            continue
        shown: dict[str, object] = {N_("arm"): arm}
        for measure in found.measures:
            one, more = line.values.get(measure.name), better.get((measure.name, group, arm), 0)
            interval = (
                _(" ({low} to {high})", low=number(one.low, measure), high=number(one.high, measure)) if one else ""
            )
            mark = _(" · better than {more}", more=more) if more else ""
            shown[measure.title] = f"{number(one.value, measure)}{interval}{mark}" if one else "–"
        spent = found.table.spent[arm]
        steady = found.steady[arm]
        shown |= {N_("cases"): line.cases, N_("failed"): spent.failed, N_("calls"): spent.calls, N_("tokens"): spent.tokens,
                  N_("money"): money(spent.cost) if spent.calls else "–"}  # fmt: skip
        if steady.consistency is not None:
            shown[N_("same outcome again")] = f"{steady.consistency:.0%}"
        if steady.agreement is not None:
            shown[N_("members agree (alpha)")] = f"{steady.agreement:.2f}"
        lines.append(shown)
    return pd.DataFrame(lines)


def _every_cell(found: ExperimentResults) -> None:
    failed = [row for row in found.rows if row.state == "failed"]
    with st.expander(
        _("Every cell ({rows})", rows=f"{len(found.rows):,}")
        + (_(", {failed} failed", failed=f"{len(failed):,}") if failed else "")
    ):
        frame = frame_of(found.rows, found.measures)
        frame["run"] = [
            f"deliberation?run={row.run}" if row.run and row.state == "done" else None for row in found.rows
        ]
        link = st.column_config.LinkColumn(_("run"), display_text=r"run=(.+)$")
        table(frame, {"run": link})
    name = found.kept.name
    with st.container(horizontal=True):
        st.download_button(_("Cells as CSV"), frame_of(found.rows, found.measures).to_csv(index=False), f"{name}.csv")
        st.download_button(
            _("Table as Markdown"), markdown(found.table, found.pairs, found.overall, found.notes), f"{name}.md"
        )
        st.download_button(_("Table as LaTeX"), latex(found.table, found.pairs), f"{name}.tex")


@st.cache_resource(max_entries=4, show_spinner=False)
def _results(_house: Courthouse, name: str, counts: object, content: str) -> ExperimentResults:
    """Worked out once for as many cells as are done, and as the experiment's measures are."""
    return _house.experiments.results(name)


def _ended(house: Courthouse, name: str) -> int:
    return sum(many for (_, state), many in house.experiments.store.counts(name).items() if state != "waiting")


def _leave() -> None:
    st.session_state.pop("experiment", None)
    st.query_params.clear()
    st.rerun()


def _do(act: object) -> None:
    try:
        act()  # type: ignore[operator]
    except CourtroomError as error:
        st.error(literal(str(error)))
    else:
        st.rerun()
