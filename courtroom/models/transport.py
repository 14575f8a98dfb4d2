"""What comes over LiteLLM's transport, kept to the bounds of its call. Imports httpx: imported with LiteLLM."""

import asyncio
import json
import logging
import re
import zlib
from collections.abc import AsyncIterator
from typing import Any

import httpx
from litellm.llms.custom_httpx.aiohttp_transport import LiteLLMAiohttpTransport

from courtroom.models.bounds import BOUND, Bound, Overlong, WebPage

log = logging.getLogger(__name__)

_STEP = 2**16
_CONTENT_LINE = re.compile(rb'^(data: *)(.*"content" *: *\[.*)$', re.MULTILINE)
"""An event of a stream whose content comes in parts."""
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
    response = await _unbound(self, request)
    packing = response.headers.pop("content-encoding", "")
    assert isinstance(response.stream, httpx.AsyncByteStream)
    if not bound.streams and "event-stream" in response.headers.get("content-type", ""):
        response.headers["content-type"] = "application/json"  # which it becomes
    response.stream = _Bounded(response.stream, packing.strip().lower(), bound, is_error=response.status_code >= 400)
    return response


LiteLLMAiohttpTransport.handle_async_request = _bound  # type: ignore[method-assign]  # all providers' replies pass here


class _Bounded(httpx.AsyncByteStream):
    def __init__(self, sent: httpx.AsyncByteStream, packing: str, bound: Bound, *, is_error: bool) -> None:
        self._sent, self._packing, self._bound, self._is_error = sent, packing, bound, is_error
        self._is_whole = False

    async def __aiter__(self) -> AsyncIterator[bytes]:
        if self._bound.streams:
            line: list[bytes] = []
            async for chunk in self._until_its_end():
                head, newline, rest = chunk.rpartition(b"\n")
                if newline:
                    lines = b"".join([*line, head, newline])
                    self._is_whole = self._is_whole or bool(_FINISHED.search(lines))
                    yield _CONTENT_LINE.sub(_plain_line, lines)
                    line = []
                line.append(rest)
            yield _CONTENT_LINE.sub(_plain_line, b"".join(line))
        else:
            yield _plain(b"".join([chunk async for chunk in self._read()]))

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


def _plain(body: bytes) -> bytes:
    """The body in the form that LiteLLM reads: without choices beyond the first, as no more are asked for and it takes its
    time over each, with content in parts put together, and whole where it was streamed though nobody asked for a stream."""
    if body.lstrip()[:5] == b"data:" or body.lstrip()[:1] == b":":
        body = _assembled(body)
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return body
    choices = value.get("choices") if isinstance(value, dict) else None
    if not isinstance(choices, list) or not choices:
        return body
    message = choices[0].get("message") or choices[0].get("delta") if isinstance(choices[0], dict) else None
    if isinstance(message, dict) and isinstance(message.get("content"), list):
        message["content"] = _text(message["content"])
    elif len(choices) == 1:
        return body
    return json.dumps({**value, "choices": choices[:1]}).encode()


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
        return stream
    arguments = texts.pop("arguments", None)
    if arguments is not None:
        call = {**call, "function": {**call.get("function", {}), "arguments": arguments}}
    message = {
        **texts,
        "role": "assistant",
        "content": texts.get("content"),
        **({"tool_calls": [call]} if call else {}),
    }
    choices = [{"index": 0, "message": message, "finish_reason": finish}]
    return json.dumps({**told, "object": "chat.completion", "choices": choices}).encode()


def _text(parts: list[Any]) -> str:
    """The text of content in parts; what a model thinks aloud is no part of its answer."""
    texts = (part.get("text") if isinstance(part, dict) else part for part in parts)
    return "".join(text for text in texts if isinstance(text, str))
