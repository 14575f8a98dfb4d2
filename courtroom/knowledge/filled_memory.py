"""Memory that is filled before it is used, while Chroma works.

Chroma's graph files hold buffers that it has allocated and not yet written to. What was in that memory before, which may
be a key that some other part of the process has freed, would get to the disk with them.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Iterator
from contextlib import contextmanager

M_PERTURB = -6
"""Of glibc's `mallopt`: allocated memory is filled with a byte's complement. Other systems' libraries lack it."""
_lock = threading.Lock()
_users = 0


@contextmanager
def filled_memory() -> Iterator[None]:
    """All memory that this process allocates meanwhile is filled, in whatever thread."""
    _count(1)
    try:
        yield
    finally:
        _count(-1)


def _count(change: int) -> None:
    global _users
    with _lock:
        _users += change
        mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
        if mallopt is not None:
            mallopt(M_PERTURB, 1 if _users else 0)
