"""Memory that is no longer used goes back to the system."""

import ctypes
from contextlib import suppress


def give_back() -> None:
    """Give back what the C library keeps for later: after a large run with many threads that is hundreds of megabytes.

    Nothing where the C library has no such function (it is glibc's own). It takes some hundredths of a second, and other
    threads go on meanwhile.
    """
    glibc("malloc_trim", 0)


def glibc(name: str, *given: int) -> None:
    """Call a function of glibc's own."""
    with suppress(AttributeError, OSError, TypeError):  # another C library has no such function
        getattr(ctypes.CDLL(None), name)(*given)
