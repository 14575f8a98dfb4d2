"""A choice shown by mark, word and colour."""

from __future__ import annotations

import streamlit as st

from courtroom.engine.procedure import Procedure
from courtroom.figures.palette import tone
from courtroom.language import _, translated
from pages.parts.shared.inert import escaped


def choice_html(procedure: Procedure, name: str | None, size: str = "1rem") -> str:
    """HTML for a choice, for another outcome, or for an abstention."""
    text, colour = choice_words(procedure, name)
    weight, spaces = 600 if name else 400, "nowrap" if colour else "normal"  # an outcome in words may be long
    style = f"font-size:{escaped(size)};color:{colour or 'inherit'};font-weight:{weight};white-space:{spaces}"
    return f'<span style="{escaped(style, as_it_is=True)}">{escaped(text, as_it_is=True)}</span>'


def choice_words(procedure: Procedure, name: str | None) -> tuple[str, str]:
    """A choice as plain text, and its colour; empty for an outcome in words, such as a judgment."""
    theme = st.context.theme.type or "light"
    choice = next((choice for choice in procedure.choices if choice.name == name), None)
    if choice:
        return f"{choice.mark} {translated(choice.title)}", tone(choice.tone, theme)
    return (translated(name), "") if name else (f"○ {_('abstained')}", tone(None, theme))
