"""More room for an answer that was cut off."""

from __future__ import annotations

import asyncio

from courtroom.models.card import card
from courtroom.models.spec import ModelSpec

MOST_ROOM = 65_536
"""Tokens that a model of which no limit is known is given at most."""


async def longer(spec: ModelSpec) -> ModelSpec | None:
    """The same model with twice the longest answer, as far as it can; None where it has all the room there is."""
    known = await asyncio.to_thread(card, spec.id)  # may import LiteLLM
    text = (known or {}).get("max_output_tokens")
    room = min(2 * spec.max_tokens, text if isinstance(text, int) else MOST_ROOM)
    return spec.model_copy(update={"max_tokens": room}) if room > spec.max_tokens else None
