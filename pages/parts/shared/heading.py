"""The heading of a page that bears the title of somebody's case, however long it is."""

from __future__ import annotations

import streamlit as st

from pages.parts.shared.inert import literal

SHORT = 50
"""Characters that a title in large letters may have; a longer one would fill the top of the page."""


def heading(title: str) -> None:
    """The title, in smaller letters where it is long."""
    if len(title) <= SHORT:
        st.title(literal(title))
    else:
        st.subheader(literal(title))
