"""Which model answers, and how it is to be asked."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from courtroom.case import Strict

OFFLINE = "offline"
"""The id of the model that works with no key and no server, and is no language model."""

PERSON = "person"
"""The id of a person in a seat."""
ABSTAIN = "abstain"

Switch = Literal["auto", "yes", "no"]


class ModelSpec(Strict):
    """One model with its parameters. What can change an answer is part of the answer's key; the rest is not."""

    id: str = Field(
        default=OFFLINE,
        title="Model",
        min_length=1,
        max_length=200,
        description="`offline`, or any LiteLLM model id such as `openai/gpt-4o-mini`, `ollama/llama3.2-vision`, "
        "`gemini/gemini-2.5-flash-lite`; or `person` for a person in the seat.",
    )
    temperature: float | None = Field(default=0.7, title="Temperature", ge=0, le=2)
    max_tokens: int = Field(default=2048, title="Longest answer (tokens)", ge=16, le=200_000)
    top_p: float | None = Field(default=None, title="Top-p", gt=0, le=1)
    extra: dict[str, str | int | float | bool] = Field(
        default_factory=dict, title="Further parameters", description="Passed on to the provider as they are."
    )
    vision: Switch = Field(
        default="auto",
        title="Can see pictures",
        description="`auto`: known from the model's card, else found out at the first picture.",
    )
    structured: Switch = Field(
        default="auto",
        title="Provider enforces the answer's JSON schema",
        description="`auto`: used where the model's card says so. Every answer is checked in any case.",
    )
    timeout_s: float = Field(default=60, title="Time-out of one call (s)", gt=0, le=3600)
    attempts: int = Field(default=5, title="Attempts at one call", ge=1, le=20)
    concurrency: int = Field(default=64, title="Calls at once", ge=1, le=512)
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
        title="If a person doesn't answer in time",
        max_length=200,
        description="`abstain`, or the id of a model that answers instead.",
        exclude_if=lambda otherwise: otherwise == ABSTAIN,
    )

    def sampling(self) -> dict[str, object]:
        """The parameters that can change an answer; part of its key."""
        return {
            "temperature": self.temperature,
            "max_tokens": self.max_tokens,
            "top_p": self.top_p,
            "extra": self.extra,
        }
