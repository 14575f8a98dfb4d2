"""One experiment: how far it is, its table, which differences hold, its figures, its cells."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from courtroom.access.account import Resource
from courtroom.courthouse import Courthouse
from courtroom.experiments.measures import Measure
from courtroom.experiments.results import ExperimentResults
from courtroom.experiments.store import StoredExperiment
from courtroom.experiments.words import number, sentence, summary
from courtroom.experiments.written import best_of, marks
from courtroom.figures.experiment import draw_frontier, draw_matrix, draw_values, run_of
from courtroom.language import _, translated
from pages.parts.experiments.audits import audits_view
from pages.parts.experiments.breakdown_view import breakdown_view
from pages.parts.experiments.cells_view import downloads, every_cell, failures
from pages.parts.experiments.progress import leave, progress_view
from pages.parts.shared.inert import literal
from pages.parts.shared.share_view import share_popover
from pages.parts.shared.table import in_language
from pages.parts.shared.units import money

LIVE_S = 1.0
MOST_MATRIX = 3_000
"""Marks that the matrix may have: more are slow to draw in a browser."""
MOST_SENTENCES = 3
"""Differences that stand there at once; all pairs stand below."""


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
            ),
            help=_(
                "The version of the dataset is part of the experiment: a dataset that changes later changes nothing."
            ),
        )
        share_popover(house, Resource(kind="experiment", id=kept.id))
        if st.button(_("All experiments"), icon=":material/arrow_back:", key="experiment-back"):
            leave()
    drawn = (kept.status, _ended(house, kept.id))

    @st.fragment(run_every=LIVE_S if kept.status == "running" else None)
    def live() -> None:
        now = store.experiment(kept.id)
        progress_view(house, now)
        if now.status != drawn[0] or (not drawn[1] and _ended(house, kept.id)):
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
    failures(house, found)
    if found.table.lines:
        _shown(house, found)
    audits_view(house, found)
    every_cell(found)
    downloads(house, found)


def experiment_to_read(house: Courthouse, kept: StoredExperiment) -> None:
    """The same for who came by a link: its table and figures, and no way to its runs."""
    st.title(literal(kept.experiment.title or kept.name))
    counts = house.experiments.store.counts(kept.id)
    done = sum(many for (_arm, state), many in counts.items() if state == "done")
    st.caption(_("{done} of {values} cells are done.", done=f"{done:,}", values=f"{sum(counts.values()):,}"))
    if not _ended(house, kept.id):
        st.info(_("No cell is done yet."), icon=":material/hourglass_empty:")
        return
    found = _results(house, kept.id, tuple(sorted(counts.items())), kept.experiment.model_dump_json())
    if found.table.lines:
        _shown(house, found, to_runs=False)


def _shown(house: Courthouse, found: ExperimentResults, *, to_runs: bool = True) -> None:
    groups = found.table.groups
    group = (
        st.selectbox(_("Cases"), groups, key="experiment-group", format_func=translated)
        if len(groups) > 1
        else groups[0]
    )
    st.table(in_language(_table(found, group)), border="horizontal", hide_index=True)
    st.caption(
        _(
            "In brackets: the 95 % interval over cases; the best value is bold. ▲ says than how many other arms an arm is shown to be better (corrected p below 0.05)."
        )
    )
    for note in found.notes:
        st.caption(literal(note))
    pairs = [pair for pair in found.pairs if pair.group == group]
    overall = [one for one in found.overall if one.group == group]
    for line in summary(pairs, overall):
        st.markdown(literal(line))
    for pair in [one for one in pairs if one.holds][:MOST_SENTENCES]:
        st.markdown(f"- {literal(sentence(pair))}")
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
        st.subheader(
            _("{title} against cost", title=literal(measure.title)),
            help=_(
                "In US dollars; in tokens where no money was paid, in calls where no tokens were counted. The line joins the arms that no other arm "
                "beats for less."
            ),
        )
        st.plotly_chart(draw_frontier(found.table, group, measure, theme), key="experiment-frontier")
    breakdown_view(found, group, measure, theme)
    if measure.each is not None and to_runs:
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


def _table(found: ExperimentResults, group: str) -> pd.DataFrame:
    """A line for each arm, in Markdown: what may be quoted can be marked and copied."""
    better = marks(found.pairs)
    best = best_of(found.table, group)
    lines = []
    for arm in found.arms:
        if (line := found.table.line(arm, group)) is None:
            continue
        shown: dict[str, str] = {"Arm": literal(arm)}
        for measure in found.measures:
            one, more = line.values.get(measure.name), better.get((measure.name, group, arm), 0)
            if one is None:
                shown[measure.title] = "–"
                continue
            value = number(one.value, measure)
            low = number(one.low, measure).removesuffix(" %")
            shown_value = f"**{value}**" if one.value == best[measure.name] else value
            mark = f" :green[▲ {more}]" if more else ""
            shown[measure.title] = _(
                "{shown_value} ({low} to {number}){mark}",
                shown_value=shown_value,
                low=low,
                number=number(one.high, measure),
                mark=mark,
            )
        spent = found.table.spent[arm]
        steady = found.steady[arm]
        shown |= {"Cases": f"{line.cases:,}", "Failed": f"{spent.failed:,}", "Calls": f"{spent.calls:,}", "Tokens": f"{spent.tokens:,}",
                  "Money": literal(money(spent.cost)) if spent.calls or spent.cost is not None else "–"}  # fmt: skip
        if any(one.consistency is not None for one in found.steady.values()):
            shown["Same outcome again"] = "–" if steady.consistency is None else f"{steady.consistency:.0%}"
        if any(one.agreement is not None for one in found.steady.values()):
            shown["Members agree (alpha)"] = "–" if steady.agreement is None else f"{steady.agreement:.2f}"
        lines.append(shown)
    return pd.DataFrame(lines)


@st.cache_resource(max_entries=4, show_spinner="Adding up ...")
def _results(_house: Courthouse, name: str, counts: object, content: str) -> ExperimentResults:
    """Worked out once for as many cells as are done, and as the experiment's measures are."""
    return _house.experiments.results(name)


def _ended(house: Courthouse, name: str) -> int:
    return sum(many for (_, state), many in house.experiments.store.counts(name).items() if state != "waiting")
