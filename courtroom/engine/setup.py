"""Who deliberates and under which limits: the part of a setup that all procedures share."""

import json
import re
import time
from collections.abc import Collection, Iterable, Mapping
from typing import Any, Self

from pydantic import Field, ValidationInfo, field_validator, model_validator

from courtroom.access import Access, needs
from courtroom.cases.case import Case
from courtroom.engine.knobs import Group, declared
from courtroom.knowledge.embedding import embedding_problem
from courtroom.models.spec import ModelSpec
from courtroom.panel.personas import Persona
from courtroom.store.connection import read
from courtroom.store.database import Database
from courtroom.strict import Strict


class Member(Strict):
    """Somebody who is asked: a juror, a judge, a clerk."""

    id: str
    """Unique in a run and part of every path, e.g. `juror-05`."""
    role: str
    name: str
    spec: ModelSpec
    persona: Persona | None = None


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
    reasks: int = Field(
        default=2,
        title="Re-asks",
        ge=0,
        le=5,
        description="How often a member is asked again when its answer doesn't fit the schema.",
        json_schema_extra=declared(group=Group.COST),
    )
    quorum: float = Field(
        default=0.5,
        title="Quorum",
        ge=0,
        le=1,
        description="The run stops when the share of members with an answer falls below this.",
        json_schema_extra=declared(group=Group.TALK),
    )
    embedding: str = Field(
        default="",
        title="Embedding",
        max_length=200,
        description="How texts are compared in look-ups: `hashed-ngrams` (words, no model), a LiteLLM id such as "
        "`openai/text-embedding-3-small`, or a local encoder such as `local/longformer`; empty: as the server's owner has set.",
        json_schema_extra=declared(varied=False),
    )
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
        """A role's or a member's model that is given in part has the rest from its role's, else from the run's model; the
        run's has it from the procedure's own."""
        if not isinstance(values, Mapping):
            return values
        own = cls.model_fields["model"].get_default(call_default_factory=True)
        model = _filled(values.get("model", own), own)
        roles = {name: _filled(spec, model) for name, spec in _parts(values, "roles")}
        members = {name: _filled(spec, roles.get(role_of(name), model)) for name, spec in _parts(values, "members")}
        return {
            **values,
            "model": model,
            **({"roles": roles} if roles else {}),
            **({"members": members} if members else {}),
        }

    def spec(self, member: str, role: str) -> ModelSpec:
        """The model that answers for a member: its own, else its role's, else the run's."""
        return self.members.get(member) or self.roles.get(role) or self.model

    @property
    def models(self) -> tuple[ModelSpec, ...]:
        return self.model, *self.roles.values(), *self.members.values()

    def model_problems(self) -> tuple[str, ...]:
        """Why some of its models may not be asked, a sentence each; an imported setup may have such."""
        specs = {"model": self.model} | {f"roles.{role}": spec for role, spec in self.roles.items()}
        specs |= {f"members.{member}": spec for member, spec in self.members.items()}
        return tuple(f"{path}: {problem}." for path, spec in specs.items() if (problem := spec.problem()))

    def warnings(self) -> tuple[str, ...]:
        """What a person should know before a run, a plain text each. The Setup page, the shell and the report show it."""
        return ()

    def complete(self, case: Case, seed: int) -> Self:
        """The setup with all that was left to be drawn written out, so that it can be seen and edited."""
        return self

    def undrawn(self, changed: Collection[str]) -> Self:
        """A complete setup, after changes at these paths, with what was drawn from them left to be drawn again."""
        return self


def role_of(member: str) -> str:
    """The role in a member's id: `juror` of `juror-05`, `generator` of `generator-a`."""
    return re.sub(r"-(\d+|[a-z])$", "", member)


def _parts(values: Mapping[str, Any], name: str) -> Iterable[tuple[str, Any]]:
    given = values.get(name)
    return given.items() if isinstance(given, Mapping) else ()


_ALWAYS_WRITTEN = {name for name, field in ModelSpec.model_fields.items() if field.exclude_if is None}
"""What stands in each model that was written out whole: what such a one lacks is at its default, and is not inherited."""


def _filled(given: Any, base: Any) -> Any:
    """A connection goes with the model that it was chosen for: where another model is named, it is not inherited."""
    if not isinstance(given, Mapping) or given.keys() >= _ALWAYS_WRITTEN:
        return given
    known = (
        base.model_dump(mode="json") if isinstance(base, ModelSpec) else dict(base) if isinstance(base, Mapping) else {}
    )
    if "id" in given:
        known.pop("connection", None)
    return {**known, **given}


def changed_values(kind: type[Setup], values: Mapping[str, Any]) -> dict[str, Any]:
    """What differs from a setup's defaults: short enough for a link."""
    defaults = kind().model_dump(mode="json")
    return {name: value for name, value in values.items() if value != defaults.get(name)}


class SetupStore:
    """Saved setups: procedure, seed and knobs as plain data, the same form that is shared as a file."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def names(self) -> list[str]:
        rows = self._database.execute("SELECT name FROM setups ORDER BY saved DESC")
        return [row["name"] for row in rows]

    @needs(Access.RUN)
    def save(self, name: str, body: dict[str, Any]) -> None:
        """Save under a name, in place of what had it before."""
        self._database.execute(
            "INSERT INTO setups VALUES (?, ?, ?) ON CONFLICT (name) DO UPDATE SET body = excluded.body, saved = excluded.saved",
            (name, json.dumps(body, ensure_ascii=False), time.time()),
        )

    def load(self, name: str) -> dict[str, Any]:
        row = self._database.row("SELECT body FROM setups WHERE name = ?", (name,))
        body: dict[str, Any] = read("setup", name, lambda: dict(json.loads(row["body"])))
        return body

    @needs(Access.RUN)
    def delete(self, name: str) -> None:
        self._database.execute("DELETE FROM setups WHERE name = ?", (name,))
