"""A choice shown by mark, word and colour."""

from __future__ import annotations

import streamlit as st

from courtroom.engine.procedure import Procedure
from courtroom.figures.palette import tone
from courtroom.language import _, translated
from pages.parts.shared.inert import escaped


def choice_words(procedure: Procedure, name: str | None) -> tuple[str, str]:
    """The mark and word of a choice, of another outcome, or of an abstention, with its colour (empty where it has none)."""
    theme = st.context.theme.type or "light"
    choice = next((choice for choice in procedure.choices if choice.name == name), None)
    if choice:
        return f"{choice.mark} {translated(choice.title)}", tone(choice.tone, theme)
    return (translated(name), "") if name else (f"○ {_('abstained')}", tone(None, theme))


def choice_html(procedure: Procedure, name: str | None, size: str = "1rem") -> str:
    """HTML for a choice, for another outcome in words, such as a judgment, or for an abstention."""
    words, colour = choice_words(procedure, name)
    style = f"font-size:{escaped(size)}" + (f";color:{colour}" if colour else "") + (";font-weight:600" if name else "")
    style += ";white-space:nowrap" if name and colour else ""
    return f'<span style="{style}">{escaped(words, as_it_is=True)}</span>'
