"""Bounds on what a server may send: whatever comes, only so much of it is read."""

import sys
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass

CHARACTERS_A_TOKEN = 16
SLACK = 4_096


class Overlong(Exception):
    """A reply far beyond the answer's longest."""


class WebPage(Exception):
    """A web page, such as a network's sign-in, in place of a reply."""


@dataclass
class Bound:
    """How much of one reply is read."""

    max_tokens: int
    streams: bool
    heard: Callable[[], None]
    """Called whenever a part of the reply comes."""
    came_whole: bool = False
    """Whether a stream was asked for, and the answer came as a whole."""

    def __post_init__(self) -> None:
        self.characters = CHARACTERS_A_TOKEN * self.max_tokens + SLACK
        """Of the answer and of what the model thought aloud before it."""
        # A stream wraps each token in some hundred bytes, and is not held in memory.
        self.body_bytes = min(2**20 + 2**10 * self.max_tokens, sys.maxsize if self.streams else 2**26)


BOUND: ContextVar[Bound | None] = ContextVar("BOUND", default=None)
"""Of the call under way in this task; None bounds nothing."""
