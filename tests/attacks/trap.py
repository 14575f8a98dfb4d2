"""A server that does its worst with what it is sent: echoes it, fails with it, sends it on to another."""

import base64
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from aiohttp import web

from tests.openai_server import answer_for, envelope, event
from tests.server_thread import WebServer

STATUSES = (400, 401, 403, 404, 429, 500)
REDIRECTS = (301, 302, 307, 308)
USAGE = {"prompt_tokens": 5, "completion_tokens": 5, "total_tokens": 10}
SENTENCE = "what was said about it"


@dataclass(frozen=True)
class Sent:
    """One request as it arrived."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    def without(self, *headers: str) -> str:
        """All of it but some headers."""
        rest = {name: value for name, value in self.headers.items() if name not in headers}
        return f"{self.method} {self.path} {rest} {self.body!r}"

    def echo(self) -> str:
        """All of it, in every form that a server may write it in."""
        credentials = " ".join(self.headers.values())
        encoded = " ".join(base64.b64encode(f"{pad}{credentials}".encode()).decode() for pad in ("", "x", "xy"))
        return f"{self.headers} {self.path} {quote(credentials, safe='')} {encoded} {credentials.encode().hex()}"


@dataclass
class Trap(WebServer):
    """Runs in a thread of its own; use as a context manager."""

    way: str = "echo"
    """`echo`, `errors`, `redirects`, or one status as a number."""
    to: Callable[[], str | None] = lambda: ""
    """Where it sends on to; called with each request."""
    seen: list[Sent] = field(default_factory=list)

    def _routes(self) -> list[web.RouteDef]:
        return [web.route("*", "/{path:.*}", self._answer)]

    async def _answer(self, request: web.Request) -> web.Response:
        headers = {name.lower(): value for name, value in request.headers.items()}
        sent = Sent(request.method, request.raw_path, headers, await request.read())
        self.seen.append(sent)
        there = self.to() or ""
        if self.way == "redirects":
            location = there + sent.path.removeprefix("/v1")
            return web.Response(status=REDIRECTS[len(self.seen) % 4], headers={"Location": location})
        if self.way != "echo":
            status = STATUSES[len(self.seen) % 6] if self.way == "errors" else int(self.way)
            error = {"message": f"You sent {sent.echo()}", "type": "refused", "code": sent.echo()}
            told = {"Retry-After": "0", "X-Echo": headers.get("authorization", "")}
            return web.json_response({"error": error}, status=status, headers=told)
        body = json.loads(sent.body or b"{}")
        text = answer_for(body, str(len(self.seen))) if body.get("messages") else "Hello."
        text = text.replace(SENTENCE, json.dumps(sent.echo())[1:-1], 1) if SENTENCE in text else text
        credentials = " ".join(headers.values())
        about = {"model": f"served {credentials}", "system_fingerprint": f"fp {credentials}", "service_tier": "default"}
        if body.get("stream"):
            return web.Response(body=_events(about, text), content_type="text/event-stream")
        choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        return web.json_response({**envelope([choice], USAGE), **about})


def _events(about: dict[str, Any], text: str) -> bytes:
    """Twenty-three characters an event, so that a key lies across two."""
    deltas = [{"content": text[at : at + 23]} for at in range(0, len(text), 23)]
    pieces = [{"index": 0, "delta": delta, "finish_reason": None} for delta in deltas]
    pieces.append({"index": 0, "delta": {}, "finish_reason": "stop"})
    return b"".join(event({**about, "choices": [piece]}) for piece in pieces) + b"data: [DONE]\n\n"
