"""The guard that keeps tests on this machine."""

from __future__ import annotations

import asyncio
import socket

import pytest

from tests.conftest import LeftThisMachine

ELSEWHERE = ["192.0.2.1", "api.openai.com", "localhost.example"]


@pytest.mark.parametrize("host", ELSEWHERE)
def test_no_socket_reaches_another_machine(host: str, nothing_leaves_this_machine: list[str]) -> None:
    with pytest.raises(LeftThisMachine):
        socket.create_connection((host, 80))
    assert nothing_leaves_this_machine == [host]
    nothing_leaves_this_machine.clear()


@pytest.mark.parametrize("host", ELSEWHERE)
async def test_neither_does_asyncio(host: str, nothing_leaves_this_machine: list[str]) -> None:
    with pytest.raises(LeftThisMachine):
        await asyncio.get_running_loop().getaddrinfo(host, 80)
    nothing_leaves_this_machine.clear()


def test_loopback_can_be_reached() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as client:
        assert client.getpeername() == server.getsockname()
