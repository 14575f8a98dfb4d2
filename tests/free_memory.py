"""Memory that is no longer used goes back to the system."""

import ctypes
from collections.abc import Callable
from functools import cache


def give_back() -> None:
    """Give back what the C library keeps for later: after a large run with many threads that is hundreds of megabytes.

    Nothing where the C library has no such function (it is glibc's own). It takes some hundredths of a second, and other
    threads go on meanwhile.
    """
    if trim := _trim():
        trim(0)


@cache
def _trim() -> Callable[[int], int] | None:
    try:
        return ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError, TypeError):
        return None
