"""An experiment as a file: a dataset, arms, repeats, measures, a budget, a knowledge protocol."""

from __future__ import annotations

import hashlib
import re
import tomllib
from pathlib import Path
from typing import Any, Self

from pydantic import Field, JsonValue, ValidationError, model_validator

from courtroom.cases.explain import explain
from courtroom.engine.setup import Budget
from courtroom.errors import CourtroomError
from courtroom.strict import Strict


class Cases(Strict):
    """Which cases: a dataset at one version, and what is taken of it."""

    name: str = Field(min_length=1, max_length=120)
    version: str | None = Field(
        default=None, description="Without one, the newest; it is written out when the experiment begins."
    )
    split: str | None = None
    ids: tuple[str, ...] | None = Field(default=None, description="Only these cases.")
    limit: int | None = Field(default=None, ge=1, description="The first so many.")
    sample: int | None = Field(default=None, ge=1, description="So many, drawn with `seed`.")
    seed: int = 0


class Arm(Strict):
    """One row of the table: a procedure with a setup, or predictions made elsewhere."""

    name: str = Field(min_length=1, max_length=120)
    procedure: str = ""
    model: str = Field(
        default="", description="`offline`, any LiteLLM model id, or which model's lines of the predictions."
    )
    set: dict[str, JsonValue] = Field(default_factory=dict, description="Values of the setup by their paths.")
    seed: int = Field(default=0, ge=0, description="Of the first repeat; each further one has the next.")
    predictions: str = Field(default="", description="A file of answers by case.")
    digest: str = Field(default="", description="Of the predictions; written out when the experiment begins.")

    @model_validator(mode="after")
    def _one_or_the_other(self) -> Self:
        if bool(self.procedure) == bool(self.predictions):
            raise ValueError("an arm names either a procedure or a file of predictions")
        if self.predictions and self.set:
            raise ValueError("predictions made elsewhere have no setup")
        return self


class KnowledgeRules(Strict):
    """What runs may see of what was learned: by default the memory as it is, and no cell teaches it anything."""

    train: str | None = Field(
        default=None,
        description="A split from which each arm that can learns first, one case after the other, in the order of the dataset.",
    )
    test_on_trained: bool = Field(default=False, description="Allow the tested split to be the one trained on.")


class Experiment(Strict):
    """All that an experiment is. The same file with the same dataset has the same digest, and so the same cells."""

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,59}$")
    title: str = Field(default="", max_length=200)
    source: str = Field(default="", max_length=400, description="Which table or figure of which paper it is.")
    dataset: Cases
    repeats: int = Field(default=1, ge=1, le=1_000)
    measures: tuple[str, ...] = Field(
        default=(), description="By their names; without any, the usual ones of the kind of case."
    )
    by_category: bool = Field(default=False, description="A table for each category of cases.")
    at_once: int = Field(
        default=64, ge=1, le=1_000, description="Cells under way at once, within each model's own limits."
    )
    budget: Budget = Field(default_factory=Budget, description="Of the whole experiment.")
    knowledge: KnowledgeRules = Field(default_factory=KnowledgeRules)
    arms: tuple[Arm, ...] = Field(min_length=1, max_length=200)

    @model_validator(mode="after")
    def _whole(self) -> Self:
        names = [arm.name for arm in self.arms]
        if doubled := {name for name in names if names.count(name) > 1}:
            raise ValueError(f"each arm has a name of its own; used more than once: {', '.join(sorted(doubled))}")
        if self.knowledge.train and self.knowledge.train == self.dataset.split and not self.knowledge.test_on_trained:
            raise ValueError(
                f"the split “{self.dataset.split}” would be tested on what was learned from it; test another split, or set "
                "knowledge.test_on_trained = true"
            )
        return self

    @property
    def digest(self) -> str:
        """SHA-256 of all that decides what is asked; how much may be spent, and how fast, is no part of it."""
        decides = self.model_dump_json(exclude={"title", "source", "measures", "by_category", "at_once", "budget"})
        return hashlib.sha256(decides.encode()).hexdigest()

    @property
    def id(self) -> str:
        """Under which it is kept."""
        return f"{self.name}-{self.digest[:8]}"

    @property
    def procedures(self) -> frozenset[str]:
        """The procedures of its arms."""
        return frozenset(arm.procedure for arm in self.arms if arm.procedure)


def read_toml(path: Path) -> Experiment:
    """An experiment from its file; an `[[arm]]` for each arm. Predictions are found beside the file.

    Raises:
        CourtroomError: it can't be read, or does not fit; the sentence says where.
    """
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise CourtroomError(f"{path} can't be read as an experiment: {error}.") from error
    values["arms"] = [_beside(arm, path.parent) for arm in values.pop("arm", [])]
    if isinstance(values.get("dataset"), str):
        values["dataset"] = {"name": values["dataset"]}
    return parsed(values, path.name)


def parsed(values: Any, what: str) -> Experiment:
    """An experiment from plain data.

    Raises:
        CourtroomError: it does not fit.
    """
    try:
        return Experiment.model_validate(values)
    except ValidationError as error:
        raise CourtroomError(f"{what}: {' '.join(explain(error))}") from error


def as_toml(experiment: Experiment) -> str:
    """The file of an experiment, without what is only known once it has begun."""
    values = experiment.model_dump(mode="json", exclude_defaults=True)
    arms = values.pop("arms")
    tables = {name: values.pop(name) for name in list(values) if isinstance(values[name], dict)}
    lines = [f"{name} = {_value(value)}" for name, value in values.items()]
    for name, table in tables.items():
        lines += ["", f"[{name}]", *(f"{key} = {_value(value)}" for key, value in table.items() if value is not None)]
    for arm in arms:
        lines += ["", "[[arm]]", *(f"{key} = {_value(value)}" for key, value in arm.items())]
    return "\n".join(lines) + "\n"


def _beside(arm: Any, folder: Path) -> Any:
    if isinstance(arm, dict) and isinstance(arm.get("predictions"), str):
        return {**arm, "predictions": str(folder / arm["predictions"])}
    return arm


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_key(key)} = {_value(one)}" for key, one in value.items() if one is not None) + " }"
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return _quoted(value)
    return str(value)


def _key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else _quoted(key)


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(_escaped(sign) for sign in escaped) + '"'


def _escaped(sign: str) -> str:
    return sign if sign >= " " and sign != "\x7f" else f"\\u{ord(sign):04x}"
