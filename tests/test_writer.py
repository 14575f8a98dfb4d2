"""Many writes at once: those that wait share a transaction, and each future is done after the commit, also where its reply is lost."""

import asyncio
import socket
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, get_args

import pytest

from courtroom.engine.budget import in_sum
from courtroom.store.database import Database
from courtroom.store.opening import open_store
from courtroom.store.writer import Writer
from tests.postgres_server import PostgresServer
from tests.toy import Bench, Scripted


@pytest.fixture
def database(tmp_path: Path) -> Database:
    return open_store(tmp_path / "courtroom.sqlite")


@pytest.fixture
def writer(database: Database) -> Iterator[Writer]:
    writer = Writer(database)
    yield writer
    writer.close()


def names(path: Path) -> list[str]:
    """What another connection sees: what is committed."""
    with closing(sqlite3.connect(path)) as db:
        return [row[0] for row in db.execute("SELECT name FROM setups ORDER BY rowid")]


def save(database: Database, name: str, then: Callable[[], object] = lambda: None) -> Callable[[], str]:
    """A write, and what it does after its statement."""

    def write() -> str:
        database.connection.execute("INSERT INTO setups VALUES (?, '{}', 0)", (name,))
        then()
        return name

    return write


def held_up(writer: Writer) -> threading.Event:
    """Have the writer busy until this is set, so that what is put in meanwhile waits together."""
    begun, goes_on = threading.Event(), threading.Event()

    def write() -> None:
        begun.set()
        goes_on.wait()

    writer.put(write)
    begun.wait()
    return goes_on


def test_a_write_that_fails_is_undone_alone(database: Database, writer: Writer) -> None:
    def wrong() -> None:
        raise ValueError("no")

    goes_on = held_up(writer)
    before, bad, after = (writer.put(save(database, *write)) for write in (("before",), ("bad", wrong), ("after",)))
    goes_on.set()
    assert (before.result(), after.result()) == ("before", "after")
    with pytest.raises(ValueError, match="no"):
        bad.result()
    assert names(database.at) == ["before", "after"]


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
    """Passes all on, but loses so many commits of payments: the request, or the reply once the server has committed."""

    server: Path
    """The folder of its Unix socket."""
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


@pytest.fixture
def proxied(
    request: pytest.FixtureRequest, postgres: PostgresServer, on_postgres: str, monkeypatch: pytest.MonkeyPatch
) -> Iterator[LosingProxy]:
    """A store behind a proxy that loses what the test's parameter says; every store that the test opens is this one."""
    proxy = LosingProxy(postgres.folder, request.param)
    monkeypatch.setenv("COURTROOM_DATABASE", proxy.address_of(on_postgres))
    monkeypatch.setattr("courtroom.store.writer.PROBE_S", 0.01)
    yield proxy
    proxy.close()


@pytest.mark.parametrize("proxied", get_args(Lost), indirect=True)
def test_a_run_whose_commits_are_lost_pays_nothing_twice(tmp_path: Path, proxied: LosingProxy) -> None:
    bench = Bench(tmp_path / "home", Scripted(hold=asyncio.Event()))
    run = bench.start()
    bench.runner.go(run)
    assert bench.model.asked.wait(60)
    proxied.left = 3
    bench.runner.call(bench.model.hold.set)
    bench.runner.wait(run, 60)
    assert proxied.happened > 0
    proxied.left = 0
    other = bench.start(seed=1)
    bench.runner.go(other)
    bench.runner.wait(other, 60)
    paid, undisturbed = (in_sum(bench.store.payments.of(one).values()) for one in (run, other))
    record = bench.runner.record(run)
    assert record.run.status == "done"
    assert (paid.calls, paid.tokens, paid.cost) == (undisturbed.calls, undisturbed.tokens, undisturbed.cost)
    assert paid.calls == len(bench.model.history) / 2 == len(record.calls)
    bench.close()
