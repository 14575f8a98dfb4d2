"""Knobs that can be varied, and the values that a person chooses for one: in a sweep, or for the arms of an experiment."""

from __future__ import annotations

from typing import Any, Literal, get_args, get_origin

import streamlit as st
from pydantic.fields import FieldInfo

from courtroom.engine.changes import read_values
from courtroom.engine.knobs import leaves, plain
from courtroom.engine.procedure import Procedure
from courtroom.language import _, translated
from courtroom.sweeps.proposals import LEFT_AS_THEY_ARE
from pages.parts.shared.inert import declared, literal

MODELS = ("model.id", "model.temperature")


def varied(procedure: Procedure) -> dict[str, FieldInfo]:
    """Every knob that can be varied, by path."""
    return {
        path: field
        for path, field in leaves(procedure.setup)
        if (path in MODELS or path.partition(".")[0] not in LEFT_AS_THEY_ARE)
        and (plain(field.annotation)[0] in (int, float, str, bool) or get_origin(plain(field.annotation)[0]) is Literal)
    }


def knob_values(field: FieldInfo, now: Any, key: str, path: str) -> list[Any]:
    """The values of one knob: picked where there are few, typed where there are many."""
    kind = plain(field.annotation)[0]
    title = _("{title}: now {now}", title=literal(field.title or path), now=literal(now))
    if kind is bool:
        st.caption(_("{title}; both are heard.", title=title))
        return [True, False]
    if get_origin(kind) is Literal:
        others = [value for value in get_args(kind) if value != now]
        return st.multiselect(
            title,
            list(get_args(kind)),
            others,
            key=key,
            help=declared(field.description or "") or None,
            format_func=translated,
        )
    text = st.text_input(
        title, key=key, help=declared(field.description or "") or None,
        placeholder=_("values with commas, e.g. ") + (_("offline, openai/gpt-4o-mini") if kind is str else "1, 2, 3"),
    )  # fmt: skip
    return read_values(text) if text.strip() else []
