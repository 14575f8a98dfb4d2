"""What a click does: who may not do it is not offered it, errors become one plain sentence, and what was deleted can be brought back."""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import streamlit as st

from courtroom.access import Access, may
from courtroom.errors import CourtroomError
from courtroom.language import _
from courtroom.settings import from_environment
from courtroom.store.connection import FAILURES
from courtroom.store.database import explained
from pages.parts.shared.shown import literal


@contextmanager
def plainly() -> Iterator[None]:
    """Around a page, and around each part of one that is drawn by itself; the log has the rest of an error."""
    try:
        yield
    except CourtroomError as error:
        st.error(literal(str(error)), icon=":material/error:")
    except FAILURES as error:
        logging.getLogger("courtroom").exception("the store failed")
        st.error(literal(str(explained(error, from_environment().database))), icon=":material/error:")


@contextmanager
def errors_shown() -> Iterator[None]:
    """Around what a click does: an error is shown where the button stands, and the page goes on below it."""
    try:
        yield
    except CourtroomError as error:
        st.error(literal(str(error)))


def do(act: Callable[[], object]) -> None:
    """What a click does; then the page is drawn again."""
    with errors_shown():
        act()
        st.rerun()


@contextmanager
def undo_bar(key: str, restore: Callable[[Any], object]) -> Iterator[None]:
    """Around the sentence that says what was deleted; a button next to it brings that back. `key`: under which the session keeps what was deleted."""
    with st.container(horizontal=True, vertical_alignment="center"):
        yield
        if st.button(_("Undo"), icon=":material/undo:", key=f"undo-{key}"):
            with errors_shown():
                restore(st.session_state[key])
                del st.session_state[key]
                st.rerun()


P = ParamSpec("P")
R = TypeVar("R")


def offered(to: Access) -> Callable[[Callable[P, R]], Callable[P, R | None]]:
    """A part of a page that is drawn only for people who have at least this access."""

    def part(draw: Callable[P, R]) -> Callable[P, R | None]:
        @wraps(draw)
        def drawn(*args: P.args, **kwargs: P.kwargs) -> R | None:
            return draw(*args, **kwargs) if may(to) else None

        return drawn

    return part


def runs_here() -> bool:
    """Whether the person may add and start things; where not, the page says so in place of what it would offer."""
    if may(Access.RUN):
        return True
    st.caption(_(":material/lock: You look on here. Ask an owner of this server if you want to start something."))
    return False
