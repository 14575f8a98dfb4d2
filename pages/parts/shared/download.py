"""The button that gives a file to a person; where people sign in, who took which file is written down."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from courtroom.access.account import Resource
from courtroom.access.acting import acting, by
from courtroom.courthouse import Courthouse
from courtroom.sharing.actions import note
from pages.parts.shared.inert import declared

Content = str | bytes


def download(
    house: Courthouse,
    label: str,
    content: Content | Callable[[], Content],
    name: str,
    of: Resource | None = None,
    *,
    mime: str | None = None,
    icon: str | None = ":material/download:",
    key: str | None = None,
    help_: str | None = None,
) -> None:
    """The button.

    Args:
        content: what is in the file, or what makes it once it is wanted. It is made for the person who sees the button.
        of: what it is taken from.
    """
    person = acting()

    def given() -> Content:
        made = content() if callable(content) else content
        note(house.database, "download", of, name)
        return made

    wanted = content if person is None else by(person, given)
    st.download_button(declared(label), wanted, name, mime, icon=icon, key=key, help=declared(help_) if help_ else None)
