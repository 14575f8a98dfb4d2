"""Compare: two to four runs next to each other, each in short, with votes, members, answers, views and look-ups."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

import streamlit as st

from courtroom import Choice, Procedure, Record
from courtroom.engine.errors import NoSuchRun
from courtroom.engine.events import Called, Voted
from courtroom.engine.run import ABOUT_RECORDINGS
from courtroom.evaluation import comparison as compared
from courtroom.evaluation.turnout import turnout
from courtroom.figures.graph import draw_votes_beside
from courtroom.language import N_, _, translated
from pages.parts.shared import differences as beside
from pages.parts.shared import shown
from pages.parts.shared.blocks_view import answer_view, block_view, choice_html, choice_words, label_chosen
from pages.parts.shared.controls import status_badge
from pages.parts.shared.house import courthouse, open_run
from pages.parts.shared.shown import field_in_words, inert, literal, one_of, placed, rows_chosen, table, theme

LIVE_S = 1.5
MAX_BALLOTS_DRAWN = 12
TITLES = {"case": N_("Case"), "procedure": N_("Procedure"), "setup": N_("Setup"), "seed": N_("Seed")}
TITLES |= {"interventions": N_("Interventions")}
STATES = ("Not the same", "Differs", "Only in some", "Same", "Not yet", "All")
SOURCES = {"asked": "asked", "recorded": "on record", "person": "a person", None: ""}


def chosen_runs() -> list[Record]:
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
    rows = beside.runs_to_choose(house, "compare-search", [record.run.id for record in records])
    present = [record.run.id for record in records if record.run.id in rows]
    labels = {run: beside.run_label(house, row) for run, row in rows.items()}
    # A run's label changes when it ends, and with it the choice of before would be lost.
    key = f"compared-{','.join(present)}-{sum(record.run.verdict is not None for record in records)}"
    looks: dict[str, Any] = {"max_selections": compared.MAX_COMPARED_RUNS, "placeholder": _("Choose two to four runs")}
    chosen = st.multiselect(_("Runs"), list(rows), present, format_func=labels.__getitem__, key=key, **looks)
    st.session_state["compared"] = st.query_params["runs"] = ",".join(chosen if chosen != present else runs)
    if chosen != present:
        st.rerun()
    return records


def standing(records: Iterable[Record]) -> list[tuple[object, ...]]:
    """What the page is drawn again for while a run goes on."""
    return [(record.run.status, len(record.stages), len(record.tallies)) for record in records]


house = courthouse()
st.title(_("Compare"))
records = chosen_runs()
if len(records) < 2:
    st.info(_("Choose two to four runs; their address can be shared."), icon=":material/compare:")
    st.stop()
comparison: compared.Comparison = compared.compare(records)
procedures: list[Procedure] = [house.procedures[one.run.procedure].about(one.case) for one in records]
letters = beside.LETTERS[: len(records)]
drawn = standing(records)


def run_card(procedure: Procedure, record: Record) -> None:
    called: dict[str | None, str] = {one.run.id: letter for letter, one in zip(letters, records, strict=True)}
    run = record.run
    parent = called.get(run.parent, run.parent)
    name = " · ".join(filter(None, (called[run.id], run.title, beside.fork_name(house, run.id, run.parent))))
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
    if told := turnout(record):
        st.caption(f":material/person_off: {' '.join(literal(line) for line in told)}")
    st.caption(shown.spent_in_words(record))
    if st.button(_("Open"), key=f"open-{run.id}", icon=":material/gavel:"):
        open_run(run.id)


def in_a_sentence() -> str:
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
        text += _(" They part at {parts_at}.", parts_at=literal(placed(*given(comparison.parts_at))))
    return text


def given(path: str) -> tuple[Record, Called]:
    """An answer, in the first run that has it."""
    return next((record, call) for record in records if (call := record.call(path)))


def answers_beside() -> None:
    top = st.columns(3)
    state = top[0].selectbox(_("Show"), STATES, format_func=translated)
    states = compared.APART if state == "Not the same" else (state.lower(),)
    stages = {"All": "All"} | {stage.path: stage.name for record in records for stage in record.stages}
    stage = top[1].selectbox(_("Stage"), list(stages), format_func=lambda path: translated(stages[path]))
    names = {"All": "All"} | {member.id: member.name for record in records for member in record.everybody}
    member = top[2].selectbox(_("Member"), list(names), format_func=lambda name: translated(names[name]))
    answers = [
        answer
        for answer in comparison.answers
        if (state == "All" or answer.state in states)
        and stage in ("All", answer.stage)
        and member in ("All", answer.member)
    ]
    if not answers:
        st.caption(_("No answer fits these filters."))
        return
    places = [record.place_of(call) for record, call in (given(answer.path) for answer in answers)]
    shown_answers = {
        **dict(zip((N_("stage"), N_("member"), N_("question")), zip(*places, strict=True), strict=True)),
        N_("answers"): [answer.state for answer in answers],
        N_("asked the same"): [_("yes") if answer.same_question else _("no") for answer in answers],
        **{letter: [SOURCES[answer.sources[n]] for answer in answers] for n, letter in enumerate(letters)},
    }
    key = f"answers-{hash(tuple(answer.path for answer in answers))}"  # of these: a place among others is none here
    answer = answers[next(iter(rows_chosen(shown_answers, key, height=320)), 0)]
    st.caption(_("{answers} answers. Select a row to read another one.", answers=len(answers)))
    st.subheader(literal(placed(*given(answer.path))))
    if answer.fields:
        beside.differences_view(answer.fields, field_in_words)
        return
    if answer.state == "same":
        st.caption(_("The same in all."))
    for letter, column, record in zip(letters, st.columns(len(records), border=True), records, strict=True):
        call = record.call(answer.path)
        with column:
            st.caption(letter)
            if call is None:
                st.caption(_("Not asked here."))
            elif call.value is None:
                st.warning(literal(call.error))
            else:
                answer_view(call.value)


def views_beside() -> None:
    titles = list(dict.fromkeys(view.title for procedure in procedures for view in procedure.views))
    if not titles:
        st.info(_("These procedures have no views of their own."), icon=":material/visibility:")
        return
    title = one_of(_("View"), titles, "view-beside", titles[0])
    each = [{view.title: view for view in procedure.views}.get(title) for procedure in procedures]
    seen = [view.blocks(record) if view else {} for view, record in zip(each, records, strict=True)]
    labels = [label for label in dict.fromkeys(label for blocks in seen for label in blocks) if label] or [""]
    shown = next((label for label in reversed(labels) if all(label in blocks for blocks in seen)), labels[-1])
    shown = label_chosen(labels, f"label-{title}-{'|'.join(labels)}", shown)
    for place, (column, blocks) in enumerate(zip(st.columns(len(records)), seen, strict=True)):
        found = blocks.get(shown, blocks.get("", ()))  # what has no label goes with any
        with column.container(border=True):
            st.caption(letters[place])
            if not found:
                st.caption(_("Nothing here."))
            for number, block in enumerate(found):
                block_view(block, procedures[place], f"{title}-{place}-{number}", per_row=1)


def look_ups_beside() -> None:
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
    table(rows, ["Look-up", "In", "Looked for the same", "Found", *letters])


def votes_beside() -> None:
    ballots = {ballot.path: ballot for ballot in comparison.ballots}
    if not ballots:
        st.info(_("Nobody has voted in these runs."), icon=":material/how_to_vote:")
        return
    choices: dict[str, Choice] = {choice.name: choice for procedure in procedures for choice in procedure.choices}
    differing = [ballot for ballot in ballots.values() if any(row.differs for row in ballot.members)]
    bars = list(ballots.values())
    if len(bars) > MAX_BALLOTS_DRAWN:
        bars = differing[:MAX_BALLOTS_DRAWN]
        text = _("Votes differ in {apart} of {ballots} ballots", apart=len(differing), ballots=len(ballots))
        st.caption(text + (_("; the first {bars}:", bars=len(bars)) if len(differing) > len(bars) else "."))
    if bars:
        st.plotly_chart(draw_votes_beside(bars, letters, list(choices.values()), theme()), key="votes-beside")
    # The last ballot in which votes differ; else the last one that all runs have.
    common = [ballot for ballot in ballots.values() if all(ballot.tallies)]
    last = list(ballots).index((differing or common or list(ballots.values()))[-1].path)
    named = {path: translated(one.name) + (" ≠" if one in differing else "") for path, one in ballots.items()}
    ballot = ballots[st.selectbox(_("Ballot"), list(ballots), last, format_func=named.__getitem__)]
    titles = {name: f"{choice.mark} {translated(choice.title)}" for name, choice in choices.items()}
    st.caption(" · ".join(shares(letter, ballot, place, titles) for place, letter in enumerate(letters)))

    def cast(vote: Voted | None) -> str:
        if vote is None:
            return ""
        return titles.get(vote.choice, vote.choice) if vote.choice else _("○ abstained")

    rows = [[row.name, *map(cast, row.votes), "≠" if row.differs else ""] for row in ballot.members]
    table(rows, ["Member", *letters, "Differs"])


def shares(letter: str, ballot: compared.BallotComparison, place: int, titles: dict[str, str]) -> str:
    tally = ballot.tallies[place]
    if tally is None and any(row.votes[place] for row in ballot.members):
        return _("{letter}: not counted", letter=literal(letter))
    if tally is None:
        return _("{letter}: no such ballot", letter=literal(letter))
    seats = sum(tally.counts.values()) + tally.abstained
    lines = [f"{literal(titles.get(name, name))} {number / seats:.0%}" for name, number in tally.counts.items()]
    return f"{literal(letter)}: {', '.join(lines)}" + (_(" (consensus)") if tally.consensus else "")


def members_beside() -> None:
    """Who is not the same; and of one of them who it is, its votes with reasons, and its answers, where they differ."""
    members = {member.member: member for member in comparison.members}
    if not members:
        st.info(_("No member differs: the same people gave the same answers."), icon=":material/group:")
        return
    names = {ballot.path: translated(ballot.name) for ballot in comparison.ballots}
    rows = [
        (one.name, "≠" if one.seat else "", ", ".join(names[path] for path in one.ballots), one.answers)
        for one in members.values()
    ]
    table(rows, ["Member", "Who it is", "Votes differ in", "Answers that differ"])
    first = next((place for place, member in enumerate(members.values()) if member.ballots), 0)
    chosen = members[
        st.selectbox(_("Member"), list(members), first, format_func=lambda who: translated(members[who].name))
    ]
    if chosen.seat:
        st.markdown(_("#### Who it is"))
        beside.differences_view(chosen.seat, field_in_words)
    votes = []
    for ballot in comparison.ballots:
        row = next((row for row in ballot.members if row.member == chosen.member), None)
        if row and (row.differs or len({vote.reasons for vote in row.votes if vote}) > 1):
            said = (
                "\n".join((choice_words(known, vote.choice)[0], *vote.reasons)) if vote else None
                for known, vote in zip(procedures, row.votes, strict=True)
            )
            votes.append(compared.Difference(path=names[ballot.path], values=tuple(said)))
    if votes:
        st.markdown(_("#### Votes and reasons"))
        beside.differences_view(votes)
    answers = [answer for answer in comparison.answers if answer.member == chosen.member and answer.state == "differs"]
    if answers:
        st.markdown(_("#### Answers that differ"))
    for answer in answers:
        with st.expander(literal(placed(*given(answer.path)))):
            beside.differences_view(answer.fields, field_in_words)


def inputs() -> None:
    if not any(comparison.differences.all()):
        st.caption(_("All runs were given the same case, procedure, setup and seed."))
    for kind in type(comparison.differences).model_fields:
        if differences := getattr(comparison.differences, kind):
            st.markdown(f"**{literal(translated(TITLES.get(kind, kind.capitalize())))}**")
            beside.differences_view([beside.worded(kind, one, type(records[0].setup)) for one in differences])
    if len({procedure.name for procedure in procedures}) > 1:
        st.caption(_("Between different procedures, the settings that all of them have are compared."))
    if comparison.verdict:
        endings = {procedure.ending.title for procedure in procedures}
        st.markdown(f"**{translated(endings.pop() if len(endings) == 1 else 'Outcome')}**")
        # A text that stands within another one is not told twice.
        whole = " ".join(str(value) for one in comparison.verdict if one.path == "summary" for value in one.values)
        known = {one.path for one in comparison.verdict if all(str(value) in whole for value in one.values)}
        told = [one for one in comparison.verdict if one.path == "summary" or one.path not in known]
        titles = {f"counts.{choice.name}": choice.title for choice in procedures[0].choices}
        beside.differences_view(told, lambda path: titles.get(path) or field_in_words(path.removeprefix("details.")))


def families() -> None:
    shown: set[str] = set()
    for record in records:
        family_ids = house.store.family_ids(record.run.id)
        if not shown & family_ids:
            beside.family_view(house, record.run.id, [one.run.id for one in records])
        shown |= family_ids


# A run that is not done may come a step further, also by somebody else's doing.
goes_on = any(record.run.status != "done" for record in records)
shown.redrawn(lambda: standing(house.record(one.run.id) for one in records) != drawn, LIVE_S if goes_on else None)
for column, record, procedure in zip(st.columns(len(records), border=True), records, procedures, strict=True):
    with column:
        run_card(procedure, record)
with st.container(horizontal=True, vertical_alignment="center"):
    st.markdown(in_a_sentence())
    with st.popover(_("Share")):
        st.caption(_("This address opens the same comparison, also in another browser:"))
        st.code(f"{st.context.url}?runs={','.join(one.run.id for one in records)}", language=None, wrap_lines=True)
tabs = {"What differs": inputs, "Votes": votes_beside, "Members": members_beside, "Answers": answers_beside}
tabs |= {"Views": views_beside, "Looked up": look_ups_beside, "Family": families}
tabs[one_of(_("Look at"), list(tabs), "tab-compare", "What differs")]()
