"""The one courthouse of this server, its door, and which run this browser looks at."""

import threading
from functools import partial
from typing import NoReturn

import streamlit as st

from courtroom.access import acting, acts, found_by
from courtroom.accounts import signs_in
from courtroom.courthouse import Courthouse
from courtroom.errors import CourtroomError
from courtroom.language import _
from courtroom.settings import Settings, from_environment
from courtroom.sharing.links import Links
from courtroom.store.connection import FAILURES
from pages.parts.shared.inert import literal
from pages.parts.shared.reader import note_arrival, sign_in_page, visitor

ALONE = "alone"

_opening = threading.Lock()
_failed: tuple[int, str] = (0, "")
"""How often it could not be opened, and why at last."""
_opened: tuple[Settings, Courthouse] | None = None
"""The settings of the environment under which it was opened, and the courthouse."""


def courthouse() -> Courthouse:
    """The courthouse. It is the door of each page: who has to sign in first gets no further, but to the page that a link opens alone."""
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


def _open() -> Courthouse:
    """The one courthouse of this process, whatever becomes of Streamlit's caches; another one for other settings, as in tests. Who
    has waited while it could not be opened is told the same: a database that does not answer would keep each waiting in turn."""
    global _opened, _failed
    before = _failed
    with _opening:
        if _failed != before:
            raise CourtroomError(_failed[1])
        settings = from_environment()
        if _opened is not None and not _opened[1].closed and _opened[0] != settings:
            _opened[1].close()
        if _opened is None or _opened[1].closed:
            try:
                _opened = (settings.model_copy(), _newly_opened(settings))
            except CourtroomError as error:
                _failed = (_failed[0] + 1, str(error))
                raise
        return _opened[1]


def _newly_opened(settings: Settings) -> Courthouse:
    """Runs and experiments whose process had died go on; where that fails, nothing stays open."""
    secrets = st.secrets if st.secrets.load_if_toml_exists() else {}
    closed = signs_in(settings, secrets.get("auth"))
    with acts(None):
        opened = Courthouse(settings, alone=not closed, streaming=True, connections=secrets.get("connections", {}))
        try:
            opened.runner.resume_interrupted()
            opened.experiments.resume_interrupted()
        except BaseException:
            opened.close()
            raise
    if closed:
        found_by(partial(visitor, opened.accounts, Links(opened.database)))
    return opened


def server_address() -> str:
    """Where the browser has found the app, without the page."""
    address = (st.context.url or "").split("?")[0].rstrip("/")
    pages = ("/deliberation", "/cases", "/experiments")
    return next((address.removesuffix(page) for page in pages if address.endswith(page)), address)


def current_run() -> str | None:
    """The run in the URL, or the one this session looked at last; both are kept the same. Moving to another page drops the query
    parameters, so the session remembers, and the URL is set again."""
    run: str | None = st.query_params.get("run") or st.session_state.get("run")
    if run:
        look_at(run)
    return run


def look_at(run: str) -> None:
    st.session_state["run"] = run
    st.query_params["run"] = run


def open_run(run: str) -> NoReturn:
    st.session_state["run"] = run
    st.switch_page("pages/deliberation.py", query_params={"run": run})
