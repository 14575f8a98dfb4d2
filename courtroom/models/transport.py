"""What comes over LiteLLM's transport, kept to the bounds of its call. Imports httpx: imported with LiteLLM."""

import json
import re
import zlib
from collections.abc import AsyncIterator
from typing import Any

import httpx
from litellm.llms.custom_httpx.aiohttp_transport import LiteLLMAiohttpTransport

from courtroom.models.bounds import BOUND, Bound, Overlong

_STEP = 2**16
_CONTENT_LINE = re.compile(rb'^(data: *)(.*"content" *: *\[.*)$', re.MULTILINE)
"""An event of a stream whose content comes in parts."""
_unbound = LiteLLMAiohttpTransport.handle_async_request


async def _bound(self: Any, request: httpx.Request) -> httpx.Response:
    bound = BOUND.get()
    if bound is None:
        return await _unbound(self, request)
    request.headers["accept-encoding"] = "identity"  # a few packed bytes can be gigabytes
    response = await _unbound(self, request)
    packing = response.headers.pop("content-encoding", "")
    assert isinstance(response.stream, httpx.AsyncByteStream)
    response.stream = _Bounded(response.stream, packing.strip().lower(), bound)
    return response


LiteLLMAiohttpTransport.handle_async_request = _bound  # type: ignore[method-assign]  # all providers' replies pass here


class _Bounded(httpx.AsyncByteStream):
    def __init__(self, sent: httpx.AsyncByteStream, packing: str, bound: Bound) -> None:
        self._sent, self._packing, self._bound = sent, packing, bound

    async def __aiter__(self) -> AsyncIterator[bytes]:
        if self._bound.streams:
            line: list[bytes] = []
            async for chunk in self._read():
                head, newline, rest = chunk.rpartition(b"\n")
                if newline:
                    yield _CONTENT_LINE.sub(_plain_line, b"".join([*line, head, newline]))
                    line = []
                line.append(rest)
            yield _CONTENT_LINE.sub(_plain_line, b"".join(line))
        else:
            yield _plain(b"".join([chunk async for chunk in self._read()]))

    async def aclose(self) -> None:
        await self._sent.aclose()

    async def _read(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._unpacked():
            self._bound.heard()
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
    time over each, and with content in parts put together."""
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


def _text(parts: list[Any]) -> str:
    """The text of content in parts; what a model thinks aloud is no part of its answer."""
    texts = (part.get("text") if isinstance(part, dict) else part for part in parts)
    return "".join(text for text in texts if isinstance(text, str))
