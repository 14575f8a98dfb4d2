"""Changes of a run's setup from the next stage on: a persona, a model, an edge, a rule, a prompt, a knob."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from courtroom.courthouse import Courthouse
from courtroom.engine.changes import value_at
from courtroom.engine.interventions import Action, ChangeSetup
from courtroom.engine.knobs import Widget, fields_drawn, is_group
from courtroom.engine.procedure import Procedure
from courtroom.engine.record import Record
from courtroom.engine.setup import Setup
from courtroom.language import _, translated
from courtroom.models.apart import why_no_template
from courtroom.models.prompts import templates
from pages.parts.shared.inert import literal
from pages.parts.shared.knobs import knob, plain_fields

Do = Callable[[Action], None]


def change_form(house: Courthouse, procedure: Procedure, record: Record, do: Do) -> None:
    """Choose what, then how it is to be."""
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
    ways["Prompt"] = lambda: _prompt(procedure, setup, run, do)
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


def _prompt(procedure: Procedure, setup: Setup, run: str, do: Do) -> None:
    shipped = templates(procedure.prompts, procedure.case_kind)
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
