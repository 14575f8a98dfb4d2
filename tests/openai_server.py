"""A real HTTP server that speaks the OpenAI chat protocol and answers by the schema it is given.

    python -m tests.openai_server --delay 0.2 --faults 0.3

prints its port on the first line and serves until it is ended. `GET /stats` tells what it was asked.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import random
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

FAULTS = ("429", "500", "hang", "empty body", "cut body", "cut answer", "wrong schema", "prose", "empty answer")
MARK = "It must fit this JSON schema:\n"

Answer = Callable[[dict[str, Any]], str | None]


@dataclass
class OpenAIServer:
    """Runs in a thread of its own; use as a context manager."""

    delay: float = 0.0
    faults: float = 0.0
    only: tuple[str, ...] = FAULTS
    seed: int = 0
    blind: bool = False
    streams: bool = True
    hang_s: float = 3600.0
    answer: Answer = lambda body: None
    calls: int = 0
    open: int = 0
    most_open: int = 0
    seen: Counter[str] = field(default_factory=Counter)
    answered: Counter[str] = field(default_factory=Counter)
    headers: list[dict[str, str]] = field(default_factory=list)
    bodies: list[dict[str, Any]] = field(default_factory=list)
    keep_bodies: bool = False
    port: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def __enter__(self) -> OpenAIServer:
        ready = threading.Event()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._serve, args=(ready,), daemon=True)
        self._thread.start()
        assert ready.wait(10)
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self._runner.cleanup(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _serve(self, ready: threading.Event) -> None:
        asyncio.set_event_loop(self._loop)

        async def start() -> None:
            app = web.Application(client_max_size=2**28)
            app.router.add_post("/v1/chat/completions", self._chat)
            app.router.add_post("/v1/embeddings", self._embed)
            app.router.add_get("/stats", self._stats)
            self._runner = web.AppRunner(app, shutdown_timeout=0.1)
            await self._runner.setup()
            site = web.TCPSite(self._runner, "127.0.0.1", self.port)
            await site.start()
            assert site._server is not None
            self.port = site._server.sockets[0].getsockname()[1]  # type: ignore[attr-defined]

        self._loop.run_until_complete(start())
        ready.set()
        self._loop.run_forever()

    def stats(self) -> dict[str, Any]:
        """How often each distinct question was answered well, faults apart."""
        return {
            "calls": self.calls,
            "distinct": len(self.seen),
            "answered": sum(self.answered.values()),
            "answered_again": sum(count - 1 for count in self.answered.values()),
            "most_open": self.most_open,
        }

    async def _stats(self, request: web.Request) -> web.Response:
        return web.json_response(self.stats())

    async def _embed(self, request: web.Request) -> web.Response:
        texts = (await request.json())["input"]
        data = [{"object": "embedding", "index": i, "embedding": _vector(text)} for i, text in enumerate(texts)]
        return web.json_response({"object": "list", "data": data, "model": "e", "usage": {"prompt_tokens": 1, "total_tokens": 1}})

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        raw = await request.read()
        body = json.loads(raw)
        question = hashlib.sha256(json.dumps(body["messages"], sort_keys=True).encode()).hexdigest()
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
            await asyncio.sleep(self.hang_s if fault == "hang" else self.delay)
            if self.blind and "image_url" in raw.decode():
                return web.json_response({"error": {"message": "this model takes no image input"}}, status=400)
            return await self._respond(request, body, question, fault)
        finally:
            self.open -= 1

    async def _respond(self, request: web.Request, body: dict[str, Any], question: str, fault: str) -> web.StreamResponse:
        if fault == "429":
            error = {"error": {"message": "slow down", "type": "rate_limit"}}
            return web.json_response(error, status=429, headers={"Retry-After": "0"})
        if fault == "500":
            return web.json_response({"error": {"message": "oops"}}, status=500)
        if fault == "empty body":
            return web.Response(text="", content_type="application/json")
        text = self.answer(body) or answer_for(body, question)
        finish = "stop"
        if fault == "cut answer":
            text, finish = text[: max(1, len(text) // 2)], "length"
        elif fault == "wrong schema":
            text = '{"nothing": ["of", "this"]}'
        elif fault == "prose":
            text = "On reflection I would rather talk it over."
        elif fault == "empty answer":
            text = ""
        elif not fault:
            self.answered[question] += 1
        if body.get("stream") and self.streams:
            return await _stream(request, text, finish)
        reply = json.dumps(_completion(body, text, finish))
        if fault == "cut body":
            return web.Response(text=reply[: len(reply) // 2], content_type="application/json")
        return web.Response(text=reply, content_type="application/json")


def answer_for(body: dict[str, Any], question: str) -> str:
    """A valid answer to the schema in the request, always the same for the same question."""
    form = (body.get("response_format") or {}).get("json_schema", {}).get("schema")
    if form is None:
        text = "\n".join(_texts(message) for message in body["messages"] if message["role"] == "user")
        if MARK not in text:
            return "Hello."
        form, _ = json.JSONDecoder().raw_decode(text[text.index(MARK) + len(MARK) :])
    ids = _choices(body)
    return json.dumps(_value(form, form.get("$defs", {}), random.Random(question), "", ids), ensure_ascii=False)


def _choices(body: dict[str, Any]) -> list[str]:
    text = _texts(body["messages"][1]) if len(body["messages"]) > 1 else ""
    _, found, rest = text.rpartition("Choose one of: ")
    return rest.split("\n")[0].split(", ") if found else []


def _value(form: dict[str, Any], defs: dict[str, Any], draw: random.Random, name: str, ids: list[str]) -> Any:
    if "$ref" in form:
        form = defs[form["$ref"].rsplit("/", 1)[1]]
    if "enum" in form:
        return draw.choice(form["enum"])
    if "anyOf" in form:
        return _value(form["anyOf"][0], defs, draw, name, ids)
    kind = form.get("type")
    if kind == "object":
        return {key: _value(part, defs, draw, key, ids) for key, part in form.get("properties", {}).items()}
    if kind == "array":
        count = max(form.get("minItems", 0), 1)
        return [_value(form["items"], defs, draw, name, ids) for _ in range(count)]
    if kind == "boolean":
        return draw.random() < 0.3
    if kind in ("integer", "number"):
        return form.get("minimum", 0)
    if name == "selected_evidence_id" and ids:
        return draw.choice(ids)
    return f"{name or 'word'} {draw.randrange(1000)}: what was said about it, in a sentence of usual length."


def _texts(message: dict[str, Any]) -> str:
    content = message["content"]
    return content if isinstance(content, str) else "\n".join(p.get("text", "") for p in content)


def _usage(body: dict[str, Any], text: str) -> dict[str, Any]:
    prompt = sum(len(_texts(message)) for message in body["messages"]) // 4
    return {"prompt_tokens": prompt, "completion_tokens": len(text) // 4, "total_tokens": prompt + len(text) // 4}


def _completion(body: dict[str, Any], text: str, finish: str) -> dict[str, Any]:
    message = {"role": "assistant", "content": text}
    return {
        "id": "c", "object": "chat.completion", "created": 0, "model": body["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": finish}], "usage": _usage(body, text),
    }  # fmt: skip


async def _stream(request: web.Request, text: str, finish: str) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    pieces = [text[i : i + 40] for i in range(0, len(text), 40)]
    for delta, end in [*(({"content": piece}, None) for piece in pieces), ({}, finish)]:
        chunk = {
            "id": "c", "object": "chat.completion.chunk", "created": 0, "model": "m",
            "choices": [{"index": 0, "delta": delta, "finish_reason": end}],
        }  # fmt: skip
        await response.write(f"data: {json.dumps(chunk)}\n\n".encode())
    await response.write(b"data: [DONE]\n\n")
    await response.write_eof()
    return response


def _vector(text: str) -> list[float]:
    draw = random.Random(text)
    return [draw.uniform(-1, 1) for _ in range(32)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--delay", type=float, default=0.0)
    parser.add_argument("--faults", type=float, default=0.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--hang", type=float, default=3600.0)
    given = parser.parse_args()
    server = OpenAIServer(
        port=given.port, delay=given.delay, faults=given.faults, seed=given.seed, hang_s=given.hang
    )
    with server:
        print(server.port, flush=True)
        threading.Event().wait()


if __name__ == "__main__":
    main()
