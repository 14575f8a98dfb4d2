"""What servers say that is no plain answer: where the answer lies in it, what it refuses, and what no further call would mend."""

import asyncio
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from courtroom import Courthouse, ModelSpec, Record, report
from courtroom.media.store import MediaStore
from courtroom.models import failures
from courtroom.models.capabilities import VISION, Capabilities
from courtroom.models.pool import Call, ModelPool
from courtroom.models.repair import read_answer
from courtroom.models.request import Message, ModelError, Reply, Request
from courtroom.models.route import Connection, Connections
from courtroom.shell.options import result
from tests.driving import hearing, shell, whole_hearing
from tests.openai_server import Answer, OpenAIServer, answer_for, envelope, event
from tests.pages import house as house  # a fixture
from tests.pages import page, texts
from tests.say import Watch, Word, ask, either_way, model_at, question, there
from tests.server_thread import WebServer

pytestmark = pytest.mark.usefixtures("no_pause")
YES = '{"word": "yes"}'
Body = dict[str, Any]


def said(finish: str | None = "stop", usage: object = None, **message: object) -> Answer:
    """A reply with this message, as a stream where one is asked for."""

    def answer(body: Body) -> web.Response:
        if not body.get("stream"):
            whole = [{"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish}]
            return web.json_response({**envelope(whole), "usage": usage})
        calls = [{"index": n, **call} for n, call in enumerate(message.get("tool_calls", ()))]  # type: ignore[arg-type, var-annotated]
        delta = {**message, **({"tool_calls": calls} if calls else {})}
        return streaming(
            {"choices": [{"index": 0, "delta": delta}]},
            {"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]},
            *([{"choices": [], "usage": usage}] if usage else []),
        )

    return answer


def streaming(*events: Body, end: bytes = b"data: [DONE]\n\n") -> web.Response:
    return web.Response(body=b"".join(map(event, events)) + end, content_type="text/event-stream")


def error(status: int, message: str, **more: object) -> web.Response:
    told = {"message": message, "type": "invalid_request_error", "code": None, **more}
    return web.json_response({"error": told}, status=status)


def refusing(what: Callable[[Body], object], message: str, status: int = 400, **more: object) -> Answer:
    """A server that refuses calls of which this holds."""
    return lambda body: error(status, message, **more) if what(body) else None


def word(reply: Reply) -> str:
    answer = read_answer(reply.text, Word, reply.finish)
    assert isinstance(answer, Word)
    return answer.word


PARTS = [{"type": "text", "text": '{"word": '}, {"type": "text", "text": '"yes"}'}]
THOUGHT = [{"type": "thinking", "thinking": [{"type": "text", "text": "{}"}]}, *PARTS]
CALL = {"id": "c", "type": "function", "function": {"name": "json_tool_call", "arguments": YES}}
PLACES: dict[str, dict[str, Any]] = {
    "reasoning": {"content": None, "reasoning": YES},
    "tool": {"content": None, "tool_calls": [CALL]},
    "words and a tool": {"content": "Here is my word.", "tool_calls": [CALL]},
    "parts": {"content": PARTS},
    "parts behind a thought": {"content": THOUGHT},
    "a thought behind it": {"content": f'{YES}<think>or {{"word": "no"}}</think>'},
    "whole, then blanks until it was cut": {"content": YES + " \n" * 500, "finish": "length"},
}


@either_way
@pytest.mark.parametrize("place", PLACES)
async def test_an_answer_is_found_wherever_it_lies(place: str, watch: Watch, tmp_path: Path) -> None:
    with OpenAIServer(answer=said(**PLACES[place])) as server:
        assert word(await ask(server, tmp_path, watch)) == "yes"
        assert server.calls == 1


@either_way
@pytest.mark.parametrize("thought", ["I weigh {things}.", f"Perhaps {YES}? I doubt it."])
async def test_a_thought_is_no_answer(thought: str, watch: Watch, tmp_path: Path) -> None:
    with OpenAIServer(answer=said(content="", reasoning_content=thought)) as server:
        assert (await ask(server, tmp_path, watch)).text == ""
    with OpenAIServer(answer=said(content='{"word": "no"}', reasoning_content=YES)) as server:
        assert word(await ask(server, tmp_path, watch)) == "no"


@either_way
async def test_a_generation_that_a_provider_calls_failed_is_read(watch: Watch, tmp_path: Path) -> None:
    told = "Failed to generate JSON. Please adjust your prompt. See 'failed_generation' for more details."
    answer: Answer = lambda body: error(400, told, code="json_validate_failed", failed_generation=YES)  # noqa: E731
    with OpenAIServer(answer=answer) as server:
        reply = await ask(server, tmp_path, watch)
        assert (word(reply), server.calls, reply.usage.estimated) == ("yes", 1, True)
        assert reply.usage.prompt > 0


COMPLETION = (
    "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
)
SCHEMAS = (
    "output_config.format.schema: For 'array' type, property 'maxItems' is not supported",
    "Something about this request is odd.",
    "Unable to generate parser for this template. JSON schema error at #/properties/a: unrecognized type",
)
SYSTEM = "After the optional system message, conversation roles must alternate user/assistant"
REFUSALS: dict[str, tuple[Callable[[Body], object], str, str]] = {
    **{f"schema {n}": (lambda body: "response_format" in body, told, "schema") for n, told in enumerate(SCHEMAS)},
    "only one temperature": (
        lambda body: body.get("temperature", 1) != 1,
        "Unsupported value: 'temperature' does not support 0.7 with this model. Only the default (1) value is supported.",
        "temperature",
    ),
    "not both": (
        lambda body: {"temperature", "top_p"} <= body.keys(),
        "`temperature` and `top_p` cannot both be specified for this model.",
        "top_p",
    ),
    "no penalty": (
        lambda body: "repetition_penalty" in body,
        "Unrecognized request argument supplied: repetition_penalty",
        "repetition_penalty",
    ),
    "max_tokens": (lambda body: "max_tokens" in body, COMPLETION, ""),
    "system": (lambda body: [sent["role"] for sent in body["messages"]] != ["user"], SYSTEM, "system"),
    "odd knob": (lambda body: "temperature" in body, "Bad Request", "temperature"),
}


@either_way
@pytest.mark.parametrize("name", REFUSALS)
async def test_what_a_server_refuses_is_left_out_once_for_all_and_told(name: str, watch: Watch, tmp_path: Path) -> None:
    what, told, without = REFUSALS[name]
    plain = question(connection="test", top_p=0.9, extra={"repetition_penalty": 1.1}, attempts=1)
    asked = Request(plain.spec, (Message("system", ("Be short.",)), *plain.messages), plain.task, plain.tag)
    calls = []
    with OpenAIServer(answer=refusing(what, told), keep_bodies=True) as server:
        for _ in ("one process", "the next"):
            with model_at(server, tmp_path) as model:
                reply = await model.answer(asked, watch)
                assert word(reply)
                assert (without in reply.left_out) is bool(without)
            calls.append(server.calls)
        assert calls[0] <= 3
        assert calls[1] == calls[0] + 1
        assert "max_tokens" in server.bodies[-1] or server.bodies[-1]["max_completion_tokens"] == 2048
        if without == "system":
            assert server.bodies[-1]["messages"][0]["content"].startswith("Be short.\n\nSay a word.")


EXTRA = {"type": "extra_forbidden", "loc": ["body", "temperature"], "msg": "Extra inputs are not permitted"}


@either_way
@pytest.mark.parametrize(
    ("status", "told", "without"),
    [
        (422, {"detail": [EXTRA]}, "temperature"),
        (400, {"error": "'response_format.type' must be 'json_schema' or 'text'"}, "schema"),
    ],
)
async def test_a_refusal_is_understood_in_the_form_of_each_server(
    status: int, told: Body, without: str, watch: Watch, tmp_path: Path
) -> None:
    key = {"schema": "response_format"}.get(without, without)
    answer: Answer = lambda body: web.json_response(told, status=status) if key in body else None  # noqa: E731
    with OpenAIServer(answer=answer) as server:
        reply = await ask(server, tmp_path, watch)
        assert word(reply)
        assert (without in reply.left_out, server.calls) == (True, 2)


async def test_one_keyword_of_a_schema_is_left_out_before_the_schema(tmp_path: Path) -> None:
    told = "For 'object' type, property 'additionalProperties' is not supported"
    answer = refusing(lambda body: "additionalProperties" in json.dumps(body.get("response_format")), told)
    with OpenAIServer(answer=answer, keep_bodies=True) as server:
        assert word(await ask(server, tmp_path))
        sent = server.bodies[-1]["response_format"]["json_schema"]["schema"]
        assert (server.calls, sent["required"]) == (2, ["word"])


@pytest.mark.parametrize(
    "told",
    [
        "max_tokens is too large: 2048. This model supports at most 1024 completion tokens, whereas you provided 2048.",
        "Range of max_tokens should be [1, 1024]",
        "max_tokens 超出范围，最大值为 1024",
    ],
)
@either_way
async def test_the_longest_answer_that_a_server_tells_is_kept_to(told: str, watch: Watch, tmp_path: Path) -> None:
    def long(body: Body) -> bool:
        return bool(body.get("max_tokens", body.get("max_completion_tokens")) > 1024)

    with OpenAIServer(answer=refusing(long, told), keep_bodies=True) as server:
        model = ModelPool(MediaStore(tmp_path), there(server))
        for calls in (2, 3):
            assert word(await model.answer(question(connection="test"), watch))
            assert (server.calls, server.bodies[-1]["max_tokens"]) == (calls, 1024)


async def test_the_strength_of_geminis_filter_is_sent_for_each_harm(tmp_path: Path) -> None:
    with OpenAIServer(keep_bodies=True) as server:
        model = ModelPool(MediaStore(tmp_path), there(server))
        asked = question(connection="test", extra={"safety_settings": "BLOCK_ONLY_HIGH"})
        findings = await Capabilities(connections=there(server)).of(asked.spec)
        sent = Call(model, asked, findings, None).parameters([])
    assert {one["threshold"] for one in sent["safety_settings"]} == {"BLOCK_ONLY_HIGH"}
    assert len({one["category"] for one in sent["safety_settings"]}) == 4
    with pytest.raises(ValueError, match="safety_settings"):
        question(extra={"safety_settings": "NONSENSE"})


def too_long(body: Body) -> web.Response:
    """Say it in a stream, where one is asked for."""
    told = b'data: {"error": {"code": 500, "message": "Context size has been exceeded."}}\n\n'
    refused = error(500, "Context size has been exceeded.")
    return web.Response(body=told, content_type="text/event-stream") if body.get("stream") else refused


HTML = "<!doctype html><html><head><title>Attention Required!</title></head><body>You have been blocked</body></html>"
BLOCKED = {**envelope([]), "usage": None, "promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}}
QUOTA = "You exceeded your current quota, please check your plan and billing details."
TOO_LARGE = "Request too large for model on tokens per minute (TPM): Limit 6000, Requested 7100, please reduce it and try again."
LLAMA = "request (9031 tokens) exceeds the available context size (4096 tokens)"
OLLAMA = "model requires more system memory (5.6 GiB) than is available (3.0 GiB)"
DEAD_ENDS: dict[str, tuple[Answer, str]] = {
    "quota": (refusing(bool, QUOTA, 429, code="insufficient_quota"), "is used up. Pay in there"),
    "balance, in Chinese": (refusing(bool, "余额不足，请充值", 429), "is used up. Pay in there"),
    "larger than a minute": (refusing(bool, TOO_LARGE, 413, code="rate_limit_exceeded"), "larger than its provider"),
    "country": (refusing(bool, "Country, region, or territory not supported", 403), "not offered in the country"),
    "firewall": (lambda body: web.Response(text=HTML, status=403, content_type="text/html"), "such as a firewall"),
    "filter, of Qwen": (refusing(bool, "data_inspection_failed: Input may be inappropriate."), "filter refused"),
    "filter, in Chinese": (refusing(bool, "输入内容可能包含敏感信息"), "filter refused"),
    "length, of llama.cpp": (refusing(bool, LLAMA), "is too long for openai/any"),
    "length, within a stream": (too_long, "is too long for openai/any"),
    "memory, of Ollama": (refusing(bool, OLLAMA, 500), "too little memory for it"),
    "sign-in": (lambda body: web.Response(text=HTML, content_type="text/html"), "is a web page, such as a sign-in"),
}


@either_way
@pytest.mark.parametrize("name", DEAD_ENDS)
async def test_what_does_not_pass_is_asked_once_and_has_its_sentence(name: str, watch: Watch, tmp_path: Path) -> None:
    answer, sentence = DEAD_ENDS[name]
    with OpenAIServer(answer=answer) as server:
        with pytest.raises(ModelError, match=sentence) as caught:
            await ask(server, tmp_path, watch)
        assert server.calls == 1
    assert "key for" not in str(caught.value)


@either_way
@pytest.mark.parametrize("way", [web.json_response, streaming])
async def test_a_blocked_prompt_is_told(way: Callable[[Body], web.Response], watch: Watch, tmp_path: Path) -> None:
    with OpenAIServer(answer=lambda body: way(BLOCKED)) as server:
        reply = await ask(server, tmp_path, watch)
        assert (reply.finish, reply.text) == ("content_filter", "")
        assert server.calls == 1


@either_way
@pytest.mark.parametrize("usage", [None, {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}])
async def test_tokens_that_are_not_told_are_estimated(usage: object, watch: Watch, tmp_path: Path) -> None:
    with OpenAIServer(answer=said(content=YES, usage=usage)) as server:
        reply = await ask(server, tmp_path, watch, id="openai/gpt-4o-mini")
    assert reply.usage.prompt > 20 < 100 * reply.usage.completion
    assert reply.cost
    assert reply.usage.estimated
    with OpenAIServer() as server:
        assert not (await ask(server, tmp_path, watch)).usage.estimated


@pytest.mark.parametrize(
    ("told", "counted"),
    [
        ({"prompt_tokens": 50, "completion_tokens": None}, (50, 4, True)),
        ({"prompt_tokens": 50, "completion_tokens": 5, "total_tokens": 155}, (50, 105, False)),
        ({"prompt_tokens": None, "completion_tokens": 5}, (44, 5, True)),
    ],
)
async def test_tokens_told_in_part_count(told: Body, counted: tuple[int, int, bool], tmp_path: Path) -> None:
    with OpenAIServer(answer=said(content=YES, usage=told)) as server:
        usage = (await ask(server, tmp_path)).usage
    assert (usage.prompt, usage.completion) == counted[:2]
    assert usage.estimated == counted[2]


@pytest.mark.parametrize(("finish", "known"), [("max_tokens", "length"), ("SAFETY", "content_filter"), ("eos", "stop")])
@either_way
async def test_an_end_has_one_name_in_either_way(finish: str, known: str, watch: Watch, tmp_path: Path) -> None:
    with OpenAIServer(answer=said(finish=finish, content=YES)) as server:
        assert (await ask(server, tmp_path, watch)).finish == known


PIECES = b"".join(event({"choices": [{"index": 0, "delta": {"content": p}}]}) for p in ('{"word": ', '"yes"}'))
LAST = event({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}], "usage": {"prompt_tokens": 5}})
DONE = b"data: [DONE]\n\n"
STREAMS = {
    "broken off after its answer": PIECES,
    "without a reason for its end": PIECES + DONE,
    "behind a byte order mark": b"\xef\xbb\xbf" + PIECES + LAST + DONE,
}


@pytest.mark.parametrize("stream", STREAMS.values(), ids=STREAMS)
async def test_a_stream_with_a_whole_answer_is_kept(stream: bytes, tmp_path: Path) -> None:
    with OpenAIServer(answer=lambda body: web.Response(body=stream, content_type="text/event-stream")) as server:
        assert word(await ask(server, tmp_path, lambda text: None)) == "yes"
        assert server.calls == 1


@pytest.mark.parametrize("told", ["Unrecognized request argument: stream_options", "Verify yourself to stream this."])
async def test_a_model_that_does_not_stream_is_asked_for_a_whole_answer(told: str, tmp_path: Path) -> None:
    with OpenAIServer(answer=refusing(lambda body: body.get("stream"), told), keep_bodies=True) as server:
        reply = await ask(server, tmp_path, lambda text: None)
        assert (bool(word(reply)), reply.left_out) == (True, ())
    assert [bool(body.get("stream")) for body in server.bodies] == [True, False]


async def test_an_answer_that_streams_though_nobody_asked_is_read(tmp_path: Path) -> None:
    body = PIECES + LAST + DONE
    with OpenAIServer(answer=lambda asked: web.Response(body=body, content_type="text/event-stream")) as server:
        reply = await ask(server, tmp_path)
    assert (word(reply), reply.usage.prompt, server.calls) == ("yes", 5, 1)


@pytest.mark.parametrize("end", ["broken", "open"])
async def test_a_whole_answer_without_an_end_is_kept(end: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    await ModelPool(MediaStore(tmp_path)).warm()
    from courtroom.models import transport

    monkeypatch.setattr(transport, "REST_S", 0.2)

    async def chat(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        await response.write(PIECES + event({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}))
        if end == "broken":
            assert request.transport is not None
            request.transport.close()
        else:
            await asyncio.sleep(3600)
        return response

    class Unending(OpenAIServer):
        def _routes(self) -> list[web.RouteDef]:
            return [web.post("/v1/chat/completions", chat)]

    with Unending() as server:
        reply = await ask(server, tmp_path, lambda text: None)
    assert (word(reply), reply.attempts) == ("yes", 1)


def images(body: Body) -> int:
    return json.dumps(body["messages"]).count('"type": "image_url"')


LIMITS = ("At most 10 image(s) may be provided in one prompt. You passed 12.", "This model supports up to 10 images.")


@pytest.mark.parametrize(
    ("status", "told", "most"),
    [
        *((400, told, 10) for told in LIMITS),
        (400, "image exceeds 5 MB maximum: 5316852 bytes > 5242880 bytes", None),
        (503, "failed to fetch the image", None),
        (404, "The model `any` does not exist", None),
        (400, "API key not valid. Please pass a valid API key.", None),
        (400, "This model's maximum context length is 8192 tokens; images count.", None),
    ],
)
def test_a_limit_of_pictures_is_read_and_no_blindness(status: int, told: str, most: int | None) -> None:
    refused = Exception(told)
    refused.status_code = status  # type: ignore[attr-defined]
    assert failures.most_images(refused) == most
    assert not failures.cannot_see(refused)


ANY = ModelSpec(id="openai/any")


def hear(house: Courthouse, monkeypatch: pytest.MonkeyPatch, answer: Answer, runs: int = 1) -> tuple[Record, list[int]]:
    """A run of one juror over a case with pictures and a video, the last of so many, and how many pictures each call had."""
    with OpenAIServer(answer=answer, keep_bodies=True, known_to=monkeypatch) as server:
        for seed in range(runs):
            record = whole_hearing(house, "cyberjurors", "phone-battery", seed, model=ANY, variant="baseline")
        assert house.runner.do(house.capabilities.of(ANY)).result().get(VISION) != 0
    return record, [images(body) for body in server.bodies]


def test_a_limit_of_pictures_is_kept_to_with_fewer_frames(house: Courthouse, monkeypatch: pytest.MonkeyPatch) -> None:
    record, shown = hear(house, monkeypatch, refusing(lambda body: images(body) > 10, LIMITS[0]), runs=2)
    assert 5 <= shown[1] == shown[2] <= 10 < shown[0]
    assert any("takes no more" in note and f"with {shown[1]} of" in note for note in record.notes)


def test_a_body_that_is_too_large_has_fewer_pictures(house: Courthouse, monkeypatch: pytest.MonkeyPatch) -> None:
    def nginx(body: Body) -> web.Response | None:
        page = "<html><head><title>413 Request Entity Too Large</title></head></html>"
        return web.Response(status=413, text=page, content_type="text/html") if images(body) > 1 else None

    record, shown = hear(house, monkeypatch, nginx)
    assert shown[-1] == 1
    assert shown == sorted(shown, reverse=True)
    (call,) = record.calls
    assert call.described
    assert any("the others by their descriptions" in note for note in record.notes)


def test_an_unexplained_refusal_holds_for_one_question(house: Courthouse, monkeypatch: pytest.MonkeyPatch) -> None:
    record, shown = hear(house, monkeypatch, refusing(images, "Bad Request"), runs=2)
    assert shown[-1] == 0 < shown[0]
    assert shown[len(shown) // 2 :] == shown[: len(shown) // 2]
    assert any("here alone they are replaced" in note for note in record.notes)


def test_a_passing_refusal_takes_no_picture_away(house: Courthouse, monkeypatch: pytest.MonkeyPatch) -> None:
    told = iter(["Could not process the request right now. Please retry."])
    record, shown = hear(house, monkeypatch, lambda body: error(400, busy) if (busy := next(told, "")) else None)
    assert len(shown) == 2
    assert shown[0] == shown[1] > 0
    assert not record.notes


def debate(house: Courthouse, patch: pytest.MonkeyPatch, answer: Answer, **setup: Any) -> tuple[Record, OpenAIServer]:
    with OpenAIServer(answer=answer, keep_bodies=True, known_to=patch) as server:
        return hearing(house, "debate", "phone-battery", **{"model": ANY, **setup}), server


def test_what_was_left_out_is_noted_on_the_run(house: Courthouse, monkeypatch: pytest.MonkeyPatch) -> None:
    refuse = refusing(lambda body: "temperature" in body, "`temperature` is deprecated for this model.")
    record, _ = debate(house, monkeypatch, refuse)
    assert record.notes == ("openai/any was asked without temperature, which its server refused.",)


def test_blanks_until_the_end_are_given_no_more_room(house: Courthouse, monkeypatch: pytest.MonkeyPatch) -> None:
    record, server = debate(house, monkeypatch, said("length", content='{"argument":' + " \n\t" * 2_000))
    assert {body["max_tokens"] for body in server.bodies} == {2048}
    assert max(len(call.keys) for call in record.calls) == 2
    assert "wrote the same, or blanks, until it was cut off" in record.calls[0].error


def test_a_refusal_in_words_is_answered_and_told(house: Courthouse, monkeypatch: pytest.MonkeyPatch) -> None:
    sorry = "I'm sorry, but I can't help with judging a real person."
    record, server = debate(house, monkeypatch, lambda body: sorry if len(body["messages"]) < 4 else None)
    again = [body["messages"][-1]["content"] for body in server.bodies if len(body["messages"]) == 4]
    assert record.run.status == "done"
    assert again
    assert all("the case is invented, the hearing is simulated" in text for text in again)


class Ollama(WebServer):
    """Speaks Ollama's own protocol: a line of JSON for each part of an answer."""

    def __init__(self, answer: Callable[[Body], dict[str, str]]) -> None:
        self.answer, self.bodies = answer, list[Body]()

    def _routes(self) -> list[web.RouteDef]:
        return [web.post("/api/chat", self._chat)]

    async def _chat(self, request: web.Request) -> web.Response:
        body = await request.json()
        self.bodies.append(body)
        message = {"role": "assistant", "content": "", **self.answer(body)}
        end = {"model": "any", "created_at": "2026-01-01T00:00:00Z", "done": True, "done_reason": "stop"}
        counts = {"prompt_eval_count": 5, "eval_count": 4}
        parts = [{**end, **counts, "message": message}]
        if body["stream"]:
            parts = [{**parts[0], "done": False}, {**parts[0], "message": {"role": "assistant", "content": ""}}]
        return web.Response(
            body="".join(f"{json.dumps(part)}\n" for part in parts), content_type="application/x-ndjson"
        )

    @property
    def address(self) -> str:
        return self.url.removesuffix("/v1")


@either_way
async def test_what_ollama_puts_among_its_thoughts_is_read(watch: Watch, tmp_path: Path) -> None:
    with Ollama(lambda body: {"thinking": YES}) as server:
        at = Connection.model_validate({"provider": "ollama_chat", "address": server.address})
        model = ModelPool(MediaStore(tmp_path), Connections({"test": at}))
        assert word(await model.answer(question(connection="test", id="ollama_chat/any"), watch)) == "yes"


def test_prose_in_spite_of_a_schema_is_asked_without_it(house: Courthouse, monkeypatch: pytest.MonkeyPatch) -> None:
    def answer(body: Body) -> dict[str, str]:
        schema_heeded = {"content": answer_for({**body, "stream": False}, json.dumps(body["messages"]))}
        return {"content": "I would say that the buyer is right."} if body.get("format") else schema_heeded

    with Ollama(answer) as server:
        at = Connection.model_validate({"provider": "ollama_chat", "address": server.address})
        monkeypatch.setitem(house.connections, "here", at)
        model = ModelSpec(id="ollama_chat/any", connection="here", vision="no")
        record = hearing(house, "debate", model=model, rounds=1)
    assert (record.run.status, record.failed) == ("done", 0), record.run.reason
    assert [bool(body.get("format")) for body in server.bodies] == [True, False] * len(record.calls)
    assert result(house, record.run.id)["reasks"] == len(record.calls)


def fitting(usage: object) -> Answer:
    """Answers that fit what is asked, of which the server tells this use of tokens."""
    return lambda body: said(content=answer_for(body, json.dumps(body["messages"])), usage=usage)(body)


def test_a_budget_of_tokens_binds_where_none_are_told(house: Courthouse, monkeypatch: pytest.MonkeyPatch) -> None:
    with OpenAIServer(answer=fitting(None), known_to=monkeypatch):
        knobs = ("model.vision=no", "rounds=5", "budget.tokens=1500")
        given = ("--model", ANY.id, *(word for knob in knobs for word in ("--set", knob)))
        ran = json.loads(shell("run", "phone-battery", "--procedure", "debate", *given, "--json"))
    record = house.record(ran["run"])
    assert ran["status"] == "paused", "a shell asks for whole answers"
    assert 0 < sum(record.tokens) <= 2_500, record.run.reason
    assert record.spent.estimated


@pytest.mark.parametrize("is_told", [True, False])
def test_an_estimated_cost_is_about_so_much(is_told: bool, house: Courthouse, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = {"prompt_tokens": 500, "completion_tokens": 50, "total_tokens": 550} if is_told else None
    answer = fitting(usage)
    priced = ModelSpec(id="openai/gpt-4o-mini", vision="no")
    record, _ = debate(house, monkeypatch, answer, model=priced, rounds=1)
    run = record.run.id
    app = page("deliberation", {f"tab-{run}": "Calls"}, run=run)
    assert not app.exception
    cents = r"about (\$[\d.]+|[\d.\\]+ ¢)"
    assert bool(re.search(cents, texts(app))) != is_told
    assert bool(re.search(cents, app.dataframe[0].value.to_csv())) != is_told
    written = report.as_html(record, house.procedures["debate"], house.answers, house.media)
    assert bool(re.search(r"about [\d.]+ US\$", written)) != is_told
    other, _ = debate(house, monkeypatch, answer, model=priced, rounds=1)
    assert ("about US$" in shell("compare", run, other.run.id)) != is_told


@pytest.mark.usefixtures("house")
def test_a_jury_that_fails_as_a_whole_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    gone = "The model `any` does not exist or you do not have access to it."
    with OpenAIServer(answer=lambda body: error(404, gone), known_to=monkeypatch):
        told = shell("run", "oak-table", "--model", ANY.id, "--set", "jury_size=3", "--json", code=1)
    reason = json.loads(told)["reason"]
    assert "quorum" in reason
    assert "openai/any is not known to its provider" in reason
