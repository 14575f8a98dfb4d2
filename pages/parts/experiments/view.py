"""One experiment: how far it is, its table, its figures, its cells, and its runs beside juries of people."""

import json
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import streamlit as st

from courtroom.access import Access, Resource, may
from courtroom.courthouse import Courthouse
from courtroom.evaluation.yardstick import Yardstick, of_runs
from courtroom.experiments.breakdown import Breakdown
from courtroom.experiments.bundle import zipped
from courtroom.experiments.canary import MAX_CALLS, USUAL_CALLS
from courtroom.experiments.measures import Measure
from courtroom.experiments.mirror import is_mirror
from courtroom.experiments.outcome import State
from courtroom.experiments.results import LEARNING, ExperimentResults, audit_table, first_runs
from courtroom.experiments.store import StoredExperiment
from courtroom.experiments.table import sentence, summary, without_interval
from courtroom.experiments.written import csv_of, latex, lines_of, markdown
from courtroom.figures.experiment import draw_breakdown, draw_frontier, draw_matrix, draw_values, draw_yardstick
from courtroom.language import N_, _, translated
from courtroom.models.offline import NOTICE
from courtroom.models.spec import OFFLINE
from courtroom.questions.asides import Cost
from courtroom.questions.audit import MOST_SEEDS, SEEDS
from courtroom.sharing import may_change
from pages.parts.experiments.mirror import mirror_view
from pages.parts.live.questions_view import ABOUT_AUDITS, start_beside, waits
from pages.parts.shared.blocks_view import reliability_view
from pages.parts.shared.controls import bell_view, status_badge
from pages.parts.shared.house import CHOSEN, open_run
from pages.parts.shared.knobs import budget_fields
from pages.parts.shared.models_form import typed_keys
from pages.parts.shared.share_view import download, share_popover
from pages.parts.shared.shown import (
    count,
    do,
    duration,
    in_language,
    literal,
    many,
    money,
    one_of,
    plainly,
    table,
    theme,
)

MAX_AUDITED_RUNS = 50


def audits_view(house: Courthouse, results: ExperimentResults) -> None:
    """The table of what was found, and a form for more audits; empty where no arm's members can be audited."""
    procedures = {arm.procedure for arm in results.kept.experiment.arms if arm.procedure}
    if not any(house.procedures[name].peers for name in procedures if name in house.procedures):
        return
    with st.expander(_("Why members changed sides"), icon=":material/troubleshoot:"):
        found = audit_table(results.rows, house.asides.audited(), lambda run: house.audits.of(house.record(run)))
        if len(found):
            table(found)
        else:
            st.caption(_("No change of sides in these runs was audited yet."))
        st.caption(_(ABOUT_AUDITS))
        waiting, runs = f"audits-{results.kept.id}", first_runs(results.rows, MAX_AUDITED_RUNS)
        going_on = (house.audits.under_way.get(run) for run in runs)
        st.session_state.setdefault(waiting, [one for one in going_on if one and not one.done()])  # by anybody
        if waits(waiting, _("The questions of the audit are being asked.")) or not may(Access.RUN):
            return
        with st.container(horizontal=True, vertical_alignment="bottom"):
            each = st.number_input(_("Runs of each arm"), 1, MAX_AUDITED_RUNS, 3, key="audits-runs", width=160)
            seeds = st.number_input(_("Answers in each way"), 1, MOST_SEEDS, SEEDS, key="audits-seeds", width=160)
        choice, chosen = (results.kept.id, each, seeds), first_runs(results.rows, each)
        plan = partial(house.audits.plan, seeds=seeds)
        start_beside(house, house.audits, "audits", choice, waiting, lambda: map(plan, map(house.record, chosen)))


def canary_view(house: Courthouse, kept: StoredExperiment) -> None:
    """What came of asking recorded calls again, and a button that asks."""
    with st.expander(_("Would it come out today?"), icon=":material/history:"):
        st.caption(_("A sample of the recorded calls is asked again, each twice. No run changes."))
        for one in kept.experiment.canaries:
            for line in one.lines:
                st.markdown(literal(line))
        if not may(Access.RUN):
            return
        with st.container(horizontal=True, vertical_alignment="bottom"):
            calls = int(st.number_input(_("Recorded calls"), 1, MAX_CALLS, USUAL_CALLS, key="canary-calls", width=160))
            if st.button(_("Ask these again"), key="canary-ask"):
                with st.spinner(_("The calls are being asked again.")):
                    do(lambda: house.experiments.canary(kept.id, calls, keys=typed_keys()))


STATES: tuple[State, State, State] = ("done", "failed", "waiting")


def progress_view(house: Courthouse, kept: StoredExperiment) -> None:
    """Status and buttons; while it is not done, how far it is, in all and for each arm."""
    store = house.experiments.store
    counts = store.counts(kept.id)
    total, ended = sum(counts.values()), sum(many for (_, state), many in counts.items() if state != "waiting")
    with st.container(horizontal=True, vertical_alignment="center"):
        status_badge(kept.status)
        if may(Access.RUN) and kept.status == "running":
            if st.button(_("Pause"), icon=":material/pause:", key="experiment-pause"):
                do(lambda: house.experiments.pause(kept.id))
        elif may(Access.RUN) and kept.status == "paused":
            if st.button(_("Go on"), icon=":material/play_arrow:", key="experiment-go", type="primary"):
                do(lambda: house.experiments.go(kept.id, typed_keys()))
            with st.popover(_("Budget"), icon=":material/payments:"):
                st.caption(_("Of the whole experiment."))
                budget = budget_fields(kept.experiment.budget, f"experiment-new-{kept.id}")
                if st.button(_("Set"), key="experiment-set-budget"):
                    do(lambda: house.experiments.store.replace(kept.experiment.model_copy(update={"budget": budget})))
        of = Resource(kind="experiment", id=kept.id)
        if may_change(house.database, of):
            with st.popover(_("Delete"), icon=":material/delete:"):
                st.caption(_("Its runs go too. All answers stay: the same experiment again asks nothing."))
                if st.button(_("Delete the experiment"), key="experiment-delete", type="primary"):
                    house.experiments.delete(kept.id)
                    leave()
        bell_view(house, of, kept.experiment.title or kept.experiment.name, kept.status)
    if kept.reason:
        st.caption(literal(kept.reason))
    cached, batched = store.cheaper(kept.id)
    if cached or batched:
        values = {"cached": count(cached), "batched": count(batched)}
        st.caption(_("{cached} tokens came from a provider's cache, and {batched} went by batch.", **values))
    if ended < total:
        took = store.took(kept.id)
        spent = sum(cost.money or 0.0 for cost in took.values())
        about = any(cost.estimated for cost in took.values())
        paid = _(", {cost} so far", cost=literal(money(spent, about=about))) if spent else ""
        left = ""
        if kept.status == "running":  # about how long it takes, from how fast cells ended since this session looks
            seen = st.session_state.setdefault(f"experiment-seen-{kept.id}", (time.monotonic(), ended))
            since, gone = time.monotonic() - seen[0], ended - seen[1]
            left = _(", about {since} left", since=duration(since / gone * (total - ended))) if gone > 0 else ""
        text = _("{ended} of {total} cells{left}{paid}", ended=f"{ended:,}", total=f"{total:,}", left=left, paid=paid)
        st.progress(ended / total, text)
        lines = []
        for place, arm in enumerate(kept.experiment.arms):
            done, failed, waiting = (counts.get((place, state), 0) for state in STATES)
            cost = took.get(place, Cost())
            share = (done + failed) / max(1, done + failed + waiting)
            paid = money(cost.money, about=cost.estimated) if cost.calls else "–"
            tokens = count(cost.tokens, about=cost.estimated)
            lines.append((arm.name, share, done, failed, count(cost.calls), tokens, paid))
        bar = st.column_config.ProgressColumn(_("Progress"), format="percent", min_value=0, max_value=1)
        table(lines, ["Arm", "Progress", "Done", "Failed", "Calls", "Tokens", "Money"], {"Progress": bar})


def leave() -> None:
    for page in ("experiment", "what-if"):
        st.session_state.pop(page, None)
    for name in st.query_params.keys() - {CHOSEN}:
        del st.query_params[name]
    st.rerun()


def link_of(run: str | None) -> str | None:
    return f"deliberation?run={run}" if run else None


def run_links() -> dict[str, Any]:
    """A column of addresses of runs, by its name."""
    return {"run": st.column_config.LinkColumn(_("run"), display_text=r"run=(.+)$")}


def failures(house: Courthouse, results: ExperimentResults) -> None:
    """Cells that failed: how many for which reason, each as a row, and a button that tries them again."""
    failed = [row for row in results.rows if row.state == "failed"]
    if not failed:
        return
    with st.container(border=True):
        with st.container(horizontal=True, vertical_alignment="center"):
            cells = many(len(failed), "cell")
            st.markdown(_("**{failed} failed.** They are left out of the table; the others count.", failed=cells))
            if may(Access.RUN) and results.kept.status != "running" and st.button(
                _("Try these again"), icon=":material/replay:", key="experiment-again", type="primary",
                help=_("Answers that are on record are not asked for again."),
            ):  # fmt: skip
                do(lambda: house.experiments.try_again(results.kept.id, typed_keys()))
        for arm, reason, number in results.failures[:5]:
            st.caption(f"{literal(arm)}, {many(number, 'cell')}: {literal(reason)}")
        with st.expander(_("Each of them")):
            lines = [(row.arm, row.row, row.repeat + 1, row.reason, link_of(row.run)) for row in failed]
            table(lines, ["arm", "case", "repeat", "reason", "run"], run_links())


def breakdown_view(results: ExperimentResults, group: str, measure: Measure) -> None:
    """By category, difficulty, rounds and votes, where cells differ in these; calibration; the memory's learning curve."""
    if titles := {one.name: one.title for one in results.features(group)}:
        about = _("n is the number of cases. Bars are 95 % intervals over cases.")
        st.subheader(_("What the results depend on"), help=about)
        by = one_of(_("Results by"), list(titles), "experiment-by", next(iter(titles)), titles.__getitem__)
        _drawn(results.breakdown(by, measure, group), "by")
    if given := results.forecasts(group):
        st.subheader(_("Are they as sure as they are right?"))
        reliability_view(given, key="experiment")
    if results.trained:
        about = _("Each case is judged before it is learned from. Cases are taken in blocks, in their order.")
        st.subheader(_("Learning curve"), help=about)
        _drawn(results.breakdown(LEARNING, measure), LEARNING)


def _drawn(one: Breakdown, key: str) -> None:
    if not one.points:
        st.caption(_("{title} has no value here.", title=literal(one.measure.title)))
        return
    st.plotly_chart(draw_breakdown(one, theme()), key=f"experiment-{key}-figure")
    with st.expander(_("The same as a table")):
        form = "percent" if one.measure.percent else "%.3g"
        forms = {**dict.fromkeys((one.measure.title, "from", "to"), form), "share of cells": "percent"}
        columns = {name: st.column_config.NumberColumn(translated(name), format=of) for name, of in forms.items()}
        table(one.rows(), config=columns)


LIVE_S = 1.0
REDRAW_S = 30.0
"""How often results are drawn again at most while cells come in."""
PARTS = ("Results", "Beside people")
ALL_ARMS = "All arms"
MAX_MATRIX_MARKS = 3_000
MAX_SENTENCES_AT_ONCE = 3


def experiment_view(house: Courthouse, kept: StoredExperiment) -> None:
    """Progress above, then what came of it."""
    experiment = kept.experiment
    with st.container(horizontal=True, vertical_alignment="center"):
        values = {"title": experiment.title or experiment.name, "name": experiment.dataset.name}
        values["version"] = (experiment.dataset.version or "")[:8]
        text = _("**{title}** · {name}, version {version}", **{name: literal(one) for name, one in values.items()})
        about = _("The dataset's version is part of the experiment: if the dataset changes, the experiment does not.")
        st.markdown(text, help=about)
        share_popover(house, Resource(kind="experiment", id=kept.id))
        if st.button(_("All experiments"), icon=":material/arrow_back:", key="experiment-back"):
            leave()

    def shown(results: ExperimentResults) -> None:
        _shown(house, results)
        audits_view(house, results)
        canary_view(house, kept)

    progress_and_results(house, kept, shown, REDRAW_S)


def progress_and_results(
    house: Courthouse, kept: StoredExperiment, shown: Callable[[ExperimentResults], None], redraw_s: float
) -> None:
    """How far it is, failures, what `shown` draws of its results, its cells and files; drawn again as cells end."""
    store, drawn_at = house.experiments.store, time.monotonic()
    counts = store.counts(kept.id)

    @st.fragment(run_every=LIVE_S if kept.status == "running" else None)
    @plainly()
    def live() -> None:
        now = store.experiment(kept.id)
        progress_view(house, now)
        if now.status != kept.status or (time.monotonic() - drawn_at > redraw_s and store.counts(kept.id) != counts):
            st.rerun()

    live()
    if (results := _results_now(house, kept)) is None:
        return
    failures(house, results)
    arms = (house.procedures.get(arm.procedure) for arm in kept.experiment.arms)
    votes = any(role.votes for procedure in arms if procedure for role in procedure.roles)
    if votes and one_of(_("Show"), PARTS, f"yardstick-part-{kept.id}", PARTS[0]) == PARTS[1]:
        yardstick_view(house, kept)
        return
    shown(results)
    with st.expander(_("Every cell ({rows})", rows=f"{len(results.rows):,}")):
        links = [link_of(row.run if row.state == "done" else None) for row in results.rows]
        table(results.frame.assign(run=links), config=run_links())
    name, of = results.kept.name, Resource(kind="experiment", id=results.kept.id)
    with st.container(horizontal=True):
        if not results.kept.experiment.dataset.run:
            download(house, _("Table as Markdown"), markdown(results), f"{name}.md", of)
            about = _("Table, figures, methods, a checklist, and what it takes to run the experiment again.")
            download(house, _("Bundle for a paper"), lambda: zipped(results, house), f"{name}.zip", of, help=about)
            text = latex(results.table, results.pairs, results.kept.experiment.title, results.notes)
            download(house, _("Table as LaTeX"), text, f"{name}.tex", of)
        download(house, _("Cells as CSV"), lambda: csv_of(results.frame), f"{name}.csv", of)
        parquet = partial(results.frame.to_parquet, index=False)  # without a file it gives the bytes
        download(house, _("Cells as Parquet"), parquet, f"{name}.parquet", of)


def experiment_to_read(house: Courthouse, kept: StoredExperiment) -> None:
    """The same for who came by a link: its table and figures, and no way to its runs."""
    st.title(literal(kept.experiment.title or kept.name))
    counts = house.experiments.store.counts(kept.id)
    done = sum(many for (_arm, state), many in counts.items() if state == "done")
    st.caption(_("{done} of {values} cells are done.", done=f"{done:,}", values=f"{sum(counts.values()):,}"))
    if results := _results_now(house, kept):
        _shown(house, results, to_runs=False)


def _shown(house: Courthouse, results: ExperimentResults, *, to_runs: bool = True) -> None:
    if not results.table.lines:
        return
    if is_mirror(results.kept.experiment):
        mirror_view(results)
        st.subheader(_("Results"))
    group, *others = groups = results.table.groups
    if others:
        group = st.selectbox(_("Cases"), groups, key="experiment-group", format_func=translated)
    arms = [arm for arm in results.kept.experiment.arms if arm.procedure]
    if any((arm.model or arm.set.get("model.id", OFFLINE)) == OFFLINE for arm in arms):
        st.caption(translated(NOTICE))
    st.table(in_language(_lines(results, group)), border="horizontal", hide_index=True)
    text = _(
        "In brackets: the 95 % interval over cases, and n where not all cases have a value. The best value is bold."
    )
    text += " " + _("▲: than so many arms it is shown to be better (corrected p below 0.05). ▼: below a guess.")
    st.caption(text)
    if any(one.consistency is not None for one in results.steady.values()):
        st.caption(_("*Same outcome again*: how often the repeats of a case come to the same outcome, right or wrong."))
    if any(one.agreement is not None for one in results.steady.values()):
        st.caption(_("*Members agree*: Krippendorff's alpha of their last votes; 1 is always, 0 is by chance."))
    for note in (*without_interval(results.table), *results.notes):
        st.caption(literal(note))
    if results.findings:
        st.subheader(_("Hypotheses"))
        rows = [(str(one.hypothesis), translated(one.state), translated(one.reason)) for one in results.findings]
        table(rows, ["Hypothesis", "Result", "Why"])
    for line in results.repeats_told:
        st.markdown(literal(line))
    if results.repeats_told:
        text = _("P: how often chance alone makes the repeats of an arm differ so much in what they get right.")
        st.caption(text + " " + _("T: Student's t of the first measure against the arm above, a pair for each repeat."))
    pairs = [pair for pair in results.pairs if pair.group == group]
    for line in summary(pairs, results.overall):
        st.markdown(literal(line))
    for pair in [one for one in pairs if one.holds][:MAX_SENTENCES_AT_ONCE]:
        st.markdown(f"- {literal(sentence(pair))}")
    if pairs:
        with st.expander(_("Every pair of arms ({pairs})", pairs=len(pairs))):
            for pair in pairs:
                st.markdown(f"- {literal(sentence(pair))}")
    by_name = {measure.name: measure for measure in results.measures}
    key = "experiment-of"
    named = st.selectbox(
        _("Figures of"), list(by_name), format_func=lambda name: translated(by_name[name].title), key=key
    )
    measure = by_name[named]
    st.plotly_chart(draw_values(results.table, group, measure, theme()), key="experiment-values")
    if any(spent.calls for spent in results.table.spent.values()):
        about = _("In US dollars, else tokens, else calls. The line joins the arms that no other beats for less.")
        st.subheader(_("{title} against cost", title=literal(measure.title)), help=about)
        st.plotly_chart(draw_frontier(results.table, group, measure, theme()), key="experiment-frontier")
    breakdown_view(results, group, measure)
    if measure.each is not None and to_runs:
        _matrix(house, results, group, measure)


def _matrix(house: Courthouse, results: ExperimentResults, group: str, measure: Measure) -> None:
    groups = [results.groups[arm, group] for arm in results.arms if (arm, group) in results.groups]
    number = sum(len(one.by_case) for one in groups)
    about = _("Circle: right; cross: wrong; diamond: right in some repeats. Choose a mark to open its run.")
    st.subheader(_("Arms and cases"), help=about)
    if number > MAX_MATRIX_MARKS:
        st.caption(_("{marks} marks are too many to draw; the cells below have them all.", marks=f"{number:,}"))
        return
    drawn = draw_matrix(groups, measure, theme())
    chosen = st.plotly_chart(drawn, key="experiment-matrix", on_select="rerun", selection_mode="points")
    for point in chosen["selection"]["points"]:
        arm, case = point["customdata"]
        if run := next((row.run for row in results.rows if (row.arm, row.row) == (arm, case)), ""):
            open_run(run)
        values = {"arm": literal(arm), "case": literal(case)}
        st.caption(_("{arm} on {case} is a prediction made elsewhere: there is no run.", **values))


def _lines(results: ExperimentResults, group: str) -> list[dict[str, str]]:
    """A line for each arm, in Markdown: what may be quoted can be marked and copied."""
    steady = results.steady
    lines: list[dict[str, str]] = []
    for line in lines_of(results.table, results.pairs, group):
        shown: dict[str, str] = {"Arm": f"*{translated(line.name)}*" if line.guess else literal(line.name)}
        for cell, measure in zip(line.cells, results.measures, strict=True):
            value, mark = cell.text.partition(" (")[0], f" :green[▲ {cell.beats}]" if cell.beats else ""
            text = translated(cell.text) if cell.text else ""
            text = text.replace(value, f"**{value}**", 1) if cell.best else text
            shown[measure.title] = text + mark + (" :orange[▼]" if cell.below else "")
        if not line.guess:
            cases, tokens, cost = line.took
            spent, one = results.table.spent[line.name], steady[line.name]
            shown |= {"Cases": cases, "Failed": f"{spent.failed:,}", "Calls": f"{spent.calls:,}"}
            shown |= {N_("Tokens a case"): translated(tokens), N_("US$ a case"): translated(cost)}
            if any(other.consistency is not None for other in steady.values()):
                shown[N_("Same outcome again")] = "–" if one.consistency is None else f"{100 * one.consistency:.0f} %"
            if any(other.agreement is not None for other in steady.values()):
                shown[N_("Members agree (alpha)")] = "–" if one.agreement is None else f"{one.agreement:.2f}"
        lines.append(shown if not line.guess else dict.fromkeys(lines[0], "") | shown)
    return lines


def _results_now(house: Courthouse, kept: StoredExperiment) -> ExperimentResults | None:
    """What has come of it until now; without a cell that is done a sentence says so."""
    counts = house.experiments.store.counts(kept.id)
    if all(state == "waiting" for _arm, state in counts):
        st.info(_("No cell is done yet."), icon=":material/hourglass_empty:")
        return None
    with st.spinner(_("Adding up ...")):
        return _results(house, kept.id, tuple(sorted(counts.items())), kept.experiment.model_dump_json())


@st.cache_resource(max_entries=4, show_spinner=False)
def _results(_house: Courthouse, name: str, counts: object, content: str) -> ExperimentResults:
    """Worked out once for as many cells as are done, and as the experiment's measures are."""
    return _house.experiments.results(name)


def yardstick_view(house: Courthouse, kept: StoredExperiment) -> None:
    """The sentences, the curve and the table, of all arms or of one."""
    names, arm = [arm.name for arm in kept.experiment.arms], ALL_ARMS
    if len(names) > 1:
        arm = st.selectbox(_("Arm"), [ALL_ARMS, *names], key="yardstick-arm", format_func=translated)
        if arm == ALL_ARMS:
            st.caption(_("The runs of all arms together, controls too. Choose an arm to see its juries alone."))
    with st.spinner(_("Adding up ...")):
        found = _read(house, tuple(house.experiments.runs(kept.id, "" if arm == ALL_ARMS else arm)))
    if not found.lines:
        st.info(_("Nobody has voted in these runs."))
        return
    if kept.experiment.dataset.run:
        told = _(
            "All of these are of one case, and most of their answers are the same: they are no juries of their own, so intervals and p say more than is known."
        )
        st.warning(told, icon=":material/warning:")
    for line in found.sentences:
        st.markdown(f"- {literal(line)}")
    if found.model:
        st.plotly_chart(draw_yardstick(found, theme()), key="yardstick-curve")
        text = _(
            "People: juries with a known first ballot and verdict, real and mock mixed, without death-penalty cases."
        )
        st.caption(text + " " + _("Of these runs, a hung jury counts as one that found nothing proven."))
    table(line.in_words() for line in found.lines)
    data = json.dumps(found.as_data(), ensure_ascii=False, indent=1)
    download(house, _("As JSON"), data, f"{kept.name}-yardstick.json", Resource(kind="experiment", id=kept.id))


@st.cache_resource(max_entries=8, show_spinner=False)
def _read(_house: Courthouse, runs: tuple[str, ...]) -> Yardstick:
    """Read once for the same runs: what is done does not change."""
    return of_runs(runs, _house.record, _house.procedures)
