"""How often pages are drawn anew for those who look on: all that together must leave the server time for everything else."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable

import streamlit as st

SHARE = 0.25
"""Of one core: what drawing pages anew may take, for all who look on together."""
AWAY_S = 5.0
"""Who has not looked for so long has left."""
LAST = 0.2
"""How much the page that was drawn last counts in the average."""


class Pace:
    """How long a page waits before it is drawn anew by itself. With one session it hardly ever does; with many each waits longer.

    Args:
        now: seconds on a clock that nobody sets.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._lock = threading.Lock()
        self._looked: dict[str, float] = {}
        self._cost_s = 0.0

    def drew(self, seconds: float) -> None:
        """A page was drawn, and took so much CPU time."""
        with self._lock:
            self._cost_s += LAST * (seconds - self._cost_s) if self._cost_s else seconds

    def wait_s(self, session: str) -> float:
        """A session looks on: seconds that it is to leave between one page and the next."""
        now = self._now()
        with self._lock:
            self._looked[session] = now
            for gone in [name for name, at in self._looked.items() if now - at > AWAY_S]:
                del self._looked[gone]
            return len(self._looked) * self._cost_s / SHARE


@st.cache_resource(show_spinner=False)
def pace() -> Pace:
    """One for all sessions."""
    return Pace()


def this_session() -> str:
    """A name that this session alone has."""
    return str(st.session_state.setdefault("session-name", secrets.token_hex(8)))
