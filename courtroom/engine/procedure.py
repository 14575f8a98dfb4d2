"""What a procedure declares of itself; from it pages, shell, report and engine draw and drive any procedure."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from courtroom.cases.case import Case
from courtroom.engine.answers import AnswerStore
from courtroom.engine.blocks import Block
from courtroom.engine.court import Court
from courtroom.engine.events import Called, Verdict
from courtroom.engine.paper import PaperSetting
from courtroom.engine.record import Record
from courtroom.engine.setup import Member, Setup
from courtroom.knowledge.collection import Name
from courtroom.models.offline import Methods
from courtroom.models.task import Task


@dataclass(frozen=True)
class Role:
    """A part that members play."""

    name: str
    title: str
    help: str
    votes: bool = False
    own_model: bool = False
    """Whether it takes part only with a model that was named for it; the run's model never stands in."""


@dataclass(frozen=True)
class StageKind:
    """A kind of stage; how many there are of it and their names are known only while running."""

    name: str
    title: str
    help: str


ROUND = "round"
"""The name of the kind of stage in which members discuss and vote, again and again; its ballots are counted as rounds."""


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
"""How members sit in the room: those who vote around a ring, or on a bench before the others, or all in rows in the order of work."""


@dataclass(frozen=True)
class Counting:
    """How votes are counted: what is drawn beside them, and where a recount by other rules starts from."""

    above: float | None = None
    """The share of all seats that ends the discussion when it is exceeded, 0 to 1; None where nothing ends it early."""
    tie: str | None = None
    """The choice to which a tie goes; None where another thing decides."""
    by_last: bool = False
    """Whether the last member's vote decides alone."""


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
    read: Callable[[Iterable[Record]], Iterable[Any]]
    batch: Callable[[Sequence[Any]], Case]


@dataclass(frozen=True)
class Peers:
    """What of a task's inputs comes from other members, so that a vote which follows from its answer can be audited."""

    task: type[Task[Any]]
    shown: Callable[[Any, bool, bool], Task[Any]]
    """The same task with so much of it: (task, votes, reasons) -> task. Votes are what others decided, reasons why."""
    choice: Callable[[Any, Any], str]
    """What an answer votes for: (task, answer) -> a choice's name."""


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
    """The path of the knob that makes a run a training run."""
    sees: str
    """The path of the knob that names the snapshot of the memory that a run sees; empty is the memory as it is."""
    can: Callable[[Any], bool]
    """Whether a run with this setup learns, were it a training run."""


@dataclass(frozen=True)
class Ending:
    """What the end of a run is called, in the words of those for whom it is made: not everything ends with a verdict."""

    title: str = "Verdict"
    grounds: str = "Grounds"
    """What stands beside it: why, or the text itself."""
    real: str = "What was really decided"
    """What is known of the real case."""
    what_if: str = "What would change this verdict?"


@dataclass(frozen=True)
class Procedure:
    """One published system."""

    name: str
    title: str
    summary: str
    paper: str
    case_kind: str
    """The kind of case, e.g. `dispute`."""
    setup: type[Setup]
    roles: tuple[Role, ...]
    stages: tuple[StageKind, ...]
    choices: tuple[Choice, ...]
    prompts: Path
    """The folder of the templates: `_system`, one for each task by its name, and `_case` where the template of the kind of
    case in `courtroom/cases/prompts` is not what is wanted."""
    deliberate: Callable[[Court[Any, Any]], Awaitable[Verdict]]
    """The procedure itself."""
    at_most: Callable[[Any, Any], int]
    """An upper bound on the calls for a case and a setup, retries and re-asks apart."""
    members: Callable[[Any], tuple[Member, ...]] | None = None
    """Who takes part, from a complete setup; None is one member for each role."""
    tasks: tuple[type[Task[Any]], ...] = ()
    """All that members are asked."""
    offline: Methods = field(default_factory=dict)
    """How the offline model answers each task."""
    looks_in: tuple[Name, ...] = ()
    """The collections in which it looks things up."""
    views: tuple[View, ...] = ()
    presets: tuple[Preset, ...] = ()
    paper_settings: tuple[PaperSetting, ...] = ()
    """What the paper says of the settings; a page shows where a setup departs."""
    choices_in: Callable[[Any], tuple[Choice, ...]] | None = None
    """What can be voted for where that depends on the case; `choices` is then empty."""
    exports: tuple[Export, ...] = ()
    ending: Ending = Ending()
    seating: Seating = "ring"
    counting: Callable[[Any], Counting] = lambda setup: Counting()
    """How votes are counted, from a complete setup."""
    speaks_for: Callable[[Record, Called], str | None] = lambda record, call: None
    """The choice for which a call puts a candidate or an argument forward, if it does."""
    teaches_from: Source | None = None
    """Where its cases come from, if they are made from runs of another procedure."""
    learns: Learns | None = None
    """How its runs teach a memory; None where they don't."""
    peers: tuple[Peers, ...] = ()
    """The tasks whose answers are votes and whose inputs hold what peers said; without any, no vote can be audited."""
    without_one: Callable[[Any], Mapping[str, Mapping[str, Any]]] = lambda setup: {}
    """The members that a complete setup can do without, by id, each with the changes of the setup that leave it out."""

    def prepare(self, case: Case, setup: Setup, seed: int) -> tuple[Setup, tuple[Member, ...]]:
        """The complete setup and who sits in the panel."""
        complete = setup.complete(case, seed)
        return complete, self.panel(complete)

    def panel(self, setup: Setup) -> tuple[Member, ...]:
        """Who takes part, from a complete setup."""
        if self.members is not None:
            return self.members(setup)
        roles = ((role.name, role.title) for role in self.roles)
        return tuple(Member(id=name, role=name, name=title, spec=setup.spec(name, name)) for name, title in roles)

    def about(self, case: Case) -> Procedure:
        """The procedure with what can be voted for in a case."""
        return replace(self, choices=self.choices_in(case)) if self.choices_in else self

    def choice(self, name: str) -> Choice:
        """The choice of this name."""
        return next(choice for choice in self.choices if choice.name == name)
