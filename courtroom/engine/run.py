"""A run as a row: what a list of runs shows of it."""

from dataclasses import dataclass
from typing import Literal

from courtroom.engine.events import Verdict
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


Status = Literal["running", "paused", "done", "failed"]
CELL = "cell"
"""The origin of an experiment's run that teaches the knowledge base nothing, so that no cell depends on what came before it."""


class Run(Strict):
    """One run as listed: everything but its events, case and setup."""

    id: str
    procedure: str
    case_id: str
    title: str
    case_hash: str
    seed: int
    status: Status
    reason: str
    verdict: Verdict | None
    parent: str | None
    origin: str
    created: float
    wall_s: float
    control: Control
    owner: str | None
    heartbeat: float | None
    imported: str | None = None
    """The hash of the file that it was imported from; None where it was made here. It can be read and forked only."""
    exported_id: str | None = None
    """The id that an imported run has in its file, and where it was made."""
    exported_parent: str | None = None
    """The id of its parent there."""


@dataclass(frozen=True)
class Steering:
    """What says how a run is to go on."""

    owner: str | None
    status: str
    control: Control | None
    """None where its row can't be read."""
    interventions: int
    """See `InterventionStore.count`."""
