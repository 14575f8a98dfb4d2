"""A proxy before a PostgreSQL server that loses a connection exactly at a commit, before or after the server has done it."""

import socket
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

COMMIT = b"COMMIT\x00"
Lost = Literal["request", "reply"]


@dataclass
class Link:
    """One connection through the proxy."""

    client: socket.socket
    server: socket.socket
    paid: bool = False
    """Whether the transaction that goes on has written payments."""
    loses_reply: bool = False

    def cut(self) -> None:
        """End it for both."""
        for end in (self.client, self.server):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()


@dataclass
class LosingProxy:
    """Passes all on, but loses so many commits of payments: the request, or the reply once the server has committed.

    Args:
        server: the folder of the server's Unix socket.
    """

    server: Path
    lost: Lost
    left: int = 0
    """How many commits are still to be lost."""
    happened: int = 0
    _links: list[Link] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._door = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._door.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def address_of(self, direct: str) -> str:
        """The address through this proxy of a database of the server."""
        name = direct.partition("@/")[2].partition("?")[0]
        return f"postgresql://postgres@127.0.0.1:{self.port}/{name}?sslmode=disable"

    def close(self) -> None:
        """Let nobody in any more, and end all connections."""
        with suppress(OSError):
            self._door.shutdown(socket.SHUT_RDWR)
        self._door.close()
        for link in self._links:
            link.cut()

    def _accept(self) -> None:
        with suppress(OSError):  # closed
            while True:
                client, _ = self._door.accept()
                server = socket.socket(socket.AF_UNIX)
                server.connect(str(self.server / ".s.PGSQL.5432"))
                self._links.append(link := Link(client, server))
                for way in (self._to_server, self._to_client):
                    threading.Thread(target=way, args=(link,), daemon=True).start()

    def _to_server(self, link: Link) -> None:
        with suppress(OSError):  # cut
            while data := link.client.recv(1 << 16):
                link.paid = link.paid or b"INTO payments" in data
                if COMMIT in data:
                    paid, link.paid = link.paid, False
                    if paid and self.left:
                        self.left -= 1
                        self.happened += 1
                        if self.lost == "request":
                            break
                        link.loses_reply = True
                link.server.sendall(data)
        link.cut()

    def _to_client(self, link: Link) -> None:
        with suppress(OSError):  # cut
            # A client that waits for its commit is sent nothing else: what comes next is the reply.
            while (data := link.server.recv(1 << 16)) and not link.loses_reply:
                link.client.sendall(data)
        link.cut()
