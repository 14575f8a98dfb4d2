"""Votes of several runs ballot by ballot, and the members who differ with their reasons."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from courtroom.engine.procedure import Choice, Procedure
from courtroom.evaluation.comparison import BallotComparison, Cast, Comparison, MemberDifferences
from courtroom.figures.votes_beside import draw_votes_beside
from courtroom.language import _
from pages.parts.compare.answers import answer_beside
from pages.parts.shared.beside import LETTERS, differences_view, texts_beside
from pages.parts.shared.choice_mark import choice_html
from pages.parts.shared.inert import literal
from pages.parts.shared.table import table

BARS = 12
"""Ballots that are drawn; of more, those in which votes differ."""


def votes_beside(comparison: Comparison, procedures: Sequence[Procedure]) -> None:
    """Bars of all ballots; one ballot member by member."""
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
    if tally is None:
        return (
            _("{letter}: no such ballot", letter=literal(letter))
            if not any(row.votes[place] for row in ballot.members)
            else _("{letter}: not counted", letter=literal(letter))
        )
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
    """Who differs; one of them with what differs in who it is, its reasons and its answers."""
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
            answer_beside(answer)
