"""What was asked and answered: every call with prompt, media, answer and money; every member who votes, with the whole chain behind."""

import json
import time
from collections.abc import Callable
from typing import Any

import pandas as pd
import streamlit as st

from courtroom.courthouse import Courthouse
from courtroom.engine.events import Called, Voted
from courtroom.engine.procedure import Procedure
from courtroom.engine.record import Record
from courtroom.engine.setup import Member
from courtroom.engine.turnout import call_of, failure_of, stand_in_of
from courtroom.language import N_, _, listed, translated
from courtroom.media.medium import Medium
from courtroom.models.spec import OFFLINE
from courtroom.questions.interview import last_call
from courtroom.room.player import part, style
from pages.parts.live.questions_view import audit_view, interview_view, marks_view
from pages.parts.shared.blocks_view import answer_view, choice_html, choice_words
from pages.parts.shared.case_view import medium_view
from pages.parts.shared.shown import duration, escaped, inert, literal, money, table

SOURCES = {"asked": N_("asked"), "recorded": N_("on record"), "person": N_("a person")}


def calls_table(house: Courthouse, record: Record) -> None:
    if not record.calls:
        st.info(_("Calls appear here as they are answered."), icon=":material/forum:")
        return
    if chosen_call := record.call(st.session_state.get("call") or ""):
        if st.button(_("All calls"), icon=":material/arrow_back:"):
            del st.session_state["call"]
            st.rerun()
        _whole(house, record, chosen_call)
        return
    names = {member.id: member.name for member in record.members}
    top = st.columns(3)
    stage = top[0].selectbox(
        _("Stage"), ["All", *dict.fromkeys(call.stage for call in record.calls)], format_func=translated
    )
    member = top[1].selectbox(_("Member"), ["All", *names], format_func=lambda i: names.get(i, i))
    tests: dict[str, Callable[[Called], bool]] = {
        "All": lambda c: True,
        "Asked": lambda c: c.source == "asked",
        "On record": lambda c: c.source == "recorded",
        "Failed": lambda c: c.value is None,
        "Asked again": lambda c: len(c.keys) > 1,
    }
    fits = tests[top[2].selectbox(_("Show"), list(tests), format_func=translated)]
    calls = [
        call for call in record.calls if stage in ("All", call.stage) and member in ("All", call.member) and fits(call)
    ]
    shown_calls = pd.DataFrame(
        {
            N_("time"): [time.strftime("%H:%M:%S", time.localtime(record.times[call.path])) for call in calls],
            N_("stage"): [call.stage for call in calls],
            N_("member"): [names.get(call.member, call.member) for call in calls],
            N_("question"): [call.title for call in calls],
            N_("model"): [_who(call) for call in calls],
            N_("source"): [SOURCES[call.source] if call.value is not None else N_("failed") for call in calls],
            N_("tokens"): [call.prompt_tokens + call.completion_tokens for call in calls],
            N_("money"): [money(call.cost) for call in calls],
            N_("latency"): [duration(call.latency_s) for call in calls],
            N_("re-asks"): [max(0, len(call.keys) - 1) for call in calls],
        }
    )
    chosen = table(shown_calls, height=320, on_select="rerun", selection_mode="single-row", key="calls")
    rows = chosen.selection.rows
    if not rows or rows[0] >= len(calls):
        st.caption(_("{calls} calls. Select a row to read the prompt and the answer.", calls=len(calls)))
        return
    _whole(house, record, calls[rows[0]])


def _who(call: Called) -> str:
    """The model that answered, and for which one where it is a stand-in."""
    return _("{model} instead of {own}", model=call.model, own=call.instead_of) if call.instead_of else call.model


def _whole(house: Courthouse, record: Record, call: Called) -> None:
    st.subheader(literal(f"{call.title}: {call.path}"))
    marks_view(house, record.run.id, call.path)
    if call.error:
        st.warning(literal(call.error))
    if call.instead_of:
        st.info(literal(_who(call)), icon=":material/swap_horiz:")
    left, right = st.columns(2, gap="large")
    with left:
        st.markdown(_("**Asked**"))
        if call.model == OFFLINE:
            st.caption(
                _("The offline model read the question's inputs, not this prompt; a language model would read it.")
            )
        for number, key in enumerate(call.keys, start=1):
            if len(call.keys) > 1:
                st.caption(_("Attempt {number}", number=f"{number:d}"))
            messages = house.answers.of(record.run).request(key)
            for message in messages[-2:] if number > 1 else messages:
                st.caption(literal(message.role))
                for index, part in enumerate(message.parts):
                    if isinstance(part, Medium):
                        medium_view(house, part, key=f"{key}-{index}")
                    else:
                        st.code(part, language=None, wrap_lines=True, height=260 if len(part) > 900 else "content")
    with right:
        st.markdown(_("**Answered**"))
        if call.value:
            answer_view(call.value)
        for key in call.keys:
            if reply := house.answers.of(record.run).reply(key):
                with st.expander(_("As it came")):
                    st.code(reply.text, language=None, wrap_lines=True)
                if reply.model or reply.address:
                    told = _("Answered by {model}", model=literal(reply.model or _("a model that was not named")))
                    told += f" ({literal(reply.fingerprint)})" if reply.fingerprint else ""
                    if reply.connection:
                        told += _(" through {connection}", connection=literal(reply.connection))
                    st.caption(told + (_(" at {address}", address=literal(reply.address)) if reply.address else ""))
                st.caption(
                    _(
                        "{prompt} + {completion} tokens ({cached} cached) · {cost} · {latency_s} · {attempts} attempt(s)",
                        prompt=f"{reply.usage.prompt:d}",
                        completion=f"{reply.usage.completion:d}",
                        cached=f"{reply.usage.cached:d}",
                        cost=literal(money(reply.cost)),
                        latency_s=duration(reply.latency_s),
                        attempts=f"{reply.attempts:d}",
                    )
                )
    audit_view(house, record, call)
    interview_view(house, record, call)


def member_chain(house: Courthouse, procedure: Procedure, record: Record, member: Member) -> None:
    """Who the member is, then stage by stage; where others examined for it, their calls stand first."""
    st.subheader(literal(member.name))
    st.caption(f"{literal(member.id)} · {literal(member.role)} · {literal(member.spec.id)}")
    if persona := member.persona:
        words = {name: translated(getattr(persona, name)) for name in ("gender", "status", "background")}
        inert(_("{age}, {gender}, {status}. {background}", age=persona.age, **words), small=True)
        traits, interests = listed(persona.traits), listed(persona.interests)
        inert(
            _("Traits: {traits}. Interests: {interests}.", traits=traits, interests=interests), small=True, faint=True
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
        if call.instead_of:
            st.caption(f":material/swap_horiz: {literal(_who(call))}")
        if call.error:
            st.warning(_("No answer: {error}", error=literal(call.error)))
        if call.value:
            answer_view(call.value)
        messages = house.answers.of(record.run).request(call.keys[0]) if call.keys else ()
        media = [part for message in messages for part in message.parts if isinstance(part, Medium)]
        if media:
            with st.expander(_("Looked at {media} pictures or videos", media=len(media)), icon=":material/image:"):
                for column, medium in zip(st.columns(max(2, len(media))), media, strict=False):
                    with column:
                        medium_view(house, medium, key=call.path)
        if call.described:
            named = literal(", ".join(call.described))
            st.caption(_("By description only, as this model can't see: {media}", media=named))
        if call.speaks_as_model:
            st.warning(_("This answer speaks of itself as a language model, and not as the member."))
        st.caption(literal(call.path))


member_cards = st.components.v2.component(
    "courtroom_members", css=style("members"), js=part("members"), isolate_styles=False
)


def member_grid(house: Courthouse, procedure: Procedure, record: Record) -> None:
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
    moved = {
        member: record.ballot_name(ballot)
        for ballot, votes in record.ballots.items()
        for member, vote in votes.items()
        if vote.changed
    }
    choices = {choice.title: choice.name for choice in procedure.choices}
    shown = st.pills(
        _("Show"),
        [*choices, "Changed sides", "Abstained"],
        selection_mode="single",
        format_func=literal,
        key="member_filter",
    )
    by_hand = {(call.stage, call.member) for call in record.calls if call.source == "person"}

    def fits(member: str) -> bool:
        if shown is None or (vote := last.get(member)) is None:
            return shown is None
        return (
            member in moved if shown == "Changed sides" else vote.choice == choices.get(shown)
        )  # None is an abstention

    members = [member for member in voters if fits(member.id)]
    if not members:
        st.caption(_("No member fits this filter."))
    votes = ((member, last.get(member.id)) for member in members)
    cards = [
        _card(
            procedure,
            record,
            member,
            vote,
            moved.get(member.id, ""),
            person=vote is not None and (vote.stage, member.id) in by_hand,
        )  # fmt: skip
        for member, vote in votes
    ]
    data = json.dumps({"cards": cards, "open": _("Whole chain")}, ensure_ascii=False)
    key = f"members-{record.run.id}"
    member_cards(data=data.encode(), key=key, on_member_change=lambda: _open(st.session_state[key].get("member")))


def _card(
    procedure: Procedure, record: Record, member: Member, vote: Voted | None, moved: str, *, person: bool
) -> dict[str, Any]:
    """What a member's card shows. `moved`: the ballot in which it last changed sides."""
    line = member.spec.id
    if persona := member.persona:
        words = {"status": translated(persona.status), "background": translated(persona.background)}
        line = _("{age}, {status}. {background}", age=persona.age, **words)
    notes = [_("was {before}", before=translated(vote.before or ""))] if vote and vote.changed else []
    notes += [_("changed sides in {ballot}", ballot=translated(moved))] if moved and not notes else []
    notes += [_("given by a person")] if person else []
    if vote and (stand_in := stand_in_of(record, vote)):
        notes.append(_("by its stand-in {model}", model=stand_in.model))
    if vote and (call := call_of(record, vote)) and call.speaks_as_model:
        notes.append(_("speaks of itself as a language model"))
    if vote and (failure := failure_of(record, vote)):
        notes.append(translated(failure.error))
    choice, colour = choice_words(procedure, vote.choice) if vote else (_("no vote yet"), "")
    return {
        "id": member.id,
        "name": translated(member.name),
        "line": line,
        "choice": choice,
        "tone": colour,
        "notes": notes,
        "reason": "\n".join(map(translated, vote.reasons)) if vote else "",
    }


def _open(member: object) -> None:
    """Open a member's chain; None closes it."""
    st.session_state["member"] = member if isinstance(member, str) else None
