"""An answer's fields as labelled text."""

from __future__ import annotations

from typing import Any

import streamlit as st

from courtroom.language import _
from courtroom.report.page import label
from pages.parts.shared.inert import escaped


def answer_view(value: dict[str, Any]) -> None:
    """Nested fields as a nested list; empty ones are left out."""
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
