"""Calls over real HTTP, each fault by itself. What a server counts is what was really sent."""

import json
import logging
from pathlib import Path

import pytest
from aiohttp import web

from courtroom.media.medium import Medium
from courtroom.media.store import MediaStore
from courtroom.models import failures
from courtroom.models.capabilities import Capabilities
from courtroom.models.card import price
from courtroom.models.errors import ModelError, ModelRefused
from courtroom.models.litellm_model import LiteLLMModel
from courtroom.models.repair import InvalidAnswer, read_answer
from courtroom.models.schema import schema_of
from tests.openai_server import OpenAIServer
from tests.say import Word, ask, question

SECRET = "sk-very-secret-123456"
HTTP_FAULTS = ("429", "500", "empty body", "cut body")


@pytest.fixture(autouse=True)
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(failures, "backoff_s", lambda number: 0.0)
    for name in ("OPENAI_API_KEY", "OPENAI_API_BASE", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


async def test_half_a_character_is_replaced_and_where_there_is_no_answer_it_is_asked_again(tmp_path: Path) -> None:
    with OpenAIServer(answer=lambda body: '{"word": "\ud800"}') as server:
        reply = await ask(server, tmp_path)
    assert reply.text == '{"word": "?"}'
    empty = {"id": "c", "object": "chat.completion", "created": 0, "model": "any", "choices": []}
    with OpenAIServer(answer=lambda body: web.json_response(empty)) as server:
        with pytest.raises(ModelError):
            await ask(server, tmp_path, attempts=2)
        assert server.calls == 2


@pytest.mark.parametrize("watched", [False, True], ids=["whole", "streamed"])
async def test_a_known_price_and_the_discount_for_cached_tokens_count(watched: bool, tmp_path: Path) -> None:
    known = price("openai/gpt-4o-mini")
    watch = (lambda text: None) if watched else None
    with OpenAIServer() as server:
        first = await ask(server, tmp_path, watch, id="openai/gpt-4o-mini")
        second = await ask(server, tmp_path, watch, id="openai/gpt-4o-mini")
    assert first.cost == pytest.approx(known.of(first.usage.prompt, first.usage.completion))
    assert second.usage.cached == second.usage.prompt > 0
    assert second.cost is not None
    assert second.cost < known.of(second.usage.prompt, second.usage.completion)


@pytest.mark.parametrize("watched", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("fault", HTTP_FAULTS)
async def test_a_fault_that_may_pass_is_tried_as_often_as_set_and_no_more(
    fault: str, watched: bool, tmp_path: Path
) -> None:
    with OpenAIServer(faults=1.0, only=(fault,)) as server:
        with pytest.raises(ModelError):
            await ask(server, tmp_path, (lambda text: None) if watched else None, attempts=3)
        assert server.calls == 3


async def test_a_server_that_hangs_is_given_up_after_the_time_out(tmp_path: Path) -> None:
    await LiteLLMModel(MediaStore(tmp_path)).warm()
    with OpenAIServer(faults=1.0, only=("hang",)) as server:
        with pytest.raises(ModelError, match="did not answer within 0.3 s"):
            await ask(server, tmp_path, attempts=2, timeout_s=0.3)
        assert server.calls == 2


async def test_the_provider_says_how_long_to_wait(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "courtroom")
    with (
        OpenAIServer(faults=1.0, only=("429",), retry_after="0.1") as server,
        pytest.raises(ModelError, match="allows no more calls"),
    ):
        await ask(server, tmp_path, attempts=2)
    assert "again in 0.1 s" in caplog.text


@pytest.mark.parametrize(
    ("fault", "watched"),
    [("wrong schema", False), ("prose", False), ("empty answer", False), ("cut answer", False), ("cut answer", True)],
)
async def test_what_the_model_says_is_handed_on_as_it_came(fault: str, watched: bool, tmp_path: Path) -> None:
    with OpenAIServer(faults=1.0, only=(fault,)) as server:
        reply = await ask(server, tmp_path, (lambda text: None) if watched else None, attempts=3)
        assert server.calls == 1
    assert reply.finish == ("length" if fault == "cut answer" else "stop")
    with pytest.raises(InvalidAnswer):
        read_answer(reply.text, Word, reply.finish)


async def test_an_answer_streams_in(tmp_path: Path) -> None:
    seen: list[str] = []
    with OpenAIServer() as server:
        streamed = await ask(server, tmp_path, seen.append)
        assert server.calls == 1
        whole = await ask(server, tmp_path)
    assert (whole.cost, whole.finish, whole.latency_s > 0) == (None, "stop", True)
    assert len(seen) > 1
    assert seen[-1] == streamed.text == whole.text
    assert all(later.startswith(earlier) for earlier, later in zip(seen, seen[1:], strict=False))
    assert (streamed.usage.prompt, streamed.usage.completion) == (whole.usage.prompt, whole.usage.completion)


async def test_a_server_that_does_not_stream_is_asked_for_the_whole_answer_and_never_again_for_a_stream(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with OpenAIServer(streams=False, keep_bodies=True) as server:
        monkeypatch.setenv("OPENAI_API_BASE", server.url)
        model = LiteLLMModel(MediaStore(tmp_path))
        for _ in range(2):
            reply = await model.answer(question(), lambda text: None)
            assert isinstance(read_answer(reply.text, Word, reply.finish), Word)
    assert [bool(body.get("stream")) for body in server.bodies] == [True, False, False]


async def test_the_schema_goes_along_where_it_is_wanted_and_parameters_as_they_are(tmp_path: Path) -> None:
    with OpenAIServer(keep_bodies=True) as server:
        await ask(server, tmp_path, structured="yes", extra={"top_k": 3}, temperature=0.2, max_tokens=99)
        await ask(server, tmp_path, structured="no")
        await ask(server, tmp_path, id="openai/gpt-4o-mini")
    asked, unasked, known = server.bodies
    assert asked["response_format"]["json_schema"]["schema"] == json.loads(schema_of(Word))
    assert (asked["top_k"], asked["temperature"], asked["max_tokens"]) == (3, 0.2, 99)
    assert "response_format" not in unasked
    assert "response_format" in known


@pytest.mark.parametrize(
    ("model", "words", "extra", "context"),
    [
        ("ollama/llama3.1:8b", 10, {}, 8192),
        ("ollama/llama3.1:8b", 12_000, {}, 32_768),
        ("ollama/llama3.1:8b", 3_000, {"num_ctx": 4096}, 4096),
        ("openai/gpt-4o", 12_000, {}, None),
    ],
)
async def test_ollama_is_told_to_hold_the_whole_prompt_and_its_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: str, words: int, extra: dict[str, int], context: int | None
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    request = question(text="word " * words, id=model, extra=extra)
    findings = await Capabilities().of(request.spec)
    asker = LiteLLMModel(MediaStore(tmp_path))
    assert asker._parameters(request, [], findings, set()).get("num_ctx") == context
    if extra:
        too_long = question(text="word " * 4 * words, id=model, extra=extra)
        with pytest.raises(ModelRefused, match=r"num_ctx lets ollama/llama3.1:8b hold 4,096: its beginning would be"):
            asker._parameters(too_long, [], findings, set())


async def test_what_is_refused_is_told_and_not_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    error = {"error": {"message": "Incorrect API key provided"}}
    with OpenAIServer(answer=lambda body: web.json_response(error, status=401)) as server:
        monkeypatch.setenv("OPENAI_API_BASE", server.url)
        with pytest.raises(ModelRefused, match="Set OPENAI_API_KEY, or type it on the Setup page"):
            await LiteLLMModel(MediaStore(tmp_path)).answer(question())
        assert server.calls == 1
    with pytest.raises(ModelRefused, match="nowhere-x names no provider"):
        await LiteLLMModel(MediaStore(tmp_path)).answer(question(id="nowhere-x", attempts=1))
    lost = Medium(id="photo", kind="image", file="a.png", sha256="0" * 64)
    with OpenAIServer() as server:
        monkeypatch.setenv("OPENAI_API_BASE", server.url)
        with pytest.raises(ModelError, match="missing from the store"):
            await LiteLLMModel(MediaStore(tmp_path)).answer(question(lost))
        assert server.calls == 0
