"""A choice shown by mark, word and colour."""

from __future__ import annotations

import streamlit as st

from courtroom.engine.procedure import Procedure
from courtroom.figures.palette import tone
from courtroom.language import _, translated
from pages.parts.shared.inert import escaped


def choice_html(procedure: Procedure, name: str | None, size: str = "1rem") -> str:
    """HTML for a choice, for another outcome, or for an abstention."""
    theme = st.context.theme.type or "light"
    known = {choice.name: choice for choice in procedure.choices}
    choice = known.get(name) if name else None
    if name and choice is None:  # an outcome in words, such as a judgment
        return f'<span style="font-weight:600;font-size:{escaped(size)}">{escaped(name)}</span>'
    if choice is None:
        return f'<span style="color:{tone(None, theme)};font-size:{escaped(size)}">○ {_("abstained")}</span>'
    return f'<span style="color:{tone(choice.tone, theme)};font-weight:600;white-space:nowrap;font-size:{escaped(size)}">{escaped(choice.mark)} {escaped(choice.title)}</span>'


def choice_words(procedure: Procedure, name: str | None) -> tuple[str, str]:
    """The same as plain text, with its colour; empty for an outcome in words."""
    theme = st.context.theme.type or "light"
    choice = next((choice for choice in procedure.choices if choice.name == name), None)
    if choice:
        return f"{choice.mark} {translated(choice.title)}", tone(choice.tone, theme)
    return (translated(name), "") if name else (f"○ {_('abstained')}", tone(None, theme))
