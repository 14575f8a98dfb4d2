"""Calls over real HTTP, each fault by itself, and servers as they are: what each says when it can't do what is asked, in its own words.

What a server counts is what was really sent.
"""

import asyncio
import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from courtroom import Courthouse, ModelSpec
from courtroom.media.store import MediaStore
from courtroom.models.capabilities import CONTEXT, Capabilities
from courtroom.models.pool import Call, ModelPool
from courtroom.models.repair import read_answer
from courtroom.models.request import CannotSee, ModelError, Reply
from courtroom.models.schema import schema_of
from courtroom.procedures.jurisagents.setup import JurisAgentsSetup
from tests.driving import drive, hearing, prepared, until
from tests.openai_server import Answer, OpenAIServer, refusal
from tests.pages import house as house  # a fixture
from tests.pages import page, texts
from tests.say import Watch, Word, ask, either_way, model_at, picture, question, there

pytestmark = pytest.mark.usefixtures("no_pause")


def is_word(reply: Reply) -> bool:
    return isinstance(read_answer(reply.text, Word, reply.finish), Word)


@either_way
@pytest.mark.parametrize("fault", ["500", "cut body", "hang"])
async def test_a_fault_that_may_pass_is_tried_as_often_as_set(fault: str, watch: Watch, tmp_path: Path) -> None:
    await ModelPool(MediaStore(tmp_path)).warm()
    hangs = fault == "hang"
    with OpenAIServer(faults=1.0, only=(fault,)) as server:
        with pytest.raises(ModelError, match="did not answer within 1 s" if hangs else None):
            await ask(server, tmp_path, watch, attempts=3, timeout_s=1.0 if hangs else 20.0)
        assert server.calls == 3


async def test_a_whole_answer_in_place_of_a_stream_is_read(tmp_path: Path) -> None:
    with OpenAIServer(streams=False, keep_bodies=True) as server, model_at(server, tmp_path) as model:
        shown: list[str] = []
        reply = await model.answer(question(connection="test"), shown.append)
        assert is_word(await model.answer(question(connection="test"), shown.append))
    assert is_word(reply)
    assert not shown
    assert [bool(body.get("stream")) for body in server.bodies] == [True, False]
    assert not reply.usage.estimated


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
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret-123456")
    request = question(text="word " * words, id=model, extra=extra)
    findings = await Capabilities().of(request.spec)
    asker = ModelPool(MediaStore(tmp_path))
    assert Call(asker, request, findings, None).parameters([]).get("num_ctx") == context
    if extra:
        too_long = question(text="word " * 4 * words, id=model, extra=extra)
        with pytest.raises(ModelError, match=r"num_ctx lets ollama/llama3.1:8b hold 4,096: its beginning would be"):
            Call(asker, too_long, findings, None).parameters([])


async def test_what_is_refused_is_told_and_not_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with OpenAIServer(answer=lambda body: refusal(401, "Incorrect API key provided")) as server:
        monkeypatch.setenv("OPENAI_API_BASE", server.url)
        with pytest.raises(ModelError, match="Set OPENAI_API_KEY, or type it on the Setup page"):
            await ModelPool(MediaStore(tmp_path)).answer(question())
        assert server.calls == 1
    with pytest.raises(ModelError, match="nowhere-x names no provider"):
        await ModelPool(MediaStore(tmp_path)).answer(question(id="nowhere-x", attempts=1))


LLAMA_BLIND = "image input is not supported - hint: if this is unexpected, you may need to provide the mmproj"
OLLAMA_BLIND = "this model is missing data required for image input"


@pytest.mark.parametrize("message", [LLAMA_BLIND, OLLAMA_BLIND])
async def test_a_model_that_sees_none_is_sent_one_picture_alone(message: str, tmp_path: Path) -> None:
    """And none after a restart."""
    photo = picture(MediaStore(tmp_path))
    blind: Answer = lambda body: refusal(500, message) if "image_url" in json.dumps(body["messages"]) else None  # noqa: E731
    with OpenAIServer(answer=blind, delay=0.05) as server:
        for _ in ("one process", "the next"):
            with model_at(server, tmp_path) as model:
                asked = (model.answer(question(photo, connection="test", tag=str(n))) for n in range(17))
                failed = await asyncio.gather(*asked, return_exceptions=True)
            assert {type(each) for each in failed} == {CannotSee}
        assert server.calls == 1


def vllm(context: int, prompt: int) -> Answer:
    """A server that counts so many tokens of a prompt, and refuses an answer for which it has no room."""

    def answer(body: dict[str, Any]) -> web.Response | None:
        longest = body["max_tokens"]
        told = f"'max_tokens' is too large: {longest}. This model's maximum context length is {context} tokens and "
        told += f"your request has {prompt} input tokens ({longest} > {context} - {prompt})."
        return refusal(400, told) if prompt + longest > context else None

    return answer


async def test_an_answer_longer_than_the_context_is_asked_for_with_the_room_there_is(tmp_path: Path) -> None:
    with OpenAIServer(answer=vllm(4096, 3000), keep_bodies=True) as server:
        for _ in ("one process", "the next"):
            with model_at(server, tmp_path) as model:
                for tag in "ab":
                    assert is_word(await model.answer(question(connection="test", max_tokens=8192, tag=tag)))
    longest = [body["max_tokens"] for body in server.bodies]
    assert longest[0] == 8192
    assert all(900 < room <= 1096 for room in longest[1:3])
    assert server.calls <= 6  # the next process knows the context, and not yet how this server counts


@pytest.mark.parametrize(
    ("provider", "told", "context"),
    [
        ("openai", {"about": {"/props": {"default_generation_settings": {"n_ctx": 3072}}}}, 3072),
        ("ollama", {"about": {"/api/show": {"model_info": {"a": 1, "llama.context_length": 8192}}}}, 8192),
        ("hosted_vllm", {"listing": b'{"data": [{"id": "any", "max_model_len": 4096}]}'}, 4096),
        ("openai", {"listing": b"[" * 100_000}, None),
    ],
    ids=["llama.cpp", "Ollama", "vLLM", "nonsense"],
)
async def test_a_server_is_asked_once_what_it_holds(provider: str, told: dict[str, Any], context: int | None) -> None:
    spec = ModelSpec(id=f"{provider}/any", connection="test")
    with OpenAIServer(**told) as server:
        address = server.url.removesuffix("/v1") if provider == "ollama" else server.url
        capabilities = Capabilities(connections=there(server, provider=provider, address=address))
        found = await asyncio.gather(*(capabilities.context(spec) for _ in range(9)))
        assert {findings.get(CONTEXT) for findings in found} == {context}
        assert len(server.looked_up) == 1


def test_precedents_give_way_where_a_model_has_little_room_and_the_run_tells_it(house: Courthouse) -> None:
    case = house.library.case("criminal-workshop-burglary")
    setup = JurisAgentsSetup(model=ModelSpec(id="openai/any", vision="no"), appeal=False)
    shown: dict[int, int] = {}
    for context in (32_768, 1_700):
        run = house.new_run("jurisagents", case, setup, context)
        about = {"/props": {"default_generation_settings": {"n_ctx": context}}}
        with (
            pytest.MonkeyPatch.context() as patch,
            OpenAIServer(keep_bodies=True, about=about, known_to=patch) as server,
        ):
            drive(house, run)
        asked = ["".join(message["content"] for message in body["messages"]) for body in server.bodies]
        needed = [len(text) // 4 + body["max_tokens"] for text, body in zip(asked, server.bodies, strict=True)]
        assert max(needed) <= context
        shown[context] = len(asked[-1])
        told = any("too little room for the whole question “Judgment”" in note for note in house.record(run).notes)
        assert told == (context == 1_700)
    assert shown[1_700] < shown[32_768]


def test_a_model_that_runs_in_circles_is_told_once_to_be_brief(
    house: Courthouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = '{"argument": "' + "The seller is right because the seller says so, and so the seller is right. " * 20
    cut: dict[str, Any] = {"faults": 1.0, "only": ("cut answer",)}
    with OpenAIServer(answer=lambda asked: text, **cut, keep_bodies=True, known_to=monkeypatch) as server:
        hearing(house, "debate", "phone-battery", model=ModelSpec(id="openai/any"))
    asked = [asked["messages"] for asked in server.bodies]
    again = [messages for messages in asked if len(messages) > 2]
    assert 0 < len(again) == len(asked) / 2
    assert all("be brief" in messages[-1]["content"] and len(messages[-2]["content"]) <= 400 for messages in again)
    assert len({asked["max_tokens"] for asked in server.bodies}) == 1


def test_the_page_says_that_a_model_is_loading(house: Courthouse, monkeypatch: pytest.MonkeyPatch) -> None:
    has_loaded = threading.Event()
    answer: Answer = lambda body: None if has_loaded.is_set() else refusal(503, "Loading model")  # noqa: E731
    with OpenAIServer(answer=answer, known_to=monkeypatch):
        model = ModelSpec(id="openai/any", attempts=1)
        run = prepared(house, "cyberjurors", "phone-battery", model=model, jury_size=3, rounds=1)
        house.runner.go(run)
        until(lambda: house.pool.loading, "the model to be known as loading")
        assert "openai/any is still loading on its server" in texts(page("deliberation", run=run))
        has_loaded.set()
        house.runner.wait(run)
        assert house.record(run).run.status == "done"
        assert "is still loading" not in texts(page("deliberation", run=run))


TOLD = """
import asyncio, json
from litellm.integrations.custom_logger import CustomLogger
from courtroom.models.card import load

class Told(CustomLogger):
    async def async_log_success_event(self, kwargs, response_obj, start_time, end_time):
        print(json.dumps([kwargs["standard_logging_object"], kwargs["messages"], kwargs.get("input")], default=str), response_obj)

async def main():
    load().callbacks.append(Told())
    messages = [{"role": "user", "content": "the words of a question"}]
    await load().acompletion("openai/any", messages, mock_response="the words of an answer")
    for _ in range(3):
        await asyncio.sleep(0)
    await asyncio.wait_for(load().litellm_core_utils.logging_worker.GLOBAL_LOGGING_WORKER.flush(), 20)

asyncio.run(main())
"""


def test_a_callback_is_told_of_a_call_without_its_prompt_and_answer() -> None:
    given = {**os.environ, "COURTROOM_CALLBACKS": "lago"}  # one that is not there: another stands beside it
    told = subprocess.run([sys.executable, "-c", TOLD], env=given, capture_output=True, text=True, check=True).stdout
    assert '"total_tokens"' in told
    assert "the words of" not in told
