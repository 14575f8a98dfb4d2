"""An embedding model behind a real HTTP server: what it is asked, and what is said where it fails."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import numpy as np
import pytest
from aiohttp import web

from courtroom.knowledge import embedding as embedding_module
from courtroom.knowledge.embedding import AT_ONCE, DIMENSIONS, HashedNgrams, LiteLLMEmbedding
from courtroom.models.errors import ModelError

KEY = "sk-a-key-that-nobody-may-see"
Answer = Callable[[int, list[str]], web.Response]


def vectors(texts: list[str], count: int | None = None) -> web.Response:
    rows = [{"object": "embedding", "index": n, "embedding": [3.0, float(len(t))]} for n, t in enumerate(texts)]
    return web.json_response({"object": "list", "data": rows[:count], "model": "m", "usage": {"prompt_tokens": 1}})


@asynccontextmanager
async def serving(answer: Answer, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[list[list[str]]]:
    """A server whose n-th call, from 1, gets the answer; yields what it was asked."""
    asked: list[list[str]] = []

    async def embed(request: web.Request) -> web.Response:
        body: dict[str, Any] = await request.json()
        asked.append(body["input"])
        return answer(len(asked), body["input"])

    app = web.Application()
    app.router.add_post("/v1/embeddings", embed)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    port = runner.addresses[0][1]
    monkeypatch.setenv("OPENAI_API_BASE", f"http://127.0.0.1:{port}/v1")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    try:
        yield asked
    finally:
        await runner.cleanup()


async def test_many_texts_are_asked_for_in_small_calls_and_come_back_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = ["x" * n for n in range(1, 2 * AT_ONCE + 6)]
    async with serving(lambda _, batch: vectors(batch), monkeypatch) as asked:
        found = await LiteLLMEmbedding("openai/any").embed(texts)
    assert [len(batch) for batch in asked] == [AT_ONCE, AT_ONCE, 5]
    lengths = np.array([len(text) for text in texts])
    assert np.allclose(found[:, 1] / found[:, 0], lengths / 3)
    assert np.allclose(np.linalg.norm(found, axis=1), 1)


async def test_only_the_latest_vectors_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedding_module, "KEPT", 2)
    embedding = LiteLLMEmbedding("openai/any")
    async with serving(lambda _, batch: vectors(batch), monkeypatch) as asked:
        assert (await embedding.embed(["a", "b", "c"])).shape == (3, 2)
        await embedding.embed(["b", "c"])
        await embedding.embed(["a"])
    assert asked == [["a", "b", "c"], ["a"]]


async def test_a_server_that_fails_or_sends_too_few_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    def answer(call: int, batch: list[str]) -> web.Response:
        return {1: web.Response(status=500), 2: vectors(batch, 1)}.get(call) or vectors(batch)

    async with serving(answer, monkeypatch) as asked:
        assert (await LiteLLMEmbedding("openai/any").embed(["a", "b"])).shape == (2, 2)
    assert len(asked) == 3


async def test_a_refused_key_is_asked_once_and_told_without_the_key(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    refusal = {"error": {"message": f"Incorrect API key provided: {KEY}", "code": "invalid_api_key"}}
    with caplog.at_level(logging.WARNING, "courtroom"):
        async with serving(lambda *_: web.json_response(refusal, status=401), monkeypatch) as asked:
            with pytest.raises(ModelError, match=r"openai/any gave no vectors\. Check .* its key") as told:
                await LiteLLMEmbedding("openai/any").embed(["a"])
    assert len(asked) == 1
    assert told.value.__cause__ is None
    assert KEY not in caplog.text + str(told.value)
    assert "openai/any" in caplog.text


async def test_the_default_embedding_is_the_same_each_time_and_has_no_vector_for_no_words() -> None:
    texts = ["battery 电池", ""]
    first, second = await HashedNgrams().embed(texts), await HashedNgrams().embed(texts)
    assert np.array_equal(first, second)
    assert first.shape == (2, DIMENSIONS)
    assert np.linalg.norm(first[0]) == pytest.approx(1)
    assert not first[1].any()
    assert (await HashedNgrams().embed([])).shape == (0, DIMENSIONS)
