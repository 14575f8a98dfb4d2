"""What comes over LiteLLM's transport, kept to the bounds of its call. Imports httpx: imported with LiteLLM."""

from __future__ import annotations

import json
import zlib
from collections.abc import AsyncIterator
from typing import Any

import httpx
from litellm.llms.custom_httpx.aiohttp_transport import LiteLLMAiohttpTransport

from courtroom.models.bounds import BOUND, Bound, Overlong

_STEP = 2**16
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
            async for chunk in self._read():
                yield chunk
        else:
            yield _with_one_choice(b"".join([chunk async for chunk in self._read()]))

    async def aclose(self) -> None:
        await self._sent.aclose()

    async def _read(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._unpacked():
            size += len(chunk)
            if size > self._bound.size:
                raise Overlong(f"more than {self._bound.size} bytes")
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


def _with_one_choice(body: bytes) -> bytes:
    """The body without choices beyond the first: no more are asked for, and LiteLLM takes its time over each."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return body
    if not isinstance(value, dict) or not isinstance(value.get("choices"), list) or len(value["choices"]) < 2:
        return body
    return json.dumps({**value, "choices": value["choices"][:1]}).encode()
