"""How often pages are drawn again for those who look on: all that together must leave the server time for everything else."""

import secrets
import threading
import time
from collections.abc import Callable

import streamlit as st

SHARE = 0.25
"""Of one core: what drawing pages again may take, for all who look on together."""
LOOKS_SHARE = 0.1
"""The same for their looks."""
AWAY_S = 20.0
"""Who has not looked for so long has left."""
MOST_S = 0.2
"""What counts of a page at most: the first one loads what the later ones have."""
LAST = 0.2
"""How much the page that was drawn last counts in the average."""


class Pace:
    """How long a page waits before it is drawn again by itself. With one session it hardly ever does; with many each waits longer."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._lock = threading.Lock()
        self._looked: dict[str, float] = {}
        self._page_s = self._look_s = 0.0

    def drew(self, seconds: float) -> None:
        with self._lock:
            self._page_s = _average(self._page_s, seconds)

    def looked(self, session: str, seconds: float) -> None:
        with self._lock:
            self._looked[session] = self._now()
            self._look_s = _average(self._look_s, seconds)

    @property
    def page_s(self) -> float:
        """Seconds that a session is to leave between one page and the next."""
        return self._lookers() * self._page_s / SHARE

    @property
    def look_s(self) -> float:
        """Seconds that a session is to leave between one look and the next."""
        return self._lookers() * self._look_s / LOOKS_SHARE

    def _lookers(self) -> int:
        now = self._now()
        with self._lock:
            for gone in [name for name, at in self._looked.items() if now - at > AWAY_S]:
                del self._looked[gone]
            return len(self._looked)


def _average(before: float, last: float) -> float:
    counted = min(last, MOST_S)
    return before + LAST * (counted - before) if before else counted


@st.cache_resource(show_spinner=False)
def pace() -> Pace:
    return Pace()


def this_session() -> str:
    return str(st.session_state.setdefault("session-name", secrets.token_hex(8)))
