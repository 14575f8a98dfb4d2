"""Votes per ballot, and how they flow from one to the next."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from courtroom.engine.procedure import Procedure
from courtroom.engine.record import Record
from courtroom.figures.flow import draw_flow
from courtroom.figures.votes import draw_votes
from courtroom.language import N_, _, translated
from pages.parts.shared.table import table


def votes_view(procedure: Procedure, record: Record) -> None:
    """Bars, flow, and the same as a table."""
    if not record.ballots:
        st.info(_("Nobody has voted yet. Votes appear here as they are cast."), icon=":material/how_to_vote:")
        return
    theme = st.context.theme.type or "light"
    st.plotly_chart(draw_votes(record, procedure.choices, theme), key="votes")
    if record.votes_move:
        st.caption(_("How votes moved between ballots"))
        st.plotly_chart(draw_flow(record, procedure.choices, theme), key="flow")
    marks = {choice.name: f"{choice.mark} {translated(choice.title)}" for choice in procedure.choices}
    rows = []
    for member in record.members:
        votes = {ballot: cast.get(member.id) for ballot, cast in record.ballots.items()}
        if any(votes.values()):
            row = {N_("member"): member.name}
            for ballot, vote in votes.items():
                text = (
                    ""
                    if vote is None
                    else _("abstained")
                    if vote.choice is None
                    else marks.get(vote.choice, vote.choice)
                )
                row[record.ballot_name(ballot)] = text + (_(" (changed)") if vote and vote.changed else "")
            rows.append(row)
    table(pd.DataFrame(rows))
