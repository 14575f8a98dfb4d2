"""Runs next to each other: which they are, each in short, and their votes, members, answers, views and look-ups."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from courtroom.courthouse import Courthouse
from courtroom.engine.blocks import Graph
from courtroom.engine.errors import NoSuchRun
from courtroom.engine.knobs import field_at
from courtroom.engine.procedure import Choice, Procedure
from courtroom.engine.record import Record
from courtroom.engine.run import ABOUT_RECORDINGS
from courtroom.engine.setup import Setup
from courtroom.evaluation.comparison import (
    APART,
    MOST,
    AnswerComparison,
    BallotComparison,
    Cast,
    Comparison,
    Difference,
    MemberDifferences,
    RunFacts,
)
from courtroom.evaluation.run_list import RunList, run_table
from courtroom.experiments.written import csv_of
from courtroom.figures.graph import draw_votes_beside
from courtroom.language import N_, _, translated
from courtroom.report.page import label
from pages.parts.runs import TABLE, runs_to_choose
from pages.parts.shared.blocks_view import MOST_SIDE_BY_SIDE, answer_view, block_view, choice_html
from pages.parts.shared.controls import status_badge
from pages.parts.shared.differences import LETTERS, differences_view, setting, texts_beside
from pages.parts.shared.house import open_run
from pages.parts.shared.shown import count, duration, inert, literal, many, moment, money, table


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
    origin += _(" · imported") if run.imported else ""
    st.caption(
        _(
            "{title} · run {run} · seed {seed}{origin}",
            title=literal(procedure.title),
            run=literal(run.run),
            seed=f"{run.seed:d}",
            origin=origin,
        )
    )
    if about := ABOUT_RECORDINGS.get(run.origin):
        st.caption(translated(about))
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


def in_a_sentence(comparison: Comparison, records: Sequence[Record]) -> str:
    outcomes = {run.verdict.outcome if run.verdict else None for run in comparison.runs}
    if None in outcomes:
        text = _("Not all are done yet.")
    elif len(outcomes) > 1:
        text = _("**The outcomes differ.**")
    else:
        text = _("The same outcome, though not in all its parts.") if comparison.verdict else _("The same outcome.")
    states, answers = Counter(answer.state for answer in comparison.answers), len(comparison.answers)
    same, differs = f"{states['same']:d}", f"{states['differs']:d}"
    text += _(
        " Of {answers} answers {same} are the same, {differs} differ", answers=answers, same=same, differs=differs
    )
    if states["only in some"]:
        text += _(", {states} are only in some of the runs", states=f"{states['only in some']:d}")
    text += _(", {states} can't be compared yet.", states=f"{states['not yet']:d}") if states["not yet"] else _(".")
    if comparison.parts_at:
        text += _(" They part at {parts_at}.", parts_at=literal(_place(comparison.parts_at, records)))
    return text


def _place(path: str, records: Sequence[Record]) -> str:
    """Where an answer was given, in words: its stage, who gave it, and to what."""
    record, call = next((record, call) for record in records if (call := record.call(path)))
    member, stage = record.member(call.member), next(one.name for one in record.stages if one.path == call.stage)
    return " · ".join(translated(text) for text in (stage, member.name if member else call.member, call.title))


def verdict_beside(comparison: Comparison, procedure: Procedure) -> None:
    """What differs between the verdicts; a text that stands within another one is not told twice."""
    titles = {f"counts.{choice.name}": choice.title for choice in procedure.choices}
    whole = " ".join(str(value) for one in comparison.verdict if one.path == "summary" for value in one.values)
    told = [
        one
        for one in comparison.verdict
        if one.path == "summary" or not all(str(value) in whole for value in one.values)
    ]
    differences_view(told, lambda path: titles.get(path) or label(path.removeprefix("details.")))


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


STATES = {
    "Not the same": APART,
    "Differs": ("differs",),
    "Only in some": ("only in some",),
    "Same": ("same",),
    "Not yet": ("not yet",),
}
SOURCES = {"asked": "asked", "recorded": "on record", "person": "a person", None: ""}


def answers_beside(comparison: Comparison, records: Sequence[Record]) -> None:
    letters = LETTERS[: len(records)]
    top = st.columns(3)
    state = top[0].selectbox(_("Show"), [*STATES, "All"], format_func=translated)
    stage = top[1].selectbox(
        _("Stage"), ["All", *dict.fromkeys(answer.stage for answer in comparison.answers)], format_func=translated
    )
    member = top[2].selectbox(
        _("Member"), ["All", *dict.fromkeys(answer.member for answer in comparison.answers)], format_func=translated
    )
    answers = [
        answer
        for answer in comparison.answers
        if answer.state in STATES.get(state, (answer.state,))
        and stage in ("All", answer.stage)
        and member in ("All", answer.member)
    ]
    if not answers:
        st.caption(_("No answer fits these filters."))
        return
    shown_answers = pd.DataFrame(
        {
            N_("path"): [answer.path for answer in answers],
            N_("question"): [answer.title for answer in answers],
            N_("answers"): [answer.state for answer in answers],
            N_("asked the same"): [_("yes") if answer.same_question else _("no") for answer in answers],
            **{letter: [SOURCES[answer.sources[n]] for answer in answers] for n, letter in enumerate(letters)},
        }
    )
    chosen = table(shown_answers, height=320, on_select="rerun", selection_mode="single-row", key="answers")
    rows = chosen.selection.rows
    place = rows[0] if rows and rows[0] < len(answers) else 0
    st.caption(_("{answers} answers. Select a row to read another one.", answers=len(answers)))
    st.subheader(literal(f"{answers[place].title}: {answers[place].path}"))
    if answers[place].fields:
        differences_view(answers[place].fields, label)
    else:
        _whole(answers[place], records)


def _whole(answer: AnswerComparison, records: Sequence[Record]) -> None:
    if answer.state == "same":
        st.caption(_("The same in all."))
    for letter, column, record in zip(LETTERS, st.columns(len(records), border=True), records, strict=False):
        call = record.call(answer.path)
        with column:
            st.caption(letter)
            if call is None:
                st.caption(_("Not asked here."))
            elif call.value is None:
                st.warning(literal(call.error))
            else:
                answer_view(call.value)


def views_beside(records: Sequence[Record], procedures: Sequence[Procedure]) -> None:
    """One view of each run; graphs in one layout, nodes with another choice marked."""
    titles = list(dict.fromkeys(view.title for procedure in procedures for view in procedure.views))
    if not titles:
        st.info(_("These procedures have no views of their own."), icon=":material/visibility:")
        return
    title = (
        st.segmented_control(_("View"), titles, default=titles[0], format_func=literal, key="view-beside") or titles[0]
    )
    each = [{view.title: view for view in procedure.views}.get(title) for procedure in procedures]
    drawn = [view.blocks(record) if view else {} for view, record in zip(each, records, strict=True)]
    labels = [label for label in dict.fromkeys(label for blocks in drawn for label in blocks) if label] or [""]
    shown = next((label for label in reversed(labels) if all(label in blocks for blocks in drawn)), labels[-1])
    if len(labels) > MOST_SIDE_BY_SIDE:
        shown = st.selectbox(
            _("Show"), labels, labels.index(shown), key=f"label-{title}-{'|'.join(labels)}", format_func=translated
        )
    elif len(labels) > 1:
        key = f"label-{title}-{'|'.join(labels)}"
        shown = st.segmented_control(_("Show"), labels, default=shown, format_func=literal, key=key) or shown
    found = [blocks.get(shown, blocks.get("", ())) for blocks in drawn]  # what has no label goes with any
    together = [block for blocks in found for block in blocks if isinstance(block, Graph)]
    per_row = 2 if together else len(records)
    for start in range(0, len(records), per_row):
        for place, column in enumerate(st.columns(per_row)[: len(records) - start], start=start):
            with column.container(border=True):
                st.caption(LETTERS[place])
                if not found[place]:
                    st.caption(_("Nothing here."))
                for number, block in enumerate(found[place]):
                    block_view(block, procedures[place], f"{title}-{place}-{number}", per_row=1, together=together)


def look_ups_beside(comparison: Comparison) -> None:
    letters = LETTERS[: len(comparison.runs)]
    pairs = [(look_up, one) for look_up in comparison.look_ups for one in look_up.found]
    if not pairs:
        st.info(_("Nothing was looked up in these runs."), icon=":material/search:")
        return
    common = sum(all(one.runs) for _, one in pairs)
    st.caption(
        _(
            "{common} found in all, {found} not in all. A look-up differs where what was looked for does.",
            common=common,
            found=len(pairs) - common,
        )
    )
    options, first = ["Not in all", "In all", "Everything"], "Not in all" if common < len(pairs) else "In all"
    show = st.segmented_control(_("Show"), options, default=first, format_func=literal)
    said = {True: _("yes"), False: _("no")}
    rows = [
        [look_up.path, look_up.where, said[look_up.same_query], one.title]
        + [
            "✓" if there else "–" if made else _("not looked up")
            for made, there in zip(look_up.made, one.runs, strict=True)
        ]
        for look_up, one in pairs
        if show in (None, "Everything") or (show == "In all") == all(one.runs)
    ]
    if not rows:
        st.caption(_("There is none."))
        return
    columns = ["Look-up", "In", "Looked for the same", "Found", *letters]
    table(pd.DataFrame(rows, columns=columns))


BARS = 12
"""Ballots that are drawn; of more, those in which votes differ."""


def votes_beside(comparison: Comparison, procedures: Sequence[Procedure]) -> None:
    letters = LETTERS[: len(procedures)]
    ballots = {ballot.path: ballot for ballot in comparison.ballots}
    if not ballots:
        st.info(_("Nobody has voted in these runs."), icon=":material/how_to_vote:")
        return
    choices: dict[str, Choice] = {choice.name: choice for procedure in procedures for choice in procedure.choices}
    theme = st.context.theme.type or "light"
    drawn: Sequence[BallotComparison] = comparison.ballots
    if len(drawn) > BARS:
        apart = [ballot for ballot in drawn if any(row.differs for row in ballot.members)]
        drawn = apart[:BARS]
        st.caption(
            _("Votes differ in {apart} of {ballots} ballots", apart=len(apart), ballots=len(ballots))
            + (_("; the first {bars}:", bars=BARS) if len(apart) > BARS else ".")
        )
    if drawn:
        st.plotly_chart(draw_votes_beside(drawn, letters, list(choices.values()), theme), key="votes-beside")
    # The last ballot in which votes differ; else the last one that all runs have.
    marked = {path: any(row.differs for row in ballot.members) for path, ballot in ballots.items()}
    differing = [place for place, differs in enumerate(marked.values()) if differs]
    common = [place for place, ballot in enumerate(comparison.ballots) if all(ballot.tallies)]
    last = (differing or common or [len(ballots) - 1])[-1]
    named = {path: translated(ballots[path].name) + (" ≠" if differs else "") for path, differs in marked.items()}
    ballot = ballots[st.selectbox(_("Ballot"), list(ballots), last, format_func=named.__getitem__)]
    st.caption(" · ".join(_shares(letter, ballot, place, choices) for place, letter in enumerate(letters)))
    marks: dict[str | None, str] = {
        name: f"{choice.mark} {translated(choice.title)}" for name, choice in choices.items()
    }
    marks[None] = _("○ abstained")

    def cast(vote: Cast | None) -> str:
        return marks.get(vote.choice, str(vote.choice)) if vote else ""

    rows = [[row.name, *map(cast, row.votes), "≠" if row.differs else ""] for row in ballot.members]
    table(pd.DataFrame(rows, columns=["Member", *letters, "Differs"]))


def _shares(letter: str, ballot: BallotComparison, place: int, choices: dict[str, Choice]) -> str:
    tally = ballot.tallies[place]
    if tally is None and any(row.votes[place] for row in ballot.members):
        return _("{letter}: not counted", letter=literal(letter))
    if tally is None:
        return _("{letter}: no such ballot", letter=literal(letter))
    seats = sum(tally.counts.values()) + tally.abstained
    names = {name: f"{choice.mark} {translated(choice.title)}" for name, choice in choices.items()}
    lines = [f"{literal(names.get(name, name))} {number / seats:.0%}" for name, number in tally.counts.items()]
    return f"{literal(letter)}: {', '.join(lines)}" + (_(" (consensus)") if tally.consensus else "")


def members_beside(comparison: Comparison, procedures: Sequence[Procedure]) -> None:
    members = {member.member: member for member in comparison.members}
    if not members:
        st.info(_("No member differs: the same people gave the same answers."), icon=":material/group:")
        return
    names = {ballot.path: translated(ballot.name) for ballot in comparison.ballots}
    rows = [
        [m.name, "≠" if m.seat else "", ", ".join(names[path] for path in m.ballots), m.answers]
        for m in members.values()
    ]
    columns = ["Member", "Who it is", "Votes differ in", "Answers that differ"]
    table(pd.DataFrame(rows, columns=columns))
    first = next((place for place, member in enumerate(members.values()) if member.ballots), 0)
    chosen = st.selectbox(_("Member"), list(members), first, format_func=lambda member: members[member].name)
    _member(comparison, procedures, members[chosen])


def _member(comparison: Comparison, procedures: Sequence[Procedure], member: MemberDifferences) -> None:
    if member.seat:
        st.markdown(_("#### Who it is"))
        differences_view(member.seat)
    for ballot in comparison.ballots:
        row = next((row for row in ballot.members if row.member == member.member), None)
        reasons = [None if vote is None else "\n".join(vote.reasons) for vote in row.votes] if row else []
        if row is None or len({reason for reason in reasons if reason is not None}) < 2 and not row.differs:
            continue
        st.markdown(_("#### {name}: reasons", name=literal(ballot.name)))
        heads = [
            choice_html(procedure, vote.choice) if vote else ""
            for procedure, vote in zip(procedures, row.votes, strict=True)
        ]
        texts_beside(reasons, heads)
    answers = [answer for answer in comparison.answers if answer.member == member.member and answer.state == "differs"]
    if answers:
        st.markdown(_("#### Answers that differ"))
    for answer in answers:
        with st.expander(f"{literal(answer.title)}: {literal(answer.path)}"):
            differences_view(answer.fields, label)
