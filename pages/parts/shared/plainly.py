"""Errors as one plain sentence on the page; the log has the rest."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from courtroom.errors import CourtroomError
from courtroom.settings import from_environment
from courtroom.store.database import explained
from courtroom.store.failures import FAILURES
from pages.parts.shared.inert import literal


@contextmanager
def plainly() -> Iterator[None]:
    """Around a page, and around each part of one that is drawn anew by itself."""
    try:
        yield
    except CourtroomError as error:
        st.error(literal(str(error)), icon=":material/error:")
    except FAILURES as error:
        logging.getLogger("courtroom").exception("the store failed")
        st.error(literal(str(explained(error, from_environment().database))), icon=":material/error:")
