"""The player's own files: the same code draws the room on the live page and in the HTML report."""

from __future__ import annotations

from functools import cache
from pathlib import Path

_STATIC = Path(__file__).parent / "static"
PARTS = ("dom", "story", "recount", "bench", "flow", "tally", "transcript", "timeline", "drawer", "playlist", "room")
"""The files of the program, each after those that it uses."""


@cache
def program() -> str:
    """The JavaScript that defines `mountRoom(host, hooks)`."""
    return "\n".join((_STATIC / f"{name}.js").read_text(encoding="utf-8") for name in PARTS)


@cache
def style(name: str = "room") -> str:
    """The style sheet of the room, or of a part of the live page that is drawn like it."""
    return (_STATIC / f"{name}.css").read_text(encoding="utf-8")


@cache
def part(name: str) -> str:
    """What draws a part of the live page below the room: `members` or `votes`."""
    return "\n".join((_STATIC / f"{file}.js").read_text(encoding="utf-8") for file in ("dom", "flow", f"in_{name}"))


@cache
def adapter(name: str) -> str:
    """What puts the room into a place: `page` for the live page, `pulse` for what comes in there, `report` for the report; and
    what says something of the browser: `idle` that it has time, `themes` that the system's theme has changed."""
    return (_STATIC / f"in_{name}.js").read_text(encoding="utf-8")
