"""Which model answers: for the run, by role, by member; and keys for this browser session."""

from __future__ import annotations

import json
import os
from typing import Any

import pandas as pd
import streamlit as st

from courtroom.case import Case
from courtroom.engine.procedure import Procedure
from courtroom.models.spec import OFFLINE, PERSON, ModelSpec
from pages.parts.draft import Draft
from pages.parts.inert import literal
from pages.parts.knobs import knob

KEY_NAMES = (
    "OPENAI_API_KEY",
    "OPENAI_API_BASE",
    "ANTHROPIC_API_KEY",
    "GEMINI_API_KEY",
    "DEEPSEEK_API_KEY",
    "OPENROUTER_API_KEY",
)


def models_form(draft: Draft, procedure: Procedure, case: Case) -> None:
    """The run's model with its parameters, then exceptions."""
    st.subheader("The run's model")
    draft.values["model"] = _spec(draft.values["model"], draft.key("model"))
    st.subheader("By role", help="Empty: the run's model.")
    roles = draft.values["roles"]
    for column, role in zip(st.columns(len(procedure.roles), gap="large"), procedure.roles, strict=True):
        with column:
            given = st.text_input(
                literal(role.title), roles.get(role.name, {}).get("id", ""), key=draft.key(f"role-{role.name}"), help=literal(role.help),
                placeholder="the run's model",
            )  # fmt: skip
        _put(roles, role.name, given, draft.values["model"])
    st.subheader("By member", help="A heterogeneous jury: give some members a model of their own.")
    try:
        _, members = procedure.prepare(case, draft.validated(), draft.seed)
    except ValueError:
        st.caption("Mend the setup first.")
        return
    chosen = draft.values["members"]
    table = pd.DataFrame(
        {
            "member": [member.id for member in members],
            "name": [member.name for member in members],
            "model": [chosen.get(member.id, {}).get("id", "") for member in members],
        }
    )
    edited = st.data_editor(
        table, key=draft.key("members"), hide_index=True, disabled=["member", "name"], width="stretch",
        column_config={"model": st.column_config.TextColumn("model", help="Empty: by role, else the run's model.")},
    )  # fmt: skip
    for row in edited.itertuples():
        _put(chosen, str(row.member), str(row.model or ""), draft.values["model"])


def keys_form() -> None:
    """Keys and addresses typed for this session; where the environment has one, it says so."""
    st.subheader(
        "Keys", help="Kept in this browser session's memory only: never stored, logged, exported or shown again."
    )
    secrets = _secrets()
    typed: dict[str, str] = st.session_state.setdefault("typed_keys", {})
    columns = st.columns(3, gap="large")
    for number, name in enumerate(KEY_NAMES):
        with columns[number % 3]:
            state = (
                "typed"
                if typed.get(name)
                else "set on the server"
                if name in os.environ or name in secrets
                else "not set"
            )
            given = st.text_input(
                literal(name), type="password" if name.endswith("KEY") else "default", key=f"key-{name}", placeholder=state,
                autocomplete="off",
            )  # fmt: skip
            if given:
                typed[name] = given
            st.caption(f"Now {state if not given else 'typed'}.")
    if typed and st.button("Forget typed keys"):
        typed.clear()
        st.rerun()


def typed_keys() -> dict[str, str]:
    """Keys for a run: what Streamlit's secrets have, and over it what was typed.

    A typed address is not given the server's own key.
    """
    typed: dict[str, str] = st.session_state.get("typed_keys", {})
    moved = {name.replace("_API_BASE", "_API_KEY") for name in typed if name.endswith("_API_BASE")}
    return {**{name: key for name, key in _secrets().items() if name not in moved}, **typed}


def _secrets() -> dict[str, str]:
    if not st.secrets.load_if_toml_exists():
        return {}
    return {name: str(st.secrets[name]) for name in st.secrets if str(name).endswith(("_API_KEY", "_API_BASE"))}


def _spec(values: dict[str, Any], key: str) -> dict[str, Any]:
    fields = ModelSpec.model_fields
    columns = st.columns(3, gap="large")
    with columns[0]:
        values = {
            **values,
            "id": st.text_input("Model", values["id"], key=f"{key}-id", help=fields["id"].description).strip()
            or OFFLINE,
        }
    of_persons = ("wait_s", "otherwise") if values["id"] == PERSON else ()
    names = [name for name in fields if name not in ("id", "extra", "wait_s", "otherwise")] + list(of_persons)
    with st.expander("Parameters", expanded=values["id"] != OFFLINE):
        for column, part in zip(st.columns(3, gap="large"), (names[:3], names[3:6], names[6:]), strict=True):
            with column:
                for name in part:
                    values[name] = knob(fields[name], values.get(name, fields[name].default), f"{key}-{name}")
        text = st.text_input(
            "Further parameters (JSON)", json.dumps(values["extra"]) if values["extra"] else "", key=f"{key}-extra",
            help=fields["extra"].description, placeholder='{"reasoning_effort": "low"}',
        )  # fmt: skip
        try:
            values["extra"] = json.loads(text) if text.strip() else {}
        except json.JSONDecodeError:
            st.error('Further parameters must be a JSON object, such as {"reasoning_effort": "low"}.')
    return values


def _put(into: dict[str, Any], name: str, model: str, base: dict[str, Any]) -> None:
    model = model.strip()
    if not model:
        into.pop(name, None)
    elif into.get(name, {}).get("id") != model:
        into[name] = {**base, "id": model}
