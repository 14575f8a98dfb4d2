"""Below the room: the verdict, the votes, every call and every member, as they stood at the end of any stage."""

import json
import time
from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from courtroom import Courthouse, Medium, Member, Procedure, Record
from courtroom.access import acting_account
from courtroom.engine.errors import NoSuchRun
from courtroom.engine.events import Called, Voted
from courtroom.evaluation.turnout import call_of, failure_of, given_by, stand_in_of, turnout
from courtroom.figures.layout import tone
from courtroom.judging.jurors import other_way, private_votes
from courtroom.language import N_, _, listed, translated
from courtroom.models.spec import OFFLINE
from courtroom.questions.interview import last_call
from courtroom.room.player import static, words
from pages.parts.cases import medium_view
from pages.parts.live.moved_view import moved_view
from pages.parts.live.questions_view import ask_all_view, audit_view, interview_view, marks_view
from pages.parts.shared import shown
from pages.parts.shared.blocks_view import answer_view, blocks_view, choice_html, choice_words
from pages.parts.shared.differences import family_view
from pages.parts.shared.shown import duration, escaped, inert, literal, many, money, one_of, plainly, table, theme

component, USED = st.components.v2.component, ("dom.js", "flow.js")
vote_bars, member_cards = (
    component(f"courtroom_{name}", css=static(f"{name}.css"), js=static(*USED, f"in_{name}.js"), isolate_styles=False)
    for name in ("votes", "members")
)


def votes_view(procedure: Procedure, record: Record) -> None:
    if not record.ballots:
        st.info(_("Nobody has voted yet. Votes appear here as they are cast."), icon=":material/how_to_vote:")
        return
    sides: list[dict[str, str | None]] = [
        {"name": c.name, "title": translated(c.title), "mark": c.mark, "tone": tone(c.tone, theme())}
        for c in procedure.choices
    ]
    sides.append({"name": None, "title": _("Abstained"), "mark": "○", "tone": tone(None, theme())})
    named = [(translated(record.ballot_name(ballot)), votes) for ballot, votes in record.ballots.items()]
    ballots = [{"name": name, "votes": {m: vote.choice for m, vote in votes.items()}} for name, votes in named]
    _bars(ballots, sides, f"votes-{record.run.id}", _("How votes moved between ballots") if record.votes_move else "")
    marks: dict[str | None, str] = {c.name: f"{c.mark} {translated(c.title)}" for c in procedure.choices}
    rows = []
    for member in record.members:
        votes = {ballot: cast.get(member.id) for ballot, cast in record.ballots.items()}
        if any(votes.values()):
            row = {N_("member"): member.name}
            for ballot, vote in votes.items():
                row[record.ballot_name(ballot)] = _cast(record, vote, marks) if vote else ""
            rows.append(row)
    table(rows)
    private = private_votes(record, procedure)
    if (last := other_way(record, private)) is None:
        return
    compared: list[dict[str, object]] = []
    for path, hidden in private.items():
        name, public = translated(record.ballot_name(path)), {m: v.choice for m, v in record.ballots[path].items()}
        compared.append({"name": _("{ballot}, in public", ballot=name), "votes": public})
        compared.append({"name": _("{ballot}, in private", ballot=name), "votes": hidden})
    st.subheader(_("In public and in private"))
    _bars(compared, sides, f"private-{record.run.id}")
    path, asked, apart = last
    values = {"number": len(apart), "asked": asked, "ballot": translated(record.ballot_name(path))}
    said = _("{ballot}: {number} of {asked} would have gone the other way in private.", **values)
    st.markdown(literal(said + (f" {', '.join(apart)}" if apart else "")))


def _bars(ballots: Sequence[Mapping[str, object]], sides: Sequence[object], key: str, moved: str = "") -> None:
    data = {"ballots": ballots, "sides": sides, "moved": moved, "words": words()}
    vote_bars(data=json.dumps(data, ensure_ascii=False).encode(), key=key)


def _cast(record: Record, vote: Voted, marks: Mapping[str | None, str]) -> str:
    """A vote in words: what it is for, whether it changed, and who gave it where that is a stand-in."""
    if vote.choice is None:
        return _("no answer") if failure_of(record, vote) else _("abstained")
    stand_in = stand_in_of(record, vote)
    by = _(" (by its stand-in {model})", model=stand_in.model) if stand_in else ""
    by += _(" (set)") if given_by(record, vote) == "set" else ""
    if (call := call_of(record, vote)) and call.speaks_as_model:
        by += _(" (speaks of itself as a language model)")
    sure = f" · {vote.confidence}" if vote.confidence is not None else ""
    return marks.get(vote.choice, vote.choice) + sure + (_(" (changed)") if vote.changed else "") + by


def verdict_view(record: Record, procedure: Procedure) -> None:
    verdict = record.run.verdict
    assert verdict is not None
    with st.container(border=True):
        left, middle, right = st.columns([2, 2, 5], gap="large")
        with left:
            st.caption(translated(procedure.ending.title))
            if verdict.outcome in {choice.name for choice in procedure.choices}:
                st.html(choice_html(procedure, verdict.outcome, "2rem"))
            else:
                st.html(f'<div style="font-size:1.5rem;overflow-wrap:anywhere">{escaped(verdict.outcome)}</div>')
            counts = [f"{choice_html(procedure, name)} {number:d}" for name, number in verdict.counts.items()]
            if verdict.abstained:
                counts.append(_("{number} without a vote", number=verdict.abstained))
            if counts:
                st.html("&ensp;".join(counts))
            if verdict.note:
                inert(verdict.note, small=True)
            if told := turnout(record):
                st.caption(f":material/person_off: {' '.join(literal(line) for line in told)}")
        with middle:
            if real := procedure.real_counts(record.case):
                same = max(real, key=lambda name: real[name]) == verdict.outcome
                text = "&ensp;".join(f"{choice_html(procedure, name)} {number:d}" for name, number in real.items())
                st.caption(translated(record.case.votes_title))
                st.html(f'<div style="line-height:3rem">{text}</div>')
                if verdict.outcome in real:  # a jury that hangs is on nobody's side
                    st.caption(_("The same side won.") if same else _("The other side won."))
            elif real_outcome := record.case.real_outcome():
                st.caption(translated(procedure.ending.real))
                inert(real_outcome)
        with right if len(verdict.summary) < LONG_GROUNDS_CHARACTERS else st.container():
            st.caption(translated(procedure.ending.grounds))
            inert(verdict.summary)


@st.cache_data(max_entries=200, ttl=300, show_spinner=False)
def _worth(_house: Courthouse, run: str, reader: str) -> str:
    return _house.worth(run)


def votes_worth(house: Courthouse, run: str) -> str:
    """What the votes behind a verdict are worth; worked out anew after five minutes, as other runs end."""
    person = acting_account()
    return _worth(house, run, person.id if person else "")


NOW = "now"
LONG_GROUNDS_CHARACTERS = 400
"""From here on grounds have the whole width: beside the outcome they would be one narrow block."""


def back() -> str:
    """The index of the stage at whose end the reader looks, by the address; else NOW."""
    return st.query_params.get("at", NOW)


@st.fragment
def tabs_view(house: Courthouse, procedure: Procedure, run: str, *, family: bool) -> None:
    """Draw the tabs, by themselves: a click on one leaves the page as it is. `family`: whether it has relatives."""
    with plainly():
        record = _record(house, run)
        votes = any(role.votes for role in procedure.roles)
        views = [view.title for view in procedure.views]
        tabs = ["Members", "Votes", "What moved it", *views, "Calls"] if votes else [*views, "Members", "Calls"]
        tabs += ["Family"] if family else []
        shown = one_of(_("Look at"), tabs, f"tab-{run}", tabs[0])
        if len(record.stages) > 1:
            at = back()
            names = {str(stage.index): _("after {name}", name=translated(stage.name)) for stage in record.stages}
            names[NOW] = _("now")
            options, key = list(names), f"at-{run}-{len(names)}"
            place = options.index(at if at in names else NOW)
            about, title = _("What stands here as it was at the end of any stage. Nothing is lost."), _("As it stood")
            chosen = st.selectbox(title, options, place, format_func=names.__getitem__, key=key, help=about, width=240)
            if chosen != at:
                st.query_params.pop("at", None)
                if chosen != NOW:
                    st.query_params["at"] = chosen
                st.rerun()  # other parts of the page are for now only
            if chosen != NOW:
                then = literal(names[chosen])
                st.info(_("You look back: what stands below is how the run stood {names}.", names=then))
        _tab(house, procedure, run, shown)


@st.fragment
def _tab(house: Courthouse, procedure: Procedure, run: str, tab: str) -> None:
    """What one tab shows; a click in it draws nothing else."""
    with plainly():
        record = _record(house, run)
        if len(record.stages) > 1 and back() != NOW:
            record = record.until(int(back()))
        if tab == "Members":
            member_grid(house, procedure, record)
        elif tab == "Votes":
            votes_view(procedure, record)
        elif tab == "What moved it":
            moved_view(house, procedure, record)
        elif tab == "Calls":
            calls_table(house, record)
        elif tab == "Family":
            family_view(house, run)
        else:
            view = next(view for view in procedure.views if view.title == tab)
            st.caption(translated(view.help))
            blocks_view(view.blocks(record), procedure, key=f"{run}-{view.name}")


def _record(house: Courthouse, run: str) -> Record:
    try:
        return house.record(run)
    except NoSuchRun:
        st.rerun()  # the page says so


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
    stages = {"All": "All"} | {stage.path: stage.name for stage in record.stages}
    top = st.columns(2)
    stage = top[0].selectbox(_("Stage"), list(stages), format_func=lambda path: translated(stages[path]))
    member = top[1].selectbox(_("Member"), ["All", *names], format_func=lambda i: translated(names.get(i) or str(i)))
    calls = [call for call in record.calls if stage in ("All", call.stage) and member in ("All", call.member)]
    rows = []
    for call in calls:
        at = time.strftime("%H:%M:%S", time.localtime(record.times[call.path]))
        source = SOURCES[call.source] if call.value is not None else N_("failed")
        asked = stages[call.stage], names.get(call.member, call.member), call.title, _who(call), source
        tokens, cost = call.prompt_tokens + call.completion_tokens, money(call.cost, about=call.estimated)
        rows.append((at, *asked, tokens, cost, duration(call.latency_s), max(0, len(call.keys) - 1)))
    heads = [N_("time"), N_("stage"), N_("member"), N_("question"), N_("model"), N_("source"), N_("tokens")]
    heads += [N_("money"), N_("latency"), N_("re-asks")]
    if chosen := shown.rows_chosen(rows, f"calls-{stage}-{member}", heads, height=320):
        _whole(house, record, calls[chosen[0]])
    else:
        st.caption(_("{calls}. Select a row to read the prompt and the answer.", calls=many(len(calls), "call")))


def _who(call: Called) -> str:
    """The model that answered, and for which one where it is a stand-in."""
    return _("{model} instead of {own}", model=call.model, own=call.instead_of) if call.instead_of else call.model


def _whole(house: Courthouse, record: Record, call: Called) -> None:
    st.subheader(literal(shown.placed(record, call)))
    marks_view(house, record.run.id, call.path)
    if call.error:
        st.warning(literal(call.error))
    if call.instead_of:
        st.info(literal(_who(call)), icon=":material/swap_horiz:")
    left, right = st.columns(2, gap="large")
    with left:
        st.markdown(_("**Asked**"))
        if call.model == OFFLINE:
            st.caption(_("The offline model read the question's inputs, not this prompt."))
        for number, key in enumerate(call.keys, start=1):
            if len(call.keys) > 1:
                st.caption(_("Attempt {number}", number=number))
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
                usage, attempts = reply.usage, many(reply.attempts, "attempt")
                tokens = {"prompt": usage.prompt, "completion": usage.completion, "cached": usage.cached}
                text = _("{prompt} + {completion} tokens ({cached} cached)", **tokens)
                cost = literal(money(reply.cost, about=usage.estimated))
                st.caption(f"{text} · {cost} · {duration(reply.latency_s)} · {attempts}")
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
        text = _("Traits: {traits}. Interests: {interests}.", traits=traits, interests=interests)
        inert(text, small=True, faint=True)
    for ballot, votes in record.ballots.items():
        if vote := votes.get(member.id):
            moved = _(" (changed)") if vote.changed else ""
            st.html(f"{escaped(record.ballot_name(ballot))}: {choice_html(procedure, vote.choice)}{moved}")
    marks_view(house, record.run.id, member.id)
    interview_view(house, record, last_call(record, member.id))
    voting = {role.name for role in procedure.roles if role.votes}
    for stage in record.stages:
        all_calls = [call for call in record.calls if call.stage == stage.path]
        calls = [call for call in all_calls if call.member == member.id]
        asked = {one.role for call in all_calls if (one := record.member(call.member))}
        shared = not calls and member.role in voting and not asked & voting  # made by another for all who vote
        if not (calls or (shared and all_calls)):
            continue
        st.markdown(f"#### {literal(stage.name)}")
        if shared:
            st.caption(_("Examined once for the whole panel:"))
        for call in calls or all_calls:
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
                    title = _("Looked at {media} pictures or videos", media=len(media))
                    with st.expander(title, icon=":material/image:"):
                        for column, medium in zip(st.columns(max(2, len(media))), media, strict=False):
                            with column:
                                medium_view(house, medium, key=call.path)
                if call.described:
                    named = literal(", ".join(call.described))
                    st.caption(_("By description only, as this model can't see: {media}", media=named))
                if call.speaks_as_model:
                    st.warning(_("This answer speaks of itself as a language model, and not as the member."))


def member_grid(house: Courthouse, procedure: Procedure, record: Record) -> None:
    if not record.members:
        st.info(_("The members take their seats when the run begins."), icon=":material/groups:")
        return
    opened = st.session_state.get("member")
    if opened and (member := record.member(opened)):
        st.button(_("All members"), icon=":material/arrow_back:", on_click=_open, args=(None,))
        member_chain(house, procedure, record, member)
        return
    ask_all_view(house, record)
    voting = {role.name for role in procedure.roles if role.votes}
    voters = [member for member in record.members if member.role in voting]
    if voters:
        _voters(procedure, record, voters)
    if others := [member for member in record.members if member.role not in voting]:
        alone = _("Open a member to see all that it was asked and answered.")
        st.caption(_("Others who take part") if voters else alone)
        with st.container(horizontal=True):
            for member in others:
                name, key, which = literal(member.name), f"open-{member.id}", (member.id,)
                st.button(name, key=key, icon=":material/person:", on_click=_open, args=which)


def _voters(procedure: Procedure, record: Record, voters: list[Member]) -> None:
    last = {member: vote for votes in record.ballots.values() for member, vote in votes.items()}
    cast = ((ballot, *one) for ballot, votes in record.ballots.items() for one in votes.items())
    moved = {member: record.ballot_name(ballot) for ballot, member, vote in cast if vote.changed}
    choices = {choice.title: choice.name for choice in procedure.choices}
    filters = [*choices, "Changed sides", "Abstained"]
    shown = st.pills(_("Show"), filters, selection_mode="single", format_func=literal, key="member_filter")
    by_hand = {(call.stage, call.member) for call in record.calls if call.source == "person"}
    fits = {member for member, vote in last.items() if vote.choice == choices.get(shown or "")}  # None: abstained
    fits = set(moved) if shown == "Changed sides" else fits
    members = [member for member in voters if shown is None or member.id in fits]
    if not members:
        st.caption(_("No member fits this filter."))
    cards = [_card(procedure, record, one, last.get(one.id), moved.get(one.id, ""), by_hand) for one in members]
    data = json.dumps({"cards": cards, "open": _("Whole chain")}, ensure_ascii=False)
    key = f"members-{record.run.id}"
    member_cards(data=data.encode(), key=key, on_member_change=lambda: _open(st.session_state[key].get("member")))


def _card(
    procedure: Procedure, record: Record, member: Member, vote: Voted | None, moved: str, by_hand: set[tuple[str, str]]
) -> dict[str, Any]:
    """What a member's card shows. `moved`: the ballot in which it last changed sides; `by_hand`: stages and members."""
    line = member.spec.id
    if persona := member.persona:
        words = {"status": translated(persona.status), "background": translated(persona.background)}
        line = _("{age}, {status}. {background}", age=persona.age, **words)
    notes = [_("was {before}", before=translated(vote.before or ""))] if vote and vote.changed else []
    notes += [_("changed sides in {ballot}", ballot=translated(moved))] if moved and not notes else []
    notes += [_("given by a person")] if vote and (vote.stage, member.id) in by_hand else []
    notes += [_("was set")] if vote and given_by(record, vote) == "set" else []
    if vote and (stand_in := stand_in_of(record, vote)):
        notes.append(_("by its stand-in {model}", model=stand_in.model))
    if vote and (call := call_of(record, vote)) and call.speaks_as_model:
        notes.append(_("speaks of itself as a language model"))
    if vote and (failure := failure_of(record, vote)):
        notes.append(translated(failure.error))
    choice, colour = choice_words(procedure, vote.choice) if vote else (_("no vote yet"), "")
    who, reason = {"id": member.id, "name": translated(member.name), "line": line}, vote.reasons if vote else ()
    given = {"choice": choice, "tone": colour, "notes": notes, "reason": "\n".join(map(translated, reason))}
    return {**who, **given}


def _open(member: object) -> None:
    """Open a member's chain; None closes it."""
    st.session_state["member"] = member if isinstance(member, str) else None
