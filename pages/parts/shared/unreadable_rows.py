"""Rows of the store that can't be read, shown as such above what can."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from courtroom.errors import Unreadable
from courtroom.language import _
from pages.parts.shared.inert import literal

SHOWN = 5


def unreadable_rows(rows: Sequence[Unreadable]) -> None:
    """A sentence each for the first few."""
    for row in rows[:SHOWN]:
        st.warning(literal(str(row)), icon=":material/broken_image:")
    if len(rows) > SHOWN:
        st.caption(_("and {rows} more; `python -m courtroom doctor` lists all.", rows=len(rows) - SHOWN))
