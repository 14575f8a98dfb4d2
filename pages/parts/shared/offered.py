"""What somebody may not do isn't offered."""

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

import streamlit as st

from courtroom.access.account import Access
from courtroom.access.acting import may
from courtroom.language import _

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
