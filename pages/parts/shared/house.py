"""The one courthouse of this server, its door, and which run this browser looks at."""

from __future__ import annotations

from functools import partial

import streamlit as st
from streamlit.runtime.pages_manager import PagesManager

from courtroom.access.acting import acting, acts, found_by
from courtroom.accounts.sign_in import signs_in
from courtroom.courthouse import Courthouse
from courtroom.errors import CourtroomError
from courtroom.language import _
from courtroom.settings import from_environment
from courtroom.sharing.links import Links
from courtroom.store.failures import FAILURES
from pages.parts.shared.inert import literal
from pages.parts.shared.sign_in import note_arrival, sign_in_page, visitor

ALONE = "alone"
"""The page that a link has opened alone, in the session."""


def courthouse() -> Courthouse:
    """The courthouse, within the app's frame.

    Where the first visit to a new server is to a page's own address, Streamlit takes the folder `pages/` for an app
    without `app.py` and draws the page by itself; then it is drawn again, as `app.py` has it. Nothing that a person
    did is lost by that, as it is the first thing that a session does.

    It is the door of each page: who has to sign in first gets no further, but to the page that a link opens alone.
    """
    first = "framed" not in st.session_state
    st.session_state["framed"] = True
    if first and PagesManager.uses_pages_directory:
        PagesManager.uses_pages_directory = False
        st.rerun()
    try:
        with st.spinner(_("Opening the courthouse ...")):
            house = _open()
    except CourtroomError as error:
        st.error(literal(str(error)))
        st.stop()
    person = acting()
    if person is not None and not person.id and not st.session_state.get(ALONE):
        sign_in_page()
        st.stop()
    note_arrival(house.database)
    return house


def outside() -> bool:
    """Whether whoever looks has not come in: has to sign in first, or the courthouse can't be opened."""
    try:
        _open()
        person = acting()
    except (CourtroomError, *FAILURES):
        return True  # the page says why
    return person is not None and not person.id


@st.cache_resource(show_spinner=False)
def _open() -> Courthouse:
    """Opened once a server. Runs, sweeps and experiments whose process had died are taken up again."""
    secrets = st.secrets if st.secrets.load_if_toml_exists() else {}
    settings = from_environment()
    closed = signs_in(settings, secrets.get("auth"))
    with acts(None):
        house = Courthouse(settings, streaming=True, connections=secrets.get("connections", {}))
        house.runner.take_up_interrupted()
        house.sweeps.take_up_interrupted()
        house.experiments.take_up_interrupted()
    found_by(partial(visitor, house.accounts, Links(house.database)) if closed else lambda: None)
    return house


def current_run() -> str | None:
    """The run in the URL, or the one this session looked at last; both are kept the same.

    Moving to another page drops the query parameters, so the session remembers, and the URL is set again.
    """
    run: str | None = st.query_params.get("run") or st.session_state.get("run")
    if run:
        look_at(run)
    return run


def look_at(run: str) -> None:
    """Make this the current run."""
    st.session_state["run"] = run
    st.query_params["run"] = run
