"""What a person picks to vary: things left out in turn, and knobs at chosen values."""

from __future__ import annotations

from typing import Any, Literal, get_args, get_origin

import streamlit as st
from pydantic.fields import FieldInfo

from courtroom.engine.changes import read_values, value_at
from courtroom.engine.knobs import leaves, plain
from courtroom.engine.procedure import Procedure
from courtroom.engine.record import Record
from courtroom.language import _, translated
from courtroom.sweeps.plan import Axis, evidence_left_out, members_left_out, rules_left_out, values
from courtroom.sweeps.proposals import LEFT_AS_THEY_ARE
from pages.parts.shared.inert import declared, literal

MODELS = ("model.id", "model.temperature")


def chosen_axes(procedure: Procedure, base: Record) -> list[Axis]:
    """The axes, in the order in which they stand on the page."""
    turns = {
        "Each piece of evidence": evidence_left_out(base.case),
        "Each member": members_left_out(procedure, base.setup, base.case, base.run.seed),
        "Each rule": rules_left_out(base.setup),
    }
    offered = {f"{translated(title)} ({len(axis)})": axis for title, axis in turns.items() if axis}
    left_out = st.multiselect(
        _("Leave out in turn"), list(offered), key=f"sweep-drop-{base.run.id}", format_func=translated
    )
    axes = [offered[title] for title in left_out]
    fields = varied(procedure)
    paths = st.multiselect(
        _("Vary"),
        list(fields),
        format_func=lambda path: f"{fields[path].title or path} ({path})",
        key=f"sweep-vary-{base.run.id}",
    )
    for path in paths:
        given = _values(fields[path], value_at(base.setup, path), f"sweep-{base.run.id}-{path}", path)
        if given:
            axes.append(values(path, given))
    return axes


def varied(procedure: Procedure) -> dict[str, FieldInfo]:
    """Every knob that can be varied, by path."""
    return {
        path: field
        for path, field in leaves(procedure.setup)
        if (path in MODELS or path.partition(".")[0] not in LEFT_AS_THEY_ARE)
        and (plain(field.annotation)[0] in (int, float, str, bool) or get_origin(plain(field.annotation)[0]) is Literal)
    }


def _values(field: FieldInfo, now: Any, key: str, path: str) -> list[Any]:
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
