"""Calls over real HTTP, each fault by itself, and servers as they are: what each says when it can't do what is asked, in its own words.

What a server counts is what was really sent.
"""

import asyncio
import json
import os
import shutil
import subprocess
import sys
import threading
import tomllib
from collections.abc import AsyncIterator, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from courtroom.courthouse import Courthouse
from courtroom.media.medium import Medium
from courtroom.media.store import MediaStore
from courtroom.models import failures
from courtroom.models.capabilities import CONTEXT, Capabilities
from courtroom.models.card import price
from courtroom.models.errors import CannotSee, ModelError
from courtroom.models.pool import Call, ModelPool
from courtroom.models.repair import read_answer
from courtroom.models.request import Reply
from courtroom.models.schema import schema_of
from courtroom.models.spec import ModelSpec
from courtroom.procedures.cyberjurors.setup import CyberJurorsSetup
from courtroom.procedures.debate.procedure import DebateSetup
from courtroom.procedures.jurisagents.setup import JurisAgentsSetup
from courtroom.settings import Settings
from courtroom.store.opening import open_store
from courtroom.store.writer import Writer
from tests.app_server import answers, free_port
from tests.docs import blocks
from tests.driving import drive, until
from tests.openai_server import Answer, OpenAIServer, refusal
from tests.pages import house, page, texts
from tests.say import Watch, Word, ask, either_way, picture, question, there
from tests.test_server_replies import THOUGHT

__all__ = ["house"]  # a fixture


@pytest.fixture(autouse=True)
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(failures, "backoff_s", lambda number: 0.0)
    monkeypatch.setattr(failures, "LOADING_PAUSE_S", 0.01)
    for name in ("OPENAI_API_KEY", "OPENAI_API_BASE", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


def is_word(reply: Reply) -> bool:
    return isinstance(read_answer(reply.text, Word, reply.finish), Word)


@contextmanager
def model_at(server: OpenAIServer, folder: Path) -> Iterator[ModelPool]:
    """A process's model, which remembers in the folder what it finds out."""
    with closing(open_store(folder / "store.sqlite")) as database, closing(Writer(database)) as writer:
        connections = there(server)
        yield ModelPool(MediaStore(folder), connections, None, Capabilities(database, writer, connections))


@either_way
async def test_a_known_price_and_the_discount_for_cached_tokens_count(watch: Watch, tmp_path: Path) -> None:
    known = price("openai/gpt-4o-mini")
    with OpenAIServer() as server:
        first = await ask(server, tmp_path, watch, id="openai/gpt-4o-mini")
        second = await ask(server, tmp_path, watch, id="openai/gpt-4o-mini")
    assert first.cost == pytest.approx(known.of(first.usage.prompt, first.usage.completion))
    assert second.usage.cached == second.usage.prompt > 0
    assert second.cost < known.of(second.usage.prompt, second.usage.completion)


@either_way
@pytest.mark.parametrize("fault", ["429", "500", "empty body", "cut body", "no choices", "hang"])
async def test_a_fault_that_may_pass_is_tried_as_often_as_set_and_no_more(
    fault: str, watch: Watch, tmp_path: Path
) -> None:
    await ModelPool(MediaStore(tmp_path)).warm()
    hangs = fault == "hang"
    with OpenAIServer(faults=1.0, only=(fault,)) as server:
        with pytest.raises(ModelError, match="did not answer within 0.3 s" if hangs else None):
            await ask(server, tmp_path, watch, attempts=3, timeout_s=0.3 if hangs else 20.0)
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
    lost = Medium(id="photo", kind="image", file="a.png", sha256="0" * 64)
    with OpenAIServer() as server:
        monkeypatch.setenv("OPENAI_API_BASE", server.url)
        with pytest.raises(ModelError, match="missing from the store"):
            await ModelPool(MediaStore(tmp_path)).answer(question(lost))
        assert server.calls == 0


# --- servers as they are --------------------------------------------------------------------------------------

LLAMA_BLIND = "image input is not supported - hint: if this is unexpected, you may need to provide the mmproj"
OLLAMA_BLIND = "this model is missing data required for image input"
OPENAI_BLIND = "This model does not support image input."


@pytest.mark.parametrize("message", [LLAMA_BLIND, OLLAMA_BLIND, OPENAI_BLIND])
async def test_of_many_pictures_for_a_model_that_sees_none_one_is_sent_and_none_after_a_restart(
    message: str, tmp_path: Path
) -> None:
    photo = picture(MediaStore(tmp_path))
    blind: Answer = lambda body: refusal(500, message) if "image_url" in json.dumps(body["messages"]) else None  # noqa: E731
    with OpenAIServer(answer=blind, delay=0.05) as server:
        for _ in ("one process", "the next"):
            with model_at(server, tmp_path) as model:
                asked = (model.answer(question(photo, connection="test", tag=str(n))) for n in range(17))
                failed = await asyncio.gather(*asked, return_exceptions=True)
            assert {type(each) for each in failed} == {CannotSee}
        assert server.calls == 1


async def test_pictures_for_a_model_that_sees_go_out_together_after_the_first(tmp_path: Path) -> None:
    photo = picture(MediaStore(tmp_path))
    with OpenAIServer(delay=0.5) as server, model_at(server, tmp_path) as model:
        asked = (model.answer(question(photo, connection="test", tag=str(n))) for n in range(9))
        assert all(reply.text for reply in await asyncio.gather(*asked))
    assert server.calls == 9
    assert server.most_open > 1


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
    monkeypatch.setattr(failures, "LONGEST_LOADING_S", 0.05)
    loading = OpenAIServer(answer=lambda body: refusal(503, "Loading model"))
    with loading as server, pytest.raises(ModelError, match="is still loading it"):
        await ask(server, tmp_path)


def test_the_page_says_that_a_model_is_loading(house: Courthouse, monkeypatch: pytest.MonkeyPatch) -> None:
    has_loaded = threading.Event()
    answer: Answer = lambda body: None if has_loaded.is_set() else refusal(503, "Loading model")  # noqa: E731
    with OpenAIServer(answer=answer) as server:
        server.known(monkeypatch)
        setup = CyberJurorsSetup(model=ModelSpec(id="openai/any", attempts=1), jury_size=3, rounds=1)
        run = house.new_run("cyberjurors", house.library.case("phone-battery"), setup, 0)
        house.runner.go(run)
        until(lambda: house.pool.loading, "the model to be known as loading")
        assert "openai/any is still loading on its server" in texts(page("deliberation", run=run))
        has_loaded.set()
        house.runner.wait(run)
        assert house.record(run).run.status == "done"
        assert "is still loading" not in texts(page("deliberation", run=run))


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
    assert (shown, reply.attempts) == (['{"word": ', '{"word": "yes"}'], 1)


# --- through LiteLLM's proxy, set up as docs/models.md says ---------------------------------------------------

MASTER, PROVIDERS = "sk-the-proxys-own-key", "sk-the-providers-key"


def command() -> Path | None:
    """`litellm` of an environment that has the package's extra `proxy`."""
    for found in (Path(sys.executable).with_name("litellm"), shutil.which("litellm")):
        if found is None or not (python := Path(found).with_name("python")).exists():
            continue
        asked = "import importlib.util as u, sys; sys.exit(not (u.find_spec('litellm_proxy_extras') and u.find_spec('apscheduler')))"
        if subprocess.run([python, "-c", asked]).returncode == 0:
            return Path(found)
    return None


@pytest.fixture
def proxy(tmp_path: Path) -> Iterator[tuple[str, OpenAIServer]]:
    """The proxy's address, and the server behind it."""
    litellm = command()
    if litellm is None:
        pytest.skip("no proxy here: put the `litellm` of an environment with litellm[proxy] on the PATH")
    config, port = tmp_path / "proxy.yaml", free_port()
    config.write_text("".join(blocks("docs/models.md", "yaml")))
    with OpenAIServer() as server, (tmp_path / "proxy.log").open("wb") as log:
        ours = {"LAB_ADDRESS": server.url, "LAB_KEY": PROVIDERS, "LITELLM_MASTER_KEY": MASTER}
        given = {**os.environ, **ours, "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
        words = [str(litellm), "--config", str(config), "--host", "127.0.0.1", "--port", str(port)]
        with subprocess.Popen(words, env=given, cwd=tmp_path, stdout=log, stderr=log) as process:
            try:
                address, alive = f"http://127.0.0.1:{port}", "/health/liveliness"
                yield f"{answers(address, alive, process.poll, tmp_path / 'proxy.log')}/v1", server
            finally:
                process.kill()


def test_a_run_asks_through_the_proxy_with_the_proxys_key(
    proxy: tuple[str, OpenAIServer], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address, server = proxy
    (listed,) = (block for block in blocks("docs/models.md", "toml") if "connections.proxy" in block)
    (tmp_path / "connections.toml").write_text(listed.replace("http://127.0.0.1:4000/v1", address))
    assert tomllib.loads(listed)["connections"]["proxy"]["key_from"] == "PROXY_KEY"
    monkeypatch.setenv("PROXY_KEY", MASTER)
    house = Courthouse(Settings(home=tmp_path / "home", connections=tmp_path / "connections.toml"))
    model = {"id": "small", "connection": "proxy"}
    setup = CyberJurorsSetup.model_validate({"jury_size": 3, "rounds": 1, "model": model})
    run = drive(house, house.new_run("cyberjurors", house.library.case("oak-table"), setup, 0))
    record = house.record(run)
    house.close()
    assert record.run.verdict is not None, record.run.reason
    asked = [call for call in record.calls if call.source == "asked"]
    assert not [call.error for call in asked if call.error]
    assert {call.connection for call in asked} == {"proxy"}
    assert sum(call.prompt_tokens for call in asked) > 0
    assert sum(server.answered.values()) == sum(call.attempts for call in asked)


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
