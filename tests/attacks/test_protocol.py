"""Whatever arrives over Streamlit's protocol, also from somebody who has not signed in: the server and all other sessions go on.

A browser's tab is played without a browser: it speaks the protocol over a web socket, and sends whatever it is told to.
"""

import asyncio
import io
import json
import re
import time
import tomllib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import cycle, product
from pathlib import Path
from typing import Any
from unittest.mock import Mock
from urllib.parse import urlencode

import aiohttp
import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.web.server.starlette.starlette_app_utils import create_signed_value, generate_xsrf_token_string
from streamlit.web.server.starlette.starlette_server_config import USER_COOKIE_NAME, XSRF_COOKIE_NAME
from yarl import URL

from courtroom import Courthouse, ModelSpec
from courtroom.access import Access, Resource, acts
from courtroom.sharing import Links, share
from pages.parts.shared import protocol
from tests.app_server import AppServer, forked_app
from tests.driving import drive, house, prepared
from tests.openai_server import OpenAIServer
from tests.signing_in import AUTH, claims, person

__all__ = ["house"]  # a fixture
KINDS = [one.name for one in BackMsg.DESCRIPTOR.oneofs_by_name["type"].fields]
"""Each kind of message of the protocol."""
REFUSED = {"clear_cache", "set_run_on_save", "load_git_info", "debug_disconnect_websocket", "debug_shutdown_runtime"}
OPERATION = "backend_operation_request"
OPERATIONS = [one.name for one in BackMsg.DESCRIPTOR.fields_by_name[OPERATION].message_type.oneofs[0].fields]
LONG_S = 3600.0
SECRET = tomllib.loads(AUTH)["auth"]["cookie_secret"]


@dataclass
class Tab:
    """One tab; `tab` opens it."""

    url: str
    http: aiohttp.ClientSession
    socket: aiohttp.ClientWebSocketResponse
    xsrf: str
    session: str = ""
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
        async with asyncio.timeout(60):
            while not done():
                await asyncio.sleep(0.01)

    async def answer(self, kind: str, **message: Any) -> ForwardMsg:
        """What the server answers to a message."""
        before = len(self.answers)
        await self.send(**message)
        await self.until(lambda: kind in [one.WhichOneof("type") for one in self.answers[before:]])
        return next(one for one in self.answers[before:] if one.WhichOneof("type") == kind)

    async def heard(self) -> None:
        """All that was sent before has been looked at."""
        await self.answer("heartbeat_ack", app_heartbeat=True)

    async def upload(self, content: bytes, file: str = "a-file") -> int:
        """Put a file to the address for uploads; the status of the answer."""
        form = aiohttp.FormData()
        form.add_field("file", io.BytesIO(content), filename="case.json")
        address = f"{self.url}/_stcore/upload_file/{self.session}/{file}"
        async with self.http.put(address, data=form, headers={"X-Xsrftoken": self.xsrf}) as answer:
            return answer.status

    async def click(self, file: str) -> str:
        """Ask for a download; its address, or nothing."""
        request = {"request_id": file, "session_id": self.session, "deferred_file": {"file_id": file}}
        answer = await self.answer("backend_operation_response", backend_operation_request=request)
        return answer.backend_operation_response.deferred_file.url

    async def fetch(self, address: str) -> Any:
        """A file, or the status with which it is refused."""
        async with self.http.get(f"{self.url}{address}") as answer:
            return await answer.read() if answer.status == 200 else answer.status

    async def read(self) -> None:
        async for frame in self.socket:
            self.said += frame.data
            message = ForwardMsg.FromString(frame.data)
            kind = message.WhichOneof("type")
            if kind == "new_session":
                self.session = message.new_session.initialize.session_id
                if not message.metadata.run.fragment_ids:
                    self.elements = {}
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


def test_each_message_of_streamlit_is_needed_or_refused() -> None:
    assert set(KINDS) == protocol.ANSWERED | REFUSED
    assert set(OPERATIONS) == {"deferred_file", "install_skills", "dismiss_skills_nudge", "dataframe_chunk"}


@pytest.fixture(scope="module")
def site(house: Courthouse) -> Iterator[AppServer]:
    """The app, in which people sign in, with a run that goes on."""
    run = prepared(house, "cyberjurors", model=ModelSpec(id="openai/any", vision="no"), jury_size=1, rounds=1)
    house.store.set_status(run, "running")  # as if its process had died: the app goes on with it
    file = house.settings.home / "secrets.toml"
    file.write_text(AUTH)
    with pytest.MonkeyPatch.context() as patch, OpenAIServer(delay=LONG_S, known_to=patch):
        people = {"COURTROOM_OWNERS": "ada@example.org", "COURTROOM_UPLOAD_SESSION_MB": "3"}
        options = ("--secrets.files", str(file), "--server.disconnectedSessionTTL", "1")
        with forked_app(house.settings.home, people, options) as app:
            yield app


def held(pid: int) -> dict[str, int]:
    """Threads, descriptors and megabytes of a process."""
    status = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    return {
        "threads": int(status["Threads"]),
        "descriptors": len(list(Path(f"/proc/{pid}/fd").iterdir())),
        "megabytes": int(status["VmRSS"].split()[0]) // 1024,
    }


def messages(session: str) -> list[dict[str, Any]]:
    """One of each kind; an operation of each kind."""
    about = {"request_id": "1", "session_id": session}
    return [
        *({kind: True} for kind in KINDS if kind not in ("rerun_script", "file_urls_request", OPERATION)),
        {"rerun_script": {"query_string": "run=nothing"}},
        {"file_urls_request": {**about, "file_names": ["a"]}},
        *({OPERATION: {**about, name: {}}} for name in OPERATIONS),
    ]


async def flood(url: str, times: int, uploads: int) -> set[int]:
    """What somebody sends who has not signed in; the answers to the uploads."""
    async with tab(url) as one:
        await one.open("setup")
        for message in messages(one.session):
            for number in range(times):
                await one.send(**message)
                if number % 100 == 99:
                    await one.heard()
        answers = {await one.upload(b"0" * 2**21, file=str(number)) for number in range(uploads)}
        await one.heard()
        assert "exception" not in one.elements
        return answers


async def test_a_flood_without_sign_in_disturbs_no_session(site: AppServer, house: Courthouse) -> None:
    async with tab(site.url) as nobody:
        await nobody.send(file_urls_request={"request_id": "1", "file_names": ["a"], "session_id": "none"})
        await nobody.heard()
        assert [one.WhichOneof("type") for one in nobody.answers] == ["heartbeat_ack"], "a new server looks at it too"
    async with tab(site.url, claims("ada")) as other:
        await other.open("setup")
        drawn = sorted(other.elements)
        await flood(site.url, 3, 2)
        before = held(site.pid)
        assert await flood(site.url, 300, 20) == {400}
        await other.open("setup")
        assert sorted(other.elements) == drawn
        async with asyncio.timeout(60):
            while (after := held(site.pid))["threads"] > before["threads"] * 1.1:
                await asyncio.sleep(0.1)
    assert [name for name in before if after[name] > before[name] * 1.1] == [], (before, after)
    (run,) = [*house.store.each()]
    assert run.status == "running"


async def test_waiting_messages_take_bounded_room() -> None:
    answered: list[BackMsg] = []
    answer = partial(protocol._handle_message, handle=lambda session, message: answered.append(message))
    session, began = Mock(id="a session"), time.monotonic()
    for size in (*[1] * protocol.AT_ONCE, *[2**22] * 50):
        widget = {"id": "a", "json_value": "x" * size}
        answer(session, message=BackMsg(rerun_script={"widget_states": {"widgets": [widget]}}))
    waiting = protocol._paces[session].waiting
    assert len(answered) <= protocol.AT_ONCE + protocol.A_SECOND * (time.monotonic() - began)
    assert 0 < sum(one.ByteSize() for one in waiting) <= protocol.MOST_HELD
    waiting.clear()


async def test_pages_that_ask_for_files_take_bounded_ones(site: AppServer, house: Courthouse) -> None:
    async with tab(site.url) as nobody, tab(site.url, claims("bea")) as bea:
        await nobody.open("knowledge")
        await bea.open()
        assert await bea.upload(b"{}") == 400, "the page has no uploader"
        await bea.open("knowledge")
        assert await bea.upload(b"{}") == 204
        assert await nobody.upload(b"{}") == 400
        request = {"request_id": "1", "session_id": bea.session, "file_names": ["a"]}
        urls = await bea.answer("file_urls_response", file_urls_request=request)
        assert len(urls.file_urls_response.file_urls) == 1
        await nobody.send(file_urls_request=request)
        await nobody.heard()
        assert "file_urls_response" not in [one.WhichOneof("type") for one in nobody.answers]
        assert await bea.upload(b"0" * 2**21, file="large") == 204
        assert await bea.upload(b"0" * 2**21, file="too-much") == 413
        await bea.open("runs")
        assert await bea.upload(b"{}", file="later") == 400, "the page before had one"
        await bea.open("knowledge")
        lost(house, "bea")
        await refused(lambda: bea.upload(b"{}", file="none"), 400)


async def test_who_lost_access_gets_nothing_nor_does_another_session(site: AppServer, house: Courthouse) -> None:
    async with tab(site.url, claims("dan")) as dan, tab(site.url, claims("cem")) as cem:
        await cem.open()
        await dan.open("cases", case="down-jacket")
        file = next(one.deferred_file_id for one in dan.elements["download_button"])
        assert not await cem.click(file)
        address = await dan.click(file)
        assert b"down-jacket" in await dan.fetch(address)
        assert 404 not in [await dan.fetch(one) for one in dan.media]
        lost(house, "dan")
        await refused(lambda: dan.fetch(address), 404)
        assert {await dan.fetch(one) for one in dan.media} == {404}
        assert not await dan.click(file)


def spelled(address: str) -> list[str]:
    """Other ways to write the address of a file that a page shows."""
    name = address.rpartition("/")[2]
    return [
        *(f"//media/{name}", f"/x/../media/{name}", f"/%6dedia/{name}", f"/media%2F{name}", f"/MEDIA/{name}"),
        *(f"/media/{name};x", f"/~/+/media/{name}", f"/media/{name}%00", f"/media\\{name}", f"/media/{name}.html"),
        *("/media/../app.py", "/media/..%2f..%2fetc%2fpasswd"),
    ]


async def test_a_file_comes_with_headers_that_run_nothing(site: AppServer, house: Courthouse) -> None:
    async with tab(site.url, claims("eve")) as eve:
        await eve.open("cases", case="down-jacket")
        address, given = next(iter(eve.media)), 0
        whole = await eve.fetch(address)
        addresses = [URL(f"{site.url}{path}", encoded=True) for path in (address, *spelled(address))]
        extras = ({}, {"Range": "bytes=0-9"}, {"Range": "bytes=9-0"}, {"Accept-Encoding": "gzip"})
        for url, method, more in product(addresses, ("GET", "HEAD", "OPTIONS"), extras):
            async with eve.http.request(method, url, headers=more, allow_redirects=False) as answer:
                body = await answer.read()
            assert answer.headers["X-Content-Type-Options"] == "nosniff", (method, url, answer.status)
            if method == "GET" and body and body in whole:
                given += 1
                assert answer.headers["Content-Security-Policy"].endswith("sandbox"), url
                assert answer.headers["Cache-Control"] == "private, no-cache", url
            assert b"root:" not in body
            assert b"follow_the_theme" not in body
        assert given >= 3, "as it is, in part, and packed"

    # And a link that has ended gives nothing.
    opens, links = Resource(kind="case", id="sneakers-worn"), Links(house.database)  # nobody else shows it
    with acts(None):
        token = links.make(opens, LONG_S)
    async with tab(site.url) as visitor:
        await visitor.open(link=token)
        assert visitor.media
        assert 404 not in [await visitor.fetch(one) for one in visitor.media]
        with acts(None):
            links.end(*links.of(opens))
        assert {await visitor.fetch(one) for one in visitor.media} == {404}


def lost(house: Courthouse, name: str) -> None:
    """Somebody has no access any more."""
    with acts(None):
        house.accounts.give(next(one.id for one in house.accounts.all() if one.name.lower() == name), Access.NONE)


async def refused(ask: Callable[[], Awaitable[object]], status: int) -> None:
    """Ask until it is refused: another process sees an access that was taken a second later."""
    async with asyncio.timeout(10):
        while await ask() != status:
            await asyncio.sleep(0.05)


DEEP = '{"member": ' * 5_000 + "1" + "}" * 5_000
OTHERS = "another-person's-title"
"""Stands in a run that only its owner may see."""


def forged(run: str) -> list[dict[str, Any]]:
    """Values that no widget sends; some name this run."""
    return [
        {"double_value": float("nan")},
        {"int_value": 2**62},
        {"string_value": DEEP},
        {"json_value": DEEP},
        {"json_value": '{"id": {"a": [1e999]}}'},
        {"json_trigger_value": '[{"event": "changed", "value": NaN}]'},
        {"string_array_value": {"data": ["none", "such"]}},
        {"bytes_value": b"\xff" * 1_000},
        {"file_uploader_state_value": {"uploaded_file_info": [{"file_id": "none", "name": "../../x", "size": 1}]}},
        {"arrow_value": {"data": b"no table"}},
        {"string_value": run},
        {"string_array_value": {"data": [run, run]}},
        {"json_value": json.dumps({"id": run, "run": run})},
        {"json_value": '{"id": "' + "x" * 2_000_000 + '"}'},
        {"json_trigger_value": json.dumps([{"event": "clicked", "value": run}])},
        {"trigger_value": True},
    ]


def kept(house: Courthouse, *names: str) -> set[tuple[Any, ...]]:
    """What the store has of some runs and cases. A fork names its parent but is a run of its own."""
    tables = ("runs", "cases", "ownership", "links", "interventions", "seats", "audiences")
    read = house.database.connection.execute
    rows = [(table, row) for table in tables for row in read(f"SELECT * FROM {table}").fetchall()]
    plain = {(table, *row) for table, row in rows if table != "runs" or row["parent"] is None}
    return {row for row in plain if not {*names}.isdisjoint(row)}


async def test_values_that_no_widget_sends_change_show_and_break_nothing(site: AppServer, house: Courthouse) -> None:
    people = {name: person(house, name, access) for name, access in (("bea", Access.LOOK), ("cem", Access.RUN))}
    with acts(person(house, "ada", Access.OWN)):
        oak = house.library.case("oak-table")
        secret = house.library.restore(oak.model_copy(update={"id": "secret", "title": OTHERS}))
        names = hidden, shown, other = [
            drive(house, prepared(house, "cyberjurors", case, jury_size=3, rounds=1)) for case in (secret, oak, oak)
        ]
        for run in names:
            share(house.database, Resource(kind="run", id=run), "private" if run == hidden else "shared")
        token = Links(house.database).make(Resource(kind="run", id=shown), LONG_S)
    places = [("deliberation", {"run": shown}), ("compare", {"runs": f"{shown},{other}"}), ("setup", {"fork": shown})]
    visits = [(name, page, query) for name in people for page, query in places] + [("", "link", {"link": token})]
    values, before = forged(hidden), kept(house, *names, "secret")
    for who, page, query in visits:
        async with tab(site.url, claims(who) if who else None) as one:
            await one.open(page, **query)
            drawn = [element for elements in one.elements.values() for element in elements]
            widgets = sorted({element.id for element in drawn if getattr(element, "id", "")})
            assert widgets
            for start in range(4 * (who == "cem"), len(values), 8):  # what one of the two does not send, the other does
                sent = zip(widgets, cycle(values[start:] + values[:start]))
                await one.open(page, [{"id": widget, **value} for widget, value in sent], **query)
                wrong = [error.message for error in one.elements.get("exception", [])]
                assert not wrong, (who, page, start)
            assert OTHERS.encode() not in one.said
    assert kept(house, *names, "secret") == before
    forks = house.database.connection.execute(
        "SELECT o.account FROM runs r JOIN ownership o ON o.kind = 'run' AND o.id = r.id WHERE r.parent IS NOT NULL"
    )
    assert {account for (account,) in forks} <= {people["cem"].id}  # who may run may press the button that forks
