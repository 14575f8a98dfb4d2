"""A run as a row: what a list of runs shows of it."""

from dataclasses import dataclass
from typing import Literal

from pydantic import Field

from courtroom.engine.events import Verdict
from courtroom.strict import Strict

LARGEST_SEED = 2**63 - 1
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
    by_batch: bool = Field(default=False, exclude_if=lambda by_batch: not by_batch)
    """Whether calls wait for others, and go out with them by their provider's batch."""


RECORDING = "a hearing that Claude, a large language model, answered in November 2026"
"""The origin of a recorded hearing that comes with Courtroom: its answers are on record for everybody."""
FORK_OF_RECORDING = "a fork of a hearing that Claude answered in November 2026"
"""The origin of what is forked from it here."""
ABOUT_RECORDINGS = {
    RECORDING: "Answers of a large language model (Claude), recorded in November 2026.",
    FORK_OF_RECORDING: "Answers from the record are those of a large language model (Claude), recorded in November "
    "2026; what this fork asks anew, somebody else may answer.",
}
"""What everybody who sees such a run has to know, by its origin."""
UNVERIFIED = "Imported: who gave these answers can't be checked here."

Status = Literal["running", "paused", "done", "failed"]
Standing = Literal["done", "failed", "paused", "waits for a seat", "waits for a reply"]
"""Where a run or an experiment stands when somebody is told of it."""
CELL = "cell"
"""The origin of an experiment's run. It teaches nothing, so that no cell depends on what came before it."""


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
    imported: str | None = None
    """The hash of the file that it was imported from; None where it was made here. It can be read and forked only."""
    exported_id: str | None = None
    """The id that an imported run has in its file, and where it was made."""
    exported_parent: str | None = None
    """The id of its parent there."""

    @property
    def outcome(self) -> str | None:
        return self.verdict.outcome if self.verdict else None

    @property
    def is_recording(self) -> bool:
        """Whether it came with Courtroom, so that its answers can be trusted."""
        return self.imported is not None and self.origin == RECORDING

    @property
    def is_unverified(self) -> bool:
        """Whether it was imported from a file of which nobody here knows who wrote it."""
        return self.imported is not None and not self.is_recording


@dataclass(frozen=True)
class Steering:
    """What says how a run is to go on."""

    status: str
    control: Control | None
    """None where its row can't be read."""
    interventions: int
    """See `InterventionStore.count`."""
