"""The beginnings of prompts that providers keep for a while, so that calls which share one pay for it once."""

import asyncio
import math
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from itertools import takewhile
from typing import NamedTuple
from weakref import WeakValueDictionary

from courtroom.models.card import card, free, part_tokens, provider
from courtroom.models.request import Request, digest_text
from courtroom.models.route import Connections
from courtroom.models.schema import schema_of
from courtroom.models.spec import ModelSpec

MIN_CACHED_TOKENS = 1_024
"""Shorter beginnings are not kept, unless a model's card says otherwise."""
KEPT_S = 240.0
"""For so long after its last use a beginning is taken to be kept; providers say 300."""
MARKING = frozenset({"anthropic", "azure_ai", "bedrock", "litellm_proxy", "openrouter", "vertex_ai"})
"""Who serves Claude, which keeps only what is marked."""


class Beginning(NamedTuple):
    """Some of a prompt, from its first token on."""

    digest: str
    tokens: int
    """About so many."""


def keeps_marked(spec: ModelSpec, connections: Connections) -> bool:
    """Whether of a model's prompts only those beginnings are kept that are marked. LiteLLM must be loaded."""
    served_by = connections.named(spec.connection).provider if spec.connection else provider(spec.id)
    return served_by in MARKING and "claude" in spec.id


def min_tokens(spec: ModelSpec) -> int:
    """Return how many tokens a beginning must have to be kept."""
    return int((card(spec.id) or {}).get("prompt_cache_min_tokens") or MIN_CACHED_TOKENS)


def marked_parts(parts: int) -> frozenset[int]:
    """Return the places in a question of so many parts after which it is marked: what a run shares, what a stage does."""
    return frozenset({0, parts - 2}) if parts > 1 else frozenset()


def beginnings(request: Request, *, marked: bool) -> list[Beginning]:
    """Return the beginnings of a prompt, the shortest first, each a part longer; only the marked ones where `marked`.

    Providers put the form of the answer before it, so that prompts share nothing whose answers have other forms.
    """
    digest = digest_text(f"{request.spec.id} {schema_of(request.form, room=request.spec.room)}")
    tokens, found = 0, []
    question = next((message for message in request.messages if message.role == "user"), None)
    for message in request.messages:
        marks = marked_parts(len(message.parts)) if message is question else frozenset()
        for place, part in enumerate(message.parts):
            shown = part if isinstance(part, str) else part.shown
            digest = digest_text(f"{digest} {message.role} {shown}")
            tokens += part_tokens(part)
            if not marked or place in marks:
                found.append(Beginning(digest, tokens))
    return found


class ExpectedCache:
    """Estimates what of the prompts of a rehearsal a provider will read from its cache, and what it writes there."""

    def __init__(self, connections: Connections) -> None:
        self._connections, self._seen = connections, set[str]()

    def of(self, request: Request) -> tuple[int, int]:
        """Return tokens of one more prompt that are read, and written; those before it are kept. May import LiteLLM."""
        spec = request.spec
        if free(spec.id) or not (card(spec.id) or {}).get("cache_read_input_token_cost"):
            return 0, 0
        marked = keeps_marked(spec, self._connections)
        every = [one for one in beginnings(request, marked=marked) if one.tokens >= min_tokens(spec)]
        read = max((one.tokens for one in every if one.digest in self._seen), default=0)
        self._seen.update(one.digest for one in every)
        return read, max(0, every[-1].tokens - read) if marked and every else 0


class KeptBeginnings:
    """The marked beginnings that a provider was sent of late. Lives on the engine's loop.

    Calls at once that share one would each pay for writing it: the first goes alone, and the others read it.
    """

    def __init__(self) -> None:
        self._used_at: dict[str, float] = {}
        self._writing = WeakValueDictionary[str, asyncio.Lock]()

    @asynccontextmanager
    async def turn(self, beginning: Beginning | None) -> AsyncIterator[None]:
        """Hold a call back while another one writes the beginning that both have. None is held back by nobody."""
        if beginning is None:
            yield
            return
        lock = self._writing.setdefault(beginning.digest, asyncio.Lock())
        async with AsyncExitStack() as first:
            if not self._is_kept(beginning.digest):
                await first.enter_async_context(lock)
                if self._is_kept(beginning.digest):
                    await first.aclose()
            yield
            self._used_at.pop(beginning.digest, None)
            self._used_at[beginning.digest] = time.monotonic()  # behind all that were used before
            for gone in [*takewhile(lambda digest: not self._is_kept(digest), self._used_at)]:
                del self._used_at[gone]

    def _is_kept(self, digest: str) -> bool:
        return time.monotonic() - self._used_at.get(digest, -math.inf) < KEPT_S
