"""A real HTTP server that speaks the OpenAI chat protocol and answers by the schema it is given."""

import asyncio
import bisect
import hashlib
import json
import random
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Self

import pytest
from aiohttp import web

from tests import forks
from tests.server_thread import WebServer

INSTEAD = {
    "wrong schema": '{"nothing": ["of", "this"]}',
    "prose": "On reflection I would rather talk it over.",
    "empty answer": "",
}
"""What is said in place of an answer."""
FAULTS = ("429", "500", "hang", "empty body", "cut body", "cut answer", *INSTEAD)
MARK = "its fields in the order of this JSON schema:\n"

Answer = Callable[[dict[str, Any]], str | web.Response | None]
Ready = tuple[str, str, dict[str, Any]]


@dataclass
class OpenAIServer(WebServer):
    """Whether a call fails, and how, depends on the seed, the question and how often it was asked: never on the
    order of calls, so that a run with faults can be repeated.
    """

    delay: float = 0.0
    """Seconds from a request's coming to its answer, the server's own work included."""
    slots: int = 10_000
    """How many calls it works on at once; the others wait in its queue."""
    faults: float = 0.0
    """The share of calls that fail, 0 to 1, in one of the ways in `only`."""
    only: tuple[str, ...] = FAULTS
    seed: int = 0
    blind: bool = False
    """Refuse pictures, with a 400."""
    streams: bool = True
    """Whether a request for a stream gets one, or plain JSON."""
    answer: Answer = lambda body: None
    """A test's own answer: a text, a whole response, or None for the usual one."""
    keep_bodies: bool = False
    half: threading.Event | None = None
    """Where given, streams stop half-way until it is set."""
    stops: Callable[[dict[str, Any]], bool] = lambda body: True
    """Which of them do; asked once the answer is known."""
    pace: float = 0.0
    """Seconds before each piece of a stream."""
    listing: bytes | str = b""
    """What it answers to whoever asks for its models; a text is an address to which it redirects."""
    known_to: pytest.MonkeyPatch | None = None
    """By this, models whose names begin with `openai/` are asked of it from its beginning on."""
    about: dict[str, Any] = field(default_factory=dict)
    """What it tells of itself, by path: `/props` as llama.cpp does, `/api/show` as Ollama."""
    looked_up: list[str] = field(default_factory=list)
    """The paths of such look-ups."""
    listed: list[dict[str, str]] = field(default_factory=list)
    """The headers of each such question."""

    calls: int = 0
    open: int = 0
    most_open: int = 0
    seen: Counter[str] = field(default_factory=Counter)
    answered: Counter[str] = field(default_factory=Counter)
    faulted: Counter[str] = field(default_factory=Counter)
    headers: list[dict[str, str]] = field(default_factory=list)
    bodies: list[dict[str, Any]] = field(default_factory=list)
    prompts: list[str] = field(default_factory=list)
    """All prompts so far, sorted, so that the longest common prefix stands beside its place."""
    prompt_tokens: int = 0

    def __enter__(self) -> Self:
        super().__enter__()
        if self.known_to:
            self.known(self.known_to)
        return self

    def known(self, patch: pytest.MonkeyPatch) -> None:
        """Have all models whose names begin with `openai/` asked of it."""
        patch.setenv("OPENAI_API_BASE", self.url)
        patch.setenv("OPENAI_API_KEY", "none")

    def _routes(self) -> list[web.RouteDef]:
        self._free = asyncio.Semaphore(self.slots)
        return [
            web.post("/v1/chat/completions", self._chat),
            web.post("/v1/embeddings", self._embed),
            web.get("/v1/models", self._models),
            web.get("/props", self._tell),
            web.post("/api/show", self._tell),
        ]

    def stats(self) -> dict[str, Any]:
        """How many calls came, how many put a question that had been put before, and how those went that failed."""
        return {"calls": self.calls, "repeated": self.calls - len(self.seen), "faults": self.faulted}

    async def _models(self, request: web.Request) -> web.Response:
        self.listed.append(dict(request.headers))
        if isinstance(self.listing, str):
            raise web.HTTPFound(f"{self.listing}/models")
        if self.listing:
            return web.Response(body=self.listing, content_type="application/json")
        return web.json_response({"object": "list", "data": [{"id": "any", "object": "model", "owned_by": "test"}]})

    async def _tell(self, request: web.Request) -> web.Response:
        self.looked_up.append(request.path)
        told = self.about.get(request.path)
        return web.json_response(told, status=404 if told is None else 200)

    async def _embed(self, request: web.Request) -> web.Response:
        given = (await request.json())["input"]
        texts = [given] if isinstance(given, str) else given
        data = [{"object": "embedding", "index": i, "embedding": _vector(text)} for i, text in enumerate(texts)]
        tokens = sum(map(len, texts)) // 4
        usage = {"prompt_tokens": tokens, "total_tokens": tokens}
        return web.json_response({"object": "list", "data": data, "model": "any", "usage": usage})

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        came = asyncio.get_running_loop().time()
        body = json.loads(raw := await request.read())
        asked = [body.get(name) for name in ("model", "messages", "temperature", "response_format")]
        question = hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()
        self.seen[question] += 1
        self.calls += 1
        self.headers.append(dict(request.headers))
        if self.keep_bodies:
            self.bodies.append(body)
        self.open += 1
        self.most_open = max(self.most_open, self.open)
        try:
            draw = random.Random(f"{self.seed}/{question}/{self.seen[question]}")
            fault = draw.choice(self.only) if draw.random() < self.faults else ""
            if fault:
                self.faulted[fault] += 1
            ready = self._ready(body, question, fault)
            queued = self._free.locked()
            async with self._free:
                worked = 0.0 if queued else asyncio.get_running_loop().time() - came
                await asyncio.sleep(3600.0 if fault == "hang" else max(0.0, self.delay - worked))
            if self.blind and b'"image_url"' in raw:
                return refusal(400, "This model does not support image input.")
            if isinstance(ready, tuple) and not fault:
                self.answered[question] += 1
            return await self._respond(request, body, fault, ready)
        finally:
            self.open -= 1

    def _ready(self, body: dict[str, Any], question: str, fault: str) -> web.Response | Ready:
        """The answer: a fault's or a test's own response, or text, finish and usage."""
        match fault:
            case "429":
                return refusal(429, "slow down", again="0")
            case "500":
                return refusal(500, "oops")
            case "no choices":
                return web.json_response(envelope([]))
            case "empty body" | "hang":
                return web.Response(text="", content_type="application/json")
        if isinstance(answer := self.answer(body), web.Response):
            return answer
        text, finish = INSTEAD.get(fault, answer or answer_for(body, question)), "stop"
        if fault == "cut answer":
            text, finish = text[: max(1, len(text) // 2)], "length"
        return text, finish, self._usage(body, text)

    async def _respond(
        self, request: web.Request, body: dict[str, Any], fault: str, ready: web.Response | Ready
    ) -> web.StreamResponse:
        if isinstance(ready, web.Response):
            return ready
        if body.get("stream") and self.streams:
            return await self._stream(request, body, ready, cut=fault == "cut body")
        reply = json.dumps(_completion(body, *ready))
        reply = reply[: len(reply) // 2] if fault == "cut body" else reply
        return web.Response(text=reply, content_type="application/json")

    async def _stream(
        self, request: web.Request, body: dict[str, Any], ready: Ready, *, cut: bool
    ) -> web.StreamResponse:
        """Forty characters an event; `cut` ends it in the middle, without a word on why."""
        text, finish, usage = ready
        half = self.half if self.stops(body) else None
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        pieces = [text[i : i + 40] for i in range(0, len(text), 40)]
        events: list[dict[str, Any]] = [_piece({"content": piece}, None) for piece in pieces]
        if cut:
            events = events[: (len(events) + 1) // 2]
        else:
            events.append(_piece({}, finish))
            if body.get("stream_options", {}).get("include_usage"):
                events.append({"choices": [], "usage": usage})
        for number, part in enumerate(events):
            while half and number == len(pieces) // 2 and not half.is_set():
                await asyncio.sleep(0.02)
            if self.pace:
                await asyncio.sleep(self.pace)
            await response.write(event(part, body["model"]))
        if not cut:
            await response.write(b"data: [DONE]\n\n")
        await response.write_eof()
        return response

    def _usage(self, body: dict[str, Any], text: str) -> dict[str, Any]:
        """Four characters a token; cached is what lies in a prefix already sent."""
        prompt = "\n".join(f"{message['role']}\n{texts_of(message)}" for message in body["messages"])
        place = bisect.bisect_left(self.prompts, prompt)
        beside = self.prompts[max(0, place - 1) : place + 1]
        cached = max((_common(prompt, other) for other in beside), default=0) // 4
        if prompt not in beside:
            self.prompts.insert(place, prompt)
        tokens, completion = len(prompt) // 4, len(text) // 4
        self.prompt_tokens += tokens
        used = {"prompt_tokens": tokens, "completion_tokens": completion, "total_tokens": tokens + completion}
        return {**used, "prompt_tokens_details": {"cached_tokens": cached}}


def answer_for(body: dict[str, Any], question: str) -> str:
    """A valid answer to the schema in the request, always the same for the same question."""
    form = (body.get("response_format") or {}).get("json_schema", {}).get("schema")
    if form is None:
        text = "\n".join(texts_of(message) for message in body["messages"] if message["role"] == "user")
        if MARK not in text:
            return "Hello."
        form, _ = json.JSONDecoder().raw_decode(text[text.rindex(MARK) + len(MARK) :])
    ids = _choices(body)
    return json.dumps(_value(form, form.get("$defs", {}), random.Random(question), "", ids), ensure_ascii=False)


def _choices(body: dict[str, Any]) -> list[str]:
    text = texts_of(body["messages"][1]) if len(body["messages"]) > 1 else ""
    _, found, rest = text.rpartition("Choose one of: ")
    return rest.split("\n")[0].split(", ") if found else []


def _value(form: dict[str, Any], defs: dict[str, Any], draw: random.Random, name: str, ids: list[str]) -> Any:
    if "$ref" in form:
        form = defs[form["$ref"].rsplit("/", 1)[1]]
    if "const" in form:
        return form["const"]
    if "enum" in form:
        return form["enum"][name == "second"] if name in ("first", "second") else draw.choice(form["enum"])
    if "anyOf" in form:
        return _value(form["anyOf"][0], defs, draw, name, ids)
    kind = form.get("type")
    if "properties" in form:
        return {key: _value(part, defs, draw, key, ids) for key, part in form["properties"].items()}
    if "items" in form:
        count = max(form.get("minItems", 0), min(draw.randint(1, 2), form.get("maxItems", 2)))
        return [_value(form["items"], defs, draw, name, ids) for _ in range(count)]
    if kind == "boolean":
        return draw.random() < 0.3
    if kind in ("integer", "number"):
        low = form.get("minimum", form.get("exclusiveMinimum", -1) + 1)
        return min(low + draw.randint(0, 3), form.get("maximum", low + 3))
    if name == "selected_evidence_id" and ids:
        return draw.choice(ids)
    text = f"{name or 'word'} {draw.randrange(1000)}: what was said about it, in a sentence of usual length."
    return text[: form.get("maxLength", len(text))].ljust(form.get("minLength", 0), ".")


def texts_of(message: dict[str, Any]) -> str:
    content = message["content"]
    return content if isinstance(content, str) else "\n".join(part.get("text", "") for part in content)


def _common(one: str, other: str) -> int:
    """Length of the prefix that two texts share; found by halves, as prompts are long."""
    shorter = range(1, min(len(one), len(other)) + 1)
    return bisect.bisect_left(shorter, True, key=lambda size: one[:size] != other[:size])


def refusal(status: int, message: str, again: str = "") -> web.Response:
    """An error in the form that llama.cpp, vLLM and Ollama give it; `again`: what it says of when to come again."""
    error = {"code": status, "message": message, "type": "server_error"}
    return web.json_response({"error": error}, status=status, headers={"Retry-After": again} if again else None)


def envelope(choices: object, usage: object = None, model: str = "m") -> dict[str, Any]:
    """A reply that came whole."""
    told = {"id": "c", "object": "chat.completion", "created": 0, "model": model, "choices": choices}
    return {**told, "usage": usage} if usage else told


def event(part: dict[str, Any], model: str = "m") -> bytes:
    """A piece of a reply that streams in."""
    base = {"id": "c", "object": "chat.completion.chunk", "created": 0, "model": model}
    return f"data: {json.dumps({**base, **part})}\n\n".encode()


def _completion(body: dict[str, Any], text: str, finish: str, usage: dict[str, Any] | None) -> dict[str, Any]:
    message = {"role": "assistant", "content": text}
    return envelope([{"index": 0, "message": message, "finish_reason": finish}], usage, body["model"])


def _piece(delta: dict[str, str], finish: str | None) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def _vector(text: str) -> list[float]:
    draw = random.Random(text)
    return [draw.uniform(-1, 1) for _ in range(32)]


def serve(given: dict[str, Any]) -> None:
    """Print the port, and serve until the process is ended."""
    with OpenAIServer(**given) as server:
        print(server.port, flush=True)
        threading.Event().wait()


@contextmanager
def server_process(delay: float = 0.0, **given: Any) -> Iterator[str]:
    """The server in a process of its own; gives its address."""
    with forks.Fork(serve, {"delay": delay, **given}) as process:
        yield f"http://127.0.0.1:{int(process.line())}/v1"
