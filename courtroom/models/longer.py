"""How many tokens an answer may have: as many as are set, as the model has room for, or more where it was cut off."""

import asyncio
import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import count

from courtroom.media.medium import Medium
from courtroom.models.capabilities import ANSWER, CONTEXT, Findings
from courtroom.models.card import card, estimate_prompt_tokens
from courtroom.models.prompts import describe
from courtroom.models.request import Message, ModelError, Reply, Request
from courtroom.models.spec import ModelSpec

MOST_ROOM = 65_536
"""Tokens that a model of which no limit is known is given at most."""
LEAST_ROOM = 16
OLLAMA_LEAST, OLLAMA_MARGIN = 8192, 1.3
MARGIN = 1.02
"""How many tokens more than estimated a prompt may have."""
CIRCLE, TURNS = 40, 3
"""Characters that end a text, and how often it must hold them, to have run in circles."""
_NUMBER = re.compile(r"\d+")


def room(request: Request, findings: Findings) -> int:
    """The longest answer to a request: as set, or what the prompt leaves of the model's context where that is known."""
    context = findings.get(CONTEXT)
    wanted = request.spec.max_tokens if context is None else _room(request, context, findings.tokens_an_estimate)
    return min(wanted, findings.get(ANSWER) or wanted)


def fits(messages: Sequence[Message], spec: ModelSpec, findings: Findings) -> bool:
    """Return whether a prompt leaves a quarter of the context for the answer, or as much as the longest takes."""
    context = findings.get(CONTEXT)
    if context is None:
        return True
    prompt = estimate_prompt_tokens(messages) * findings.tokens_an_estimate * MARGIN
    return prompt + min(spec.max_tokens, context // 4) <= context


def fewer_frames(messages: Sequence[Message]) -> tuple[Message, ...] | None:
    """The same with half as many frames of each video, spread evenly; None where no video has more than one."""

    def halved(part: str | Medium) -> str | Medium:
        if isinstance(part, str) or part.kind == "image" or part.pictures < 2:
            return part
        return part.model_copy(update={"most_frames": part.pictures // 2})

    fewer = tuple(replace(message, parts=tuple(map(halved, message.parts))) for message in messages)
    return fewer if fewer != tuple(messages) else None


def fewer_pictures(messages: Sequence[Message], most: int) -> tuple[tuple[Message, ...], tuple[str, ...]]:
    """Return the same with so many pictures at most, the first; of the others, the descriptions, and their ids."""
    shown, described, numbers = 0, list[str](), count()

    def kept(part: str | Medium) -> str | Medium:
        nonlocal shown
        if isinstance(part, str):
            return part
        number = next(numbers)
        if shown + part.pictures <= most:
            shown += part.pictures
            return part
        described.append(part.id)
        return describe(part, number)

    return tuple(replace(message, parts=tuple(map(kept, message.parts))) for message in messages), tuple(described)


def runs_in_circles(text: str) -> bool:
    """Return whether a text ends with what it says again and again, or with blanks; numbers don't count."""
    said = _NUMBER.sub("0", text)
    if len(said) - len(said.rstrip()) > TURNS * CIRCLE:
        return True
    said = said.rstrip()
    return len(said) > TURNS * CIRCLE and said.count(said[-CIRCLE:]) >= TURNS


def ollama_context(request: Request, findings: Findings) -> int | None:
    """How many tokens Ollama must hold for a request; None where another provider is asked.

    By itself it holds a few thousand, and cuts off the beginning of what is longer without an error. It loads a model
    again for each other number, so that most requests have the same one. Raises `ModelError`: the setup names a smaller
    number than the prompt alone needs."""
    if not request.spec.id.startswith(("ollama/", "ollama_chat/")):
        return None
    prompt, held = estimate_prompt_tokens(request.messages), request.spec.extra.get("num_ctx")
    if isinstance(held, int) and prompt > held:
        raise ModelError(
            f"What is asked has about {prompt:,} tokens, and num_ctx lets {request.spec.id} hold {held:,}: "
            "its beginning would be lost. Raise num_ctx, or leave it out."
        )
    wanted = max(OLLAMA_LEAST, 1 << int(prompt * OLLAMA_MARGIN + request.spec.max_tokens).bit_length())
    return min(wanted, findings.get(CONTEXT) or wanted)


def leaves_room(request: Request, findings: Findings, context: int, prompt: int | None) -> bool:
    """Whether a request that was refused for its length fits with a shorter answer. `context`: how many tokens prompt
    and answer may have together, as the server says. `prompt`: how many the prompt has, where the server says so."""
    if prompt is not None:
        findings.tokens_an_estimate = prompt / estimate_prompt_tokens(request.messages)
    return LEAST_ROOM < _room(request, context, findings.tokens_an_estimate) < request.spec.max_tokens


def _room(request: Request, context: int, tokens_an_estimate: float) -> int:
    prompt = estimate_prompt_tokens(request.messages) * tokens_an_estimate * MARGIN
    return max(LEAST_ROOM, min(request.spec.max_tokens, context - int(prompt)))


async def with_longer_answer(request: Request, reply: Reply, findings: Findings) -> ModelSpec | None:
    """Return the model with twice the longest answer, as far as it can; None where it had all room or ran in circles.
    `reply`: the answer that was cut off."""
    if runs_in_circles(reply.text):
        return None
    spec, context = request.spec, findings.get(CONTEXT)
    known = await asyncio.to_thread(card, spec.id)  # may import LiteLLM
    text = (known or {}).get("max_output_tokens")
    most = min(2 * spec.max_tokens, text if isinstance(text, int) else MOST_ROOM)
    most = min(most, findings.get(ANSWER) or most)
    if context is not None:
        most = min(most, context - (reply.usage.prompt or estimate_prompt_tokens(request.messages)) - LEAST_ROOM)
    return spec.model_copy(update={"max_tokens": most}) if most > spec.max_tokens else None
