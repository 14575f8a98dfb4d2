"""Estimates of tokens and money before a run. After it, the provider's own usage counts."""

from collections.abc import Iterable
from dataclasses import dataclass

from courtroom.media.medium import Medium
from courtroom.models.card import card
from courtroom.models.request import Message
from courtroom.models.spec import OFFLINE, PERSON

IMAGE_TOKENS = 1_000
"""About what providers count for one picture of 1,024 pixels (their tiles give 765 to 1,600)."""


@dataclass(frozen=True)
class Price:
    """US dollars a token."""

    prompt: float
    completion: float

    def of(self, prompt: int, completion: int) -> float:
        """US dollars for so many tokens."""
        return self.prompt * prompt + self.completion * completion


def price(model: str) -> Price | None:
    """The price from LiteLLM's local card; None where it is unknown. Imports LiteLLM: call it in a thread."""
    if model in (OFFLINE, PERSON):
        return Price(0.0, 0.0)
    known = card(model)
    if known is None or known.get("input_cost_per_token") is None or known.get("output_cost_per_token") is None:
        return None
    return Price(float(known["input_cost_per_token"]), float(known["output_cost_per_token"]))


def estimate_tokens(text: str) -> int:
    """About 4 characters of ASCII a token, and one token for any other character."""
    ascii_characters = sum(character < "\x80" for character in text) if not text.isascii() else len(text)
    return ascii_characters // 4 + (len(text) - ascii_characters) + 1


def estimate_prompt(messages: Iterable[Message]) -> int:
    """About how many tokens a prompt has, its media included."""
    return sum(_tokens(part) for message in messages for part in message.parts)


def _tokens(part: str | Medium) -> int:
    return estimate_tokens(part) if isinstance(part, str) else IMAGE_TOKENS * part.pictures
