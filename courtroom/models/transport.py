"""What comes over LiteLLM's transport, kept to the bounds of its call. Imports httpx: imported with LiteLLM."""

import asyncio
import codecs
import json
import logging
import re
import zlib
from collections.abc import AsyncIterator
from functools import partial
from typing import Any

import httpx
from litellm.llms.custom_httpx.aiohttp_transport import LiteLLMAiohttpTransport

from courtroom.models.batches import BATCH
from courtroom.models.bounds import BOUND, Bound, Overlong, WebPage

log = logging.getLogger(__name__)

_STEP = 2**16
_SPECIAL_LINE = re.compile(
    rb'^(data: *)(.*(?:"content" *: *[\[{]|block_?reason|"(?:reasoning_text|thinking|thoughts?)" *:).*)$',
    re.MULTILINE | re.IGNORECASE,
)
"""An event whose content comes in parts or whose thoughts have another name, or that says why no content comes."""
COUNTS = ("prompt_tokens", "completion_tokens", "total_tokens")
THOUGHTS = ("reasoning_text", "thinking", "thoughts", "thought")
"""Other names of `reasoning_content`."""
_FINISHED = re.compile(rb'"finish_reason" *: *"|"done" *: *true')
"""What the last piece of an answer has in it. After it come no more than the usage and the end."""
REST_S = 5.0
"""For how long the rest of a stream is waited for whose answer is whole."""
_unbound = LiteLLMAiohttpTransport.handle_async_request


async def _bound(self: Any, request: httpx.Request) -> httpx.Response:
    bound = BOUND.get()
    if bound is None:
        return await _unbound(self, request)
    request.headers["accept-encoding"] = "identity"  # a few packed bytes can be gigabytes
    send = BATCH.get() or partial(_unbound, self)
    response = await send(request)
    packing = response.headers.pop("content-encoding", "")
    assert isinstance(response.stream, httpx.AsyncByteStream)
    if not bound.streams and "event-stream" in response.headers.get("content-type", ""):
        response.headers["content-type"] = "application/json"  # which it becomes
    is_error = response.status_code >= 400
    if response.status_code == 422:  # of which LiteLLM says nothing, not even that there was one
        response.status_code = 400
    is_whole = not is_error and response.headers.get("content-type", "").startswith("application/json")
    response.stream = _Bounded(response.stream, packing.strip().lower(), bound, error=is_error, whole=is_whole)
    return response


LiteLLMAiohttpTransport.handle_async_request = _bound  # type: ignore[method-assign]  # all providers' replies pass here


class _Bounded(httpx.AsyncByteStream):
    def __init__(self, sent: httpx.AsyncByteStream, packing: str, bound: Bound, *, error: bool, whole: bool) -> None:
        self._sent, self._packing, self._bound, self._is_error, self._is_whole = sent, packing, bound, error, whole

    async def __aiter__(self) -> AsyncIterator[bytes]:
        if self._bound.streams and not self._is_error and not self._is_whole:
            line: list[bytes] = []
            async for chunk in self._until_its_end():
                head, newline, rest = chunk.rpartition(b"\n")
                if newline:
                    lines = b"".join([*line, head, newline])
                    self._is_whole = self._is_whole or bool(_FINISHED.search(lines))
                    yield _SPECIAL_LINE.sub(_plain_line, lines)
                    line = []
                line.append(rest)
            yield _SPECIAL_LINE.sub(_plain_line, b"".join(line))
            return
        body = b"".join([chunk async for chunk in self._read()])
        body = _as_error(body) if self._is_error else _plain(body)
        event = _as_event(body) if self._is_whole and self._bound.streams else body
        self._bound.came_whole = event is not body
        yield event

    async def _until_its_end(self) -> AsyncIterator[bytes]:
        """All of a stream. Once the answer is whole, a stream that breaks off or stays open has ended."""
        chunks = self._read()
        while True:
            try:
                async with asyncio.timeout(REST_S if self._is_whole else None):
                    chunk = await anext(chunks)
            except StopAsyncIteration:
                return
            except Exception:
                if not self._is_whole:
                    raise
                log.info("a stream had no proper end after its whole answer", exc_info=True)
                return
            yield chunk

    async def aclose(self) -> None:
        await self._sent.aclose()

    async def _read(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._unpacked():
            self._bound.heard()
            if not size and not self._is_error and chunk.lstrip()[:1] == b"<":
                raise WebPage
            chunk = chunk if size else chunk.removeprefix(codecs.BOM_UTF8)
            size += len(chunk)
            if size > self._bound.body_bytes:
                raise Overlong(f"more than {self._bound.body_bytes} bytes")
            yield chunk

    async def _unpacked(self) -> AsyncIterator[bytes]:
        if self._packing in ("", "identity"):
            async for chunk in self._sent:
                yield chunk
            return
        if self._packing not in ("gzip", "deflate"):
            raise httpx.DecodingError(f"packed as {self._packing}, which was not asked for")
        unpacker = zlib.decompressobj(wbits=47)  # either, as its header says
        async for packed in self._sent:
            while packed:
                try:
                    yield unpacker.decompress(packed, _STEP)
                except zlib.error as error:
                    raise httpx.DecodingError(str(error)) from error
                packed = unpacker.unconsumed_tail


def _plain_line(line: re.Match[bytes]) -> bytes:
    return line[1] + _plain(line[2])


def _as_error(body: bytes) -> bytes:
    """An error in the form in which LiteLLM looks for its words; TGI, vLLM, Mistral, Gemini and others have their own."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return body
    value = value[0] if isinstance(value, list) and value else value
    if not isinstance(value, dict):
        return body
    error = value.get("error")
    if not isinstance(error, dict) or not isinstance(error.get("message"), str):
        told = error or value.get("detail") or value.get("message") or value
        more = error if isinstance(error, dict) else {}
        value["error"] = {**more, "message": told if isinstance(told, str) else json.dumps(told, ensure_ascii=False)}
    return json.dumps(value).encode()


def _as_event(body: bytes) -> bytes:
    """An answer that came whole though a stream was asked for, as the only event of one; another body as it is."""
    try:
        value = json.loads(body)
        choice = value["choices"][0]
        delta = {**choice["message"]}
    except (ValueError, RecursionError, LookupError, TypeError):
        return body
    for number, call in enumerate(delta.get("tool_calls") or ()):
        call["index"] = number
    event = {**value, "object": "chat.completion.chunk", "choices": [{**choice, "delta": delta}]}
    return b"data: " + json.dumps(event).encode() + b"\n\ndata: [DONE]\n\n"


def _plain(body: bytes) -> bytes:
    """The body in the form that LiteLLM reads: without choices beyond the first, as no more are asked for and it
    takes its time over each, with content in parts put together, whole where it was streamed though nobody asked for
    a stream, and with a filtered answer where the prompt was blocked."""
    if body.lstrip()[:5] == b"data:" or body.lstrip()[:1] == b":":
        body = _assembled(body)
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return body
    choices = value.get("choices") if isinstance(value, dict) else None
    if not choices and isinstance(value, dict) and _is_blocked(value):
        blank = {"role": "assistant", "content": ""}
        choices = [{"index": 0, "message": blank, "delta": blank, "finish_reason": "content_filter"}]
        return json.dumps({**value, "choices": choices}).encode()
    if not isinstance(choices, list) or not choices:
        return _as_error(body) if isinstance(value, dict) and value.get("error") else body
    message = choices[0].get("message") or choices[0].get("delta") if isinstance(choices[0], dict) else None
    changed = len(choices) > 1
    counts = value.get("usage") or {}
    if not isinstance(counts, dict) or any(isinstance(counts.get(name), str) for name in COUNTS):
        value["usage"], changed = None, True  # no reason to lose the answer
    if isinstance(message, dict):
        content, thought = message.get("content"), next((message[name] for name in THOUGHTS if message.get(name)), None)
        if isinstance(content, list | dict):
            message["content"], changed = _text(content) if isinstance(content, list) else json.dumps(content), True
        if isinstance(thought, str) and not (message.get("reasoning_content") or message.get("reasoning")):
            message["reasoning_content"], changed = thought, True
    return json.dumps({**value, "choices": choices[:1]}).encode() if changed else body


def _is_blocked(value: dict[str, Any]) -> bool:
    told = value.get("promptFeedback") or value.get("prompt_feedback")
    return isinstance(told, dict) and bool(told.get("blockReason") or told.get("block_reason"))


def _assembled(stream: bytes) -> bytes:
    """A streamed answer as if it had come whole; as it is where it has no end."""
    texts, told, call, finish = dict[str, str](), dict[str, Any](), dict[str, Any](), None
    for line in stream.splitlines():
        try:
            event = json.loads(line.removeprefix(b"data:")) if line.startswith(b"data:") else None
        except (ValueError, RecursionError):
            continue  # the line that says that this is the end
        if not isinstance(event, dict):
            continue
        if event.get("error"):
            return json.dumps(event).encode()
        told |= {name: value for name, value in event.items() if value and name != "choices"}
        for choice in (event.get("choices") or [])[:1]:
            delta, finish = choice.get("delta") or {}, choice.get("finish_reason") or finish
            call = call or next(iter(delta.get("tool_calls") or ()), {})
            asked = [one.get("function", {}).get("arguments") for one in delta.get("tool_calls") or ()]
            for name, text in (*delta.items(), *(("arguments", text) for text in asked)):
                if isinstance(text, str | list) and name != "tool_calls":
                    texts[name] = texts.get(name, "") + (text if isinstance(text, str) else _text(text))
    if finish is None:
        return json.dumps(told).encode() if _is_blocked(told) else stream
    if (arguments := texts.pop("arguments", None)) is not None:
        call = {**call, "function": {**call.get("function", {}), "arguments": arguments}}
    tools = {"tool_calls": [call]} if call else {}
    message = {**texts, "role": "assistant", "content": texts.get("content"), **tools}
    choices = [{"index": 0, "message": message, "finish_reason": finish}]
    return json.dumps({**told, "object": "chat.completion", "choices": choices}).encode()


def _text(parts: list[Any]) -> str:
    """The text of content in parts; what a model thinks aloud is no part of its answer."""
    texts = (part.get("text") if isinstance(part, dict) else part for part in parts)
    return "".join(text for text in texts if isinstance(text, str))
