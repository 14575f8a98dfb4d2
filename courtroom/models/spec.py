"""Which model answers, and how it is to be asked.

A setup comes from anybody: as a link, a file, a fork, an intervention. So it says how a model is to answer, and never
where it is asked, with which key or by which way: what could say so is refused here.
"""

import re
import tomllib
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import Field, ModelWrapValidatorHandler, ValidationInfo, model_validator

from courtroom.errors import CourtroomError
from courtroom.models.keys import PROVIDERS
from courtroom.models.script import Script
from courtroom.models.task import Room
from courtroom.strict import Strict

OFFLINE = "offline"
"""The id of the model that works with no key and no server, and is no language model."""

LOCAL = "local/"
"""How the ids of models begin that stand in a file of this machine."""
FILES = "llamafile/"
"""How LiteLLM calls the server of such a model."""

PERSON = "person"
"""The id of a person in a seat."""
SCRIPT = "script"
"""The id of a member that says what is written."""
NO_SERVER = (OFFLINE, PERSON, SCRIPT)
"""Ids for which no server is asked."""
ABSTAIN = "abstain"

RECORDED = {"recorded": True}
"""Validation context for what is on record or was imported: it is shown whatever it asks for, and refused as soon as it
would be asked."""

Switch = Literal["auto", "yes", "no"]
LEFT_OUT = "left-out"
"""How a model is asked on texts alone: neither pictures nor their descriptions reach it."""
Vision = Literal["auto", "yes", "no", "left-out"]
Extra = str | int | float | bool | list[str]

_WORD = re.compile(r"[A-Za-z0-9_-]{1,40}")
_WHOLE = "a whole number"
_NUMBER = "a number"
_NAME = "one word, such as `low`"
SAFETY = ("BLOCK_NONE", "BLOCK_ONLY_HIGH", "BLOCK_MEDIUM_AND_ABOVE", "BLOCK_LOW_AND_ABOVE")
"""What Gemini's filter keeps back of what may be harmful. What it never lets pass is not to be set."""
_SAFETY = f"one of {', '.join(SAFETY)}"
_STOP = "a text, or up to 8 texts in a list, of at most 100 characters each"

EXTRAS: Mapping[str, str] = {
    **dict.fromkeys(("seed", "top_k", "min_tokens", "thinking_budget", "max_completion_tokens"), _WHOLE),
    **dict.fromkeys(("num_ctx", "num_predict", "mirostat", "repeat_last_n"), _WHOLE),  # Ollama
    **dict.fromkeys(("frequency_penalty", "presence_penalty", "repetition_penalty", "repeat_penalty"), _NUMBER),
    **dict.fromkeys(
        ("min_p", "top_a", "typical_p", "tfs_z", "length_penalty", "mirostat_eta", "mirostat_tau"), _NUMBER
    ),
    **dict.fromkeys(("reasoning_effort", "verbosity"), _NAME),
    "safety_settings": _SAFETY,  # Gemini
    "stop": _STOP,
}
"""All further parameters that a setup may give, each with what it must be. They change how a model draws its words."""

ID = re.compile(r"[\w.:@+/~-]+")
NAME = re.compile(r"([A-Za-z0-9][\w.-]*)?")
"""Of a connection; empty for none."""
OWNERS = "addresses are set by the server's owner"
_SAID = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
_UNLESS_SET: dict[str, Any] = {"exclude_if": lambda value: value is None}
"""What is not set does not stand in what is written of a model."""


class NotAllowed(CourtroomError):
    """A setup asks for something that would say where a key goes, or names a connection that is not there."""


class ModelSpec(Strict):
    """One model with its parameters. What can change an answer is part of the answer's key; the rest is not."""

    id: str = Field(default=OFFLINE, min_length=1, max_length=200, **_SAID["id"])
    connection: str = Field(default="", max_length=60, exclude_if=lambda name: not name, **_SAID["connection"])
    temperature: float | None = Field(default=0.7, ge=0, le=2, **_SAID["temperature"])
    max_tokens: int = Field(default=2048, ge=16, le=200_000, **_SAID["max_tokens"])
    lengths: Literal["auto", Room] = Field(default="auto", **_SAID["lengths"])
    top_p: float | None = Field(default=None, gt=0, le=1, **_SAID["top_p"])
    extra: dict[str, Extra] = Field(
        default_factory=dict, title="Further parameters", description=f"Passed on to the provider: {', '.join(EXTRAS)}."
    )
    vision: Vision = Field(default="auto", **_SAID["vision"])
    structured: Switch = Field(default="auto", **_SAID["structured"])
    timeout_s: float = Field(default=60, gt=0, le=3600, **_SAID["timeout_s"])
    attempts: int = Field(default=5, ge=1, le=20, **_SAID["attempts"])
    concurrency: int = Field(default=64, ge=1, le=512, **_SAID["concurrency"])
    requests_per_minute: int | None = Field(default=None, ge=1, **_UNLESS_SET, **_SAID["requests_per_minute"])
    tokens_per_minute: int | None = Field(default=None, ge=10, **_UNLESS_SET, **_SAID["tokens_per_minute"])
    wait_s: float | None = Field(default=None, gt=0, **_UNLESS_SET, **_SAID["wait_s"])
    otherwise: str = Field(
        default=ABSTAIN, max_length=200, exclude_if=lambda otherwise: otherwise == ABSTAIN, **_SAID["otherwise"]
    )
    script: Script | None = Field(default=None, **_UNLESS_SET)
    """What is said and voted where the id is `script`."""

    @model_validator(mode="wrap")
    @classmethod
    def _may_be_asked(cls, value: Any, handler: ModelWrapValidatorHandler[Self], info: ValidationInfo) -> Self:
        made = handler(value)
        recorded = isinstance(value, ModelSpec) or (info.context and info.context.get("recorded"))
        if not recorded and (problem := made.problem()):
            raise ValueError(problem)
        return made

    def problem(self) -> str:
        """Why this may not be asked, in a sentence; empty where it may."""
        found = (
            _wrong_id(self.id, self.connection),
            _wrong_id(self.otherwise, ""),
            "" if NAME.fullmatch(self.connection) else "a connection is given by its name alone; " + OWNERS,
            *(_wrong_extra(name, value) for name, value in self.extra.items()),
            "" if (self.id == SCRIPT) is (self.script is not None) else "“script” is the model that goes with a script",
        )
        return next(filter(None, found), "")

    def checked(self) -> Self:
        """Itself. Raises `NotAllowed`: it may not be asked; the message says why."""
        if problem := self.problem():
            raise NotAllowed(f"{self.id[:80]} is not asked: {problem}. Change its model in a fork.")
        return self

    @property
    def room(self) -> Room:
        """How much is asked for at most."""
        if self.lengths != "auto":
            return self.lengths
        return "tight" if self.id.startswith((LOCAL, FILES)) else "generous"

    @property
    def stand_in(self) -> "ModelSpec | None":
        """Return the model that is asked where this one has no answer, with its sampling as far as both can have it."""
        if self.otherwise == ABSTAIN:
            return None
        kept = {} if self.id == PERSON else {"temperature": self.temperature, "max_tokens": self.max_tokens}
        waits = {"wait_s": self.wait_s} if self.otherwise == PERSON else {}
        return ModelSpec.model_validate({"id": self.otherwise, **kept, **waits}, context=RECORDED)

    def sampling(self) -> dict[str, object]:
        """The parameters that can change an answer; part of its key."""
        return self.model_dump(mode="json", include={"temperature", "max_tokens", "top_p", "extra", "script"})


@lru_cache(maxsize=256)
def _wrong_id(model: str, connection: str) -> str:
    if not ID.fullmatch(model) or "://" in model or ".." in model:
        return f"a model id is a name such as openai/gpt-4o-mini and holds no address; {OWNERS}"
    provider, slash, _ = model.partition("/")
    if slash and not connection and provider not in PROVIDERS and not model.startswith(LOCAL):
        return f"models of “{provider[:40]}” can't be asked here; the server's owner can list a server as a connection"
    return ""


def _wrong_extra(name: str, value: Extra) -> str:
    must = EXTRAS.get(name)
    if must is None:
        return f"“{name[:40]}” can't be given in a setup; addresses, keys and headers are set by the server's owner"
    texts = value if isinstance(value, list) else [value]
    fits = {
        _WHOLE: isinstance(value, int),
        _NUMBER: isinstance(value, (int, float)),
        _SAFETY: value in SAFETY,
        _NAME: isinstance(value, str) and bool(_WORD.fullmatch(value)),
        _STOP: len(texts) <= 8 and all(isinstance(text, str) and len(text) <= 100 for text in texts),
    }
    return "" if fits[must] and not isinstance(value, bool) else f"{name} must be {must}"
