"""Text of others, shown as what it is: no markup of theirs takes effect, nothing they link to is fetched."""

from __future__ import annotations

from html import escape

import streamlit as st


def inert(text: str, *, small: bool = False, faint: bool = False) -> None:
    """Show text exactly as written, line breaks included."""
    style = "white-space:pre-wrap;overflow-wrap:anywhere;"
    style += "font-size:0.875rem;" if small else ""
    style += "opacity:0.75;" if faint else ""
    st.html(f'<div style="{style}">{escape(text)}</div>')


def literal(text: str) -> str:
    """Text for places that read Markdown, with all of its marks made plain."""
    return "".join(f"\\{c}" if c in "\\`*_{}[]()<>#+-.!|~$:" else c for c in text)
