"""The runs that are compared: which they are, and each in short."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import streamlit as st

from courtroom.courthouse import Courthouse
from courtroom.engine.errors import NoSuchRun
from courtroom.engine.procedure import Procedure
from courtroom.engine.record import Record
from courtroom.evaluation.comparison import MOST, Comparison, RunFacts
from courtroom.language import _, translated
from pages.parts.shared.beside import LETTERS
from pages.parts.shared.choice_mark import choice_html
from pages.parts.shared.controls import STATUS
from pages.parts.shared.inert import inert, literal
from pages.parts.shared.records import read
from pages.parts.shared.run_choice import runs_to_choose
from pages.parts.shared.units import count, duration, moment, money


def chosen_runs(house: Courthouse) -> list[Record]:
    """The runs in the URL, or those that this session compared last; both are kept the same, and can be changed."""
    named = st.query_params.get("runs") or st.session_state.get("compared") or ""
    runs = list(dict.fromkeys(run for run in named.split(",") if run))
    if len(runs) > MOST:
        st.warning(
            _("Four runs at most can be read beside each other; these are the first four of {runs}.", runs=len(runs))
        )
    records = []
    for run in runs[:MOST]:
        try:
            records.append(read(house, run))
        except NoSuchRun:
            st.error(_("There is no run {run} here; it may have been deleted. Choose another.", run=literal(run)))
    rows = runs_to_choose(house, "compare-search", [record.run.id for record in records])
    present = [record.run.id for record in records if record.run.id in rows]
    wanted = st.multiselect(
        _("Runs"),
        list(rows),
        present,
        max_selections=MOST,
        format_func=lambda run: f"{rows[run].title} · {moment(rows[run].created)} · {run}",
        placeholder=_("Choose two to four runs"),
        key=f"compared-{','.join(present)}",
    )
    if wanted != present:
        look_at_runs(wanted)
        st.rerun()
    look_at_runs(runs)
    return records


def look_at_runs(runs: list[str]) -> None:
    """Make these the runs that are compared."""
    st.session_state["compared"] = st.query_params["runs"] = ",".join(runs)


def run_cards(house: Courthouse, comparison: Comparison, procedures: Sequence[Procedure]) -> None:
    """A column a run: what it is, how it stands or ended, what it took."""
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
        interrupted = house.runner.interrupted(run.run)
        icon, word, colour = STATUS["paused" if interrupted else run.status]
        st.badge(_("Interrupted") if interrupted else translated(word), icon=icon, color=colour)
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
        st.session_state["run"] = run.run
        st.switch_page("pages/deliberation.py", query_params={"run": run.run})


def in_a_sentence(comparison: Comparison) -> str:
    """How far apart the runs are."""
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
    text += (
        _(", {states} are only in some of the runs", states=f"{states['only in some']:d}")
        if states["only in some"]
        else ""
    )
    text += _(", {states} can't be compared yet.", states=f"{states['not yet']:d}") if states["not yet"] else "."
    if comparison.parts_at:
        text += _(" They part at {parts_at}.", parts_at=literal(comparison.parts_at))
    return text


def standing(records: Iterable[Record]) -> list[tuple[object, ...]]:
    """What the page is drawn anew for while a run goes on."""
    return [(record.run.status, len(record.stages), len(record.tallies)) for record in records]
