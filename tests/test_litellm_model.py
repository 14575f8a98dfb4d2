"""Calls over real HTTP, each fault by itself."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest
from pydantic import BaseModel

from courtroom.media import MediaStore
from courtroom.models.errors import CannotSee, ModelError, ModelRefused
from courtroom.models.keys import KEYS
from courtroom.models.litellm_model import LiteLLMModel
from courtroom.models.repair import Unreadable, read_answer
from courtroom.models.request import Message, Reply, Request
from courtroom.models.spec import ModelSpec
from courtroom.models.task import Task
from tests.openai_server import OpenAIServer


class Word(BaseModel):
    word: str


class SayAWord(Task[Word]):
    name = "say"
    title = "Say a word"


def request_for(**spec: object) -> Request:
    schema = '{"type": "object", "properties": {"word": {"type": "string"}}}'
    message = Message("user", ("Say a word.\nIt must fit this JSON schema:\n" + schema,))
    given = {"id": "openai/any", "timeout_s": 5.0, **spec}
    return Request(ModelSpec.model_validate(given), (message,), SayAWord(), "0/a")


async def ask(server: OpenAIServer, folder: Path, watch: list[str] | None = None, **spec: object) -> Reply:
    KEYS.set({"OPENAI_API_BASE": server.url})
    model = LiteLLMModel(MediaStore(folder))
    return await model.answer(request_for(**spec), watch.append if watch is not None else None)


async def test_an_answer_comes_with_its_usage_and_an_unknown_price(tmp_path: Path) -> None:
    with OpenAIServer() as server:
        reply = await ask(server, tmp_path)
    assert isinstance(read_answer(reply.text, Word, reply.finish), Word)
    assert reply.usage.prompt > 0
    assert reply.cost is None
    assert server.calls == 1


@pytest.mark.parametrize("fault", ["429", "500", "empty body", "cut body"])
async def test_a_fault_that_may_pass_is_tried_as_often_as_set_and_no_more(fault: str, tmp_path: Path) -> None:
    with OpenAIServer(faults=1.0, only=(fault,)) as server:
        with pytest.raises(ModelError):
            await ask(server, tmp_path, attempts=2)
        assert server.calls == 2


async def test_a_server_that_hangs_is_given_up_after_the_time_out(tmp_path: Path) -> None:
    with OpenAIServer(faults=1.0, only=("hang",)) as server:
        with pytest.raises(ModelError, match="did not answer within 0.2 s"):
            await ask(server, tmp_path, attempts=2, timeout_s=0.2)
        assert server.calls == 2


async def test_a_fault_that_passes_is_not_seen(tmp_path: Path) -> None:
    with OpenAIServer(faults=0.6, only=("500",), seed=1) as server:
        reply = await ask(server, tmp_path, attempts=10)
    assert reply.text
    assert reply.attempts == server.calls


async def test_an_answer_cut_off_is_returned_as_cut_off(tmp_path: Path) -> None:
    with OpenAIServer(faults=1.0, only=("cut answer",)) as server:
        reply = await ask(server, tmp_path)
    assert reply.finish == "length"
    with pytest.raises(Unreadable, match="cut off"):
        read_answer(reply.text, Word, reply.finish)


async def test_an_answer_streams_in(tmp_path: Path) -> None:
    seen: list[str] = []
    with OpenAIServer() as server:
        reply = await ask(server, tmp_path, watch=seen)
    assert len(seen) > 1
    assert seen[-1] == reply.text
    assert all(later.startswith(earlier) for earlier, later in zip(seen, seen[1:], strict=False))
    assert server.calls == 1


async def test_a_server_that_does_not_stream_is_asked_for_the_whole_answer(tmp_path: Path) -> None:
    with OpenAIServer(streams=False) as server:
        reply = await ask(server, tmp_path, watch=[])
    assert isinstance(read_answer(reply.text, Word, reply.finish), Word)


async def test_a_key_appears_in_no_message_and_no_log(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    def leak(body: dict[str, object]) -> str:
        raise AssertionError("never reached")

    with OpenAIServer(faults=1.0, only=("500",), answer=leak) as server:
        KEYS.set({"OPENAI_API_BASE": server.url, "OPENAI_API_KEY": "sk-very-secret-123456"})
        logging.getLogger("courtroom").propagate = True
        with pytest.raises(ModelError) as caught:
            await LiteLLMModel(MediaStore(tmp_path)).answer(request_for(attempts=1))
    assert server.headers[0]["Authorization"] == "Bearer sk-very-secret-123456"
    assert "very-secret" not in str(caught.value) + caplog.text


async def test_a_model_that_refuses_pictures_is_told_from_other_refusals(tmp_path: Path) -> None:
    from courtroom.case import Medium
    from tests.pictures import png

    store = MediaStore(tmp_path)
    medium = Medium(id="a", kind="image", file="a.png", sha256=store.take(png(), "a.png"))
    request = request_for()
    shown = Request(request.spec, (Message("user", ("Look:", medium)),), request.task, request.tag)
    with OpenAIServer(blind=True) as server:
        KEYS.set({"OPENAI_API_BASE": server.url})
        with pytest.raises(CannotSee):
            await LiteLLMModel(store).answer(shown)
        assert server.calls == 1


async def test_an_unknown_provider_is_refused_in_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(ModelRefused, match="nowhere"):
        await LiteLLMModel(MediaStore(tmp_path)).answer(request_for(id="nowhere/x", attempts=1))
