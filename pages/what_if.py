"""What if: one finished run, many variants of it, and what would have changed."""

from collections import Counter
from collections.abc import Sequence
from functools import partial

import pandas as pd
import streamlit as st

from courtroom import Choice, Courthouse, CourtroomError, Procedure, Record, Verdict
from courtroom.declarations.changes import value_at
from courtroom.declarations.knobs import path_in_words
from courtroom.evaluation.comparison import MAX_COMPARED_RUNS
from courtroom.evaluation.run_list import RunFilter, RunList
from courtroom.experiments import what_if as variation
from courtroom.experiments.mirror import is_mirror
from courtroom.experiments.plan import Cell
from courtroom.experiments.results import ExperimentResults
from courtroom.experiments.spec import Experiment
from courtroom.experiments.store import StoredExperiment
from courtroom.figures.experiment import draw_flips, draw_shares, draw_swings
from courtroom.language import _, language, listed, translated
from courtroom.models.spec import PERSON
from pages.parts.experiments import view as experiment_view
from pages.parts.experiments.form import rehearsed, start_bar
from pages.parts.experiments.list import experiment_list, opened
from pages.parts.experiments.mirror import mirror_form, mirror_view
from pages.parts.shared.blocks_view import choice_html
from pages.parts.shared.differences import outcome_title, procedure_of, run_label, runs_to_choose
from pages.parts.shared.house import courthouse
from pages.parts.shared.knobs import knob_values, varied
from pages.parts.shared.models_form import stand_in_choice
from pages.parts.shared.shown import (
    errors_shown,
    escaped,
    heads,
    in_columns,
    kept_choice,
    literal,
    many,
    runs_here,
    table,
    theme,
)

PER_ROW = 3
SEEDS_OF_A_MIRROR = 12
"""Under fewer than eight, a run shows nothing of several changes."""
WAYS = ("What would change this verdict?", "Choose what to vary", "Would it be the same for somebody else?")


def what_if_form(house: Courthouse, wanted: str | None) -> None:
    rows = runs_to_choose(house, "what-if-search", [wanted] if wanted else [], "done")
    if not rows:
        st.info(_("No run fits what you search for."), icon=":material/search_off:")
        return
    ids = list(rows)
    first = next((run for run, row in rows.items() if not row.parent), ids[0])
    if "what-if-run-chosen" not in st.session_state:
        st.session_state["what-if-run"] = wanted if wanted in ids else first
    about = _("The run that is asked about. What a variant does not touch is served from its record.")
    run = kept_choice(_("Run"), ids, "what-if-run", format_func=lambda run: run_label(house, rows[run]), help=about)
    base = house.record(run)
    recorded_forks(house, base)
    if names := ", ".join(member.name for member in base.everybody if member.spec.id == PERSON):
        told = _(
            "A person has a seat: {names}. A fork in which their question changes waits for their answer.", names=names
        )
        st.warning(literal(told), icon=":material/person:")
    left, right = st.columns([3, 1], vertical_alignment="bottom")
    asked = (house.procedures[base.run.procedure].ending.what_if, *WAYS[1:])
    titles = dict(zip(WAYS, map(translated, asked), strict=True))
    way = left.segmented_control(_("How"), WAYS, default=WAYS[0], key="what-if-way", format_func=titles.__getitem__)
    way = way or WAYS[0]
    at_first, key = (SEEDS_OF_A_MIRROR, "mirror-seeds") if way == WAYS[2] else (1, "what-if-seeds")
    seeds = right.number_input(
        _("Seeds"), 1, 50, at_first, key=key,
        help=_("Each variant, the run as it was among them, is heard under so many seeds, from the run's own on. With "
        "several, shares come with intervals, and chance is distinguished from change."),
    )  # fmt: skip
    if way == WAYS[2]:
        stand_in = stand_in_choice(house, base.setup, "what-if")
        if mirrored := mirror_form(house, house.experiments.what_ifs.as_it_was(run, seeds, stand_in)):
            start_bar(house, mirrored)
        return
    variants = _proposed(house, base) if way == WAYS[0] else _chosen(house.procedures[base.run.procedure], base)
    if variants is None:
        return
    stand_in, wanted_seeds = stand_in_choice(house, base.setup, "what-if"), range(base.run.seed, base.run.seed + seeds)
    try:
        experiment = house.experiments.what_ifs.experiment(run, variants, wanted_seeds, stand_in)
    except CourtroomError as error:
        if len(variants) > 1:
            st.error(literal(str(error)))
        else:
            st.caption(_("Choose something to vary, or more seeds than one."))
        return
    start_bar(house, experiment)


def recorded_forks(house: Courthouse, base: Record) -> None:
    """The forks that come with a recorded hearing, each with what it changed and a way to the comparison."""
    if not base.run.is_recording:
        return
    kin = {one.run.id: house.recordings.of(one.run.imported) for one in house.family(base.run.id)}
    others = {run: recording for run, recording in kin.items() if recording and run != base.run.id}
    if not others:
        return
    choices = house.procedures[base.run.procedure].about(base.case)
    st.markdown(_("**Recorded with this hearing:** the same people, with one thing changed."))
    for column, (run, recording) in in_columns(list(others.items()), PER_ROW):
        with column, st.container(border=True):
            st.markdown(f"**{literal(recording.title.in_language(language()))}**")
            st.markdown(literal(recording.sentence.in_language(language())))
            verdicts = filter(None, (base.run.verdict, house.store.run(run).verdict))
            st.html("&ensp;→&ensp;".join(_verdict_html(choices, verdict) for verdict in verdicts))
            if st.button(_("Compare"), key=f"compare-{run}", icon=":material/compare:", type="primary"):
                st.switch_page("pages/compare.py", query_params={"runs": f"{base.run.id},{run}"})
    together = [base.run.id, *others][:MAX_COMPARED_RUNS]
    if len(together) > 2 and st.button(_("Compare {runs} runs", runs=len(together)), icon=":material/compare:"):
        st.switch_page("pages/compare.py", query_params={"runs": ",".join(together)})


def _verdict_html(procedure: Procedure, verdict: Verdict) -> str:
    """An outcome with the votes for it, and then those for the others."""
    others = [number for choice, number in verdict.counts.items() if choice != verdict.outcome]
    cast = [verdict.counts[verdict.outcome], *others] if verdict.outcome in verdict.counts else others
    return f"{choice_html(procedure, verdict.outcome)} {escaped(' : '.join(map(str, cast)))}"


def _proposed(house: Courthouse, base: Record) -> variation.Axis | None:
    """Single changes that fit a budget of calls."""
    title, about = _("Budget (calls under one seed)"), _("The cheapest changes are taken first, as many as fit.")
    budget = st.number_input(title, 1, None, 2000, 100, key="what-if-budget", help=about)
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
    kinds = {name: translated(kind) for name, kind in variation.CHANGES.items()}
    lines = [(True, translated(one.name), kinds[one.kind or "base"], calls) for one, calls in proposal]
    table = pd.DataFrame(lines, columns=["take", "change", "what", "calls"])
    with st.expander(_("{found} changes fit the budget", found=len(proposal)), expanded=True):
        calls = st.column_config.NumberColumn(_("calls asked anew"), help=_("Found by a rehearsal."))
        config, key, fixed = heads(table, {"calls": calls}), f"what-if-take-{key}", ["change", "what", "calls"]
        edited = st.data_editor(table, key=key, hide_index=True, height=320, disabled=fixed, column_config=config)
    return variation.singly(tuple(variant for (variant, _), take in zip(proposal, edited["take"], strict=True) if take))


def _chosen(procedure: Procedure, base: Record) -> variation.Axis:
    """What is varied, in the order in which it stands on the page: one change at a time, or in all combinations."""
    turns = {
        "Each piece of evidence": variation.evidence_left_out(base.case),
        "Each member": variation.members_left_out(procedure, base.setup, base.case, base.run.seed),
        "Each rule": variation.rules_left_out(base.setup),
    }
    offered = {f"{translated(title)} ({len(axis)})": axis for title, axis in turns.items() if axis}
    title, key = _("Leave out in turn"), f"what-if-drop-{base.run.id}"
    axes = [offered[one] for one in st.multiselect(title, list(offered), key=key, format_func=translated)]
    fields, key = varied(procedure), f"what-if-vary-{base.run.id}"
    titles = {path: translated(path_in_words(procedure.setup, path)) for path in fields}
    for path in st.multiselect(_("Vary"), list(titles), format_func=titles.__getitem__, key=key):
        if given := knob_values(fields[path], value_at(base.setup, path), f"what-if-{base.run.id}-{path}", path):
            axes.append(variation.values(procedure.setup, path, given))
    about = _("A grid: one value of each thing at a time, in all combinations, rather than one change at a time.")
    few = len(axes) < 2
    crossed = st.toggle(_("Every combination"), key="what-if-variation.grid", disabled=few, help=about)
    with errors_shown():
        return variation.grid(*axes) if crossed and not few else variation.singly(*axes)
    return variation.singly()


REDRAW_S = 3.0
"""Charts are drawn again at most so often while runs come in."""
MAX_NAMED = 3


def what_if_view(house: Courthouse, kept: StoredExperiment) -> None:
    """Progress above, then what came out: in a sentence, as charts, as tables."""
    experiment, base = kept.experiment, kept.experiment.dataset.run
    with st.container(horizontal=True, vertical_alignment="center"):
        counted = {"variants": many(len(experiment.arms), "variant"), "seeds": many(experiment.repeats, "seed")}
        text = _("**{title}** · {variants}, {seeds}", title=literal(experiment.title), **counted)
        st.markdown(text + _(" · [the base run](deliberation?run={base})", base=literal(base)))
        if st.button(_("Another what-if"), icon=":material/add:"):
            st.session_state["what-if-run"] = base
            experiment_view.leave()
    if house.store.status(base) == "deleted":
        experiment_view.progress_view(house, kept)
        _results(kept, list(house.experiments.store.cells(kept.id)), None)
        return
    known = procedure_of(house, base, house.store.run(base).procedure)

    def shown(found: ExperimentResults) -> None:
        if is_mirror(experiment):
            mirror_view(found)
        else:
            _results(kept, list(house.experiments.store.cells(kept.id)), known)

    experiment_view.progress_and_results(house, kept, shown, REDRAW_S)


def _results(kept: StoredExperiment, cells: Sequence[Cell], known: Procedure | None) -> None:
    what_if = variation.results(kept.experiment, cells)
    if not what_if.decided:
        st.info(_("The base run is not there any more, or not done: nothing can be compared with it yet."))
        return
    _in_a_sentence(what_if)
    _charts(what_if, known.choices if known else (), len(kept.experiment.seeds))
    _variants(kept.experiment, what_if, known, {cell.run for cell in cells if cell.state == "waiting"})


def _charts(what_if: variation.WhatIf, choices: tuple[Choice, ...], seeds: int) -> None:
    compared = [row for row in what_if.rows[1:] if row.pairs]
    moved = [row for row in compared if row.swing or row.flips]
    if moved:
        about = _("Change of the share of votes, or where nobody votes of the runs, for what the base decided.")
        st.subheader(_("What moves it"), help=about)
        st.plotly_chart(draw_swings(what_if, choices, theme()), key="what-if-swings")
    if compared:
        counts = {"moved": len(moved), "compared": len(compared)}
        st.caption(_("{moved} of {compared} changes move the support at all.", **counts))
        if seeds == 1:
            about = _("Each was heard under one seed: a vote more or less may be chance. More seeds show which matter.")
            st.caption(about)
    if any(row.flips for row in what_if.rows):
        about = _("Seeds under which the verdict differs from the base's under the same seed.")
        st.subheader(_("What turns it"), help=about)
        st.plotly_chart(draw_flips(what_if, theme()), key="what-if-flips")
    if seeds > 1:
        about = _("Share of the runs that end as the base did, with the exact 95 % interval of a share.")
        st.subheader(_("How sure that is"), help=about)
        st.plotly_chart(draw_shares(what_if, choices, theme()), key="what-if-shares")


def _in_a_sentence(what_if: variation.WhatIf) -> None:
    """Say what decided it and what did not matter."""
    rows = [row for row in what_if.rows[1:] if row.pairs]
    if not rows:
        return
    moved = [row for row in what_if.influential() if row.swing or row.flips]
    turned = [row for row in moved if row.flips]
    names = "; ".join(literal(row.name) for row in (turned or moved)[:MAX_NAMED])
    values = {"turned": len(turned), "compared": len(rows), "names": names}
    if turned:
        text = _("What decided it: **{turned} of {compared}** changes turn the verdict, first of all {names}", **values)
    elif moved:
        text = _(
            "What decided it: no single thing. Of {compared} changes none turns the verdict; most moves {names}",
            **values,
        )
    else:
        text = _("What decided it: no single thing. None of {compared} changes moves it", **values)
    idle = Counter(row.kind for row in rows if row.kind and not (row.swing or row.flips))
    of_kind = Counter(row.kind for row in rows)
    counted = ((literal(variation.CHANGES[kind]), still, of_kind[kind]) for kind, still in idle.items())
    told = [_("{what} ({idle} of {all})", what=what, idle=still, all=every) for what, still, every in counted]
    text = _("{meaning}. What did not matter: {idle}", meaning=text, idle=listed(told)) if told else text
    (st.success if turned else st.info)(text, icon=":material/alt_route:" if turned else ":material/anchor:")


def _variants(experiment: Experiment, what_if: variation.WhatIf, known: Procedure | None, waiting: set[str]) -> None:
    """Draw a line for each variant; it leads to its run."""
    decided = literal(outcome_title(known, what_if.decided))
    lines = []
    for row in what_if.rows:
        first = next((run for run in row.runs if run not in waiting), None)
        share = row.shares.get(what_if.decided)
        interval: tuple[float | None, ...] = (share.value, share.low, share.high) if share else (None, None, None)
        numbers = (None if number is None else round(number, 2) for number in (row.swing, row.votes, *interval))
        told = row.name, variation.CHANGES[row.kind or "base"], outcome_title(known, row.outcome)
        flips = _("{flips} of {pairs}", flips=row.flips, pairs=row.pairs) if row.pairs else ""
        done = _("{done} of {planned}", done=row.done, planned=row.planned)
        lines.append((*told, flips, *numbers, done, experiment_view.link_of(first)))
    columns = ["change", "what", "verdict", "flips", "swing", "votes", "share", "low", "high", "done", "run"]
    percent = {name: st.column_config.NumberColumn(title, format="percent", help=text) for name, title, text in (
        ("swing", _("change"), _("Of the support for what the base decided, against the base under the same seed.")),
        ("votes", _("votes"), _("Mean share of the votes for {decided}.", decided=decided)),
        ("share", _("runs"), _("Share of the runs that end with {decided}.", decided=decided)),
        ("low", _("from"), _("Lower end of the 95 % interval.")),
        ("high", _("to"), _("Upper end of the 95 % interval.")),
    )}  # fmt: skip
    st.subheader(_("Every variant"))
    variants = pd.DataFrame(lines, columns=columns)
    if len(experiment.seeds) == 1:  # one run has no interval worth telling
        variants = variants.drop(columns=["share", "low", "high"])
    table(variants, config={**percent, **experiment_view.run_links()})


house = courthouse()
st.title(_("What if"))

base = st.query_params.get("base")
name = st.query_params.get("experiment") or (None if base else st.session_state.get("what-if"))
if name and (kept := opened(house, "what-if", name)):
    what_if_view(house, kept)
    st.stop()

if not RunList(house.database).newest(RunFilter(status="done"), 1):
    told = _("No hearing is done yet. When one is, you can ask here what would have changed its outcome.")
    st.info(told, icon=":material/alt_route:")
    if st.button(_("Pick a case"), type="primary"):
        st.switch_page("pages/cases.py")
    st.stop()
if runs_here():
    what_if_form(house, base or st.session_state.get("what-if-run"))
if house.experiments.store.number(what_ifs=True):
    st.subheader(_("Earlier what-ifs"))
    experiment_list(house, what_ifs=True)
