"""A page follows the system from one theme to the other while it stands."""

from __future__ import annotations

import streamlit as st

from courtroom.room.player import adapter

_themes = st.components.v2.component("courtroom_themes", js=adapter("themes"), isolate_styles=False)


def follow_the_theme() -> None:
    """Have the page drawn anew when the system's theme changes: Streamlit changes its own colours only, not those that it was given."""
    _themes(key="themes", data=st.context.theme.type or "light", height=1, on_changed_change=_drawn_anew)


def _drawn_anew() -> None:
    """Nothing else is to be done."""
