"""The filter of a list by whose things are, where people sign in."""

from __future__ import annotations

from typing import Literal

import streamlit as st

from courtroom.access.acting import acting
from courtroom.language import _
from pages.parts.shared.inert import literal

Whose = Literal["", "mine", "others"]
CHOICES: tuple[Whose, ...] = ("", "mine", "others")


def whose_filter(key: str) -> Whose:
    """Mine, shared with me, or all; nothing to choose where nobody signs in.

    Args:
        key: names the list.
    """
    person = acting()
    if person is None or not person.id:
        return ""
    words = {"": _("All"), "mine": _("Mine"), "others": _("Shared with me")}
    chosen: Whose | None = st.segmented_control(
        _("Whose"),
        CHOICES,
        default="",
        format_func=lambda one: literal(words[one]),
        key=f"whose-{key}",
        label_visibility="collapsed",
    )
    return chosen or ""
