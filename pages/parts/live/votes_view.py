"""Votes per ballot, and how they flow from one to the next."""

import json

import pandas as pd
import streamlit as st

from courtroom.access.acting import acting
from courtroom.courthouse import Courthouse
from courtroom.engine.procedure import Procedure
from courtroom.engine.record import Record
from courtroom.figures.layout import tone
from courtroom.judging.jurors import other_way, private_votes
from courtroom.language import N_, _, translated
from courtroom.room.player import part, style, words
from pages.parts.shared.blocks_view import choice_html
from pages.parts.shared.inert import declared, escaped, inert, literal
from pages.parts.shared.table import table

vote_bars = st.components.v2.component("courtroom_votes", css=style("votes"), js=part("votes"), isolate_styles=False)


def votes_view(procedure: Procedure, record: Record) -> None:
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
            {"name": translated(record.ballot_name(ballot)), "votes": {m: vote.choice for m, vote in votes.items()}}
            for ballot, votes in record.ballots.items()
        ],
        "sides": sides,
        "moved": _("How votes moved between ballots") if record.votes_move else "",
        "words": words(),
    }
    vote_bars(data=json.dumps(data, ensure_ascii=False).encode(), key=f"votes-{record.run.id}")
    marks: dict[str | None, str] = {
        choice.name: f"{choice.mark} {translated(choice.title)}" for choice in procedure.choices
    }
    rows = []
    for member in record.members:
        votes = {ballot: cast.get(member.id) for ballot, cast in record.ballots.items()}
        if any(votes.values()):
            row = {N_("member"): member.name}
            for ballot, vote in votes.items():
                text = marks.get(vote.choice, vote.choice or _("abstained")) if vote else ""
                row[record.ballot_name(ballot)] = text + (_(" (changed)") if vote and vote.changed else "")
            rows.append(row)
    table(pd.DataFrame(rows))
    _private(procedure, record, sides)


def _private(procedure: Procedure, record: Record, sides: list[dict[str, str | None]]) -> None:
    """Each ballot in public and in private, and who would have gone the other way; nothing where nobody was asked in private."""
    votes = private_votes(record, procedure)
    if (last := other_way(record, votes)) is None:
        return
    ballots: list[dict[str, object]] = []
    for path, private in votes.items():
        name, public = translated(record.ballot_name(path)), {m: v.choice for m, v in record.ballots[path].items()}
        ballots += [
            {"name": _("{ballot}, in public", ballot=name), "votes": public},
            {"name": _("{ballot}, in private", ballot=name), "votes": private},
        ]
    st.subheader(_("In public and in private"))
    data = {"ballots": ballots, "sides": sides, "moved": "", "words": words()}
    vote_bars(data=json.dumps(data, ensure_ascii=False).encode(), key=f"private-{record.run.id}")
    path, asked, apart = last
    values = {"number": len(apart), "asked": asked, "ballot": translated(record.ballot_name(path))}
    said = _("{ballot}: {number} of {asked} would have gone the other way in private.", **values)
    st.markdown(literal(said + (f" {', '.join(apart)}" if apart else "")))


def verdict_view(record: Record, procedure: Procedure) -> None:
    verdict = record.run.verdict
    assert verdict is not None
    with st.container(border=True):
        left, middle, right = st.columns([2, 2, 5], gap="large")
        with left:
            st.caption(declared(procedure.ending.title))
            if verdict.outcome in {choice.name for choice in procedure.choices}:
                st.html(choice_html(procedure, verdict.outcome, "2rem"))
            else:
                st.html(f'<div style="font-size:1.5rem;overflow-wrap:anywhere">{escaped(verdict.outcome)}</div>')
            counts = [f"{choice_html(procedure, name)} {number:d}" for name, number in verdict.counts.items()]
            if verdict.abstained:
                counts.append(_("{number} abstained", number=f"{verdict.abstained:d}"))
            if counts:
                st.html("&ensp;".join(counts))
            if verdict.note:
                inert(verdict.note, small=True)
        with middle:
            if real := procedure.real_counts(record.case):
                same = max(real, key=lambda name: real[name]) == verdict.outcome
                far = [abs(real.get(name, 0) - number) for name, number in verdict.counts.items()]
                text = "&ensp;".join(f"{choice_html(procedure, name)} {number:d}" for name, number in real.items())
                st.caption(translated(record.case.votes_title))
                st.html(f'<div style="line-height:3rem">{text}</div>')
                st.caption(
                    (_("The same side won") if same else _("The other side won"))
                    + _(
                        "; the counts differ by {far} votes a side on average.",
                        far=f"{sum(far) / max(1, len(far)):.2g}",
                    )
                )
            elif real_outcome := record.case.real_outcome():
                st.caption(declared(procedure.ending.real))
                inert(real_outcome)
        with right:
            st.caption(declared(procedure.ending.grounds))
            inert(verdict.summary)


@st.cache_data(max_entries=200, ttl=300, show_spinner=False)
def _worth(_house: Courthouse, run: str, reader: str) -> str:
    return _house.worth(run)


def votes_worth(house: Courthouse, run: str) -> str:
    """What the votes behind a verdict are worth; worked out anew after five minutes, as runs on other cases come to their ends."""
    person = acting()
    return _worth(house, run, person.id if person else "")
