"""The door for programs: real clients hear a case by the protocol and over HTTP, and nobody without access gets in."""

import asyncio
import json
import os
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import httpx
import httpx2
import pytest
import uvicorn
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from chuk_mcp.client import MCPClient
from chuk_mcp.transports.http import StreamableHTTPParameters, StreamableHTTPTransport
from chuk_mcp.transports.stdio import StdioParameters, StdioTransport
from mcp import ClientSession, StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from courtroom import Courthouse
from courtroom.access import Access, Account, acts
from courtroom.shell.programs import app_of
from tests.app_server import free_port
from tests.driving import prepared, shell, until
from tests.signing_in import closed_house, person

CASE, SETTINGS = "trial-boatyard-fire", {"jury_size": 3, "rounds": 1}
KEY = "the-token-of-this-machine"
STARTED = ["-m", "courtroom", "mcp"]
"""How a program starts the door over standard input, after the name of Python."""


def alone(token: str) -> tuple[Account | None] | None:
    return (None,) if token == KEY else None


@contextmanager
def door(house: Courthouse, account_of: Callable[[str], tuple[Account | None] | None] = alone) -> Iterator[str]:
    """The door over HTTP, really served; its address."""
    port = free_port()
    server = uvicorn.Server(uvicorn.Config(app_of(house, account_of), port=port, log_level="warning"))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join(30)


def call(address: str, name: str, token: str = KEY, **given: Any) -> httpx.Response:
    return httpx.post(f"{address}/api/{name}", json=given, headers={"Authorization": f"Bearer {token}"}, timeout=30)


async def ended(read: Callable[[str], Any], run: str) -> Any:
    """The verdict, as soon as there is one."""
    async with asyncio.timeout(60):
        while True:
            found = await read(run)
            if found["outcome"] is not None:
                return found
            await asyncio.sleep(0.1)


Tools = tuple[set[str], Callable[..., Any]]
"""The names of a server's tools, and what calls one of them: it gives whether it was refused, and the text."""


@asynccontextmanager
async def by_the_sdk(address: str, environment: dict[str, str]) -> AsyncIterator[Tools]:
    """The client of the protocol's own SDK, over HTTP, or over standard input where there is no address."""
    web = httpx2.AsyncClient(headers={"Authorization": f"Bearer {KEY}"})
    if address:
        streams = streamable_http_client(f"{address}/mcp", http_client=web)
    else:
        streams = stdio_client(StdioServerParameters(command=sys.executable, args=STARTED, env=environment))
    async with web, streams as ends, ClientSession(*ends) as client:
        await client.initialize()

        async def call_tool(name: str, given: dict[str, Any]) -> tuple[bool, str]:
            result = await client.call_tool(name, given)
            return bool(result.is_error), result.content[0].text  # type: ignore[union-attr]

        yield {tool.name for tool in (await client.list_tools()).tools}, call_tool


@asynccontextmanager
async def by_another_maker(address: str, environment: dict[str, str]) -> AsyncIterator[Tools]:
    """A client that has the protocol written anew, without the SDK."""
    transport: Any
    if address:
        transport = StreamableHTTPTransport(StreamableHTTPParameters(url=f"{address}/mcp", bearer_token=KEY))
    else:
        transport = StdioTransport(StdioParameters(command=sys.executable, args=STARTED, env=environment))
    async with transport:
        client = MCPClient(transport)
        await client.initialize()

        async def call_tool(name: str, given: dict[str, Any]) -> tuple[bool, str]:
            result = await client.call_tool(name, given)
            return bool(result.isError), str(result.content[0]["text"])

        opened = {**vars(transport), **vars(getattr(transport, "_client", transport))}
        yield {tool.name for tool in await client.list_tools()}, call_tool
    for kept in opened.values():  # it leaves its own ends open
        if isinstance(kept, MemoryObjectReceiveStream | MemoryObjectSendStream):
            kept.close()


@pytest.mark.slow
@pytest.mark.parametrize("over", ["standard input", "HTTP"])
@pytest.mark.parametrize("client", [by_the_sdk, by_another_maker])
async def test_clients_of_two_makers_hear_a_case(client: Callable[..., Any], over: str, house: Courthouse) -> None:
    async def heard(address: str) -> None:
        async with client(address, dict(os.environ)) as (tools, call_tool):
            assert tools == {"cases", "procedures", "hear", "ask", "state", "verdict"}

            async def answer(name: str, **given: Any) -> Any:
                refused, text = await call_tool(name, given)
                assert not refused, text
                return json.loads(text)

            begun = await answer("hear", case=CASE, procedure="mock-jury", settings=SETTINGS)
            assert begun["link"].endswith(f"/deliberation?run={begun['run']}")
            verdict = await ended(lambda run: answer("verdict", run=run), begun["run"])
            state = await answer("state", run=begun["run"])
            assert sum(verdict["counts"].values()) == 3
            assert state["status"] == "done"
            assert [*state["votes"].values()][-1] == verdict["counts"]
            refused, why = await call_tool("hear", {"case": "no-such-case"})
            assert refused
            assert "no-such-case" in why

    if over == "HTTP":
        with door(house) as address:
            await heard(address)
    else:
        await heard("")


async def test_plain_json_over_http_hears_a_question(house: Courthouse) -> None:
    with door(house) as address:
        headers = {"Authorization": f"Bearer {KEY}", "Host": "lab.example"}
        assert httpx.post(f"{address}/mcp", json={}, headers=headers).status_code != 421, "refused by its name"
        assert {case["kind"] for case in call(address, "cases").json()} >= {"dispute", "trial"}
        asked = {"question": "Should the old bridge be closed to cars?", "options": ["yes", "no", "a pilot"]}
        begun = call(address, "ask", **asked).json()

        async def read(run: str) -> Any:
            return (await asyncio.to_thread(call, address, "verdict", run=run)).json()

        verdict = await ended(read, begun["run"])
        assert verdict["titles"][verdict["outcome"]] in asked["options"]
        assert verdict["answered_by"] == ["The offline model is not a language model."]
        refused = call(address, "hear", case=CASE, settings={"no_such_knob": 1})
        assert (refused.status_code, "no_such_knob" in refused.json()["error"]) == (400, True)
        assert call(address, "hear", cases=CASE).status_code == 400


def test_a_hearing_whose_door_was_killed_goes_on(house: Courthouse, monkeypatch: pytest.MonkeyPatch) -> None:
    run = prepared(house, "mock-jury", CASE, **SETTINGS)
    house.store.set_status(run, "running")
    monkeypatch.setattr(uvicorn, "run", lambda app, **given: until(lambda: house.store.run(run).verdict, "its end"))
    shell("mcp", "--port", "1")


def test_without_the_token_nothing_is_seen_or_started(house: Courthouse) -> None:
    tokens = ("", KEY.upper(), f"{KEY}-", "é")
    said = (f"Basic {KEY}", *(f"Bearer {token}".strip().encode() for token in tokens))
    wrong = [{"Authorization": one} for one in said]
    with door(house) as address:
        for path in ("/mcp", "/api/cases", "/api/hear", "/anything"):
            for headers in ({}, *wrong):
                answered = httpx.post(f"{address}{path}", json={"case": CASE}, headers=headers)
                assert answered.status_code == 401
        assert [*house.store.each()] == []


def test_a_program_may_do_what_its_account_may_and_no_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with closed_house(tmp_path, monkeypatch) as house:
        ann, bob = person(house, "ann", Access.RUN), person(house, "bob", Access.LOOK)
        mine, looks = house.accounts.token(ann.id), house.accounts.token(bob.id)
        with door(house, house.accounts.of_token) as address:
            heard = {"case": CASE, "procedure": "mock-jury", "settings": SETTINGS}
            run = call(address, "hear", mine, **heard).json()["run"]
            assert call(address, "hear", looks, **heard).status_code == 400
            with acts(None):
                assert [one.id for one in house.store.each()] == [run]
            assert call(address, "state", mine, run=run).json()["run"] == run
            for name in ("state", "verdict"):  # a private run of another
                assert "There is no run" in call(address, name, looks, run=run).json()["error"]
            house.accounts.give(bob.id, Access.NONE)
            assert call(address, "cases", looks).status_code == 401
            assert house.accounts.end_tokens(ann.id) == 1
            assert call(address, "state", mine, run=run).status_code == 401
        with acts(ann), pytest.raises(Exception, match="access does not allow"):
            house.accounts.token(bob.id)
