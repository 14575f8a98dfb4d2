"""Who has signed in, at the top of each page, with the way out."""

from __future__ import annotations

import streamlit as st

from courtroom.access.account import Access, Account
from courtroom.language import _
from pages.parts.shared.inert import inert, literal

STYLE = """<style>
[data-testid="stLayoutWrapper"]:has(> .st-key-person) { position: absolute; }
.st-key-person { position: fixed; top: .95rem; right: 8.5rem; z-index: 999991; width: auto; }
.st-key-person button { min-height: 0; padding: .2rem .4rem; max-width: 11rem; }
.st-key-person button p { white-space: nowrap; overflow: hidden; text-overflow: ellipsis; }
@media (max-width: 640px) { .st-key-person { right: 7.5rem; } .st-key-person button { max-width: 6rem; } }
</style>"""
"""Beside the button of the language, on every page; it takes no room of it."""


def in_words(access: Access) -> str:
    """What an access allows."""
    return {
        Access.NONE: _("Sees what is public"),
        Access.LOOK: _("Looks on"),
        Access.RUN: _("Runs hearings"),
        Access.OWN: _("Owns this server"),
    }[access]


def person_view(person: Account) -> None:
    """The name; behind it what the person may do, and the way out."""
    st.html(STYLE)
    with (
        st.container(key="person"),
        st.popover(literal(person.name), type="tertiary", icon=":material/account_circle:"),
    ):
        inert(person.email, small=True)
        st.caption(literal(in_words(person.access)))
        if person.access is Access.NONE:
            st.caption(_("Ask an owner of this server if you need to see more."))
        if person.access >= Access.OWN:
            st.page_link("pages/people.py", label=_("People"), icon=":material/group:")
        st.button(_("Sign out"), key="sign-out", icon=":material/logout:", on_click=st.logout)
