"""How far a run may go, as data: written by any page or shell, obeyed by whoever drives the run."""

from __future__ import annotations

from typing import Literal

from courtroom.strict import Strict

Break = Literal["round", "change", "consensus"]
BREAKS: dict[Break, str] = {
    "round": "after every round",
    "change": "when a member changes sides",
    "consensus": "when consensus is reached",
}


class Control(Strict):
    """Run freely (the default), up to a stage, or not at all."""

    paused: bool = False
    stopped: bool = False
    """Let go of the run: nothing more is asked, and nobody waits for it in memory."""
    upto: int | None = None
    """Index of the last stage that may be worked on."""
    stage: str | None = None
    """Name, slug or kind of the stage after which to pause."""
    breaks: tuple[Break, ...] = ()
