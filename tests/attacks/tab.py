"""A browser's tab without a browser: it speaks Streamlit's protocol over a web socket, and sends whatever it is told to."""

import asyncio
import io
import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

import aiohttp
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.web.server.starlette.starlette_app_utils import create_signed_value, generate_xsrf_token_string
from streamlit.web.server.starlette.starlette_server_config import USER_COOKIE_NAME, XSRF_COOKIE_NAME

MOST_S = 60.0
SECRET = "0123456789abcdef0123456789abcdef"
"""Of the server's cookies."""


@dataclass
class Tab:
    """One tab; `tab` opens it."""

    url: str
    http: aiohttp.ClientSession
    socket: aiohttp.ClientWebSocketResponse
    xsrf: str
    session: str = ""
    page: str = ""
    elements: dict[str, list[Any]] = field(default_factory=dict)
    """What the page has at this moment, by its type."""
    media: set[str] = field(default_factory=set)
    """The addresses of files that pages have shown."""
    answers: list[ForwardMsg] = field(default_factory=list)
    """All else that the server said."""
    said: bytearray = field(default_factory=bytearray)
    """All bytes that the server sent."""
    runs: int = 0
    """How often the page was drawn to its end."""

    async def send(self, **message: Any) -> None:
        await self.socket.send_bytes(BackMsg(**message).SerializeToString())

    async def open(self, page: str = "", widgets: list[dict[str, Any]] | None = None, **query: str) -> None:
        """Have a page drawn, and wait for its end."""
        before = self.runs
        state = {"widgets": widgets or []}
        await self.send(rerun_script={"page_name": page, "query_string": urlencode(query), "widget_states": state})
        await self.until(lambda: self.runs > before)

    async def until(self, done: Any) -> None:
        async with asyncio.timeout(MOST_S):
            while not done():
                await asyncio.sleep(0.01)

    async def answer(self, kind: str, **message: Any) -> ForwardMsg:
        """What the server answers to a message."""
        before = len(self.answers)
        await self.send(**message)
        of_kind = lambda: [one for one in self.answers[before:] if one.WhichOneof("type") == kind]  # noqa: E731
        await self.until(of_kind)
        return of_kind()[0]

    async def heard(self) -> None:
        """All that was sent before has been looked at."""
        await self.answer("heartbeat_ack", app_heartbeat=True)

    async def upload(self, content: bytes, session: str = "", file: str = "a-file") -> int:
        """Put a file to the address for uploads; the status of the answer."""
        form = aiohttp.FormData()
        form.add_field("file", io.BytesIO(content), filename="case.json")
        address = f"{self.url}/_stcore/upload_file/{session or self.session}/{file}"
        async with self.http.put(address, data=form, headers={"X-Xsrftoken": self.xsrf}) as answer:
            return answer.status

    async def click(self, file: str) -> str:
        """Ask for a download; its address, or nothing."""
        request = {"request_id": file, "session_id": self.session, "deferred_file": {"file_id": file}}
        answer = await self.answer("backend_operation_response", backend_operation_request=request)
        return answer.backend_operation_response.deferred_file.url

    async def fetch(self, address: str) -> tuple[int, bytes]:
        async with self.http.get(f"{self.url}{address}") as answer:
            return answer.status, await answer.read()

    async def read(self) -> None:
        async for frame in self.socket:
            self.said += frame.data
            message = ForwardMsg.FromString(frame.data)
            kind = message.WhichOneof("type")
            if kind == "new_session":
                self.session = message.new_session.initialize.session_id
                if not message.metadata.run.fragment_ids:
                    self.elements, self.page = {}, message.new_session.page_script_hash
            elif kind == "delta":
                self.media |= set(re.findall(r"/media/[0-9a-f]+[.a-z0-9]*", str(message.delta)))
                element = message.delta.new_element
                name = element.WhichOneof("type") or "block"
                self.elements.setdefault(name, []).append(getattr(element, name, None))
            elif kind == "script_finished":
                self.runs += message.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY
            else:
                self.answers.append(message)


@asynccontextmanager
async def tab(url: str, claims: dict[str, Any] | None = None) -> AsyncIterator[Tab]:
    """A tab of somebody, of whom a provider said this; None is nobody."""
    xsrf = generate_xsrf_token_string()
    cookies = {XSRF_COOKIE_NAME: xsrf}
    if claims:
        said = json.dumps({**claims, "origin": url})
        cookies[USER_COOKIE_NAME] = create_signed_value(SECRET, USER_COOKIE_NAME, said).decode()
    headers = {"Cookie": "; ".join(f"{name}={value}" for name, value in cookies.items())}
    async with (
        aiohttp.ClientSession(headers=headers) as http,
        http.ws_connect(f"{url}/_stcore/stream", max_msg_size=0, origin=url, protocols=("streamlit", xsrf)) as socket,
    ):
        opened = Tab(url, http, socket, xsrf)
        reading = asyncio.create_task(opened.read())
        try:
            yield opened
        finally:
            reading.cancel()
