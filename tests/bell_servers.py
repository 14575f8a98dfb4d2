"""A webhook and a mail server of the test's own, which keep what they are told."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes
from typing import Any

from aiohttp import web
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, Envelope, Session

from tests.app_server import free_port
from tests.server_thread import WebServer


@dataclass
class Hook(WebServer):
    """Keeps each request's body, headers and path."""

    status: int = 204
    location: str = ""
    """Where it sends its callers on."""
    bodies: list[bytes] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)

    def _routes(self) -> list[web.RouteDef]:
        return [web.route("*", "/{path:.*}", self._keep)]

    async def _keep(self, request: web.Request) -> web.Response:
        self.bodies.append(await request.read())
        self.headers.append(dict(request.headers))
        self.paths.append(request.path)
        return web.Response(status=self.status, headers={"Location": self.location} if self.location else {})


@dataclass
class Mailbox:
    """Keeps each message, and what was said before it."""

    url: str = ""
    mails: list[tuple[list[str], Any]] = field(default_factory=list)
    """To whom each went, and the message."""

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:  # noqa: N802
        content = envelope.content
        assert isinstance(content, bytes)
        self.mails.append((envelope.rcpt_tos, message_from_bytes(content)))
        return "250 OK"


@contextmanager
def mailbox() -> Iterator[Mailbox]:
    """A mail server without TLS on this machine."""
    box = Mailbox()
    controller = Controller(box, hostname="127.0.0.1", port=free_port())
    controller.start()
    box.url = f"127.0.0.1:{controller.port}"
    try:
        yield box
    finally:
        controller.stop()
