"""Runs next to each other: which they are, each in short, and their votes, members, answers, views and look-ups."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import pandas as pd
import streamlit as st

from courtroom.courthouse import Courthouse
from courtroom.declarations.parts import Choice
from courtroom.engine.errors import NoSuchRun
from courtroom.engine.events import Called, Voted
from courtroom.engine.procedure import Procedure
from courtroom.engine.record import Record
from courtroom.engine.run import ABOUT_RECORDINGS
from courtroom.evaluation import comparison as compared
from courtroom.figures.graph import draw_votes_beside
from courtroom.language import N_, _, translated
from pages.parts.shared.blocks_view import answer_view, block_view, choice_html, choice_words, label_chosen
from pages.parts.shared.controls import status_badge
from pages.parts.shared.differences import LETTERS, differences_view, fork_name, run_label, runs_to_choose
from pages.parts.shared.house import open_run
from pages.parts.shared.shown import (
    field_in_words,
    inert,
    literal,
    one_of,
    placed,
    rows_chosen,
    spent_in_words,
    table,
)


def chosen_runs(house: Courthouse) -> list[Record]:
    """The runs in the URL, or those that this session compared last; both are kept the same, and can be changed."""
    named = st.query_params.get("runs") or st.session_state.get("compared") or ""
    runs = list(dict.fromkeys(run for run in named.split(",") if run))
    if len(runs) > compared.MAX_COMPARED_RUNS:
        st.warning(_("Four runs at most can be read next to each other: these are the first four."))
    records = []
    for run in runs[: compared.MAX_COMPARED_RUNS]:
        try:
            records.append(house.record(run))
        except NoSuchRun:
            st.error(_("There is no run {run} here; it may have been deleted. Choose another.", run=literal(run)))
    rows = runs_to_choose(house, "compare-search", [record.run.id for record in records])
    present = [record.run.id for record in records if record.run.id in rows]
    chosen = st.multiselect(
        _("Runs"),
        list(rows),
        present,
        max_selections=compared.MAX_COMPARED_RUNS,
        format_func=lambda run: run_label(house, rows[run]),
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


def run_cards(house: Courthouse, records: Sequence[Record], procedures: Sequence[Procedure]) -> None:
    letters: dict[str | None, str] = {one.run.id: letter for letter, one in zip(LETTERS, records, strict=False)}
    for column, record, procedure in zip(st.columns(len(records), border=True), records, procedures, strict=True):
        with column:
            _card(house, procedure, record, letters)


def _card(house: Courthouse, procedure: Procedure, record: Record, letters: Mapping[str | None, str]) -> None:
    run = record.run
    letter, parent = letters[run.id], letters.get(run.parent, run.parent)
    name = " · ".join(filter(None, (letter, run.title, fork_name(house, run.id, run.parent))))
    st.markdown(f"**{literal(name)}**")
    origin = _(" · a fork of {parent}", parent=literal(parent)) if parent else ""
    origin += _(" · imported") if run.is_unverified else ""
    values = {"title": literal(procedure.title), "run": literal(run.id), "seed": run.seed, "origin": origin}
    st.caption(_("{title} · run {run} · seed {seed}{origin}", **values))
    if about := ABOUT_RECORDINGS.get(run.origin):
        st.caption(translated(about))
    with st.container(horizontal=True, vertical_alignment="center"):
        status_badge(run.status, interrupted=house.runner.interrupted(run.id))
        if run.verdict is None and record.stages:
            st.caption(_("so far, in {stages}", stages=literal(record.stages[-1].name)))
    if run.verdict:
        st.html(choice_html(procedure, run.verdict.outcome, "1.5rem"))
        counts = [f"{choice_html(procedure, name)} {number:d}" for name, number in run.verdict.counts.items()]
        if counts:
            st.html("&ensp;".join(counts))
        if run.verdict.note:
            inert(run.verdict.note, small=True, faint=True)
    st.caption(spent_in_words(record))
    if st.button(_("Open"), key=f"open-{run.id}", icon=":material/gavel:"):
        open_run(run.id)


def in_a_sentence(comparison: compared.Comparison, records: Sequence[Record]) -> str:
    outcomes = {one.run.outcome for one in records}
    if None in outcomes:
        text = _("Not all are done yet.")
    elif len(outcomes) > 1:
        text = _("**The outcomes differ.**")
    else:
        text = _("The same outcome, though not in all its parts.") if comparison.verdict else _("The same outcome.")
    states = Counter(answer.state for answer in comparison.answers)
    counts = {"answers": len(comparison.answers), "same": states["same"], "differs": states["differs"]}
    text += _(" Of {answers} answers {same} are the same, {differs} differ", **counts)
    if some := states["only in some"]:
        text += _(", {states} are only in some of the runs", states=some)
    text += _(", {states} can't be compared yet.", states=states["not yet"]) if states["not yet"] else _(".")
    if comparison.parts_at:
        text += _(" They part at {parts_at}.", parts_at=literal(_place(comparison.parts_at, records)))
    return text


def _place(path: str, records: Sequence[Record]) -> str:
    """Where an answer was given, in words."""
    return placed(*_given(path, records))


def _given(path: str, records: Sequence[Record]) -> tuple[Record, Called]:
    """An answer, in the first run that has it."""
    return next((record, call) for record in records if (call := record.call(path)))


def verdict_beside(comparison: compared.Comparison, procedure: Procedure) -> None:
    """What differs between the verdicts; a text that stands within another one is not told twice."""
    titles = {f"counts.{choice.name}": choice.title for choice in procedure.choices}
    whole = " ".join(str(value) for one in comparison.verdict if one.path == "summary" for value in one.values)
    known = {one.path for one in comparison.verdict if all(str(value) in whole for value in one.values)}
    told = [one for one in comparison.verdict if one.path == "summary" or one.path not in known]
    differences_view(told, lambda path: titles.get(path) or field_in_words(path.removeprefix("details.")))


def standing(records: Iterable[Record]) -> list[tuple[object, ...]]:
    """What the page is drawn again for while a run goes on."""
    return [(record.run.status, len(record.stages), len(record.tallies)) for record in records]


STATES = {
    "Not the same": compared.APART,
    "Differs": ("differs",),
    "Only in some": ("only in some",),
    "Same": ("same",),
    "Not yet": ("not yet",),
}
SOURCES = {"asked": "asked", "recorded": "on record", "person": "a person", None: ""}


def answers_beside(comparison: compared.Comparison, records: Sequence[Record]) -> None:
    letters = LETTERS[: len(records)]
    top = st.columns(3)
    state = top[0].selectbox(_("Show"), [*STATES, "All"], format_func=translated)
    stages = {"All": "All"} | {stage.path: stage.name for record in records for stage in record.stages}
    stage = top[1].selectbox(_("Stage"), list(stages), format_func=lambda path: translated(stages[path]))
    names = {"All": "All"} | {member.id: member.name for record in records for member in record.everybody}
    member = top[2].selectbox(_("Member"), list(names), format_func=lambda name: translated(names[name]))
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
    places = [record.place_of(call) for record, call in (_given(answer.path, records) for answer in answers)]
    shown_answers = pd.DataFrame(
        {
            **dict(zip((N_("stage"), N_("member"), N_("question")), zip(*places, strict=True), strict=True)),
            N_("answers"): [answer.state for answer in answers],
            N_("asked the same"): [_("yes") if answer.same_question else _("no") for answer in answers],
            **{letter: [SOURCES[answer.sources[n]] for answer in answers] for n, letter in enumerate(letters)},
        }
    )
    place = next(iter(rows_chosen(shown_answers, "answers", height=320)), 0)
    st.caption(_("{answers} answers. Select a row to read another one.", answers=len(answers)))
    st.subheader(literal(_place(answers[place].path, records)))
    if answers[place].fields:
        differences_view(answers[place].fields, field_in_words)
    else:
        _whole(answers[place], records)


def _whole(answer: compared.AnswerComparison, records: Sequence[Record]) -> None:
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
    """One view of each run."""
    titles = list(dict.fromkeys(view.title for procedure in procedures for view in procedure.views))
    if not titles:
        st.info(_("These procedures have no views of their own."), icon=":material/visibility:")
        return
    title = one_of(_("View"), titles, "view-beside", titles[0])
    each = [{view.title: view for view in procedure.views}.get(title) for procedure in procedures]
    drawn = [view.blocks(record) if view else {} for view, record in zip(each, records, strict=True)]
    labels = [label for label in dict.fromkeys(label for blocks in drawn for label in blocks) if label] or [""]
    shown = next((label for label in reversed(labels) if all(label in blocks for blocks in drawn)), labels[-1])
    shown = label_chosen(labels, f"label-{title}-{'|'.join(labels)}", shown)
    found = [blocks.get(shown, blocks.get("", ())) for blocks in drawn]  # what has no label goes with any
    for place, column in enumerate(st.columns(len(records))):
        with column.container(border=True):
            st.caption(LETTERS[place])
            if not found[place]:
                st.caption(_("Nothing here."))
            for number, block in enumerate(found[place]):
                block_view(block, procedures[place], f"{title}-{place}-{number}", per_row=1)


def look_ups_beside(comparison: compared.Comparison) -> None:
    pairs = [(look_up, one) for look_up in comparison.look_ups for one in look_up.found]
    if not pairs:
        st.info(_("Nothing was looked up in these runs."), icon=":material/search:")
        return
    common = sum(all(one.runs) for _, one in pairs)
    text = _("{common} found in all, {found} not in all.", common=common, found=len(pairs) - common)
    st.caption(text + " " + _("A look-up differs where what was looked for does."))
    said = {True: _("yes"), False: _("no")}
    rows = []
    for look_up, one in sorted(pairs, key=lambda pair: all(pair[1].runs)):  # what is not in all stands first
        each = zip(look_up.made, one.runs, strict=True)
        marks = ["✓" if there else "–" if made else _("not looked up") for made, there in each]
        rows.append([look_up.path, look_up.where, said[look_up.same_query], one.title, *marks])
    columns = ["Look-up", "In", "Looked for the same", "Found", *LETTERS[: len(pairs[0][0].made)]]
    table(pd.DataFrame(rows, columns=columns))


MAX_BALLOTS_DRAWN = 12


def votes_beside(comparison: compared.Comparison, procedures: Sequence[Procedure]) -> None:
    letters = LETTERS[: len(procedures)]
    ballots = {ballot.path: ballot for ballot in comparison.ballots}
    if not ballots:
        st.info(_("Nobody has voted in these runs."), icon=":material/how_to_vote:")
        return
    choices: dict[str, Choice] = {choice.name: choice for procedure in procedures for choice in procedure.choices}
    theme = st.context.theme.type or "light"
    drawn: Sequence[compared.BallotComparison] = comparison.ballots
    if len(drawn) > MAX_BALLOTS_DRAWN:
        apart = [ballot for ballot in drawn if any(row.differs for row in ballot.members)]
        drawn = apart[:MAX_BALLOTS_DRAWN]
        text = _("Votes differ in {apart} of {ballots} ballots", apart=len(apart), ballots=len(ballots))
        st.caption(text + (_("; the first {bars}:", bars=len(drawn)) if len(apart) > len(drawn) else "."))
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
    marks: dict[str | None, str] = {None: _("○ abstained")}
    marks |= {name: f"{choice.mark} {translated(choice.title)}" for name, choice in choices.items()}

    def cast(vote: Voted | None) -> str:
        return marks.get(vote.choice, str(vote.choice)) if vote else ""

    rows = [[row.name, *map(cast, row.votes), "≠" if row.differs else ""] for row in ballot.members]
    table(pd.DataFrame(rows, columns=["Member", *letters, "Differs"]))


def _shares(letter: str, ballot: compared.BallotComparison, place: int, choices: dict[str, Choice]) -> str:
    tally = ballot.tallies[place]
    if tally is None and any(row.votes[place] for row in ballot.members):
        return _("{letter}: not counted", letter=literal(letter))
    if tally is None:
        return _("{letter}: no such ballot", letter=literal(letter))
    seats = sum(tally.counts.values()) + tally.abstained
    names = {name: f"{choice.mark} {translated(choice.title)}" for name, choice in choices.items()}
    lines = [f"{literal(names.get(name, name))} {number / seats:.0%}" for name, number in tally.counts.items()]
    return f"{literal(letter)}: {', '.join(lines)}" + (_(" (consensus)") if tally.consensus else "")


def members_beside(comparison: compared.Comparison, records: Sequence[Record], procedures: Sequence[Procedure]) -> None:
    members = {member.member: member for member in comparison.members}
    if not members:
        st.info(_("No member differs: the same people gave the same answers."), icon=":material/group:")
        return
    names = {ballot.path: translated(ballot.name) for ballot in comparison.ballots}
    ballots = [", ".join(names[path] for path in member.ballots) for member in members.values()]
    who = [(member.name, "≠" if member.seat else "", member.answers) for member in members.values()]
    rows = [(name, seat, apart, answers) for (name, seat, answers), apart in zip(who, ballots, strict=True)]
    table(pd.DataFrame(rows, columns=["Member", "Who it is", "Votes differ in", "Answers that differ"]))
    first = next((place for place, member in enumerate(members.values()) if member.ballots), 0)
    chosen = st.selectbox(_("Member"), list(members), first, format_func=lambda member: members[member].name)
    _member(comparison, records, procedures, members[chosen])


def _member(
    comparison: compared.Comparison,
    records: Sequence[Record],
    procedures: Sequence[Procedure],
    member: compared.MemberDifferences,
) -> None:
    """Who the member is, its votes with their reasons, and its answers, where these differ."""
    if member.seat:
        st.markdown(_("#### Who it is"))
        differences_view(member.seat, field_in_words)
    votes = []
    for ballot in comparison.ballots:
        row = next((row for row in ballot.members if row.member == member.member), None)
        reasons = {vote.reasons for vote in row.votes if vote} if row else set()
        if row and (row.differs or len(reasons) > 1):
            cast = zip(procedures, row.votes, strict=True)
            said = [
                "\n".join((choice_words(known, vote.choice)[0], *vote.reasons)) if vote else None
                for known, vote in cast
            ]
            votes.append(compared.Difference(path=translated(ballot.name), values=tuple(said)))
    if votes:
        st.markdown(_("#### Votes and reasons"))
        differences_view(votes)
    answers = [answer for answer in comparison.answers if answer.member == member.member and answer.state == "differs"]
    if answers:
        st.markdown(_("#### Answers that differ"))
    for answer in answers:
        with st.expander(literal(_place(answer.path, records))):
            differences_view(answer.fields, field_in_words)
