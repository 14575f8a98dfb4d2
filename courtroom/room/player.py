"""The player's own files: the same code draws the room on the live page and in the HTML report."""

from __future__ import annotations

from functools import cache
from pathlib import Path

_STATIC = Path(__file__).parent / "static"
PARTS = ("dom", "story", "recount", "bench", "tally", "transcript", "timeline", "drawer", "playlist", "room")
"""The files of the program, each after those that it uses."""


@cache
def program() -> str:
    """The JavaScript that defines `mountRoom(host, hooks)`."""
    return "\n".join((_STATIC / f"{name}.js").read_text(encoding="utf-8") for name in PARTS)


@cache
def style() -> str:
    """The style sheet."""
    return (_STATIC / "room.css").read_text(encoding="utf-8")


@cache
def adapter(name: str) -> str:
    """What puts the room into a place: `page` for the live page, `pulse` for what comes in there, `report` for the report."""
    return (_STATIC / f"in_{name}.js").read_text(encoding="utf-8")
