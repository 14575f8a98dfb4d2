"""What a person can do to a paused run, and what was done to it."""

import json
import secrets
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import streamlit as st

from courtroom import Courthouse, Procedure, Record
from courtroom.access import Resource
from courtroom.cases.dispute import SIDES, Dispute
from courtroom.declarations.changes import value_at
from courtroom.declarations.knobs import Widget, fields_drawn
from courtroom.engine import interventions as acts
from courtroom.engine.asked_court import NO_MORE, ToCourt, replies, waiting
from courtroom.engine.intervene import answer_of, why_not_undo
from courtroom.language import _, translated
from courtroom.models.schema import schema_of
from courtroom.sharing import may_change
from pages.parts.live.audience_view import HERE_ONLY, OWN_ADDRESS
from pages.parts.setup import changes_from, draw_section
from pages.parts.shared.blocks_view import answer_fields
from pages.parts.shared.house import server_address, your_name
from pages.parts.shared.knobs import SetupDraft
from pages.parts.shared.shown import do, errors_shown, literal, moment, one_of, placed

Do = Callable[..., None]
"""Does actions, in their order."""


def _change(house: Courthouse, procedure: Procedure, record: Record, do: Do) -> None:
    """The setup with the editors of the page Setup; what differs then holds from the next stage on."""
    setup = house.interventions.next_setup(record)
    name = f"change-{record.run.id}-{len(record.interventions)}"
    drafts: dict[str, SetupDraft] = st.session_state.setdefault("drafts", {})
    if name not in drafts:
        drafts[name] = SetupDraft(name, type(setup), setup.model_dump(mode="json"), record.run.seed, is_run=True)
    draft = drafts[name]
    sections = draft.sections()
    section = one_of(_("What to change"), sections, f"section-of-{name}", sections[0])
    draw_section(section, house, draft, procedure, record.case)
    with errors_shown():
        changes = changes_from(setup, draft.validated())
        if st.button(_("Change from the next stage on"), type="primary", disabled=not changes):
            do(*changes)


def _reply(run: str, questions: ToCourt, do: Do) -> None:
    texts = list(questions)
    with st.form(f"reply-{run}", border=False, clear_on_submit=True):
        chosen = st.multiselect(_("Questions"), texts, texts, key=f"replied-{run}-{len(texts)}")
        text = st.text_area(_("The court's reply"), placeholder=_("Told to everybody from the next round on."))
        with st.container(horizontal=True):
            replied = st.form_submit_button(_("Reply"), type="primary") and text.strip()
            has_no_more = st.form_submit_button(translated(NO_MORE))
        if chosen and (replied or has_no_more):
            do(acts.ReplyToQuestions(questions=tuple(chosen), text=NO_MORE if has_no_more else text))


def interventions_view(house: Courthouse, procedure: Procedure, record: Record) -> None:
    run = record.run.id
    questions = waiting(record)
    if questions or replies(record):  # what members asked the court; what waits for a reply stands last
        with st.container(border=True):
            st.caption(_("Asked the court"))
            for asked, reply in replies(record):
                st.markdown(f":material/help: {' · '.join(map(literal, asked))}")
                st.markdown(f":material/gavel: {literal(reply)}")
            for question, askers in questions.items():
                names = ", ".join(literal(record.name_of(one)) for one in askers)
                st.markdown(f":material/help: **{names}** {literal(question)}")
    if record.interventions:
        with st.container(border=True):
            st.caption(_("What persons did"))
            for one in record.interventions:
                _line(house, record, one)
    waits = record.run.status in ("paused", "failed") or house.runner.interrupted(run)
    if not waits or record.run.imported or not may_change(house.database, Resource(kind="run", id=run)):
        return
    seen_before = st.session_state.get(f"seen-interventions-{run}")
    st.session_state[f"seen-interventions-{run}"] = house.store.interventions.count(run)
    # Its state is kept here and not in the browser, so that a click is not lost while the page is drawn again.
    awaited = bool(questions) and record.run.status == "paused"
    with st.expander(_("Intervene"), awaited, key=f"intervene-{run}", icon=":material/pan_tool:", on_change="rerun"):
        st.caption(_("The run waits. What you do here takes effect when it goes on, and is in every fork and export."))
        who = your_name(f"who-{run}", _("somebody"))
        st.session_state["who"] = who

        def do(*actions: acts.Action) -> None:
            with errors_shown():
                once = str(st.session_state.setdefault(f"token-{run}", secrets.token_hex(6)))  # a double click's too
                for number, action in enumerate(actions):
                    seen = None if seen_before is None else seen_before + number
                    house.interventions.intervene(run, action, who, seen, name=f"{once}-{number}")
                st.session_state.pop(f"token-{run}", None)
                st.rerun()

        ways: dict[str, Callable[[], None]] = {
            **({"Reply": lambda: _reply(run, questions, do)} if questions else {}),
            "Overrule": lambda: _overrule(procedure, record, do),
            "Change": lambda: _change(house, procedure, record, do),
            "Evidence": lambda: _evidence(record, do),
            "Note": lambda: _note(run, do),
            "Members": lambda: _members(house, procedure, record, do),
            "Seats": lambda: _seat(house, record, do),
        }
        looks: dict[str, Any] = {"default": "Reply" if questions else None, "label_visibility": "collapsed"}
        way = st.segmented_control(_("What"), list(ways), key=f"act-{run}", format_func=literal, **looks)
        if way:
            ways[way]()


def _line(house: Courthouse, record: Record, one: acts.Intervention) -> None:
    idle = record.run.status in ("paused", "failed")
    with st.container(horizontal=True, vertical_alignment="center"):
        call = record.call(one.action.path) if isinstance(one.action, acts.Overrule) else None
        overtakes = call is not None and call.value != one.after
        pending = overtakes or not any(stage.index >= one.index for stage in record.stages)
        waits = pending and record.run.status != "done"
        told = literal(one.described(type(record.setup)))
        text = f":material/pan_tool: **{literal(one.who)}** {told} · {_('from {stage}', stage=literal(one.stage))}"
        mark = _(":material/schedule: takes effect when the run goes on") if waits else ""
        st.markdown(f"{text} · {moment(one.at)} {mark}")
        with st.popover(_("Before and after"), type="tertiary"):
            for title, value in ((_("Before"), one.before), (_("After"), one.after)):
                st.caption(literal(title))
                text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=1)
                st.code(text, language=None, wrap_lines=True)
        if one is record.interventions[-1] and not record.run.imported and idle:
            why, key = why_not_undo(record, one), f"undo-{one.id}"
            about = literal(why) if why else None
            if st.button(_("Undo"), key=key, icon=":material/undo:", type="tertiary", disabled=bool(why), help=about):
                do(lambda: house.interventions.undo(record.run.id, one.id))


def _overrule(procedure: Procedure, record: Record, do: Do) -> None:
    calls, key = {call.path: call for call in reversed(record.calls)}, f"overrule-{record.run.id}"
    if not calls:
        st.caption(_("Nothing was answered yet."))
        return
    titles = {path: placed(record, call) for path, call in calls.items()}
    path = st.selectbox(_("Whose answer"), list(titles), format_func=titles.__getitem__, key=key)
    schema = json.loads(schema_of(answer_of(procedure, calls[path].task)))
    with st.form(f"overrule-{path}", border=False):
        value = answer_fields(schema, calls[path].value, f"{key}-{path}")
        if st.form_submit_button(_("Overrule"), type="primary") and value is not None:
            do(acts.Overrule(path=path, value=value))


def _evidence(record: Record, do: Do) -> None:
    with st.form(f"evidence-{record.run.id}", border=False, clear_on_submit=True):
        disputed = isinstance(record.case, Dispute)
        side = st.radio(_("Whose"), SIDES, horizontal=True, format_func=literal) if disputed else ""
        text = st.text_area(_("What it says"), placeholder=_("All who are asked from the next stage on will see it."))
        if st.form_submit_button(_("Put in"), type="primary") and text.strip():
            do(acts.AddEvidence(text=text, side=side))


def _note(run: str, do: Do) -> None:
    with st.form(f"note-{run}", border=False, clear_on_submit=True):
        text = st.text_area(_("Note to all"), placeholder=_("Shown to everybody who is asked from the next stage on."))
        st.caption(_("The offline model reads no prompts, so a note tells it nothing."))
        if st.form_submit_button(_("Tell all"), type="primary") and text.strip():
            do(acts.AddNote(text=text))


def _members(house: Courthouse, procedure: Procedure, record: Record, do: Do) -> None:
    run, setup = record.run.id, house.interventions.next_setup(record)
    without = procedure.without_one(setup)
    if not without:
        title = literal(procedure.title)
        st.caption(_("{title} has a fixed bench: nobody can leave or join while it sits.", title=title))
        return
    names = dict.fromkeys(without) | {member.id: member.name for member in record.everybody}
    leaves = st.selectbox(
        _("Who leaves"), list(without), format_func=lambda i: translated(names[i] or i), key=f"leave-{run}"
    )
    left, right = st.columns(2)
    if left.button(_("Have them leave"), key=f"do-leave-{run}"):
        for key, value in without[leaves].items():
            do(acts.ChangeSetup(key=key, value=list(value) if isinstance(value, tuple) else value))
    size = fields_drawn(type(setup)).get(Widget.SEATS)
    if size and right.button(_("Seat one more"), key=f"do-join-{run}", help=_("The seed draws who it is.")):
        do(acts.ChangeSetup(key=size, value=value_at(setup, size) + 1))


def _seat(house: Courthouse, record: Record, do: Do) -> None:
    names = {member.id: translated(member.name) for member in record.members}
    if not names:
        st.caption(_("The members take their seats when the run begins."))
        return
    with st.form(f"seat-{record.run.id}", border=False):
        chosen = st.selectbox(_("Which seat a person takes"), list(names), format_func=lambda i: names[i])
        columns = st.columns(2)
        wait = columns[0].number_input(_("Seconds to answer"), 1, None, None, placeholder=_("as long as it takes"))
        about = _("`abstain`, or the id of a model that answers.")
        otherwise = columns[1].text_input(_("If nobody answers in time"), "abstain", help=about)
        if st.form_submit_button(_("Give the seat to a person"), type="primary"):
            spec = {"id": "person", "otherwise": otherwise or "abstain", **({"wait_s": wait} if wait else {})}
            do(acts.ChangeSetup(key=f"members.{chosen}", value=spec))


def seats(house: Courthouse, record: Record) -> None:
    """The links of all seats that persons have, and who is waited for."""
    if not may_change(house.database, Resource(kind="run", id=record.run.id)):
        return
    members = house.procedures[record.run.procedure].panel(house.interventions.next_setup(record))
    persons = [member for member in members if "person" in (member.spec.id, member.spec.otherwise)]
    if not persons or record.run.status == "done":
        return
    waiting = {question.member: question for question in house.people.waiting(record.run.id)}
    with st.container(border=True):
        for member in persons:
            text = _("is not asked for anything now")
            if question := waiting.get(member.id):
                text = _("is asked for: {title}", title=literal(question.title))
            if question and question.deadline:
                text += _(", {deadline} s left", deadline=max(0, round(question.deadline - time.time())))
            token = house.people.seat(record.run.id, member.id).token
            st.markdown(f":material/person: **{literal(member.name)}** ({literal(member.id)}) {text}")
            st.code(f"{server_address()}/?seat={token}", language=None, wrap_lines=True)
        st.caption(_("Each link opens that one seat and nothing else. Send it to whoever is to sit there."))
        if urlsplit(server_address()).hostname in HERE_ONLY:
            st.caption(_(OWN_ADDRESS))
