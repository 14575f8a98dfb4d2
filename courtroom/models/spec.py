"""Which model answers, and how it is to be asked.

A setup comes from anybody: as a link, a file, a fork, an intervention. So it says how a model is to answer, and never
where it is asked, with which key or by which way: what could say so is refused here.
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Literal, Self

from pydantic import Field, ModelWrapValidatorHandler, ValidationInfo, model_validator

from courtroom.errors import CourtroomError
from courtroom.models.providers import PROVIDERS
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


class NotAllowed(CourtroomError):
    """A setup asks for something that would say where a key goes, or names a connection that is not there."""


class ModelSpec(Strict):
    """One model with its parameters. What can change an answer is part of the answer's key; the rest is not."""

    id: str = Field(
        default=OFFLINE,
        title="Model",
        min_length=1,
        max_length=200,
        description="`offline`, or a LiteLLM model id such as `openai/gpt-4o-mini`, `ollama/llama3.2-vision`, "
        "`gemini/gemini-2.5-flash-lite`; or `person` for a person in the seat.",
    )
    connection: str = Field(
        default="",
        title="Connection",
        max_length=60,
        description="A server that this one's owner lists, by its name; empty: the provider's own.",
        exclude_if=lambda connection: not connection,
    )
    temperature: float | None = Field(default=0.7, title="Temperature", ge=0, le=2)
    max_tokens: int = Field(default=2048, title="Longest answer (tokens)", ge=16, le=200_000)
    lengths: Literal["auto", Room] = Field(
        default="auto",
        title="Room for an answer",
        description="How long texts and lists are asked for. `tight`: what a small model in a file keeps up; "
        "`generous`: up to 1,500 characters for a paragraph; `free`: no limit of ours, as in papers. `auto`: tight for "
        "a file on this machine, else generous. A longer answer is an answer all the same.",
    )
    top_p: float | None = Field(default=None, title="Top-p", gt=0, le=1)
    extra: dict[str, Extra] = Field(
        default_factory=dict, title="Further parameters", description=f"Passed on to the provider: {', '.join(EXTRAS)}."
    )
    vision: Vision = Field(
        default="auto",
        title="Can see pictures",
        description="`auto`: known from the model's card, else found out at the first picture. `no`: descriptions "
        "stand in their place. `left-out`: neither pictures nor descriptions, as in the text-only rows of papers.",
    )
    structured: Switch = Field(
        default="auto",
        title="Provider enforces the answer's JSON schema",
        description="`auto`: used where the model's card says so. Every answer is checked in any case.",
    )
    timeout_s: float = Field(
        default=60,
        title="Time-out of one call (s)",
        gt=0,
        le=3600,
        description="A call is given up when its server was silent for so long. While it answers others, it is not "
        "silent. Before an answer that does not stream it may be silent for longer: as long again for each 600 tokens "
        "of the longest answer.",
    )
    attempts: int = Field(default=5, title="Attempts at one call", ge=1, le=20)
    concurrency: int = Field(
        default=64,
        title="Calls at once",
        ge=1,
        le=512,
        description="Fewer while the server does not keep up with them.",
    )
    requests_per_minute: int | None = Field(
        default=None,
        title="Requests a minute",
        ge=1,
        description="At most so many in any minute, over all runs of this server; not set: no limit.",
        exclude_if=lambda limit: limit is None,
    )
    tokens_per_minute: int | None = Field(
        default=None,
        title="Tokens a minute",
        ge=10,
        description="Prompts and answers together, at most so many in any minute, over all runs of this server; "
        "not set: no limit.",
        exclude_if=lambda limit: limit is None,
    )

    wait_s: float | None = Field(
        default=None,
        title="Wait for a person (s)",
        gt=0,
        description="How long a person in this seat has for an answer; not set: as long as it takes.",
        exclude_if=lambda wait: wait is None,
    )
    otherwise: str = Field(
        default=ABSTAIN,
        title="If it can't answer",
        max_length=200,
        description="`abstain`, or the id of the stand-in: a model that is asked where this one has failed for good or "
        "can't be asked here, or where a person did not answer in time.",
        exclude_if=lambda otherwise: otherwise == ABSTAIN,
    )
    script: Script | None = Field(default=None, exclude_if=lambda script: script is None)
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
