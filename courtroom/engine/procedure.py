"""What a procedure declares of itself; from it pages, shell, report and engine draw and drive any procedure."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from courtroom.cases.case import Case
from courtroom.cases.kinds import kinds_of
from courtroom.engine.answers import AnswerStore
from courtroom.engine.blocks import Block, Text
from courtroom.engine.court import Court, RunInput, Stages
from courtroom.engine.errors import place_and_error
from courtroom.engine.events import Called, Verdict
from courtroom.engine.interventions import Intervention
from courtroom.engine.paper import PaperSetting
from courtroom.engine.record import Record
from courtroom.engine.services import Services
from courtroom.engine.setup import Member, Setup
from courtroom.errors import CourtroomError
from courtroom.knowledge.collection import Name
from courtroom.models.offline import Methods
from courtroom.models.task import Task

log = logging.getLogger(__name__)


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
        """What `draw` gives. Raises `CourtroomError`: it fails, or gives what is no block; the sentence names the view, the file and the line."""
        code = getattr(self.draw, "__code__", None)
        try:
            blocks = self.draw(record)
            if wrong := [block for some in blocks.values() for block in some if not isinstance(block, Block)]:
                raise TypeError(f"{wrong[0]!r:.60} is no block")
        except Exception as error:
            place = place_and_error(error, Path(code.co_filename).parent if code else Path())
            raise CourtroomError(f"The view “{self.title}” can't be drawn. {place}. Mend it there.") from error
        return blocks

    def blocks(self, record: Record) -> Mapping[str, Sequence[Block]]:
        """What `draw` gives; where it fails, a sentence in its place, so that the rest of a page or a report is shown."""
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


@dataclass(frozen=True)
class Peers:
    """What of a task's inputs comes from other members, so that a vote which follows from its answer can be audited."""

    task: type[Task[Any]]
    shown: Callable[[Any, bool, bool], Task[Any]]
    """The same task with so much of it: (task, votes, reasons) -> task. Votes are what others decided, reasons why."""
    choice: Callable[[Any, Any], str]
    """What an answer votes for: (task, answer) -> a choice's name."""


@dataclass(frozen=True)
class Controls:
    """What a panel is held against, each as changes of its setup; None where the procedure has no such arm."""

    seats: str
    """The knob of how many members vote."""
    samples: Mapping[str, Any] | None = None
    """The model alone: each answer is a sample that sees no other, and the majority counts. How many is set by the tokens."""
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
    """What the end of a run is called, in the words of those for whom it is made: not everything ends with a verdict."""

    title: str = "Verdict"
    grounds: str = "Grounds"
    real: str = "What is on record of its outcome"
    """What is known of the case's outcome, whoever decided it."""
    what_if: str = "What would change this verdict?"


@dataclass(frozen=True)
class Procedure:
    """One published system."""

    name: str
    title: str
    summary: str
    paper: str
    case_kind: str
    """The kind of case that it hears; `with-options`: any that is decided for an option, or for what members propose."""
    setup: type[Setup]
    roles: tuple[Role, ...]
    stages: tuple[StageKind, ...]
    choices: tuple[Choice, ...]
    prompts: Path
    """The folder of the templates: `_system`, one for each task by its name, and `_case` where the template of the kind of
    case in `courtroom/cases/prompts` is not what is wanted."""
    deliberate: Callable[[Court[Any, Any]], Awaitable[Verdict]]
    at_most: Callable[[Any, Any], int]
    """An upper bound on the calls for a case and a setup, retries and re-asks apart."""
    designed_for: str = ""
    """Where it hears several kinds of case, the one for which it was designed."""
    members: Callable[[Any], tuple[Member, ...]] | None = None
    """Who takes part, from a complete setup; None is one member for each role."""
    tasks: tuple[type[Task[Any]], ...] = ()
    offline: Methods = field(default_factory=dict)
    looks_in: tuple[Name, ...] = ()
    views: tuple[View, ...] = ()
    presets: tuple[Preset, ...] = ()
    small: Mapping[str, Any] = field(default_factory=dict)
    """Settings for a quick look, by which a model is tried out: few members, few rounds."""
    paper_settings: tuple[PaperSetting, ...] = ()
    """What the paper says of the settings; a page shows where a setup departs."""
    choices_in: Callable[[Any], tuple[Choice, ...]] | None = None
    """What can be voted for where that depends on the case; `choices` is then empty."""
    exports: tuple[Export, ...] = ()
    ending: Ending = Ending()
    seating: Seating = "ring"
    counting: Callable[[Any], Counting] = lambda setup: Counting()
    speaks_for: Callable[[Record, Called], str | None] = lambda record, call: None
    teaches_from: Source | None = None
    """Where its cases come from, if they are made from runs of another procedure."""
    learns: Learns | None = None
    peers: tuple[Peers, ...] = ()
    """The tasks whose answers are votes and whose inputs hold what peers said; without any, no vote can be audited."""
    controls: Controls | None = None
    """Where members deliberate as a panel."""
    without_one: Callable[[Any], Mapping[str, Mapping[str, Any]]] = lambda setup: {}
    """The members that a complete setup can do without, by id, each with the changes of the setup that leave it out."""

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of case that it hears, the one first for which it is the first choice."""
        return tuple(sorted(kinds_of(self.case_kind), key=lambda kind: kind != self.designed_for))

    def prepare(self, case: Case, setup: Setup, seed: int) -> tuple[Setup, tuple[Member, ...]]:
        """The complete setup and who sits in the panel."""
        complete = setup.complete(case, seed)
        return complete, self.panel(complete)

    def unknown_names(self, complete: Setup, before: Setup | None = None) -> tuple[str, ...]:
        """Return what a complete setup names that stands for nobody, as paths such as `members.juror-99`.

        Args:
            before: a setup whose names are taken as they are: that of the run from which a fork is made, or an earlier one.
        """
        there = {"roles": {role.name for role in self.roles}, "members": {one.id for one in self.panel(complete)}}
        if before is not None:
            there = {"roles": there["roles"] | before.roles.keys(), "members": there["members"] | before.members.keys()}
        given = {"roles": complete.roles, "members": complete.members}
        return tuple(f"{kind}.{name}" for kind, names in given.items() for name in names if name not in there[kind])

    def refuse_unknown_names(self, complete: Setup, before: Setup | None = None) -> None:
        """Raise `CourtroomError` where a complete setup names roles or members that are not there; see `unknown_names`."""
        told = []
        for path in self.unknown_names(complete, before):
            kind, _, name = path.partition(".")
            if kind == "roles":
                known = ", ".join(role.name for role in self.roles)
                told.append(f"{path}: {self.title} has no role “{name[:40]}”. Use one of {known}.")
            else:
                known = ", ".join(one.id for one in self.panel(complete))
                told.append(f"{path}: nobody sits in the seat “{name[:40]}”. Use one of {known}.")
        if told:
            raise CourtroomError(" ".join(told))

    def panel(self, setup: Setup) -> tuple[Member, ...]:
        """Who takes part, from a complete setup."""
        if self.members is not None:
            return self.members(setup)
        roles = ((role.name, role.title) for role in self.roles)
        return tuple(Member(id=name, role=name, name=title, spec=setup.spec(name, name)) for name, title in roles)

    def input(self, case: Case, setup: Setup, seed: int, interventions: Sequence[Intervention] = ()) -> RunInput:
        """A run's input at each of its stages, with what persons did to it."""
        return RunInput(self.panel, self.prompts, case, setup, seed, interventions)

    def deliberation(
        self, case: Case, setup: Setup, seed: int, interventions: Sequence[Intervention], services: Services
    ) -> Callable[[], Coroutine[Any, Any, Verdict]]:
        """Make the court of a run, a rehearsal or a replay. The function that is returned has the procedure deliberate in it once.

        The setup is complete, see `prepare`; an intervention that does not fit raises `CourtroomError`.
        """
        stages = Stages(frozenset(kind.name for kind in self.stages), services)
        choices = {choice.name: choice.title for choice in self.about(case).choices}
        run_input = self.input(case, setup, seed, interventions)
        court: Court[Case, Setup] = Court(seed, run_input, stages, choices, services)

        async def deliberate() -> Verdict:
            verdict = await self.deliberate(court)
            self._check(verdict, choices)
            stages.end()
            return verdict

        return deliberate

    def _check(self, verdict: Verdict, choices: Mapping[str, str]) -> None:
        """Refuse a verdict that no page could show."""
        names = {text.casefold(): name for name, title in choices.items() for text in (title, name)}
        meant = names.get(verdict.outcome.casefold(), verdict.outcome)
        why = ""
        if unknown := [name for name in verdict.counts if name not in choices]:
            why = f"`counts` has “{unknown[0]}”, which is no declared choice. Count only {', '.join(choices) or 'nothing'}, or add it to `choices`"
        elif meant != verdict.outcome:
            why = f"`outcome` is “{verdict.outcome}”. To decide for a declared choice, write its name, “{meant}”"
        if why:
            code = inspect.unwrap(self.deliberate).__code__
            raise CourtroomError(f"{code.co_filename}, line {code.co_firstlineno}: in the verdict, {why}.")

    def real_counts(self, case: Case) -> Mapping[str, int]:
        """Votes on record, where the case has them and they are for what this procedure decides between."""
        counts = case.real_counts()
        return counts if counts.keys() <= {choice.name for choice in self.about(case).choices} else {}

    def about(self, case: Case) -> Procedure:
        """The procedure with what can be voted for in a case."""
        return replace(self, choices=self.choices_in(case)) if self.choices_in else self

    def choice(self, name: str) -> Choice:
        return next(choice for choice in self.choices if choice.name == name)
