"""A server that speaks HTTP by hand, so that it can speak it wrongly. The model's name says what it does.

`good` is answered well; any other name is a mode, with `+` and something more where several ask in one mode.
"""

import asyncio
import json
import zlib
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from tests.openai_server import envelope, event
from tests.server_thread import ServerThread

GOOD = '{"side": "buyer", "reason": "The kettle is cold."}'
USAGE = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}


@dataclass
class Asked:
    """One request, and the line on which it is answered."""

    body: dict[str, Any]
    writer: asyncio.StreamWriter

    @property
    def streams(self) -> bool:
        return bool(self.body.get("stream"))

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def head(self, status: int = 200, kind: str = "", length: int | None = None, **more: str) -> None:
        """The reply's first lines; without a length the body ends where the line does."""
        kind = kind or ("text/event-stream" if self.streams and status == 200 else "application/json")
        lines = [f"HTTP/1.1 {status} Said", f"Content-Type: {kind}", "Connection: close"]
        if length is not None:
            lines.append(f"Content-Length: {length}")
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in more.items()]
        await self.send("\r\n".join((*lines, "", "")).encode())

    async def whole(self, body: bytes | str | dict[str, Any], status: int = 200, kind: str = "", **more: str) -> None:
        if isinstance(body, dict):
            body = json.dumps(body)
        data = body.encode() if isinstance(body, str) else body
        await self.head(status, kind, len(data), **more)
        await self.send(data)

    async def say(
        self, text: str | None, finish: str = "stop", usage: object = USAGE, key: str = "content", **more: Any
    ) -> None:
        """A well-formed reply with this text under `key` of the message."""
        if not self.streams:
            message = {"role": "assistant", "content": None, key: text, **more}
            await self.whole(envelope([{"index": 0, "message": message, "finish_reason": finish}], usage))
            return
        await self.head()
        size = max(40, len(text or "") // 50)
        pieces = [text[at : at + size] for at in range(0, len(text), size)] if text else [text]
        for piece in pieces:
            await self.event(delta={key: piece, **more})
        await self.event(delta={}, finish=finish)
        await self.send(event({"choices": [], "usage": usage}) + b"data: [DONE]\n\n")

    async def event(self, delta: dict[str, Any], finish: str | None = None) -> None:
        await self.send(event({"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}))


Mode = Callable[[Asked], Awaitable[None]]


@dataclass
class HostileServer(ServerThread):
    """Runs in a thread of its own; use as a context manager."""

    modes: Mapping[str, Mode]
    calls: Counter[str] = field(default_factory=Counter)
    """Requests by model; `good` is not counted."""
    streamed: Counter[str] = field(default_factory=Counter)
    """Those of them that asked for a stream."""
    bodies: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    port: int = 0
    _writers: list[asyncio.StreamWriter] = field(default_factory=list)

    async def _start(self) -> None:
        self._server = await asyncio.start_server(self._line, "127.0.0.1", 0, backlog=1000)
        self.port = self._server.sockets[0].getsockname()[1]

    async def _end(self) -> None:
        self._server.close()
        lines = asyncio.all_tasks() - {asyncio.current_task()}
        for task in lines:
            task.cancel()
        await asyncio.gather(*lines, return_exceptions=True)
        for writer in self._writers:
            writer.transport.abort()  # with what nobody has taken
        await asyncio.sleep(0.01)

    async def _line(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.append(writer)
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            fields = dict(line.lower().split(": ", 1) for line in head.split("\r\n")[1:] if ": " in line)
            body = await reader.readexactly(int(fields.get("content-length", 0)))
            asked = Asked(json.loads(body), writer)
            model = asked.body["model"]
            if model == "good":
                await asked.say(GOOD)
                return
            self.calls[model] += 1
            self.streamed[model] += asked.streams
            self.bodies.setdefault(model, []).append(asked.body)
            await self.modes[model.partition("+")[0]](asked)
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass  # who asked has hung up, or the server ends
        finally:
            writer.close()


@lru_cache
def zeros(megabytes: int) -> bytes:
    """So many megabytes of zeros, packed into about as many kilobytes. One block is packed, and repeated."""
    packer = zlib.compressobj(wbits=31)
    start = packer.flush(zlib.Z_FULL_FLUSH)
    block = packer.compress(bytes(2**20)) + packer.flush(zlib.Z_FULL_FLUSH)
    return start + block * megabytes + packer.flush()
