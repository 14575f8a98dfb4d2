"""What is under way in this process and not yet on disk: open calls and the text that streams in."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass
class OpenCall:
    """A call that waits for its answer."""

    member: str
    title: str
    model: str
    since: float = field(default_factory=time.monotonic)
    """When it was asked, by a clock that nobody sets."""
    text: str = ""


@dataclass
class Live:
    """Open calls of one run by path. Written by the loop's thread, read by pages."""

    streaming: bool = False
    calls: dict[str, OpenCall] = field(default_factory=dict)

    def watch(self, path: str) -> Callable[[str], None] | None:
        """Where a streaming model shows the text so far; None where nobody would see it."""
        if not self.streaming:
            return None

        def tell(text: str) -> None:
            if call := self.calls.get(path):
                call.text = text

        return tell

    def snapshot(self) -> dict[str, OpenCall]:
        """The open calls as of now."""
        return dict(self.calls)
