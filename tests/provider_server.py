"""A real HTTP server that speaks as OpenAI and as Anthropic do, keeps the beginnings of prompts, and takes batches."""

import asyncio
import json
import os
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pytest
from aiohttp import web

from courtroom.models.card import card
from tests.openai_server import OpenAIServer, answer_for, refusal, texts_of

MIN_CACHED_TOKENS = 1_024
"""Of a model whose card says nothing else."""
CHARACTERS_A_TOKEN = 4
OPENAI, ANTHROPIC = "openai", "anthropic"


class Billed(NamedTuple):
    """Tokens of one answer, as the provider counts them."""

    full: int
    read: int
    written: int
    completion: int

    def as_openai(self) -> dict[str, Any]:
        prompt = self.full + self.read
        counts = {"prompt_tokens": prompt, "completion_tokens": self.completion}
        details = {"prompt_tokens_details": {"cached_tokens": self.read}}
        return {**counts, "total_tokens": prompt + self.completion, **details}

    def as_anthropic(self) -> dict[str, Any]:
        cache = {"cache_creation_input_tokens": self.written, "cache_read_input_tokens": self.read}
        return {"input_tokens": self.full, "output_tokens": self.completion, **cache}


@dataclass
class Batch:
    """A batch that was taken in, with what came of its requests once it has ended."""

    provider: str
    requests: dict[str, dict[str, Any]]
    results: dict[str, tuple[int, dict[str, Any]]] | None = None
    """Status and body; those that expired are missing."""


@dataclass
class ProviderServer(OpenAIServer):
    """Ends a batch when it is first looked at, unless it is held. Cached is what an earlier answer's prompt began with."""

    held: bool = False
    """Whether batches stay under way."""
    refuses: Callable[[], web.Response | None] = lambda: None
    """What whoever makes a batch is answered in place of one."""
    fate: Callable[[dict[str, Any]], int] = lambda body: 200
    """The status of a request in a batch; 0 where it expires."""
    batches: dict[str, Batch] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)
    kept: set[str] = field(default_factory=set)
    """Beginnings in the cache."""
    billed: Counter[str] = field(default_factory=Counter)
    """Tokens by how they are paid: full, read, written, completion, behind `batch ` where they went by batch."""

    def known(self, patch: pytest.MonkeyPatch) -> None:
        """Have all models of OpenAI and of Anthropic asked of it."""
        super().known(patch)
        patch.setenv("ANTHROPIC_API_BASE", self.url.removesuffix("/v1"))
        patch.setenv("ANTHROPIC_API_KEY", "none")

    def _routes(self) -> list[web.RouteDef]:
        return [
            web.post("/v1/files", self._take_file),
            web.get("/v1/files/{file}/content", self._content),
            web.post("/v1/batches", self._take_batch),
            web.get("/v1/batches/{batch}", self._look),
            web.post("/v1/messages", self._message),
            web.post("/v1/messages/batches", self._take_message_batch),
            web.get("/v1/messages/batches/{batch}", self._look),
            web.get("/v1/messages/batches/{batch}/results", self._results),
            *super()._routes(),
        ]

    # --- one by one -----------------------------------------------------------------------------------------

    def _usage(self, body: dict[str, Any], text: str) -> dict[str, Any]:
        return self._bill(body, text, OPENAI).as_openai()

    async def _message(self, request: web.Request) -> web.Response:
        body = await request.json()
        self.calls += 1
        if self.keep_bodies:
            self.bodies.append(body)
        status, answer = self._answered(body, ANTHROPIC)
        await asyncio.sleep(self.delay)
        return web.json_response(answer, status=status)

    def _answered(self, body: dict[str, Any], provider: str, *, by_batch: bool = False) -> tuple[int, dict[str, Any]]:
        """Answer a request that stands in a batch, or one of Anthropic's."""
        if (status := self.fate(body) if by_batch else 200) >= 400:
            error = {"type": "api_error", "message": "this one went wrong"}
            return status, {"error": error} if provider == OPENAI else {"type": "error", "error": error}
        asked = body if provider == OPENAI else _as_openai(body)
        given = self.answer(asked)
        text = given if isinstance(given, str) else answer_for(asked, json.dumps(asked, sort_keys=True))
        told = self._bill(body, text, provider, by_batch=by_batch)
        if provider == OPENAI:
            message = {"role": "assistant", "content": text}
            choices = [{"index": 0, "message": message, "finish_reason": "stop"}]
            answer = {"object": "chat.completion", "created": 0, "choices": choices, "usage": told.as_openai()}
        else:
            content = [{"type": "text", "text": text}]
            answer = {"type": "message", "role": "assistant", "content": content, "usage": told.as_anthropic()}
            answer["stop_reason"] = "end_turn"
        return 200, {"id": "c", "model": body["model"], **answer}

    def _bill(self, body: dict[str, Any], text: str, provider: str, *, by_batch: bool = False) -> Billed:
        """Count an answer's tokens; its prompt is in the cache from when it is there."""
        beginnings = _beginnings(body, provider)
        whole, completion = len(beginnings[-1]) // CHARACTERS_A_TOKEN, len(text) // CHARACTERS_A_TOKEN
        least = (card(f"{provider}/{body['model']}") or {}).get("prompt_cache_min_tokens") or MIN_CACHED_TOKENS
        long = [one for one in beginnings[:-1] if len(one) >= least * CHARACTERS_A_TOKEN]
        read = max((len(one) for one in long if one in self.kept), default=0) // CHARACTERS_A_TOKEN
        written = len(long[-1]) // CHARACTERS_A_TOKEN - read if long and provider == ANTHROPIC else 0
        if by_batch:
            self.kept.update(long)
        else:
            asyncio.get_running_loop().call_later(self.delay, self.kept.update, long)
        billed = Billed(whole - read - written, read, written, completion)
        self.billed.update({f"{'batch ' * by_batch}{name}": tokens for name, tokens in billed._asdict().items()})
        return billed

    # --- in batches -----------------------------------------------------------------------------------------

    async def _take_file(self, request: web.Request) -> web.Response:
        form = await request.post()
        assert form["purpose"] == "batch"
        name, content = f"file-{len(self.files)}", form["file"]
        assert isinstance(content, web.FileField)
        self.files[name] = content.file.read()
        return web.json_response({"id": name, "object": "file", "purpose": "batch", "status": "processed"})

    async def _content(self, request: web.Request) -> web.Response:
        return web.Response(body=self.files[request.match_info["file"]])

    async def _take_batch(self, request: web.Request) -> web.Response:
        asked = await request.json()
        lines = [json.loads(line) for line in self.files[asked["input_file_id"]].splitlines()]
        assert {(line["method"], line["url"]) for line in lines} == {("POST", asked["endpoint"])}
        return self._taken(OPENAI, {line["custom_id"]: line["body"] for line in lines})

    async def _take_message_batch(self, request: web.Request) -> web.Response:
        assert request.headers["anthropic-version"]
        requests = (await request.json())["requests"]
        return self._taken(ANTHROPIC, {one["custom_id"]: one["params"] for one in requests})

    def _taken(self, provider: str, requests: dict[str, dict[str, Any]]) -> web.Response:
        if (refused := self.refuses()) is not None:
            return refused
        name = f"{provider}-{len(self.batches)}-{os.getpid()}"
        self.batches[name] = Batch(provider, requests)
        return web.json_response(self._told(name))

    async def _look(self, request: web.Request) -> web.Response:
        name = request.match_info["batch"]
        if name not in self.batches:
            return refusal(404, "there is no such batch")
        batch = self.batches[name]
        if batch.results is None and not self.held:
            kept = {key: body for key, body in batch.requests.items() if self.fate(body)}
            batch.results = {key: self._answered(body, batch.provider, by_batch=True) for key, body in kept.items()}
            if batch.provider == OPENAI:
                self.files[f"{name}-output"] = _lines(self._of_openai(batch, well=True))
                self.files[f"{name}-error"] = _lines(self._of_openai(batch, well=False))
        return web.json_response(self._told(name))

    def _told(self, name: str) -> dict[str, Any]:
        batch = self.batches[name]
        if batch.provider == ANTHROPIC:
            ended = "in_progress" if batch.results is None else "ended"
            return {"id": name, "type": "message_batch", "processing_status": ended}
        base = {"id": name, "object": "batch", "endpoint": "/v1/chat/completions", "completion_window": "24h"}
        if batch.results is None:
            return {**base, "status": "in_progress"}
        status = "completed" if batch.results.keys() == batch.requests.keys() else "expired"
        files = {f"{kind}_file_id": name for kind in ("output", "error") if self.files[name := f"{base['id']}-{kind}"]}
        return {**base, "status": status, **files}

    def _of_openai(self, batch: Batch, *, well: bool) -> Iterator[dict[str, Any]]:
        assert batch.results is not None
        for key in batch.requests:
            if key not in batch.results:
                if not well:
                    yield {"custom_id": key, "response": None, "error": {"code": "batch_expired", "message": "late"}}
            elif (batch.results[key][0] == 200) == well:
                status, body = batch.results[key]
                yield {"custom_id": key, "response": {"status_code": status, "body": body}, "error": None}

    async def _results(self, request: web.Request) -> web.Response:
        batch = self.batches[request.match_info["batch"]]
        assert batch.results is not None
        lines = []
        for key in batch.requests:
            status, body = batch.results.get(key, (0, {}))
            result = {200: {"type": "succeeded", "message": body}, 0: {"type": "expired"}}
            lines.append({"custom_id": key, "result": result.get(status, {"type": "errored", "error": body})})
        return web.Response(body=_lines(reversed(lines)))


def _lines(every: Any) -> bytes:
    return "".join(f"{json.dumps(one)}\n" for one in every).encode()


def _as_openai(body: dict[str, Any]) -> dict[str, Any]:
    """An Anthropic request as OpenAI would be sent it."""
    system = "\n".join(part["text"] for part in body.get("system", ()))
    messages = [{"role": "system", "content": system}, *body["messages"]]
    form = _form(body)
    response = {"response_format": {"json_schema": {"schema": form["schema"]}}} if form else {}
    return {"model": body["model"], "messages": messages, **response}


def _form(body: dict[str, Any]) -> dict[str, Any] | None:
    """The form of the answer, where Anthropic's models take it, and where they took it before."""
    form: dict[str, Any] | None = body.get("output_config", {}).get("format") or body.get("output_format")
    return form


def _beginnings(body: dict[str, Any], provider: str) -> list[str]:
    """What of a prompt may be kept, the shortest first, and the whole prompt last. The answer's form stands first.

    OpenAI keeps any beginning, here in steps of 128 tokens; Anthropic those alone that are marked.
    """
    form = json.dumps(body.get("response_format") or _form(body) or "")
    asked = body if provider == OPENAI else _as_openai(body)
    if provider == OPENAI:
        whole = form + "\n".join(f"{one['role']}\n{texts_of(one)}" for one in asked["messages"])
        step = 128 * CHARACTERS_A_TOKEN
        return [*(whole[:end] for end in range(step, len(whole), step)), whole]
    text, marked = form, []
    for message in asked["messages"]:
        content = message["content"]
        for part in [{"text": content}] if isinstance(content, str) else content:
            text += f"\n{message['role']}\n{part.get('text', '')}"
            marked += [text] if "cache_control" in part else []
    assert len(marked) <= 4, "Anthropic takes no more marks"
    return [*marked, text]
