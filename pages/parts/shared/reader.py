"""In which language the reader of a page reads, and the button that changes it."""

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from courtroom.language import ENGLISH, LANGUAGES, follow, language, nearest
from courtroom.room.player import adapter
from pages.parts.shared.inert import literal

CHOSEN = "lang"
"""The choice, in the session and in the address, so that a link keeps it."""
PICKED, COOKIE = "lang-picked", "courtroom_lang"
"""What the button picked; the browser keeps that in a cookie, for visits without it in the address."""
STYLE = """<style>
[data-testid="stLayoutWrapper"]:has(> .st-key-language) { position: absolute; }
.st-key-language { position: fixed; top: .95rem; right: 4.5rem; z-index: 999991; width: auto; }
.st-key-language button { min-height: 0; padding: .2rem .4rem; }
@media (max-width: 640px) { .st-key-language { right: 4rem; } }
</style>"""
"""The button stands next to the menu of the page, on every page, and takes no room of it."""


def speak() -> None:
    """Have everything speak the reader's language; a choice stays in the address."""
    follow(reads)
    if (wanted := st.query_params.get(CHOSEN)) in LANGUAGES:
        st.session_state[CHOSEN] = wanted
    if CHOSEN in st.session_state:
        st.query_params[CHOSEN] = st.session_state[CHOSEN]


def reads() -> str:
    """The language that was chosen; else the one that was picked at an earlier visit; else the browser's; else English."""
    if get_script_run_ctx() is None:  # no page: the engine's threads, the shell
        return ENGLISH
    chosen: str | None = st.session_state.get(CHOSEN)
    kept = st.context.cookies.get(COOKIE)
    return chosen or (kept if kept in LANGUAGES else nearest(st.context.locale))


def switch() -> None:
    """The button to the other language, named in that language."""
    st.html(STYLE)
    (other,) = LANGUAGES.keys() - {language()}
    with st.container(key="language"):
        st.button(LANGUAGES[other], key="switch-language", type="tertiary", on_click=_choose, args=(other,))


def _choose(wanted: str) -> None:
    st.session_state[CHOSEN] = st.session_state[PICKED] = st.query_params[CHOSEN] = wanted


_themes = st.components.v2.component("courtroom_themes", js=adapter("themes"), isolate_styles=False)


def follow_the_theme() -> None:
    """Have the page drawn again when the system's theme changes: Streamlit changes its own colours only, not those that it was given."""
    _themes(
        key="themes",
        data={"theme": st.context.theme.type or "light", "picked": st.session_state.get(PICKED, "")},
        height=1,
        on_changed_change=_drawn_anew,
    )


def _drawn_anew() -> None:
    """Nothing else is to be done."""


SHORT = 50
"""Characters that a title in large letters may have; a longer one would fill the top of the page."""


def heading(title: str) -> None:
    """The title, in smaller letters where it is long."""
    if len(title) <= SHORT:
        st.title(literal(title))
    else:
        st.subheader(literal(title))
