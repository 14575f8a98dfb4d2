"""The runs that are compared: which they are, and each in short."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from courtroom.courthouse import Courthouse
from courtroom.engine.errors import NoSuchRun
from courtroom.engine.knobs import field_at
from courtroom.engine.procedure import Procedure
from courtroom.engine.record import Record
from courtroom.engine.setup import Setup
from courtroom.evaluation.comparison import MOST, Comparison, Difference, RunFacts
from courtroom.evaluation.run_list import RunList, run_table
from courtroom.experiments.written import csv_of
from courtroom.language import _
from pages.parts.runs.picked import TABLE
from pages.parts.shared.blocks_view import choice_html
from pages.parts.shared.controls import status_badge
from pages.parts.shared.differences import LETTERS, setting
from pages.parts.shared.house import open_run
from pages.parts.shared.inert import inert, literal
from pages.parts.shared.run_choice import runs_to_choose
from pages.parts.shared.table import count, duration, many, moment, money, table


def chosen_runs(house: Courthouse) -> list[Record]:
    """The runs in the URL, or those that this session compared last; both are kept the same, and can be changed."""
    named = st.query_params.get("runs") or st.session_state.get("compared") or ""
    runs = list(dict.fromkeys(run for run in named.split(",") if run))
    if len(runs) > MOST:
        st.warning(
            _("Four runs at most can be read next to each other; these are the first four of {runs}.", runs=len(runs))
        )
    records = []
    for run in runs[:MOST]:
        try:
            records.append(house.runner.latest.of(run))
        except NoSuchRun:
            st.error(_("There is no run {run} here; it may have been deleted. Choose another.", run=literal(run)))
    rows = runs_to_choose(house, "compare-search", [record.run.id for record in records])
    present = [record.run.id for record in records if record.run.id in rows]
    chosen = st.multiselect(
        _("Runs"),
        list(rows),
        present,
        max_selections=MOST,
        format_func=lambda run: f"{rows[run].title} · {moment(rows[run].created)} · {run}",
        placeholder=_("Choose two to four runs"),
        key=f"compared-{','.join(present)}",
    )
    if chosen != present:
        look_at_runs(chosen)
        st.rerun()
    look_at_runs(runs)
    return records


def look_at_runs(runs: list[str]) -> None:
    st.session_state["compared"] = st.query_params["runs"] = ",".join(runs)


def run_cards(house: Courthouse, comparison: Comparison, procedures: Sequence[Procedure]) -> None:
    letters = {run.run: letter for letter, run in zip(LETTERS, comparison.runs, strict=False)}
    columns = st.columns(len(comparison.runs), border=True)
    for letter, column, run, procedure in zip(LETTERS, columns, comparison.runs, procedures, strict=False):
        with column:
            _card(house, procedure, letter, run, letters.get(run.parent or "", run.parent))


def _card(house: Courthouse, procedure: Procedure, letter: str, run: RunFacts, parent: str | None) -> None:
    st.markdown(f"**{literal(letter)} · {literal(run.title)}**")
    origin = _(" · a fork of {parent}", parent=literal(parent)) if parent else ""
    st.caption(
        _(
            "{title} · run {run} · seed {seed}{origin}",
            title=literal(procedure.title),
            run=literal(run.run),
            seed=f"{run.seed:d}",
            origin=origin,
        )
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        status_badge(run.status, interrupted=house.runner.interrupted(run.run))
        if run.verdict is None and run.stages:
            st.caption(_("so far, in {stages}", stages=literal(run.stages[-1])))
    if run.verdict:
        st.html(choice_html(procedure, run.verdict.outcome, "1.5rem"))
        counts = [f"{choice_html(procedure, name)} {number:d}" for name, number in run.verdict.counts.items()]
        if counts:
            st.html("&ensp;".join(counts))
        if run.verdict.note:
            inert(run.verdict.note, small=True, faint=True)
    st.caption(
        _(
            "{asked} calls asked, {recorded} from the record, {failed} failed · {prompt_tokens} tokens · {cost} · {wall_s}",
            asked=count(run.asked),
            recorded=count(run.recorded),
            failed=f"{run.failed:d}",
            prompt_tokens=count(run.prompt_tokens + run.completion_tokens),
            cost=literal(money(run.cost)),
            wall_s=duration(run.wall_s),
        )
    )
    if st.button(_("Open"), key=f"open-{run.run}", icon=":material/gavel:"):
        open_run(run.run)


def in_a_sentence(comparison: Comparison) -> str:
    outcomes = {run.verdict.outcome if run.verdict else None for run in comparison.runs}
    if None in outcomes:
        text = _("Not all are done yet.")
    elif len(outcomes) > 1:
        text = _("**The outcomes differ.**")
    else:
        text = _("The same outcome, though not in all its parts.") if comparison.verdict else _("The same outcome.")
    states = Counter(answer.state for answer in comparison.answers)
    text += _(
        " Of {answers} answers {same} are the same, {differs} differ",
        answers=len(comparison.answers),
        same=f"{states['same']:d}",
        differs=f"{states['differs']:d}",
    )
    if states["only in some"]:
        text += _(", {states} are only in some of the runs", states=f"{states['only in some']:d}")
    text += _(", {states} can't be compared yet.", states=f"{states['not yet']:d}") if states["not yet"] else "."
    if comparison.parts_at:
        text += _(" They part at {parts_at}.", parts_at=literal(comparison.parts_at))
    return text


def standing(records: Iterable[Record]) -> list[tuple[object, ...]]:
    """What the page is drawn again for while a run goes on."""
    return [(record.run.status, len(record.stages), len(record.tallies)) for record in records]


def in_words(rows: list[dict[str, Any]], kind: type[Setup]) -> list[dict[str, Any]]:
    """Rows of the table with settings and their choices in words."""

    def named(path: str, value: Any) -> tuple[str, Any]:
        one = setting(kind, Difference(path=path, values=(value,)))
        return (one.path, one.values[0]) if "." in path or field_at(kind, path) else (path, value)

    return [dict(named(path, value) for path, value in row.items()) for row in rows]


def comparison_table(house: Courthouse) -> None:
    runs = RunList(house.database).there(st.session_state.get(TABLE, ()))
    if not runs:
        return
    records = [house.runner.latest.of(run) for run in runs]
    frame = pd.DataFrame(in_words(run_table(records), type(records[0].setup)))
    with st.container(border=True):
        st.markdown(_("**Comparison table: {runs}**", runs=many(len(runs), "run")))
        forms = {
            "share": st.column_config.NumberColumn(_("share"), format="percent"),
            "cost": st.column_config.NumberColumn(_("cost"), format="dollar"),
        }
        chosen = table(frame, forms, key=f"table-{len(runs)}", on_select="rerun", selection_mode="multi-row")
        rows = [runs[number] for number in chosen["selection"]["rows"]]
        with st.container(horizontal=True, vertical_alignment="center"):
            if st.button(_("Compare the chosen rows"), icon=":material/compare:", disabled=not 2 <= len(rows) <= 4):
                look_at_runs(rows)
                st.rerun()
            if st.button(_("Remove the chosen rows"), icon=":material/remove:", disabled=not rows):
                st.session_state[TABLE] = [run for run in runs if run not in rows]
                st.rerun()
            st.download_button(_("CSV"), csv_of(frame), "runs.csv", "text/csv", icon=":material/download:")
            if st.button(_("Empty the table"), icon=":material/close:", type="tertiary"):
                del st.session_state[TABLE]
                st.rerun()
