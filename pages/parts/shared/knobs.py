"""Knobs drawn from a setup's fields: title, help, bounds and default come from the field."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, get_args, get_origin

import streamlit as st
from pydantic.fields import FieldInfo

from courtroom.cases.case import Case
from courtroom.engine.knobs import Widget, bounds, fields_drawn, is_group, plain
from courtroom.engine.setup import Budget, Setup
from courtroom.language import _, translated
from pages.parts.shared.draft import SetupDraft
from pages.parts.shared.house import courthouse
from pages.parts.shared.inert import declared, literal

OWN_SECTION = {"model", "roles", "members", "prompts", "embedding", "budget"}
"""Fields of every setup that have a section of their own."""
AMONG_THE_OTHERS = (Widget.SEATS, Widget.KNOWLEDGE_BASE)
"""Widgets that are drawn among the plain fields."""


def plain_fields(kind: type[Setup]) -> dict[str, FieldInfo]:
    """The fields of a setup that have no section or editor of their own."""
    own = OWN_SECTION | {name for widget, name in fields_drawn(kind).items() if widget not in AMONG_THE_OTHERS}
    return {name: field for name, field in kind.model_fields.items() if name not in own}


def knobs(draft: SetupDraft, case: Case) -> None:
    """All plain fields of the setup, then its budget."""
    fields = plain_fields(draft.kind)
    groups = {name: field.annotation for name, field in fields.items() if is_group(field)}
    offered = {name: dict(found) for name in fields if (found := case.choosable(name))}
    for name, options in offered.items():
        _several(fields[name], options, draft, name)
    _grid({n: field for n, field in fields.items() if n not in groups and n not in offered}, draft.values, draft, "")
    for name, group in groups.items():
        st.subheader(declared(fields[name].title or name), help=declared(fields[name].description or "") or None)
        _grid(group.model_fields, draft.values[name], draft, f"{name}-")  # type: ignore[union-attr]
    st.subheader(_("Budget"), help=_("The run pauses when one of these is used up; it can be raised and continued."))
    _grid(Budget.model_fields, draft.values["budget"], draft, "budget-")


def _grid(fields: Mapping[str, FieldInfo], values: dict[str, Any], draft: SetupDraft, prefix: str) -> None:
    """One knob a field, three in a row."""
    columns = st.columns(3, gap="large")
    base = fields_drawn(draft.kind).get(Widget.KNOWLEDGE_BASE)
    for number, (name, field) in enumerate(fields.items()):
        with columns[number % 3]:
            draw = _base if prefix + name == base else knob
            values[name] = draw(field, values[name], draft.key(prefix + name))
            default = field.get_default(call_default_factory=True)
            if values[name] != default:
                st.caption(_("Default: {default}", default=literal(default)))


def _base(field: FieldInfo, value: str, key: str) -> str:
    """One of the knowledge bases that are there; the one that is set stays, also where it is not there."""
    bases = courthouse().knowledge.bases()
    options = [*bases, *({value} - set(bases))]
    chosen: str = st.selectbox(
        declared(field.title or ""),
        options,
        options.index(value),
        key=key,
        help=declared(field.description or "") or None,
        format_func=translated,
    )
    return chosen


def _several(field: FieldInfo, options: dict[str, str], draft: SetupDraft, name: str) -> None:
    """Several of what the case offers."""
    chosen = [one for one in draft.values[name] if one in options]
    draft.values[name] = st.multiselect(
        declared(field.title or name),
        list(options),
        chosen,
        format_func=lambda one: options.get(one, one),
        key=draft.key(name),
        help=declared(field.description or "") or None,
        placeholder=_("the first one"),
    )


def knob(field: FieldInfo, value: Any, key: str) -> Any:
    """One widget for one field, by its type."""
    title, help_text = declared(field.title or ""), declared(field.description or "") or None
    kind, optional = plain(field.annotation)
    if get_origin(kind) is Literal:
        options = list(get_args(kind))
        return st.selectbox(title, options, options.index(value), key=key, help=help_text, format_func=translated)
    if kind is bool:
        return st.toggle(title, value, key=key, help=help_text)
    if kind in (int, float):
        low, high = bounds(field)
        share = kind is float and low == 0 and high == 1
        if share and not optional:
            return st.slider(title, 0.0, 1.0, float(value), 0.05, key=key, help=help_text)
        number = kind(value) if value is not None else None
        step = 1 if kind is int else 0.1
        return st.number_input(
            title, kind(low) if low is not None else None, kind(high) if high is not None else None, number,
            step=step, key=key, help=help_text, placeholder=_("not set") if optional else None,
        )  # fmt: skip
    return st.text_input(title, value or "", key=key, help=help_text)
