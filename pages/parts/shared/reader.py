"""In which language the reader of a page reads, and the button that changes it."""

from __future__ import annotations

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from courtroom.language import ENGLISH, LANGUAGES, follow, language, nearest

CHOSEN = "lang"
"""The choice, in the session and in the address, so that a link keeps it."""
STYLE = """<style>
[data-testid="stLayoutWrapper"]:has(> .st-key-language) { position: absolute; }
.st-key-language { position: fixed; top: .95rem; right: 4.5rem; z-index: 999991; width: auto; }
.st-key-language button { min-height: 0; padding: .2rem .4rem; }
@media (max-width: 640px) { .st-key-language { right: 4rem; } }
</style>"""
"""The button stands beside the menu of the page, on every page, and takes no room of it."""


def speak() -> None:
    """Have everything speak the reader's language; a choice stays in the address."""
    follow(reads)
    if (wanted := st.query_params.get(CHOSEN)) in LANGUAGES:
        st.session_state[CHOSEN] = wanted
    if CHOSEN in st.session_state:
        st.query_params[CHOSEN] = st.session_state[CHOSEN]


def reads() -> str:
    """The language that was chosen; else the browser's; else English."""
    if get_script_run_ctx() is None:  # no page: the engine's threads, the shell
        return ENGLISH
    chosen: str | None = st.session_state.get(CHOSEN)
    return chosen or nearest(st.context.locale)


def switch() -> None:
    """The button to the other language, named in that language."""
    st.html(STYLE)
    (other,) = LANGUAGES.keys() - {language()}
    with st.container(key="language"):
        st.button(LANGUAGES[other], key="switch-language", type="tertiary", on_click=_choose, args=(other,))


def _choose(wanted: str) -> None:
    st.session_state[CHOSEN] = st.query_params[CHOSEN] = wanted
