"""A real PostgreSQL for the tests: in a folder of its own, on a Unix socket, a fresh database for each store."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from functools import cache
from glob import glob
from itertools import count
from pathlib import Path

from pydantic import SecretStr

from courtroom.store.opening import open_store

WHY_NOT = "there is no PostgreSQL here (Debian: apt-get install postgresql)"
TEMPLATE = "prepared"


@cache
def programs() -> Path | None:
    """The folder of PostgreSQL's programs."""
    found = shutil.which("postgres")
    known = sorted(glob("/usr/lib/postgresql/*/bin"), key=lambda path: int(path.split("/")[-2]))
    return Path(found).resolve().parent if found else Path(known[-1]) if known else None


@cache
def shared() -> PostgresServer | None:
    """One server for all tests of a process, and of those forked from it; none where there is no PostgreSQL."""
    return PostgresServer() if programs() else None


def end_shared() -> None:
    """End it, if this process has started it."""
    if shared.cache_info().currsize and (server := shared()) and server.started_by == os.getpid():
        server.close()
        shared.cache_clear()


class PostgresServer:
    """One server. It writes nothing to the disk on purpose: it has to be fast, and to live no longer than the tests.

    `sure`: whether a commit that it has confirmed is there also after it was stopped at once.
    """

    def __init__(self, sure: bool = False) -> None:
        self.started_by = os.getpid()
        # Short: a socket's path has 107 characters at most.
        self.folder = Path(tempfile.mkdtemp(prefix="pg-", dir="/tmp"))
        self._names = count(1)
        self._user = "postgres" if os.getuid() == 0 else None  # it does not run as root
        if self._user:
            shutil.chown(self.folder, self._user)
        self._do("initdb", "-D", "data", "-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync")
        settings = f"fsync=off synchronous_commit={'on' if sure else 'off'} full_page_writes=off max_connections=200"
        settings += f" listen_addresses= unix_socket_directories={self.folder}"
        self._options = " ".join(f"-c {one}" for one in settings.split())
        self.start()
        self.make(TEMPLATE)
        open_store(SecretStr(self.address(TEMPLATE))).close()

    def start(self) -> None:
        """Start it, also once more."""
        self._do("pg_ctl", "-D", "data", "-l", "log", "-w", "-o", self._options, "start")

    def stop(self, mode: str = "immediate") -> None:
        """Stop it; `fast` ends connections first, `immediate` is a crash."""
        self._do("pg_ctl", "-D", "data", "-m", mode, "-w", "stop")

    def address(self, name: str) -> str:
        """The address of a database."""
        return f"postgresql://postgres@/{name}?host={self.folder}"

    def make(self, name: str, template: str = "template0") -> str:
        """Make a database; its address."""
        self.say(f'CREATE DATABASE "{name}" TEMPLATE {template}')
        return self.address(name)

    def fresh(self, template: str = TEMPLATE) -> str:
        """The address of a new store, by default an empty one."""
        return self.make(f"store{os.getpid()}_{next(self._names)}", template)

    def another(self, address: str) -> str:
        """The address of a new store that holds what another one does, which nobody has open."""
        return self.fresh(address.partition("@/")[2].partition("?")[0])

    def say(self, sql: str, name: str = "postgres", user: str = "postgres") -> str:
        """Have psql run something; what it prints."""
        return self._do("psql", "-qAt", "-h", str(self.folder), "-U", user, "-d", name, "-c", sql)

    def close(self) -> None:
        """End the server, and forget what it held."""
        self.stop()
        shutil.rmtree(self.folder)

    def _do(self, program: str, *given: str) -> str:
        done = subprocess.run(
            [str(programs() / program), *given],
            cwd=self.folder,
            user=self._user,
            check=False,
            text=True,
            stdout=subprocess.PIPE if program == "psql" else subprocess.DEVNULL,
            stderr=subprocess.PIPE if program != "pg_ctl" else None,  # the server would hold the pipe open
        )
        assert done.returncode == 0, f"{program}: {done.stderr}"
        return done.stdout or ""
