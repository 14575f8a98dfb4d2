"""Which model answers: for the run, by role, by member; at which server; and keys for this browser session."""

from __future__ import annotations

import json
from typing import Any

import pandas as pd
import streamlit as st

from courtroom.cases.case import Case
from courtroom.engine.knobs import Widget
from courtroom.engine.procedure import Procedure
from courtroom.language import _, translated
from courtroom.models.connections import Connections
from courtroom.models.keys import first_set, typed_name
from courtroom.models.providers import PROVIDERS
from courtroom.models.spec import OFFLINE, PERSON, ModelSpec
from pages.parts.shared.draft import SetupDraft
from pages.parts.shared.inert import declared, literal
from pages.parts.shared.knobs import knob
from pages.parts.shared.model_picker import model_picker, one_for_each_seat, try_it
from pages.parts.shared.table import heads

OFFERED = ("openai", "anthropic", "gemini", "deepseek", "openrouter", "groq", "mistral", "xai", "together_ai")
"""Providers for which a key can be typed."""
OWN = "the provider's own"


def models_form(draft: SetupDraft, procedure: Procedure, case: Case, connections: Connections) -> None:
    """The run's model with its parameters, then exceptions."""
    st.subheader(_("The run's model"))
    draft.values["model"] = _spec(draft.values["model"], draft.key("model"), connections)
    st.subheader(_("By role"), help=_("Empty: the run's model, or nobody where a role needs a model of its own."))
    roles = draft.values["roles"]
    for column, role in zip(st.columns(len(procedure.roles), gap="large"), procedure.roles, strict=True):
        with column:
            given = st.text_input(
                declared(role.title), roles.get(role.name, {}).get("id", ""), key=draft.key(f"role-{role.name}"), help=declared(role.help),
                placeholder=_("a model of its own") if role.own_model else _("the run's model"),
            )  # fmt: skip
            there = roles.get(role.name, {}).get("connection", "")
            if given.strip() and (connections or there):
                there = _connection(there, connections, draft.key(f"role-{role.name}-connection"))
        _put(roles, role.name, given, there, draft.values["model"])
    st.subheader(_("By member"), help=_("A heterogeneous jury: give some members a model of their own."))
    try:
        members = procedure.prepare(case, draft.validated(), draft.seed)[1]
    except ValueError:
        st.caption(_("Mend the setup first."))
        return
    chosen = draft.values["members"]
    if one_for_each_seat(
        [member.id for member in members], chosen, draft.values["model"], draft.key("each"), connections
    ):
        draft.renew()
        st.rerun()
    table = pd.DataFrame(
        {
            "member": [member.id for member in members],
            "name": [translated(member.name) for member in members],
            "model": [chosen.get(member.id, {}).get("id", "") for member in members],
            "connection": [chosen.get(member.id, {}).get("connection", "") for member in members],
        }
    )
    stated = draft.values[name] if (name := draft.drawn.get(Widget.POINTS_OF_VIEW)) else None
    if stated is not None:
        table["point of view"] = [stated.get(member.id, "") for member in members]
    if not connections and not any(table["connection"]):
        table = table.drop(columns="connection")
    edited = st.data_editor(
        table, key=draft.key("members"), hide_index=True, disabled=["member", "name"], width="stretch",
        column_config=heads(table, {
            "model": st.column_config.TextColumn(_("model"), help=_("Empty: by role, else the run's model.")),
            "connection": st.column_config.SelectboxColumn(
                _("connection"), options=["", *connections], help=_("Empty: the provider's own server.")
            ),
            "point of view": st.column_config.TextColumn(
                _("point of view"), width="large", help=_("What this seat looks at first; empty: nothing is said of it.")
            ),
        }),
    )  # fmt: skip
    for row in edited.to_dict("records"):
        _put(chosen, row["member"], row["model"] or "", row.get("connection") or "", draft.values["model"])
        if stated is not None:
            _state(stated, row["member"], row["point of view"] or "")


def keys_form(connections: Connections) -> None:
    """Keys typed for this session; where the owner has set one, it says so. Addresses are the owner's alone."""
    st.subheader(
        _("Keys"), help=_("Kept in this browser session's memory only: never stored, logged, exported or shown again.")
    )
    st.caption(
        _(
            "A key that you type is used while you have a run go on, and forgotten as soon as somebody else does. It goes to the address that is shown with it. To use a server of your own, such as Ollama or vLLM, whoever runs this app sets its address before starting it ({value} ...) or lists it as a connection in the file that {value_2} names.",
            value=literal("OLLAMA_API_BASE, HOSTED_VLLM_API_BASE, OPENAI_API_BASE"),
            value_2=literal("COURTROOM_CONNECTIONS"),
        )
    )
    typed: dict[str, str] = st.session_state.setdefault("typed_keys", {})
    columns = st.columns(3, gap="large")
    places = [
        (PROVIDERS[name].keys[0], first_set(PROVIDERS[name].addresses), bool(first_set(PROVIDERS[name].keys)))
        for name in OFFERED
    ]
    places += [(typed_name(name), one.address, bool(one.secret)) for name, one in connections.items()]
    for number, (name, address, known) in enumerate(places):
        with columns[number % 3]:
            state = "typed" if typed.get(name) else _("set on the server") if known else _("not set")
            own = not (known and name.startswith("connections."))  # there the owner's key counts alone
            given = st.text_input(
                literal(name),
                type="password",
                key=f"key-{name}",
                placeholder=state,
                autocomplete="off",
                disabled=not own,
            )
            if given and own:
                typed[name] = given
            to = _(", goes to {address}", address=literal(address)) if address else ""
            st.caption(_("Now {state}{to}.", state=state if not given else _("typed"), to=to))
    if typed and st.button(_("Forget typed keys")):
        for name in typed:
            st.session_state.pop(f"key-{name}", None)
        typed.clear()
        st.rerun()


def typed_keys() -> dict[str, str]:
    """What was typed in this browser session, to be given with each command that has a run go on."""
    return dict(st.session_state.get("typed_keys", {}))


def _connection(value: str, connections: Connections, key: str) -> str:
    options = ["", *connections, *([value] if value and value not in connections else [])]
    return str(
        st.selectbox(
            _("Connection"), options, options.index(value), key=key, format_func=lambda name: name or OWN,
            help=declared(ModelSpec.model_fields["connection"].description or ""),
        )
    )  # fmt: skip


def _spec(values: dict[str, Any], key: str, connections: Connections) -> dict[str, Any]:
    fields = ModelSpec.model_fields
    columns = st.columns(3, gap="large")
    with columns[0]:
        values, is_listed = model_picker(values, key, connections)
        if not is_listed and (connections or values.get("connection")):
            there = _connection(values.pop("connection", ""), connections, f"{key}-connection-{values['id']}")
            values |= {"connection": there} if there else {}
    with columns[1]:
        try_it(values, key, connections)
    of_persons = ("wait_s", "otherwise") if values["id"] == PERSON else ()
    names = [name for name in fields if name not in ("id", "connection", "extra", "wait_s", "otherwise")] + list(
        of_persons
    )
    with st.expander(_("Parameters"), expanded=values["id"] != OFFLINE):
        for column, part in zip(st.columns(3, gap="large"), (names[:3], names[3:6], names[6:]), strict=True):
            with column:
                for name in part:
                    values[name] = knob(fields[name], values.get(name, fields[name].default), f"{key}-{name}")
        text = st.text_input(
            _("Further parameters (JSON)"), json.dumps(values["extra"]) if values["extra"] else "", key=f"{key}-extra",
            help=declared(fields["extra"].description or ""), placeholder='{"reasoning_effort": "low"}',
        )  # fmt: skip
        try:
            values["extra"] = json.loads(text) if text.strip() else {}
        except json.JSONDecodeError:
            st.error(_('Further parameters must be a JSON object, such as {"reasoning_effort": "low"}.'))
    return values


def _state(into: dict[str, str], member: str, view: str) -> None:
    if view.strip():
        into[member] = view.strip()
    else:
        into.pop(member, None)


def _put(into: dict[str, Any], name: str, model: str, connection: str, base: dict[str, Any]) -> None:
    model, now = model.strip(), into.get(name, {})
    if not model:
        into.pop(name, None)
    elif (now.get("id"), now.get("connection", "")) != (model, connection):
        rest = {field: value for field, value in (now or base).items() if field != "connection"}
        into[name] = {**rest, "id": model, **({"connection": connection} if connection else {})}
