"""A server that does its worst with what it is sent: echoes it, fails with it, sends it on to another."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import quote

from tests.openai_server import answer_for

STATUSES = (400, 401, 403, 404, 429, 500)
REDIRECTS = (301, 302, 307, 308)
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
class Trap:
    """Runs in threads; use as a context manager."""

    way: str = "echo"
    """`echo`, `errors`, `redirects`, or one status as a number."""
    to: Callable[[], str | None] = lambda: ""
    """Where it sends on to; called with each request."""
    seen: list[Sent] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    def __enter__(self) -> Trap:
        trap = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                length = int(self.headers.get("Content-Length") or 0)
                sent = Sent(
                    self.command, self.path, {n.lower(): v for n, v in self.headers.items()}, self.rfile.read(length)
                )
                trap.seen.append(sent)
                status, headers, body = trap._answer(sent)
                self.send_response(status)
                # A line that stays open keeps its thread for as long as LiteLLM keeps the line.
                for name, value in {**headers, "Content-Length": str(len(body)), "Connection": "close"}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            do_GET = do_POST

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _answer(self, sent: Sent) -> tuple[int, dict[str, str], bytes]:
        form, there = {"Content-Type": "application/json"}, self.to() or ""
        if self.way == "redirects":
            return REDIRECTS[len(self.seen) % 4], {"Location": there + sent.path.removeprefix("/v1")}, b""
        if self.way != "echo":
            status = STATUSES[len(self.seen) % 6] if self.way == "errors" else int(self.way)
            error = {"message": f"You sent {sent.echo()}", "type": "refused", "code": sent.echo()}
            return (
                status,
                {**form, "Retry-After": "0", "X-Echo": sent.headers.get("authorization", "")},
                _json({"error": error}),
            )
        body = json.loads(sent.body or b"{}")
        text = answer_for(body, str(len(self.seen))) if body.get("messages") else "Hello."
        text = text.replace(SENTENCE, json.dumps(sent.echo())[1:-1], 1) if SENTENCE in text else text
        if body.get("stream"):
            return 200, {"Content-Type": "text/event-stream"}, _events(body, text, sent)
        message = {"role": "assistant", "content": text}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        return (
            200,
            form,
            _json({**_about(body, sent), "object": "chat.completion", "choices": [choice], "usage": USAGE}),
        )


USAGE = {"prompt_tokens": 5, "completion_tokens": 5, "total_tokens": 10}


def _about(body: dict[str, Any], sent: Sent) -> dict[str, Any]:
    credentials = " ".join(sent.headers.values())
    return {
        "id": "c",
        "service_tier": "default",
        "created": 0,
        "model": f"served {credentials}",
        "system_fingerprint": f"fp {credentials}",
    }


def _events(body: dict[str, Any], text: str, sent: Sent) -> bytes:
    """Twenty-three characters an event, so that a key lies across two."""
    base = {**_about(body, sent), "object": "chat.completion.chunk"}
    pieces: list[dict[str, Any]] = [
        {"index": 0, "delta": {"content": text[at : at + 23]}, "finish_reason": None} for at in range(0, len(text), 23)
    ]
    pieces.append({"index": 0, "delta": {}, "finish_reason": "stop"})
    lines = [b"data: " + _json({**base, "choices": [piece]}) + b"\n\n" for piece in pieces]
    return b"".join([*lines, b"data: [DONE]\n\n"])


def _json(value: Any) -> bytes:
    return json.dumps(value).encode()
