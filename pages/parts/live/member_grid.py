"""All members who vote as cards; one member's whole chain behind each."""

from __future__ import annotations

import streamlit as st

from courtroom.courthouse import Courthouse
from courtroom.engine.events import Voted
from courtroom.engine.procedure import Procedure
from courtroom.engine.record import Record
from courtroom.engine.setup import Member
from courtroom.language import _, translated
from pages.parts.live.member_chain import member_chain
from pages.parts.shared.choice_mark import choice_html
from pages.parts.shared.inert import escaped, literal

PER_ROW = 4


def member_grid(house: Courthouse, procedure: Procedure, record: Record) -> None:
    """Cards, or the member whose chain is open."""
    if not record.members:
        st.info(_("The members take their seats when the run begins."), icon=":material/groups:")
        return
    opened = st.session_state.get("member")
    if opened and (member := record.member(opened)):
        if st.button(_("All members"), icon=":material/arrow_back:"):
            del st.session_state["member"]
            st.rerun()
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
                if st.button(literal(member.name), key=f"open-{member.id}", icon=":material/person:"):
                    st.session_state["member"] = member.id
                    st.rerun()


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
    for start in range(0, len(members), PER_ROW):
        for column, member in zip(st.columns(PER_ROW), members[start : start + PER_ROW], strict=False):
            with column:
                vote = last.get(member.id)
                person = vote is not None and (vote.stage, member.id) in by_hand
                _card(procedure, member, vote, person=person)


def _fits(shown: str | None, choices: dict[str, str], vote: Voted | None) -> bool:
    if shown is None:
        return True
    if shown == "Changed sides":
        return vote is not None and vote.changed
    if shown == "Abstained":
        return vote is not None and vote.choice is None
    return vote is not None and vote.choice == choices[shown]


def _card(procedure: Procedure, member: Member, vote: Voted | None, *, person: bool = False) -> None:
    with st.container(border=True, height=215):
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
        text = choice_html(procedure, vote.choice) if vote else f'<span style="opacity:.6">{_("no vote yet")}</span>'
        if vote and vote.changed:
            text += f' <span style="font-size:.8rem;opacity:.75">{_("was {before}", before=escaped(vote.before or ""))}</span>'
        if person:
            text += f' <span style="font-size:.8rem;opacity:.75">{_("given by a person")}</span>'
        reason = vote.reasons[0] if vote and vote.reasons else ""
        st.html(
            f'<div style="font-weight:600">{escaped(member.name)}</div>'
            f'<div style="font-size:.8rem;opacity:.75;min-height:2.4rem">{escaped(line)}</div><div>{text}</div>'
            f'<div style="font-size:.85rem;overflow-wrap:anywhere;display:-webkit-box;-webkit-line-clamp:3;'
            f'-webkit-box-orient:vertical;overflow:hidden" title="{escaped(reason)}">{escaped(reason)}</div>'
        )
        if st.button(_("Whole chain"), key=f"open-{member.id}", type="tertiary", icon=":material/account_tree:"):
            st.session_state["member"] = member.id
            st.rerun()
