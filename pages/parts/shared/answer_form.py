"""A form for an answer, drawn from its JSON schema: by it persons answer in a seat, and overrule others."""

import json
from collections.abc import Mapping
from typing import Any

import streamlit as st

from courtroom.language import _
from courtroom.report.page import label
from pages.parts.shared.inert import escaped, literal


def answer_fields(schema: Mapping[str, Any], value: Mapping[str, Any] | None, key: str) -> dict[str, Any]:
    """One widget a field; to be called within a form. Raises `ValueError`: a field's JSON can't be read; the message names the field."""
    filled: dict[str, Any] = {}
    kinds = schema.get("$defs", {})
    for name, field in schema.get("properties", {}).items():
        now = (value or {}).get(name, field.get("default"))
        filled[name] = _field(name, _resolved(field, kinds), now, f"{key}-{name}")
    return filled


def _field(name: str, field: Mapping[str, Any], now: Any, key: str) -> Any:
    choices = [choice for choice in field.get("anyOf", ()) if choice.get("type") != "null"]
    if len(choices) == 1 and choices[0].get("type") == "string":
        return _field(name, {**field, **choices[0], "anyOf": ()}, now, key) or None
    title = literal(name.replace("_", " ").capitalize())
    help_text = literal(field.get("description") or "")
    if options := field.get("enum"):
        place = options.index(now) if now in options else None
        return st.radio(title, options, place, key=key, horizontal=True, help=help_text, format_func=literal)
    match field.get("type"):
        case "boolean":
            return st.toggle(title, bool(now), key=key, help=help_text)
        case "integer":
            return st.number_input(title, value=int(now) if now is not None else 0, step=1, key=key, help=help_text)
        case "number":
            return st.number_input(title, value=float(now) if now is not None else 0.0, key=key, help=help_text)
        case "string":
            return st.text_area(title, str(now or ""), key=key, help=help_text, height="content")
        case "array" if field.get("items", {}).get("type") == "string":
            lines = st.text_area(
                _("{title} (one a line)", title=title),
                "\n".join(map(str, now or ())),
                key=key,
                help=help_text,
                height="content",
            )
            return [line.strip() for line in lines.splitlines() if line.strip()]
    given = json.dumps(now, ensure_ascii=False, indent=1) if now is not None else ""
    text = st.text_area(_("{title} (JSON)", title=title), given, key=key, help=help_text, height="content")
    if not text.strip():
        return None
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(_("{title} is not valid JSON, line {line}.", title=title, line=error.lineno)) from error


def _resolved(field: Mapping[str, Any], kinds: Mapping[str, Any]) -> Mapping[str, Any]:
    if "$ref" in field:
        return {**kinds[field["$ref"].rpartition("/")[2]], **field}
    if "const" in field:
        return {**field, "enum": [field["const"]]}
    return field


def answer_view(value: dict[str, Any]) -> None:
    st.html(f'<div style="overflow-wrap:anywhere">{_html(value)}</div>')


def _html(value: Any) -> str:
    if isinstance(value, dict):
        rows = [
            f'<div style="margin:.25rem 0"><span style="opacity:.65;font-size:.8rem">{escaped(label(name))}</span>'
            f'<div style="margin-left:.6rem">{_html(item)}</div></div>'
            for name, item in value.items()
            if item not in ("", [], {}, None)
        ]
        return "".join(rows)
    if isinstance(value, list):
        return (
            '<ul style="margin:.1rem 0;padding-left:1.2rem">'
            + "".join(f"<li>{_html(item)}</li>" for item in value)
            + "</ul>"
        )
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    return escaped(str(value))
