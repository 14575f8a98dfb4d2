"""The choice of how texts are compared in look-ups."""

from __future__ import annotations

import streamlit as st

from courtroom.knowledge.embedding import DEFAULT
from courtroom.knowledge.embeddings import REMOTE, about_embedding, embedding_problem
from courtroom.knowledge.local_encoder import LOCAL, MISSING, installed
from courtroom.language import _
from pages.parts.shared.inert import literal


def embedding_choice(servers: str, value: str, key: str) -> str:
    """An embedding from the list, or any LiteLLM id that is written; below it, what is to be known of it.

    Args:
        servers: the one that the server's owner has set.
        value: the chosen one; empty is the server's.

    Returns:
        The choice; empty where it is the server's own, or where it can't be used.
    """
    options = list(dict.fromkeys(("", DEFAULT, *REMOTE, *LOCAL, value)))
    chosen = st.selectbox(
        _("Embedding"),
        options,
        options.index(value),
        key=key,
        accept_new_options=True,
        format_func=lambda name: (
            literal(name) if name else _("as set on the server: {servers}", servers=literal(servers))
        ),
        help=_(
            "How texts are compared in look-ups. Choose one, or write a LiteLLM id. A first look-up with another embedding has to "
            "embed the whole collection."
        ),
    )
    chosen = str(chosen or "").strip()
    if problem := embedding_problem(chosen):
        st.error(literal(_("This embedding can't be used: {problem}.", problem=problem)))
        return ""
    st.caption(literal(about_embedding(chosen or servers)))
    if chosen in LOCAL and not installed(chosen):
        st.warning(literal(MISSING))
    return chosen
