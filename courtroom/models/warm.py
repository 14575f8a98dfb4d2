"""LiteLLM with all that it imports while it answers for the first time, so that no run waits for it."""

from __future__ import annotations

import asyncio
import json
from functools import cache
from threading import Lock
from typing import Any

from courtroom.models.card import load, no_collection

_one_at_a_time = Lock()


def ready() -> None:
    """Load LiteLLM and play calls through without a network. Takes some seconds the first time: call it in a thread."""
    with _one_at_a_time:
        _ready()


def is_ready() -> bool:
    """Whether it is loaded."""
    return _ready.cache_info().currsize == 1


@cache
def _ready() -> None:
    litellm = load()
    with no_collection():
        asyncio.run(_play(litellm))


async def _play(litellm: Any) -> None:
    """One whole answer and one stream, of a server that is not there."""
    import httpx
    from openai import AsyncOpenAI

    base = {"id": "c", "created": 0, "model": "any"}
    said = {"role": "assistant", "content": "word"}
    used = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    whole = {**base, "object": "chat.completion", "usage": used, "choices": [{"index": 0, "message": said}]}
    chunk = {**base, "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": said}]}

    def answer(request: httpx.Request) -> httpx.Response:
        if not json.loads(request.content).get("stream"):
            return httpx.Response(200, json=whole)
        lines = f"data: {json.dumps(chunk)}\n\ndata: [DONE]\n\n"
        return httpx.Response(200, text=lines, headers={"content-type": "text/event-stream"})

    http = httpx.AsyncClient(transport=httpx.MockTransport(answer))
    async with AsyncOpenAI(api_key="none", base_url="http://nobody.invalid", http_client=http) as client:
        call = {"model": "openai/any", "messages": [{"role": "user", "content": "Say a word."}], "client": client}
        await litellm.acompletion(**call)
        async for _ in await litellm.acompletion(**call, stream=True):
            pass
