"""The app in a process of its own, for tests before a real browser."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run", "--disable-sync"]
STREAMLIT = (sys.executable, "-m", "streamlit", "run", "app.py")
NO_BROWSER = "no chromium here: install Debian's package `chromium`"


@dataclass(frozen=True)
class AppServer:
    """Where the app answers, and which process it is."""

    url: str
    pid: int


@contextmanager
def app_server(
    home: Path,
    folder: Path = ROOT,
    environment: Mapping[str, str] | None = None,
    command: Sequence[str] = STREAMLIT,
    port_option: str = "--server.port",
) -> Iterator[AppServer]:
    """The app over a store, on a free port; ends with a look into what it wrote.

    Args:
        home: the store, new or with something in it.
        folder: where the command is started.
        command: what opens the app.
        port_option: how the command is told the port.

    Raises:
        AssertionError: the app ended by itself, or its log holds a traceback.
    """
    home.mkdir(parents=True, exist_ok=True)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    given = ("--server.headless", "true", port_option, str(port))
    written = home / "streamlit.log"
    with (
        written.open("wb") as log,
        subprocess.Popen(
            [*command, *given],
            cwd=folder,
            env={**os.environ, **(environment or {}), "COURTROOM_HOME": str(home)},
            stdout=log,
            stderr=log,
        ) as process,
    ):
        url = f"http://localhost:{port}"
        try:
            _wait(url, process, written)
            yield AppServer(url, process.pid)
        finally:
            process.terminate()
    text = written.read_text()
    assert "Traceback" not in text, text


def _wait(url: str, process: subprocess.Popen[bytes], written: Path) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        assert process.poll() is None, written.read_text()
        try:
            urllib.request.urlopen(f"{url}/_stcore/health").close()
            return
        except (urllib.error.URLError, ConnectionError):
            time.sleep(0.1)
    raise AssertionError(f"the app did not answer within a minute\n{written.read_text()}")
