"""What holds for every test: it stays on this machine."""

import socket

import pytest

from tests.conftest import LeftThisMachine


@pytest.mark.parametrize("host", ["192.0.2.1", "localhost.example"])
def test_no_socket_reaches_another_machine(host: str, nothing_leaves_this_machine: list[str]) -> None:
    with pytest.raises(LeftThisMachine):
        socket.create_connection((host, 80))
    assert nothing_leaves_this_machine == [host]
    nothing_leaves_this_machine.clear()
