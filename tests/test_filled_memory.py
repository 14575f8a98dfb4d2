"""What the process has freed does not get to the disk with Chroma's files."""

from __future__ import annotations

import ctypes
from collections.abc import Callable

import pytest

from courtroom.knowledge.filled_memory import filled_memory

LIBC = ctypes.CDLL(None)
SIZE = 100_000


def found() -> Callable[[], bytes]:
    """Frees memory with a secret in it, and gives what the next to allocate so much finds there."""
    LIBC.malloc.restype = ctypes.c_void_p
    LIBC.free.argtypes = [ctypes.c_void_p]
    first = LIBC.malloc(SIZE)
    ctypes.memset(first, ord("S"), SIZE)
    LIBC.free(first)

    def allocate() -> bytes:
        second = LIBC.malloc(SIZE)
        data = ctypes.string_at(second, SIZE)
        LIBC.free(second)
        return data

    return allocate


@pytest.mark.skipif(not hasattr(LIBC, "mallopt"), reason="this system's library can't fill memory")
def test_memory_holds_nothing_of_what_was_there_before() -> None:
    assert b"SSSS" in found()(), "else this test would show nothing"
    with filled_memory():
        assert b"SSSS" not in found()()
    assert b"SSSS" in found()(), "it costs nothing afterwards"
