"""Who has signed in in a session, and the page that asks for it."""

from __future__ import annotations

import time

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from courtroom.access.account import NOBODY, Account, Resource
from courtroom.access.acting import acting
from courtroom.accounts.sign_in import providers
from courtroom.accounts.store import AccountStore, Identity
from courtroom.language import _
from courtroom.sharing.actions import note_sign_in
from courtroom.sharing.links import Links
from courtroom.store.database import Database
from pages.parts.shared.alone_link import opened_now
from pages.parts.shared.inert import literal

NOTED = "sign_in_noted"
"""Whose sign-in is written down, in the session."""
OPENED = "opened"
"""What links have opened for reading, in the session."""


def visitor(accounts: AccountStore, links: Links) -> Account:
    """Who has signed in in the session whose thread asks; outside of any session it is nobody."""
    if get_script_run_ctx(suppress_warning=True) is None:
        return NOBODY
    opened: frozenset[Resource] = st.session_state.get(OPENED, frozenset()) | opened_now(links)
    claims = st.user.to_dict()
    if not claims.get("is_logged_in") or not claims.get("iss") or not claims.get("sub"):
        return NOBODY.model_copy(update={"opened": opened})
    found = accounts.arrive(
        Identity(
            issuer=str(claims["iss"]),
            subject=str(claims["sub"]),
            name=claims.get("name") or "",
            email=claims.get("email") or "",
            verified=str(claims.get("email_verified")).lower() == "true",
        )
    )
    return found.model_copy(update={"opened": opened})


def note_arrival(database: Database) -> None:
    """Write down once that the person has signed in: a page that is loaded anew is no new sign-in."""
    person = acting()
    if person is None or not person.id or st.session_state.get(NOTED) == person.id:
        return
    st.session_state[NOTED] = person.id
    issued = st.user.to_dict().get("iat")
    note_sign_in(database, float(issued) if isinstance(issued, int | float) else time.time())


def opens(resource: Resource) -> None:
    """A link has opened this for reading, for as long as the session lasts."""
    st.session_state[OPENED] = st.session_state.get(OPENED, frozenset()) | {resource}


def sign_in_page() -> None:
    """All that somebody sees who has not signed in."""
    st.title(_("Courtroom"))
    st.markdown(_("Watch language-model agents deliberate on a case, step by step. Sign in to go on."))
    with st.container(horizontal=True):
        for name in providers(st.secrets["auth"]):
            st.button(
                _("Sign in with {name}", name=literal(name.capitalize())) if name else _("Sign in"),
                key=f"sign-in-{name}",
                type="primary",
                icon=":material/login:",
                on_click=st.login,
                args=(name,) if name else (),
            )
