"""Votes, members, answers, views and look-ups of several runs next to each other."""

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from courtroom.engine.blocks import Graph
from courtroom.engine.procedure import Choice, Procedure
from courtroom.engine.record import Record
from courtroom.evaluation.comparison import (
    APART,
    AnswerComparison,
    BallotComparison,
    Cast,
    Comparison,
    MemberDifferences,
)
from courtroom.figures.votes_beside import draw_votes_beside
from courtroom.language import N_, _, translated
from courtroom.report.page import label
from pages.parts.shared.answer_form import answer_view
from pages.parts.shared.blocks_view import MOST_SIDE_BY_SIDE, block_view, choice_html
from pages.parts.shared.differences import LETTERS, differences_view, texts_beside
from pages.parts.shared.inert import literal
from pages.parts.shared.table import table

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
    show = st.segmented_control(
        _("Show"),
        ["Not in all", "In all", "Everything"],
        default="Not in all" if common < len(pairs) else "In all",
        format_func=literal,
    )
    said = {True: _("yes"), False: _("no")}
    rows = [
        [look_up.path, look_up.where, said[look_up.same_query], one.title, *_marks(look_up.made, one.runs)]
        for look_up, one in pairs
        if show in (None, "Everything") or (show == "In all") == all(one.runs)
    ]
    if not rows:
        st.caption(_("There is none."))
        return
    columns = ["Look-up", "In", "Looked for the same", "Found", *letters]
    table(pd.DataFrame(rows, columns=columns))


def _marks(made: tuple[bool, ...], found: tuple[bool, ...]) -> list[str]:
    return ["✓" if there else "–" if looked else _("not looked up") for looked, there in zip(made, found, strict=True)]


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
    shown = st.selectbox(
        _("Ballot"),
        list(ballots),
        _last(comparison.ballots),
        format_func=lambda path: (
            ballots[path].name + (" ≠" if any(row.differs for row in ballots[path].members) else "")
        ),
    )
    ballot = ballots[shown]
    st.caption(" · ".join(_shares(letter, ballot, place, choices) for place, letter in enumerate(letters)))
    rows = [
        [row.name, *(_mark(vote, choices) for vote in row.votes), "≠" if row.differs else ""] for row in ballot.members
    ]
    table(pd.DataFrame(rows, columns=["Member", *letters, "Differs"]))


def _last(ballots: Sequence[BallotComparison]) -> int:
    """The last ballot in which votes differ; else the last one that all runs have."""
    apart = [place for place, ballot in enumerate(ballots) if any(row.differs for row in ballot.members)]
    common = [place for place, ballot in enumerate(ballots) if all(ballot.tallies)]
    return (apart or common or [len(ballots) - 1])[-1]


def _shares(letter: str, ballot: BallotComparison, place: int, choices: dict[str, Choice]) -> str:
    tally = ballot.tallies[place]
    if tally is None and any(row.votes[place] for row in ballot.members):
        return _("{letter}: not counted", letter=literal(letter))
    if tally is None:
        return _("{letter}: no such ballot", letter=literal(letter))
    seats = sum(tally.counts.values()) + tally.abstained
    lines = [
        f"{literal(choices[name].mark)} {literal(choices[name].title)} {number / seats:.0%}"
        if name in choices
        else f"{literal(name)} {number / seats:.0%}"
        for name, number in tally.counts.items()
    ]
    return f"{literal(letter)}: {', '.join(lines)}" + (_(" (consensus)") if tally.consensus else "")


def _mark(vote: Cast | None, choices: dict[str, Choice]) -> str:
    if vote is None:
        return ""
    if vote.choice is None:
        return _("○ abstained")
    choice = choices.get(vote.choice)
    return f"{choice.mark} {choice.title}" if choice else vote.choice


def members_beside(comparison: Comparison, procedures: Sequence[Procedure]) -> None:
    members = {member.member: member for member in comparison.members}
    if not members:
        st.info(_("No member differs: the same people gave the same answers."), icon=":material/group:")
        return
    names = {ballot.path: ballot.name for ballot in comparison.ballots}
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
