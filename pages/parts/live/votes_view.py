"""Votes per ballot, and how they flow from one to the next."""

from __future__ import annotations

import json

import pandas as pd
import streamlit as st

from courtroom.engine.procedure import Procedure
from courtroom.engine.record import Record
from courtroom.figures.palette import tone
from courtroom.language import N_, _, translated
from courtroom.room.player import part, style
from courtroom.room.reading import words
from pages.parts.shared.table import table

vote_bars = st.components.v2.component("courtroom_votes", css=style("votes"), js=part("votes"), isolate_styles=False)


def votes_view(procedure: Procedure, record: Record) -> None:
    """Bars, flow, and the same as a table."""
    if not record.ballots:
        st.info(_("Nobody has voted yet. Votes appear here as they are cast."), icon=":material/how_to_vote:")
        return
    theme = st.context.theme.type or "light"
    sides: list[dict[str, str | None]] = [
        {"name": c.name, "title": translated(c.title), "mark": c.mark, "tone": tone(c.tone, theme)}
        for c in procedure.choices
    ]
    sides.append({"name": None, "title": _("Abstained"), "mark": "○", "tone": tone(None, theme)})
    data = {
        "ballots": [
            {
                "name": translated(record.ballot_name(ballot)),
                "votes": {member: vote.choice for member, vote in votes.items()},
            }
            for ballot, votes in record.ballots.items()
        ],
        "sides": sides,
        "moved": _("How votes moved between ballots") if record.votes_move else "",
        "words": words(),
    }
    vote_bars(data=json.dumps(data, ensure_ascii=False).encode(), key=f"votes-{record.run.id}")
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
