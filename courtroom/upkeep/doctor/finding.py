"""One thing that was looked at."""

from __future__ import annotations

from typing import Literal

from courtroom.strict import Strict


class Finding(Strict):
    """How one thing is."""

    about: str
    state: Literal["fine", "mended", "wrong"]
    told: str
    """One sentence; where something is wrong, with what to do."""


def fine(about: str, told: str) -> Finding:
    """Nothing to do."""
    return Finding(about=about, state="fine", told=told)


def mended(about: str, told: str) -> Finding:
    """It was wrong."""
    return Finding(about=about, state="mended", told=told)


def wrong(about: str, told: str) -> Finding:
    """A person has to do something."""
    return Finding(about=about, state="wrong", told=told)
