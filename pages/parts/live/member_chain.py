"""One member's chain: every question in turn, the media it looked at, what it answered."""

from __future__ import annotations

from typing import Any

import streamlit as st

from courtroom.courthouse import Courthouse
from courtroom.engine.events import Called
from courtroom.engine.procedure import Procedure
from courtroom.engine.record import Record
from courtroom.engine.setup import Member
from courtroom.language import _, listed, translated
from courtroom.media.medium import Medium
from courtroom.questions.interview import last_call
from pages.parts.live.interview_view import interview_view
from pages.parts.shared.answer_view import answer_view
from pages.parts.shared.choice_mark import choice_html
from pages.parts.shared.inert import escaped, inert, literal
from pages.parts.shared.marks_view import marks_view
from pages.parts.shared.media_view import medium_view


def member_chain(house: Courthouse, procedure: Procedure, record: Record, member: Member) -> None:
    """Who the member is, then stage by stage; where others examined for it, their calls stand first."""
    st.subheader(literal(member.name))
    st.caption(f"{literal(member.id)} · {literal(member.role)} · {literal(member.spec.id)}")
    if member.persona:
        persona = member.persona
        inert(
            _(
                "{age}, {gender}, {status}. {background}",
                age=persona.age,
                gender=translated(persona.gender),
                status=translated(persona.status),
                background=translated(persona.background),
            ),
            small=True,
        )
        inert(
            _(
                "Traits: {traits}. Interests: {interests}.",
                traits=listed(persona.traits),
                interests=listed(persona.interests),
            ),
            small=True,
            faint=True,
        )
    for ballot, votes in record.ballots.items():
        if vote := votes.get(member.id):
            st.html(
                f"{escaped(record.ballot_name(ballot))}: {choice_html(procedure, vote.choice)}"
                + (_(" (changed)") if vote.changed else "")
            )
    marks_view(house, record.run.id, member.id)
    interview_view(house, record, last_call(record, member.id))
    own = {call.stage for call in record.calls_of(member.id)}
    voting = {role.name for role in procedure.roles if role.votes}
    for stage in record.stages:
        calls = [call for call in record.calls_of(member.id) if call.stage == stage.path]
        shared = [] if calls or stage.path in own or member.role not in voting else _shared(record, stage.path, voting)
        if not calls and not shared:
            continue
        st.markdown(f"#### {literal(stage.name)}")
        if shared:
            st.caption(_("Examined once for the whole panel:"))
        for call in calls or shared:
            _call(house, record, call)


def _shared(record: Record, stage: str, voting: set[str]) -> list[Called]:
    """Calls of a stage in which no voting member was asked: made by another for all of them."""
    calls = [call for call in record.calls if call.stage == stage]
    asked = {member.role for call in calls if (member := record.member(call.member))}
    return [] if asked & voting else calls


def _call(house: Courthouse, record: Record, call: Called) -> None:
    with st.container(border=True):
        st.markdown(f"**{literal(call.title)}**")
        if call.error:
            st.warning(_("No answer: {error}", error=literal(call.error)))
        if call.value:
            answer_view(call.value)
        media = _media(house, record, call)
        if media:
            with st.expander(_("Looked at {media} pictures or videos", media=len(media)), icon=":material/image:"):
                for column, medium in zip(st.columns(max(2, len(media))), media, strict=False):
                    with column:
                        medium_view(house, medium, key=call.path)
        if call.described:
            st.caption(
                _("By description only, as this model can't see: {media}", media=literal(", ".join(call.described)))
            )
        st.caption(literal(call.path))


def _media(house: Courthouse, record: Record, call: Called) -> list[Medium]:
    """The media that went with the question."""
    if not call.keys:
        return []
    messages: Any = house.answers.of(record.run).request(call.keys[0])
    return [part for message in messages for part in message.parts if isinstance(part, Medium)]
