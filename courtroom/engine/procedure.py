"""What a procedure declares of itself; from it pages, shell, report and engine draw and drive any procedure."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

from courtroom.cases.case import Case
from courtroom.cases.kinds import kinds_of
from courtroom.declarations import parts
from courtroom.declarations.paper import PaperSetting
from courtroom.declarations.setup import Member, Setup
from courtroom.engine.court import Court
from courtroom.engine.events import Called, Verdict
from courtroom.engine.record import Record
from courtroom.errors import CourtroomError
from courtroom.knowledge.collection import Name
from courtroom.models.offline import Methods
from courtroom.models.script import FIRST, SECOND
from courtroom.models.task import Task


@dataclass(frozen=True)
class Procedure:
    """One published system."""

    name: str
    title: str
    summary: str
    paper: str
    case_kind: str
    """The kind of case that it hears; `with-options`: any with options, or with what members propose."""
    setup: type[Setup]
    roles: tuple[parts.Role, ...]
    stages: tuple[parts.StageKind, ...]
    choices: tuple[parts.Choice, ...]
    prompts: Path
    """The folder of the templates: `_system`, one for each task by its name; and `_case`, where that in
    `courtroom/cases/prompts` is not what is wanted."""
    deliberate: Callable[[Court[Any, Any]], Awaitable[Verdict]]
    at_most: Callable[[Any, Any], int]
    """An upper bound on the calls for a case and a setup, retries and re-asks apart."""
    refuses: Callable[[Any, Any], str] = lambda case, setup: ""
    """Why it can't hear a case with a complete setup, in a sentence that says what to do; empty where it can."""
    designed_for: str = ""
    """Where it hears several kinds of case, the one for which it was designed."""
    members: Callable[[Any], tuple[Member, ...]] | None = None
    """Who takes part, from a complete setup; None is one member for each role."""
    tasks: tuple[type[Task[Any]], ...] = ()
    offline: Methods = field(default_factory=dict)
    looks_in: tuple[Name, ...] = ()
    views: tuple[parts.View, ...] = ()
    presets: tuple[parts.Preset, ...] = ()
    small: Mapping[str, Any] = field(default_factory=dict)
    """Settings for a quick look, by which a model is tried out: few members, few rounds."""
    paper_settings: tuple[PaperSetting, ...] = ()
    """What the paper says of the settings; a page shows where a setup departs."""
    choices_in: Callable[[Any], tuple[parts.Choice, ...]] | None = None
    """What can be voted for where that depends on the case; `choices` is then empty."""
    exports: tuple[parts.Export, ...] = ()
    ending: parts.Ending = parts.Ending()
    seating: parts.Seating = "ring"
    counting: Callable[[Any], parts.Counting] = lambda setup: parts.Counting()
    speaks_for: Callable[[Record, Called], str | None] = lambda record, call: None
    about_what: Callable[[Record, Called], str] = lambda record, call: ""
    """What a call is about where the same is asked of several things, such as pieces of evidence."""
    teaches_from: parts.Source | None = None
    """Where its cases come from, if they are made from runs of another procedure."""
    learns: parts.Learns | None = None
    peers: tuple[parts.Peers, ...] = ()
    """The tasks whose answers are votes and whose inputs hold what peers said; without any, no vote can be audited."""
    controls: parts.Controls | None = None
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

    def unknown_names(self, complete: Setup, before: Setup | None = None) -> Mapping[str, str]:
        """Return what a complete setup names that is not there: a sentence by its path, e.g. `members.juror-99`.
        `before`: a setup whose names are taken as they are, such as that of a fork's parent."""
        unknown = {}
        roles, seats = [role.name for role in self.roles], [one.id for one in self.panel(complete)]
        for name in complete.roles:
            if name not in roles and not (before and name in before.roles):
                path, known = f"roles.{name}", ", ".join(roles)
                unknown[path] = f"{path}: {self.title} has no role “{name[:40]}”. Use one of {known}."
        for name in complete.members:
            if name not in seats and not (before and name in before.members):
                path, known = f"members.{name}", ", ".join(seats)
                unknown[path] = f"{path}: nobody sits in the seat “{name[:40]}”. Use one of {known}."
        return unknown

    def check(self, case: Case, complete: Setup, before: Setup | None = None) -> None:
        """Raise `CourtroomError` where it can't hear a case with a setup; see `refuses` and `unknown_names`."""
        if why := self.refuses(case, complete):
            raise CourtroomError(why)
        options = [choice.name for choice in self.about(case).choices] if case.choices else []
        for script in (one.spec.script for one in self.panel(complete) if one.spec.script):
            if not options:
                raise CourtroomError("A scripted member needs answers to choose from. Give the question options.")
            if script.side not in (FIRST, SECOND, *options):
                known = ", ".join((FIRST, SECOND, *options))
                raise CourtroomError(f"Nobody can vote for “{script.side}” here, as a script does. Use one of {known}.")
        if unknown := self.unknown_names(complete, before):
            raise CourtroomError(" ".join(unknown.values()))

    def panel(self, setup: Setup) -> tuple[Member, ...]:
        """Who takes part, from a complete setup."""
        if self.members is not None:
            return setup.with_scripts(self.members(setup), {role.name for role in self.roles if role.votes})
        return tuple(setup.seat(role.name, role.name, role.title) for role in self.roles)

    def real_counts(self, case: Case) -> Mapping[str, int]:
        """Votes on record, where the case has them and they are for what this procedure decides between."""
        counts = case.real_counts()
        return counts if counts.keys() <= {choice.name for choice in self.about(case).choices} else {}

    def about(self, case: Case) -> Self:
        """The procedure with what can be voted for in a case."""
        return replace(self, choices=self.choices_in(case)) if self.choices_in else self

    def choice(self, name: str) -> parts.Choice:
        return next(choice for choice in self.choices if choice.name == name)
