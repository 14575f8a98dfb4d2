"""Who deliberates and under which limits: the part of a setup that all procedures share."""

import json
import re
import time
from collections.abc import Collection, Iterable, Mapping
from typing import Any, Literal, Self

from pydantic import Field, ValidationInfo, field_validator, model_validator

from courtroom.access import Access, needs
from courtroom.cases.case import Case
from courtroom.declarations.knobs import knobs
from courtroom.knowledge.embedding import embedding_problem
from courtroom.models.beside import BesideVote
from courtroom.models.script import ScriptedMembers
from courtroom.models.spec import OFFLINE, SCRIPT, ModelSpec
from courtroom.panel.personas import Persona
from courtroom.store.connection import read
from courtroom.store.database import Tables, insert
from courtroom.strict import Strict

knob = knobs(__file__)
MAX_PREPARED_CHARACTERS = 20_000
"""Of all prepared replies to questions together."""


class Member(Strict):
    """Somebody who is asked: a juror, a judge, a clerk."""

    id: str
    """Unique in a run and part of every path, e.g. `juror-05`."""
    role: str
    name: str
    spec: ModelSpec
    persona: Persona | None = None

    @property
    def seat(self) -> int:
        """The number of its seat, from 1: 5 of `juror-05`."""
        return int(self.id.rpartition("-")[2])

    def __hash__(self) -> int:
        return hash(self.id)


class Budget(Strict):
    """Limits of one run; None is no limit. Only calls really made count, not answers on record."""

    calls: int | None = Field(default=None, title="Calls", ge=1)
    tokens: int | None = Field(default=None, title="Tokens", ge=1, description="Prompt and completion together.")
    money: float | None = Field(default=None, title="Money (US$)", gt=0)


class Setup(Strict):
    """All that a person decides before a run. Each procedure adds its own knobs."""

    model: ModelSpec = Field(default_factory=ModelSpec, title="Model")
    roles: dict[str, ModelSpec] = Field(default_factory=dict, title="Models by role")
    members: dict[str, ModelSpec] = Field(default_factory=dict, title="Models by member")
    prompts: dict[str, str] = Field(default_factory=dict, title="Edited prompts", description="Template name to text.")
    reasks: int = knob("reasks", 2, ge=0, le=5)
    quorum: float = knob("quorum", 0.5, ge=0, le=1)
    embedding: str = knob("embedding", "", max_length=200)
    budget: Budget = Field(default_factory=Budget, title="Budget")

    @field_validator("embedding")
    @classmethod
    def _may_embed(cls, name: str, info: ValidationInfo) -> str:
        if not (info.context and info.context.get("recorded")) and (problem := embedding_problem(name)):
            raise ValueError(problem)
        return name

    @model_validator(mode="before")
    @classmethod
    def _inherited(cls, values: Any) -> Any:
        """Complete models that are given in part: a member's by its role's, else by the run's; a role's by the run's;
        the run's by the procedure's own."""
        if not isinstance(values, Mapping):
            return values
        own = cls.model_fields["model"].get_default(call_default_factory=True)
        model = _filled(values.get("model", own), own)
        roles = {name: _filled(spec, model) for name, spec in _parts(values, "roles")}
        members = {name: _filled(spec, roles.get(role_of(name), model)) for name, spec in _parts(values, "members")}
        filled = {"roles": roles, "members": members}
        return {**values, "model": model, **{name: specs for name, specs in filled.items() if specs}}

    def spec(self, member: str, role: str) -> ModelSpec:
        """The model that answers for a member: its own, else its role's, else the run's."""
        return self.members.get(member) or self.roles.get(role) or self.model

    def seat(self, member: str, role: str, name: str, persona: Persona | None = None) -> Member:
        """Return a member with the model that answers for it."""
        return Member(id=member, role=role, name=name, spec=self.spec(member, role), persona=persona)

    @property
    def models(self) -> tuple[ModelSpec, ...]:
        return self.model, *self.roles.values(), *self.members.values()

    def model_problems(self) -> tuple[str, ...]:
        """Why some of its models may not be asked, a sentence each; an imported setup may have such."""
        specs = {"model": self.model} | {f"roles.{role}": spec for role, spec in self.roles.items()}
        specs |= {f"members.{member}": spec for member, spec in self.members.items()}
        return tuple(f"{path}: {problem}." for path, spec in specs.items() if (problem := spec.problem()))

    def warnings(self) -> tuple[str, ...]:
        """What a person should know before a run, a plain text each; the page Setup, shell and report show it."""
        return ()

    def complete(self, case: Case, seed: int) -> Self:
        """The setup with all that was left to be drawn written out, so that it can be seen and edited."""
        return self

    def undrawn(self, changed: Collection[str]) -> Self:
        """A complete setup, after changes at these paths, with what was drawn from them left to be drawn again."""
        return self

    def asked_beside(self, case: Case) -> BesideVote | None:
        """Return what is asked beside each vote; None where nothing is."""
        return None

    def with_scripts(self, panel: tuple[Member, ...], voting: Collection[str]) -> tuple[Member, ...]:
        """Return a panel in which the scripted ones of those who vote are asked of their script, not of a model."""
        return panel


class ScriptedSetup(Setup):
    """A setup of members some of whom may be scripted."""

    script: ScriptedMembers = knob("script", ScriptedMembers())

    def with_scripts(self, panel: tuple[Member, ...], voting: Collection[str]) -> tuple[Member, ...]:
        seats = {one.id: one.seat for one in panel if one.role in voting}
        specs = {seat: ModelSpec(id=SCRIPT, script=one) for seat, one in self.script.scripts([*seats.values()]).items()}
        return tuple(one.model_copy(update={"spec": specs.get(seats.get(one.id, 0), one.spec)}) for one in panel)


class VotingSetup(Setup):
    """A setup of members who vote; each may be asked more beside its vote."""

    asks_confidence: bool = knob("asks_confidence", False)
    asks_pieces: bool = knob("asks_pieces", False)
    asks_court: Literal["no", "yes", "waits"] = knob("asks_court", "no")
    prepared_replies: str = knob("prepared_replies", "", max_length=MAX_PREPARED_CHARACTERS)

    def asked_beside(self, case: Case) -> BesideVote | None:
        pieces = case.parts() if self.asks_pieces else ()
        beside = BesideVote(self.asks_confidence, pieces, question=self.asks_court != "no")
        return beside if beside.confidence or beside.pieces or beside.question else None

    def warnings(self) -> tuple[str, ...]:
        if self.asks_court == "no" or any(spec.id != OFFLINE for spec in self.models):
            return ()
        return ("The offline model asks the court nothing. Seat a language model, or a person.",)


def role_of(member: str) -> str:
    """The role in a member's id: `juror` of `juror-05`, `generator` of `generator-a`."""
    return re.sub(r"-(\d+|[a-z])$", "", member)


def _parts(values: Mapping[str, Any], name: str) -> Iterable[tuple[str, Any]]:
    given = values.get(name)
    return given.items() if isinstance(given, Mapping) else ()


_ALWAYS_WRITTEN = {name for name, field in ModelSpec.model_fields.items() if field.exclude_if is None}
"""What stands in each model that was written out whole: what such a one lacks is not inherited."""


def _filled(given: Any, base: Any) -> Any:
    """A connection goes with the model that it was chosen for: where another model is named, it is not inherited."""
    if not isinstance(given, Mapping) or given.keys() >= _ALWAYS_WRITTEN:
        return given
    known = base.model_dump(mode="json") if isinstance(base, ModelSpec) else base
    known = dict(known) if isinstance(known, Mapping) else {}
    if "id" in given:
        known.pop("connection", None)
    return {**known, **given}


def changed_values(kind: type[Setup], values: Mapping[str, Any]) -> dict[str, Any]:
    """What differs from a setup's defaults: short enough for a link."""
    defaults = kind().model_dump(mode="json")
    return {name: value for name, value in values.items() if value != defaults.get(name)}


class SetupStore(Tables):
    """Saved setups: procedure, seed and knobs as plain data, the same form that is shared as a file."""

    def names(self) -> list[str]:
        return [row["name"] for row in self._database.execute("SELECT name FROM setups ORDER BY saved DESC")]

    @needs(Access.RUN)
    def save(self, name: str, body: dict[str, Any]) -> None:
        """Save under a name, in place of what had it before."""
        row = {"name": name, "body": json.dumps(body, ensure_ascii=False), "saved": time.time()}
        insert(self._database.connection, "setups", [row], key=["name"])

    def load(self, name: str) -> dict[str, Any]:
        row = self._database.row("SELECT body FROM setups WHERE name = ?", (name,))
        return read("setup", name, lambda: dict(json.loads(row["body"])))

    @needs(Access.RUN)
    def delete(self, name: str) -> None:
        self._database.execute("DELETE FROM setups WHERE name = ?", (name,))
