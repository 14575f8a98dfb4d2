"""What calls share of their prompts is marked where a provider asks for that, and priced as the provider prices it."""

import asyncio
from pathlib import Path

import pytest

from courtroom.media.store import MediaStore
from courtroom.models.card import price
from courtroom.models.pool import ModelPool
from courtroom.models.request import Message, Reply, Request
from courtroom.models.spec import ModelSpec
from tests.pages import house
from tests.provider_server import ProviderServer
from tests.say import SayAWord

__all__ = ["house"]  # a fixture

CLAUDE, GPT = "anthropic/claude-sonnet-4-5", "openai/gpt-5-mini"
CASE = "The case. " * 600
"""1,500 tokens."""


def asked(model: str, own: str, case: str = CASE) -> Request:
    messages = (Message("system", ("Be fair.\n",)), Message("user", (f"{case}\n", "What all are told.\n", own)))
    return Request(ModelSpec.model_validate({"id": model}), messages, SayAWord(), f"0/{own}")


async def answers(folder: Path, requests: list[Request]) -> list[Reply]:
    model = ModelPool(MediaStore(folder))
    try:
        return await asyncio.gather(*map(model.answer, requests))
    finally:
        await model.close()


@pytest.mark.parametrize("model", [CLAUDE, GPT])
async def test_calls_at_once_write_what_they_share_once(
    model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ProviderServer(keep_bodies=True, delay=0.05) as server:
        server.known(monkeypatch)
        replies = await answers(tmp_path, [asked(model, f"You are juror {number}.\n") for number in range(5)])
    written = [reply.usage.written for reply in replies if reply.usage.written]
    if model == GPT:
        assert not written
        assert all(isinstance(message["content"], str) for body in server.bodies for message in body["messages"])
        return
    assert len(written) == 1
    assert sorted(reply.usage.cached for reply in replies) == [0, *written * 4]
    for body in server.bodies:
        *shared, own = body["messages"][0]["content"]
        assert [part["cache_control"] for part in shared] == [{"type": "ephemeral"}] * 2
        assert "cache_control" not in own
    known = price(CLAUDE)
    assert known is not None
    for reply in replies:
        used = reply.usage
        assert reply.cost == pytest.approx(known.of(used.prompt, used.completion, used.cached, used.written))
