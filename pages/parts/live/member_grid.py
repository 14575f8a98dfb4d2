"""All members who vote as cards; one member's whole chain behind each."""

from __future__ import annotations

import json
from typing import Any

import streamlit as st

from courtroom.courthouse import Courthouse
from courtroom.engine.events import Voted
from courtroom.engine.procedure import Procedure
from courtroom.engine.record import Record
from courtroom.engine.setup import Member
from courtroom.language import _, translated
from courtroom.room.player import part, style
from pages.parts.live.member_chain import member_chain
from pages.parts.shared.choice_mark import choice_words
from pages.parts.shared.inert import literal

member_cards = st.components.v2.component(
    "courtroom_members", css=style("members"), js=part("members"), isolate_styles=False
)


def member_grid(house: Courthouse, procedure: Procedure, record: Record) -> None:
    """Cards, or the member whose chain is open."""
    if not record.members:
        st.info(_("The members take their seats when the run begins."), icon=":material/groups:")
        return
    opened = st.session_state.get("member")
    if opened and (member := record.member(opened)):
        st.button(_("All members"), icon=":material/arrow_back:", on_click=_open, args=(None,))
        member_chain(house, procedure, record, member)
        return
    voting = {role.name for role in procedure.roles if role.votes}
    voters = [member for member in record.members if member.role in voting]
    if voters:
        _voters(procedure, record, voters)
    others = [member for member in record.members if member.role not in voting]
    if others:
        st.caption(
            _("Others who take part") if voters else _("Open a member to see all that it was asked and answered.")
        )
        with st.container(horizontal=True):
            for member in others:
                st.button(
                    literal(member.name),
                    key=f"open-{member.id}",
                    icon=":material/person:",
                    on_click=_open,
                    args=(member.id,),
                )


def _voters(procedure: Procedure, record: Record, voters: list[Member]) -> None:
    last = {member: vote for votes in record.ballots.values() for member, vote in votes.items()}
    choices = {choice.title: choice.name for choice in procedure.choices}
    shown = st.pills(
        _("Show"),
        [*choices, "Changed sides", "Abstained"],
        selection_mode="single",
        format_func=literal,
        key="member_filter",
    )
    by_hand = {(call.stage, call.member) for call in record.calls if call.source == "person"}
    members = [member for member in voters if _fits(shown, choices, last.get(member.id))]
    if not members:
        st.caption(_("No member fits this filter."))
    cards = [
        _card(
            procedure,
            member,
            vote := last.get(member.id),
            person=vote is not None and (vote.stage, member.id) in by_hand,
        )
        for member in members
    ]
    data = json.dumps({"cards": cards, "open": _("Whole chain")}, ensure_ascii=False)
    key = f"members-{record.run.id}"
    member_cards(data=data.encode(), key=key, on_member_change=lambda: _open(st.session_state[key].get("member")))


def _fits(shown: str | None, choices: dict[str, str], vote: Voted | None) -> bool:
    if shown is None:
        return True
    if shown == "Changed sides":
        return vote is not None and vote.changed
    if shown == "Abstained":
        return vote is not None and vote.choice is None
    return vote is not None and vote.choice == choices[shown]


def _card(procedure: Procedure, member: Member, vote: Voted | None, *, person: bool) -> dict[str, Any]:
    persona = member.persona
    line = (
        _(
            "{age}, {status}. {background}",
            age=persona.age,
            status=translated(persona.status),
            background=translated(persona.background),
        )
        if persona
        else member.spec.id
    )
    notes = [_("was {before}", before=translated(vote.before or ""))] if vote and vote.changed else []
    notes += [_("given by a person")] if person else []
    choice, colour = choice_words(procedure, vote.choice) if vote else (_("no vote yet"), "")
    return {
        "id": member.id,
        "name": translated(member.name),
        "line": line,
        "choice": choice,
        "tone": colour,
        "notes": notes,
        "reason": translated(vote.reasons[0]) if vote and vote.reasons else "",
    }


def _open(member: str | None) -> None:
    """Open a member's chain; None closes it."""
    st.session_state["member"] = member
