"""The link by which a session sees one thing: what it opens is asked of the server's clock each time, also in an open session."""

from __future__ import annotations

import streamlit as st

from courtroom.access.account import Resource
from courtroom.sharing.links import Links, NoSuchLink

TOKEN = "link_token"
"""In the session."""


def remember() -> str:
    """The link in the address, or the one that the session came by."""
    token: str = st.query_params.get("link") or st.session_state.get(TOKEN, "")
    st.session_state[TOKEN] = token
    return token


def opened_now(links: Links) -> frozenset[Resource]:
    """What the session's link opens at this moment."""
    token: str = st.session_state.get(TOKEN, "")
    if not token:
        return frozenset()
    try:
        return frozenset({links.opened(token)})
    except NoSuchLink:
        return frozenset()
