"""Servers as they are: what each says when it can't do what is asked, in its own words, over real HTTP."""

import asyncio
import json
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from courtroom.courthouse import Courthouse
from courtroom.media.store import MediaStore
from courtroom.models import failures
from courtroom.models.capabilities import CONTEXT, Capabilities
from courtroom.models.errors import CannotSee, ModelRefused, ServerFailed
from courtroom.models.litellm_model import LiteLLMModel
from courtroom.models.repair import read_answer
from courtroom.models.request import Message, Reply
from courtroom.models.spec import ModelSpec
from courtroom.procedures.cyberjurors.setup import CyberJurorsSetup
from courtroom.procedures.debate.procedure import DebateSetup
from courtroom.procedures.jurisagents.setup import JurisAgentsSetup
from courtroom.store.database import Database
from courtroom.store.writer import Writer
from tests.driving import drive
from tests.openai_server import Answer, OpenAIServer
from tests.pages import house, page, texts
from tests.say import Word, ask, picture, question, there

__all__ = ["house"]  # a fixture

LLAMA_BLIND = "image input is not supported - hint: if this is unexpected, you may need to provide the mmproj"
OLLAMA_BLIND = "this model is missing data required for image input"
OPENAI_BLIND = "This model does not support image input."


@pytest.fixture(autouse=True)
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(failures, "backoff_s", lambda number: 0.0)
    monkeypatch.setattr(failures, "LOADING_PAUSE_S", 0.01)


def error(status: int, message: str) -> web.Response:
    """An error in the form that llama.cpp, vLLM and Ollama give it."""
    return web.json_response({"error": {"code": status, "message": message, "type": "server_error"}}, status=status)


@contextmanager
def model_at(server: OpenAIServer, folder: Path) -> Iterator[LiteLLMModel]:
    """A process's model, which remembers in the folder what it finds out."""
    with closing(Database(folder / "store.sqlite")) as database, closing(Writer(database)) as writer:
        connections = there(server)
        yield LiteLLMModel(MediaStore(folder), connections, None, Capabilities(database, writer, connections))


@pytest.mark.parametrize("message", [LLAMA_BLIND, OLLAMA_BLIND, OPENAI_BLIND])
async def test_of_many_pictures_for_a_model_that_sees_none_one_is_sent_and_none_after_a_restart(
    message: str, tmp_path: Path
) -> None:
    store = MediaStore(tmp_path)
    photo = picture(store)
    blind: Answer = lambda body: error(500, message) if "image_url" in json.dumps(body["messages"]) else None  # noqa: E731
    with OpenAIServer(answer=blind, delay=0.05) as server:
        for _ in ("one process", "the next"):
            with model_at(server, tmp_path) as model:
                asked = (model.answer(question(photo, connection="test", tag=str(n))) for n in range(17))
                failed = await asyncio.gather(*asked, return_exceptions=True)
            assert {type(each) for each in failed} == {CannotSee}
        assert server.calls == 1


async def test_pictures_for_a_model_that_sees_go_out_together_after_the_first(tmp_path: Path) -> None:
    store = MediaStore(tmp_path)
    photo = picture(store)
    with OpenAIServer(delay=0.5) as server, model_at(server, tmp_path) as model:
        asked = (model.answer(question(photo, connection="test", tag=str(n))) for n in range(9))
        assert all(reply.text for reply in await asyncio.gather(*asked))
    assert server.calls == 9
    assert server.most_open > 1


@pytest.mark.parametrize(
    ("status", "message", "sentence"),
    [
        (500, "Context size has been exceeded.", "is too long for openai/any"),
        (400, "request (9031 tokens) exceeds the available context size (4096 tokens)", "is too long for openai/any"),
        (500, "model requires more system memory (5.6 GiB) than is available (3.0 GiB)", "too little memory for it"),
    ],
)
@pytest.mark.parametrize("watched", [False, True], ids=["whole", "streamed"])
async def test_what_is_permanent_is_said_at_the_first_answer(
    status: int, message: str, sentence: str, watched: bool, tmp_path: Path
) -> None:
    with OpenAIServer(answer=lambda body: error(status, message)) as server:
        with pytest.raises(ModelRefused, match=sentence):
            await ask(server, tmp_path, (lambda text: None) if watched else None)
        assert server.calls == 1


async def test_an_error_within_a_stream_and_a_prompt_that_leaves_no_room_are_understood_too(tmp_path: Path) -> None:
    event = b'data: {"error": {"code": 500, "message": "Context size has been exceeded."}}\n\n'
    with OpenAIServer(answer=lambda body: web.Response(body=event, content_type="text/event-stream")) as server:
        with pytest.raises(ModelRefused, match="is too long for openai/any"):
            await ask(server, tmp_path, lambda text: None)
        assert server.calls == 1
    with OpenAIServer(answer=vllm(4096, 4090)) as server:
        with pytest.raises(ModelRefused, match="too long"):
            await ask(server, tmp_path)
        assert server.calls == 1


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (500, "JSON schema conversion failed:\nUnrecognized schema"),
        (400, "Unable to generate parser for this template. JSON schema error at #/properties/a: unrecognized type"),
        (400, "Invalid schema for response_format"),
        (400, "guided decoding is not built in"),
    ],
)
async def test_a_schema_that_a_server_can_not_use_is_left_out_for_all(
    status: int, message: str, tmp_path: Path
) -> None:
    refuse: Answer = lambda body: error(status, message) if "response_format" in body else None  # noqa: E731
    with OpenAIServer(answer=refuse) as server:
        for _ in ("one process", "the next"):
            with model_at(server, tmp_path) as model:
                assert is_word(await model.answer(question(connection="test")))
    assert server.calls == 3


@pytest.mark.parametrize(
    "message",
    [
        "Conversation roles must alternate user/assistant/user/assistant/...",
        "System role not supported",
        "After the optional system message, conversation roles must alternate user/assistant",
    ],
)
async def test_a_system_message_that_a_template_refuses_goes_into_the_users(message: str, tmp_path: Path) -> None:
    def refuse(body: dict[str, Any]) -> web.Response | None:
        roles = [sent["role"] for sent in body["messages"]]
        return None if roles == ["user"] else error(500, message)

    asked = question(connection="test")
    asked = type(asked)(asked.spec, (Message("system", ("You are a juror.",)), *asked.messages), asked.task, asked.tag)
    with OpenAIServer(answer=refuse, keep_bodies=True) as server, model_at(server, tmp_path) as model:
        for _ in range(3):
            assert is_word(await model.answer(asked))
    assert server.calls == 4
    assert server.bodies[-1]["messages"][0]["content"].startswith("You are a juror.\n\nSay a word.")


def vllm(context: int, prompt: int) -> Answer:
    """A server that counts so many tokens of a prompt, and refuses an answer for which it has no room."""

    def answer(body: dict[str, Any]) -> web.Response | None:
        longest = body["max_tokens"]
        if prompt + longest <= context:
            return None
        return error(
            400,
            f"'max_tokens' or 'max_completion_tokens' is too large: {longest}. This model's maximum context length is "
            f"{context} tokens and your request has {prompt} input tokens ({longest} > {context} - {prompt}).",
        )

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
        ("openai", {"about": {"/props": {"default_generation_settings": {"n_ctx": "many"}}}}, None),
        ("openai", {"listing": b"[" * 100_000}, None),
    ],
    ids=["llama.cpp", "Ollama", "vLLM", "a text", "nonsense"],
)
async def test_a_server_is_asked_once_how_much_its_model_holds(
    provider: str, told: dict[str, Any], context: int | None
) -> None:
    spec = ModelSpec(id=f"{provider}/any", connection="test")
    with OpenAIServer(**told) as server:
        address = server.url.removesuffix("/v1") if provider == "ollama" else server.url
        capabilities = Capabilities(connections=there(server, provider=provider, address=address))
        found = await asyncio.gather(*(capabilities.context(spec) for _ in range(9)))
        assert {findings.get(CONTEXT) for findings in found} == {context}
        assert len(server.looked_up) == 1


def asked_with_room(house: Courthouse, context: int, run: str, note: str) -> tuple[list[dict[str, Any]], bool]:
    """What a server whose model holds so many tokens was asked in a run; and whether the run tells it."""
    about = {"/props": {"default_generation_settings": {"n_ctx": context}}}
    with OpenAIServer(keep_bodies=True, about=about) as server, pytest.MonkeyPatch.context() as patch:
        server.known(patch)
        drive(house, run)
    return server.bodies, any(note in told for told in house.record(run).notes)


def test_precedents_give_way_where_a_model_has_little_room_and_the_run_tells_it(house: Courthouse) -> None:
    case = house.library.case("criminal-workshop-burglary")
    setup = JurisAgentsSetup(model=ModelSpec(id="openai/any", vision="no"), appeal=False)
    shown: dict[int, int] = {}
    for context in (32_768, 1_700):
        run = house.new_run("jurisagents", case, setup, context)
        bodies, told = asked_with_room(house, context, run, "too little room for the whole question “Judgment”")
        asked = ["".join(message["content"] for message in body["messages"]) for body in bodies]
        needed = [len(text) // 4 + body["max_tokens"] for text, body in zip(asked, bodies, strict=True)]
        assert max(needed) <= context
        shown[context] = len(asked[-1])
        assert told == (context == 1_700)
    assert shown[1_700] < shown[32_768]


def test_frames_of_videos_give_way_before_the_task_and_the_run_tells_it(house: Courthouse) -> None:
    case = house.library.case("phone-battery")
    setup = CyberJurorsSetup(model=ModelSpec(id="openai/any", vision="yes"), variant="baseline")
    frames: dict[int, int] = {}
    for context in (200_000, 20_000):
        run = house.new_run("cyberjurors", case, setup, context)
        (asked,), told = asked_with_room(house, context, run, "it is shown fewer frames of each video")
        parts = asked["messages"][1]["content"]
        assert "maxLength" in parts[-1]["text"]
        frames[context] = sum(part["type"] == "image_url" for part in parts)
        assert told == (context == 20_000)
    pictures = sum(medium.kind == "image" for medium in case.media())
    assert pictures + 1 < frames[20_000] <= pictures + 15 < frames[200_000]


def test_a_model_that_runs_in_circles_is_told_once_to_be_brief(
    house: Courthouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = '{"argument": "' + "The seller is right because the seller says so, and so the seller is right. " * 20
    with OpenAIServer(answer=lambda asked: text, faults=1.0, only=("cut answer",), keep_bodies=True) as server:
        server.known(monkeypatch)
        setup = DebateSetup(model=ModelSpec(id="openai/any"))
        drive(house, house.new_run("debate", house.library.case("phone-battery"), setup, 0))
    asked = [asked["messages"] for asked in server.bodies]
    again = [messages for messages in asked if len(messages) > 2]
    assert 0 < len(again) == len(asked) / 2
    assert all("be brief" in messages[-1]["content"] and len(messages[-2]["content"]) <= 400 for messages in again)
    assert len({asked["max_tokens"] for asked in server.bodies}) == 1


async def test_a_model_that_is_loading_is_waited_for_until_a_bound(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = iter([*["Loading model"] * 9, None])

    def loading(body: dict[str, Any]) -> web.Response | None:
        message = next(answers)
        return error(503, message) if message else None

    with OpenAIServer(answer=loading) as server, model_at(server, tmp_path) as model:
        call = asyncio.create_task(model.answer(question(connection="test", attempts=2)))
        while not model.loading:  # noqa: ASYNC110  nothing tells when it is known
            await asyncio.sleep(0.001)
        assert model.loading == {"openai/any"}
        assert is_word(await call)
        assert not model.loading
    assert server.calls == 10
    monkeypatch.setattr(failures, "LONGEST_LOADING_S", 0.05)
    loading = OpenAIServer(answer=lambda body: error(503, "Loading model"))
    with loading as server, pytest.raises(ServerFailed, match="is still loading it"):
        await ask(server, tmp_path)


def test_the_page_says_that_a_model_is_loading(house: Courthouse, monkeypatch: pytest.MonkeyPatch) -> None:
    has_loaded = threading.Event()
    answer: Answer = lambda body: None if has_loaded.is_set() else error(503, "Loading model")  # noqa: E731
    with OpenAIServer(answer=answer) as server:
        monkeypatch.setenv("OPENAI_API_BASE", server.url)
        setup = CyberJurorsSetup(model=ModelSpec(id="openai/any"), jury_size=3, rounds=1)
        run = house.new_run("cyberjurors", house.library.case("phone-battery"), setup, 0)
        house.runner.go(run)
        while not house.pool.loading:
            time.sleep(0.01)
        shown = texts(page("deliberation", run=run))
        has_loaded.set()
        house.runner.wait(run)
        assert "openai/any is still loading on its server" in shown
        assert house.record(run).run.status == "done"
        assert "is still loading" not in texts(page("deliberation", run=run))


PARTS = [{"type": "text", "text": '{"word": '}, {"type": "text", "text": '"yes"}'}]
THOUGHT = [{"type": "thinking", "thinking": [{"type": "text", "text": "{}"}]}, *PARTS]


@pytest.mark.parametrize("content", [PARTS, THOUGHT, '{"word": "yes"}'], ids=["parts", "thought", "text"])
async def test_a_good_answer_in_an_odd_wrapping_is_a_good_answer(content: object, tmp_path: Path) -> None:
    body = {
        "choices": [{"index": 0, "message": {"role": "assistant", "content": content}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 11.0, "completion_tokens": 3.0, "total_tokens": 14.0},
    }
    with OpenAIServer(answer=lambda asked: web.json_response(body)) as server:
        reply = await ask(server, tmp_path)
    assert server.calls == 1
    assert json.loads(reply.text) == {"word": "yes"}
    assert (reply.usage.prompt, reply.usage.completion) == (11, 3)


@pytest.mark.parametrize("size", [1, 7, 10_000])
async def test_a_stream_whose_content_comes_in_parts_is_a_good_answer(size: int, tmp_path: Path) -> None:
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": THOUGHT[:2]}, {"content": THOUGHT[2:]}, {}]
    choices = [{"index": 0, "delta": delta, "finish_reason": None if delta else "stop"} for delta in deltas]
    events = [{"object": "chat.completion.chunk", "model": "any", "choices": [choice]} for choice in choices]
    body = "".join(f"data: {json.dumps(event)}\n\n" for event in events).encode() + b"data: [DONE]\n\n"

    async def pieces() -> AsyncIterator[bytes]:
        for start in range(0, len(body), size):
            yield body[start : start + size]

    shown: list[str] = []
    answer: Answer = lambda asked: web.Response(body=pieces(), content_type="text/event-stream")  # noqa: E731
    with OpenAIServer(answer=answer) as server:
        reply = await ask(server, tmp_path, shown.append)
    assert json.loads(reply.text) == {"word": "yes"}
    assert shown == ['{"word": ', '{"word": "yes"}']
    assert reply.attempts == 1


def is_word(reply: Reply) -> bool:
    return isinstance(read_answer(reply.text, Word, reply.finish), Word)


def test_errors_of_other_kinds_say_nothing_of_pictures() -> None:
    for status, message in (
        (503, "failed to fetch the image"),
        (503, "the vision worker is busy"),
        (503, "images count. Try again"),
        (404, "The model `any` does not exist"),
        (400, "API key not valid. Please pass a valid API key."),
        (400, "This model's maximum context length is 8192 tokens; images count."),
    ):
        said = Exception(message)
        said.status_code = status  # type: ignore[attr-defined]
        assert not failures.cannot_see(said)
