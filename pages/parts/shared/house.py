"""The one courthouse of this server, and which run this browser looks at."""

from __future__ import annotations

import streamlit as st
from streamlit.runtime.pages_manager import PagesManager

from courtroom.courthouse import Courthouse
from courtroom.errors import CourtroomError
from courtroom.language import _
from pages.parts.shared.inert import literal


def courthouse() -> Courthouse:
    """The courthouse, within the app's frame.

    Where the first visit to a new server is to a page's own address, Streamlit takes the folder `pages/` for an app
    without `app.py` and draws the page by itself; then it is drawn again, as `app.py` has it. Nothing that a person
    did is lost by that, as it is the first thing that a session does.
    """
    first = "framed" not in st.session_state
    st.session_state["framed"] = True
    if first and PagesManager.uses_pages_directory:
        PagesManager.uses_pages_directory = False
        st.rerun()
    try:
        with st.spinner(_("Opening the courthouse ...")):
            return _open()
    except CourtroomError as error:
        st.error(literal(str(error)))
        st.stop()


@st.cache_resource(show_spinner=False)
def _open() -> Courthouse:
    """Opened once a server. Runs, sweeps and experiments whose process had died are taken up again."""
    listed = st.secrets.get("connections", {}) if st.secrets.load_if_toml_exists() else {}
    house = Courthouse(streaming=True, connections=listed)
    house.runner.take_up_interrupted()
    house.sweeps.take_up_interrupted()
    house.experiments.take_up_interrupted()
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
