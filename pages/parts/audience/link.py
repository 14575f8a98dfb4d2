"""The link of an audience, as phones can open it, and as a QR code."""

from __future__ import annotations

import io
from functools import lru_cache
from urllib.parse import urlsplit

import segno
import streamlit as st

from courtroom.language import _

HERE_ONLY = ("localhost", "127.0.0.1", "::1", "[::1]")
"""Hosts by which a computer names itself: a phone that opens them finds nothing."""


def link_of(token: str) -> str:
    """The link, under the address by which phones reach this server; the person can say another than the browser's own."""
    base = (st.context.url or "").split("?")[0].rstrip("/").removesuffix("/deliberation")
    typed = st.text_input(
        _("Address by which phones reach this server"),
        st.session_state.get("audience-address", base),
        key="audience-address-typed",
        max_chars=300,
    ).strip()
    parts = urlsplit(typed)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
        st.error(_("An address begins with http:// or https://, such as http://192.168.1.20:8501."))
        typed = base
    elif parts.hostname in HERE_ONLY:
        st.warning(
            _(
                "This address is this computer's own, and phones can't open it. Write the address that it has in your network."
            ),
            icon=":material/wifi:",
        )
    st.session_state["audience-address"] = typed
    return f"{typed.rstrip('/')}/?audience={token}"


@lru_cache(maxsize=32)
def qr_png(link: str) -> bytes:
    """A QR code with its white margin, as a picture that reads in both themes."""
    picture = io.BytesIO()
    segno.make(link, error="m", micro=False).save(picture, kind="png", scale=10, border=3)
    return picture.getvalue()
