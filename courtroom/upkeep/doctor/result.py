"""One thing that was looked at."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from courtroom.strict import Strict

Progress = Callable[[str, int], None]
"""Given what is looked at, and how many of its rows have been so far."""


class CheckResult(Strict):
    """How one thing is."""

    about: str
    state: Literal["fine", "mended", "wrong"]
    sentence: str
    """One sentence; where something is wrong, with what to do."""


def fine(about: str, sentence: str) -> CheckResult:
    """Nothing to do."""
    return CheckResult(about=about, state="fine", sentence=sentence)


def mended(about: str, sentence: str) -> CheckResult:
    """It was wrong."""
    return CheckResult(about=about, state="mended", sentence=sentence)


def wrong(about: str, sentence: str) -> CheckResult:
    """A person has to do something."""
    return CheckResult(about=about, state="wrong", sentence=sentence)
