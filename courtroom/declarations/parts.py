"""The parts of which a procedure's declaration consists, as plain data."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from pydantic import BaseModel

from courtroom.cases.case import Case
from courtroom.declarations.blocks import Block, Text
from courtroom.errors import CourtroomError, place_and_error
from courtroom.models.task import Task

if TYPE_CHECKING:
    from courtroom.engine.answers import AnswerStore
    from courtroom.engine.record import Record

log = logging.getLogger(__name__)
M = TypeVar("M", bound=BaseModel)


@dataclass(frozen=True)
class Role:
    """A part that members play."""

    name: str
    title: str
    help: str
    votes: bool = False


@dataclass(frozen=True)
class StageKind:
    """A kind of stage; how many there are of it and their names are known only while running."""

    name: str
    title: str
    help: str


ROUND = "round"
"""The kind of stage in which members discuss and vote, again and again; its ballots are counted as rounds."""


@dataclass(frozen=True)
class Choice:
    """Something that can be voted for, shown by word and shape as well as by colour.

    `tone` is 0, 1, 2 ... of the colour-blind-safe palette; `symbol` is a Plotly marker symbol, `mark` a character.
    """

    name: str
    title: str
    tone: int
    symbol: str
    mark: str


Seating = Literal["ring", "bench", "rows"]
"""How members sit: those who vote around a ring, or on a bench before the others; or all in rows."""


Rule = Literal["most", "half", "two-thirds", "five-sixths", "all", "last"]
"""How many of the seats a choice needs; `last`: the last member's vote decides."""


@dataclass(frozen=True)
class Counting:
    """How votes are counted: what is drawn beside them, and where a recount by other rules starts from."""

    above: float | None = None
    """The share of all seats that ends the discussion when it is exceeded, 0 to 1; None where nothing ends it early."""
    tie: str | None = None
    """The choice to which a tie goes; None where another thing decides."""
    rule: Rule = "most"


@dataclass(frozen=True)
class Peers:
    """What of a task's inputs comes from other members, so that a vote which follows from its answer can be audited."""

    task: type[Task[Any]]
    shown: Callable[[Any, bool, bool], Task[Any]]
    """The same task with so much of it: (task, votes, reasons) -> task. Votes are what others decided, reasons why."""
    choice: Callable[[Any, Any], str]
    """What an answer votes for: (task, answer) -> a choice's name."""
    said: str = ""
    """The input that holds what peers said, each with its name; empty where no peer can be left out alone."""
    own: str = ""
    """The input with the member's own name, where that stands among them."""

    def without(self, task: Task[Any]) -> dict[str, Task[Any]]:
        """Return the same task without one of the peers, by each peer's name."""
        given = getattr(task, self.said) if self.said else ()
        names = dict.fromkeys(one.name for one in given if not self.own or one.name != getattr(task, self.own))
        less = {name: tuple(one for one in given if one.name != name) for name in names}
        return {name: task.model_copy(update={self.said: left}) for name, left in less.items()}


def in_part(
    said: Sequence[M], votes: bool, reasons: bool, *, no_vote: Mapping[str, Any], no_reason: Mapping[str, Any]
) -> tuple[M, ...]:
    """Return what peers said with their votes and reasons, with one of both, or nothing.

    Args:
        no_vote, no_reason: what stands in the place of each.
    """
    hidden = {**({} if votes else no_vote), **({} if reasons else no_reason)}
    return tuple(one.model_copy(update=hidden) for one in said if votes or reasons)


@dataclass(frozen=True)
class Controls:
    """What a panel is held against, each as changes of its setup; None where the procedure has no such arm."""

    seats: str
    """The knob of how many members vote."""
    samples: Mapping[str, Any] | None = None
    """The model alone: each answer is a sample that sees no other, and the majority counts."""
    no_talk: Mapping[str, Any] | None = None
    oneself: Mapping[str, Any] | None = None
    """As many rounds, in which a member hears itself alone."""
    no_personas: Mapping[str, Any] | None = None
    placebo: Mapping[str, Any] | None = None
    """With the personas of others."""
    not_kept: tuple[str, ...] = ()
    """Knobs of the panel that its controls do not take over."""


@dataclass(frozen=True)
class Preset:
    """A named starting point for a setup."""

    title: str
    help: str
    changes: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Learns:
    """How runs of a procedure teach a memory, by knobs of its setup."""

    on: str
    sees: str
    """The path of the knob that names the snapshot of the memory that a run sees; empty is the memory as it is."""
    can: Callable[[Any], bool]
    """Whether a run with this setup learns, were it a training run."""


@dataclass(frozen=True)
class Ending:
    """What the end of a run is called, for those for whom it is made: not everything ends with a verdict."""

    title: str = "Verdict"
    grounds: str = "Grounds"
    real: str = "What is on record of its outcome"
    """What is known of the case's outcome, whoever decided it."""
    what_if: str = "What would change this verdict?"


@dataclass(frozen=True)
class View:
    """What only this procedure can show: blocks drawn from a run's record, on one tab.

    `draw` gives the blocks by label; several labels (say, one a round) let the reader choose one.
    """

    name: str
    title: str
    icon: str
    help: str
    draw: Callable[[Record], Mapping[str, Sequence[Block]]]

    def drawn(self, record: Record) -> Mapping[str, Sequence[Block]]:
        """Return what `draw` gives. Raises `CourtroomError`: it fails; the sentence names the view, the file and the line."""
        try:
            blocks = self.draw(record)
            if wrong := [block for some in blocks.values() for block in some if not isinstance(block, Block)]:
                raise TypeError(f"{wrong[0]!r:.60} is no block")
        except Exception as error:
            code = getattr(self.draw, "__code__", None)
            place = place_and_error(error, Path(code.co_filename).parent if code else Path())
            raise CourtroomError(f"The view “{self.title}” can't be drawn. {place}. Mend it there.") from error
        return blocks

    def blocks(self, record: Record) -> Mapping[str, Sequence[Block]]:
        """Return what `draw` gives; where it fails, a sentence in its place, so that the rest is shown."""
        try:
            return self.drawn(record)
        except CourtroomError as error:
            log.exception("a view failed")
            return {"": (Text(str(error)),)}


@dataclass(frozen=True)
class Export:
    """A file of its own kind that a run can be written as, beside report and JSON."""

    file: str
    title: str
    write: Callable[[Record, AnswerStore], str]


@dataclass(frozen=True)
class Source:
    """Runs of another procedure, from which the cases of a procedure are made."""

    procedure: str
    """The name of the procedure whose runs are read."""
    title: str
    help: str
    parts: str
    """What is read from the runs, in the plural."""
    none: str
    """A sentence for where nothing was found; it says what to do."""
    read: Callable[[Iterable[Record], str], Iterable[Any]]
    """The runs' records, and the one model whose answers are read; empty: any."""
    batch: Callable[[Sequence[Any]], Case]
