"""The store that a command works on, opened and closed in this one place."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from courtroom.courthouse import Courthouse


@contextmanager
def opened() -> Iterator[Courthouse]:
    """The courthouse that the environment gives, closed however the command ends."""
    house = Courthouse()
    try:
        yield house
    finally:
        house.close()
