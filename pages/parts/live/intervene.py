"""What a person can do to a paused run, and what was done to it."""

import json
import secrets
import time
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

import streamlit as st

from courtroom.access import Access, Resource, may
from courtroom.cases.dispute import SIDES, Dispute
from courtroom.courthouse import Courthouse
from courtroom.engine.changes import value_at
from courtroom.engine.intervene import answer_of, why_not_undo
from courtroom.engine.interventions import Action, AddEvidence, AddNote, ChangeSetup, Intervention, Overrule
from courtroom.engine.knobs import Widget, fields_drawn, is_group
from courtroom.engine.procedure import Procedure
from courtroom.engine.record import Record
from courtroom.engine.setup import Setup
from courtroom.language import _, translated
from courtroom.models.apart import why_no_template
from courtroom.models.prompts import templates
from courtroom.models.schema import schema_of
from courtroom.sharing import may_change
from pages.parts.live.audience_view import HERE_ONLY
from pages.parts.shared.actions import do, errors_shown, offered
from pages.parts.shared.blocks_view import answer_fields
from pages.parts.shared.house import server_address, your_name
from pages.parts.shared.knobs import knob, plain_fields
from pages.parts.shared.shown import literal, moment

Do = Callable[[Action], None]


def change_form(house: Courthouse, procedure: Procedure, record: Record, do: Do) -> None:
    setup = house.interventions.next_setup(record)
    drawn = fields_drawn(type(setup))
    run = record.run.id
    ways: dict[str, Callable[[], None]] = {
        "Setting": lambda: _knob(setup, run, do),
        "Model": lambda: _model(record, run, do),
    }
    personas: list[dict[str, Any]] = value_at(setup, drawn[Widget.PERSONAS]) if Widget.PERSONAS in drawn else []
    if personas:
        ways["Persona"] = lambda: _persona(drawn[Widget.PERSONAS], personas, run, do)
    if Widget.GRAPH in drawn:
        ways["Follow-graph"] = lambda: _edge(drawn[Widget.GRAPH], setup, personas, run, do)
    if Widget.RULES in drawn:
        ways["Rules"] = lambda: _rules(drawn[Widget.RULES], setup, run, do)
    ways["Prompt"] = lambda: _prompt(templates(procedure.prompts, record.case.kind), setup, run, do)
    way = st.segmented_control(
        _("What to change"), list(ways), default="Setting", required=True, key=f"change-{run}", format_func=literal
    )
    ways[way]()


def _knob(setup: Setup, run: str, do: Do) -> None:
    fields = {name: field for name, field in plain_fields(type(setup)).items() if not is_group(field)}
    name = st.selectbox(_("Setting"), list(fields), format_func=lambda n: fields[n].title or n, key=f"knob-{run}")
    with st.form(f"knob-{run}-{name}", border=False):
        value = knob(fields[name], getattr(setup, name), f"knob-{run}-{name}-value")
        if st.form_submit_button(_("Change from the next stage on"), type="primary"):
            do(ChangeSetup(key=name, value=value))


def _model(record: Record, run: str, do: Do) -> None:
    names = {member.id: f"{member.name} ({member.spec.id})" for member in record.members}
    with st.form(f"model-{run}", border=False):
        member = st.selectbox(_("Who"), list(names), format_func=lambda i: names[i])
        model = st.text_input(_("Model id"), placeholder=_("offline, openai/NAME, ollama/NAME ..."))
        if st.form_submit_button(_("Change from the next stage on"), type="primary") and model.strip():
            do(ChangeSetup(key=f"members.{member}", value={"id": model.strip()}))


def _persona(path: str, personas: list[dict[str, Any]], run: str, do: Do) -> None:
    seat = st.selectbox(
        _("Juror"),
        range(1, len(personas) + 1),
        format_func=lambda n: f"{n}: {personas[n - 1]['name']}",
        key=f"persona-{run}",
    )
    person = personas[seat - 1]
    with st.form(f"persona-{run}-{seat}", border=False):
        columns = st.columns(3)
        name = columns[0].text_input(_("Name"), person["name"])
        age = columns[1].number_input(_("Age"), 18, 95, person["age"])
        status = columns[2].text_input(_("Status"), person["status"])
        background = st.text_area(_("Background"), person["background"], height="content")
        traits = st.text_input(_("Traits"), ", ".join(person["traits"]), help=_("A list with commas."))
        interests = st.text_input(_("Interests"), ", ".join(person["interests"]), help=_("A list with commas."))
        if st.form_submit_button(_("Change from the next stage on"), type="primary"):
            new = {"name": name, "age": age, "status": status, "background": background}
            lists = {"traits": _parts(traits), "interests": _parts(interests)}
            do(ChangeSetup(key=f"{path}.{seat}", value={**person, **new, **lists}))


def _edge(path: str, setup: Setup, personas: list[dict[str, Any]], run: str, do: Do) -> None:
    edges = [tuple(edge) for edge in value_at(setup, f"{path}.edges") or ()]
    names = {n: f"{n + 1}: {one['name']}" for n, one in enumerate(personas)}
    with st.form(f"edge-{run}", border=False):
        columns = st.columns(2)
        follower = columns[0].selectbox(_("Who"), list(names), format_func=lambda n: names[n])
        followed = columns[1].selectbox(
            _("follows"), list(names), min(1, len(names) - 1), format_func=lambda n: names[n]
        )
        if st.form_submit_button(_("Add this edge, or take it away"), type="primary") and follower != followed:
            edge = (follower, followed)
            kept = [list(one) for one in edges if one != edge]
            do(ChangeSetup(key=f"{path}.edges", value=kept if edge in edges else [*kept, list(edge)]))


def _rules(path: str, setup: Setup, run: str, do: Do) -> None:
    with st.form(f"rules-{run}", border=False):
        text = st.text_area(_("Rules, one a line"), "\n".join(value_at(setup, path)), height="content")
        if st.form_submit_button(_("Change from the next stage on"), type="primary"):
            do(ChangeSetup(key=path, value=[line.strip() for line in text.splitlines() if line.strip()]))


def _prompt(shipped: Mapping[str, str], setup: Setup, run: str, do: Do) -> None:
    name = st.selectbox(_("Prompt"), list(shipped), key=f"prompt-{run}", format_func=translated)
    with st.form(f"prompt-{run}-{name}", border=False):
        text = st.text_area(_("Template"), setup.prompts.get(name, shipped[name]), height=320)
        if st.form_submit_button(_("Change from the next stage on"), type="primary"):
            if why := why_no_template(name, text):
                st.error(literal(why))
            else:
                do(ChangeSetup(key="prompts", value={**setup.prompts, name: text}))


def _parts(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def interventions_view(house: Courthouse, procedure: Procedure, record: Record) -> None:
    run = record.run.id
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
    if not may(Access.RUN):
        return
    # Its state is kept here and not in the browser, so that a click is not lost while the page is drawn again.
    with st.expander(_("Intervene"), key=f"intervene-{run}", icon=":material/pan_tool:", on_change="rerun"):
        st.caption(
            _(
                "The run waits. What you do here takes effect when it goes on, is listed, and travels with every fork and export."
            )
        )
        who = your_name(f"who-{run}", _("somebody"))
        st.session_state["who"] = who
        way = st.segmented_control(
            _("What"),
            ["Overrule", "Change", "Evidence", "Note", "Members", "Seats"],
            key=f"act-{run}",
            label_visibility="collapsed",
            format_func=literal,
        )

        def do(action: Action) -> None:
            with errors_shown():
                once = str(st.session_state.setdefault(f"token-{run}", secrets.token_hex(6)))  # a double click's too
                house.interventions.intervene(run, action, who, seen_before, name=once)
                st.session_state.pop(f"token-{run}", None)
                st.rerun()

        ways: dict[str, Callable[[], None]] = {
            "Overrule": lambda: _overrule(procedure, record, do),
            "Change": lambda: change_form(house, procedure, record, do),
            "Evidence": lambda: _evidence(record, do),
            "Note": lambda: _note(run, do),
            "Members": lambda: _members(house, procedure, record, do),
            "Seats": lambda: _seat(house, record, do),
        }
        if way:
            ways[way]()


def _line(house: Courthouse, record: Record, one: Intervention) -> None:
    idle = record.run.status in ("paused", "failed")
    with st.container(horizontal=True, vertical_alignment="center"):
        call = record.call(one.action.path) if isinstance(one.action, Overrule) else None
        overtakes = call is not None and call.value != one.after
        pending = overtakes or not any(stage.index >= one.index for stage in record.stages)
        waits = pending and record.run.status != "done"
        st.markdown(
            _(
                ":material/pan_tool: **{who}** {told} · from {stage} · {at} {mark}",
                who=literal(one.who),
                told=literal(one.described(type(record.setup))),
                stage=literal(one.stage),
                at=moment(one.at),
                mark=_(":material/schedule: takes effect when the run goes on") if waits else "",
            )
        )
        with st.popover(_("Before and after"), type="tertiary"):
            for title, value in ((_("Before"), one.before), (_("After"), one.after)):
                st.caption(literal(title))
                text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=1)
                st.code(text, language=None, wrap_lines=True)
        if one is record.interventions[-1] and not record.run.imported and idle:
            why = why_not_undo(record, one)
            if st.button(
                _("Undo"),
                key=f"undo-{one.id}",
                icon=":material/undo:",
                type="tertiary",
                disabled=bool(why),
                help=literal(why or "") or None,
            ):
                do(lambda: house.interventions.undo(record.run.id, one.id))


def _overrule(procedure: Procedure, record: Record, do: Do) -> None:
    calls = {call.path: call for call in reversed(record.calls)}
    if not calls:
        st.caption(_("Nothing was answered yet."))
        return

    def told(path: str) -> str:
        member = record.member(calls[path].member)
        return f"{record.stage(calls[path].stage).name} · {member.name if member else calls[path].member} · {calls[path].title}"

    path = st.selectbox(_("Whose answer"), list(calls), format_func=told, key=f"overrule-{record.run.id}")
    schema = json.loads(schema_of(answer_of(procedure, calls[path].task)))
    with st.form(f"overrule-{path}", border=False):
        try:
            value = answer_fields(schema, calls[path].value, f"overrule-{record.run.id}-{path}")
        except ValueError as error:
            st.error(literal(error))
            value = None
        if st.form_submit_button(_("Overrule"), type="primary") and value is not None:
            do(Overrule(path=path, value=value))


def _evidence(record: Record, do: Do) -> None:
    with st.form(f"evidence-{record.run.id}", border=False, clear_on_submit=True):
        disputed = isinstance(record.case, Dispute)
        side = st.radio(_("Whose"), SIDES, horizontal=True, format_func=literal) if disputed else ""
        text = st.text_area(_("What it says"), placeholder=_("All who are asked from the next stage on will see it."))
        if st.form_submit_button(_("Put in"), type="primary") and text.strip():
            do(AddEvidence(text=text, side=side))


def _note(run: str, do: Do) -> None:
    with st.form(f"note-{run}", border=False, clear_on_submit=True):
        text = st.text_area(_("Note to all"), placeholder=_("Shown to everybody who is asked from the next stage on."))
        st.caption(_("The offline model reads no prompts, so a note tells it nothing."))
        if st.form_submit_button(_("Tell all"), type="primary") and text.strip():
            do(AddNote(text=text))


def _members(house: Courthouse, procedure: Procedure, record: Record, do: Do) -> None:
    run, setup = record.run.id, house.interventions.next_setup(record)
    without = procedure.without_one(setup)
    if not without:
        st.caption(
            _("{title} has a fixed bench: nobody can leave or join while it sits.", title=literal(procedure.title))
        )
        return
    names = dict.fromkeys(without) | {member.id: member.name for member in record.everybody}
    leaves = st.selectbox(_("Who leaves"), list(without), format_func=lambda i: names[i] or i, key=f"leave-{run}")
    left, right = st.columns(2)
    if left.button(_("Have them leave"), key=f"do-leave-{run}"):
        for key, value in without[leaves].items():
            do(ChangeSetup(key=key, value=list(value) if isinstance(value, tuple) else value))
    size = fields_drawn(type(setup)).get(Widget.SEATS)
    if size and right.button(_("Seat one more"), key=f"do-join-{run}", help=_("The seed draws who it is.")):
        do(ChangeSetup(key=size, value=value_at(setup, size) + 1))


def _seat(house: Courthouse, record: Record, do: Do) -> None:
    run = record.run.id
    names = {member.id: member.name for member in record.members}
    with st.form(f"seat-{run}", border=False):
        chosen = st.selectbox(_("Which seat a person takes"), list(names), format_func=lambda i: names[i])
        columns = st.columns(2)
        wait = columns[0].number_input(_("Seconds to answer"), 1, None, None, placeholder=_("as long as it takes"))
        otherwise = columns[1].text_input(
            _("If nobody answers in time"), "abstain", help=_("`abstain`, or the id of a model that answers.")
        )
        if st.form_submit_button(_("Give the seat to a person"), type="primary"):
            spec = {"id": "person", "otherwise": otherwise or "abstain", **({"wait_s": wait} if wait else {})}
            do(ChangeSetup(key=f"members.{chosen}", value=spec))


@offered(Access.RUN)
def seats(house: Courthouse, record: Record) -> None:
    """The links of all seats that persons have, and who is waited for."""
    if not may_change(house.database, Resource(kind="run", id=record.run.id)):
        return
    setup = house.interventions.next_setup(record)
    members = house.procedures[record.run.procedure].panel(setup)
    persons = [member for member in members if "person" in (member.spec.id, member.spec.otherwise)]
    if not persons or record.run.status == "done":
        return
    waiting = {question.member: question for question in house.people.waiting(record.run.id)}
    with st.container(border=True):
        for member in persons:
            question = waiting.get(member.id)
            text = _("is not asked for anything now")
            if question:
                text = _("is asked for: {title}", title=literal(question.title))
            if question and question.deadline:
                text += _(", {deadline} s left", deadline=max(0, round(question.deadline - time.time())))
            token = house.people.seat(record.run.id, member.id).token
            st.markdown(f":material/person: **{literal(member.name)}** ({literal(member.id)}) {text}")
            st.code(f"{server_address()}/?seat={token}", language=None, wrap_lines=True)
        st.caption(
            _(
                "Each link opens that one seat and nothing else. Send it to whoever is to sit there, or open it yourself."
            )
        )
        if urlsplit(server_address()).hostname in HERE_ONLY:
            st.caption(
                _(
                    "The address in it is this computer's own: to open it on a phone, write the address that this computer has in your network."
                )
            )
