"""Under which name somebody marks, asks and intervenes."""

from __future__ import annotations

import streamlit as st

from courtroom.access.acting import acting
from courtroom.language import _

LONGEST = 80


def your_name(key: str | None = None, placeholder: str | None = None) -> str:
    """A field for the name; where people sign in, the account's name without a field."""
    person = acting()
    if person is not None:
        return person.signature
    typed: str = st.text_input(
        _("Your name"), st.session_state.get("who", ""), max_chars=LONGEST, placeholder=placeholder, key=key
    )
    return typed.strip()
