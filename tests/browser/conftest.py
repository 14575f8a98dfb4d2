"""The app in a process of its own, and a real Chromium before it."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

from tests import forks

ROOT = Path(__file__).parents[2]
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run", "--disable-sync"]

expect.set_options(timeout=120_000)  # a new server on a busy machine takes its time to draw the first page


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent) and CHROMIUM is None:
            item.add_marker(pytest.mark.skip(reason="no chromium here: install Debian's package `chromium`"))


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The app's address; its store is new."""
    home, port = tmp_path_factory.mktemp("home"), free_port()
    with forks.Fork(serve, port, home, environment={**os.environ, "COURTROOM_HOME": str(home)}) as process:
        yield answering(port, lambda: process.returncode)
        process.kill()
    assert "Traceback" not in (text := (home / "streamlit.log").read_text()), text


@pytest.fixture
def new_app(tmp_path: Path) -> Iterator[str]:
    """The app's address, started as people start it; its store is new."""
    port = free_port()
    command = [sys.executable, "-m", "streamlit", *words(port)]
    with (tmp_path / "streamlit.log").open("wb") as log:
        environment = {**os.environ, "COURTROOM_HOME": str(tmp_path)}
        with subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=log) as process:
            yield answering(port, process.poll)
            process.terminate()
    assert "Traceback" not in (text := (tmp_path / "streamlit.log").read_text()), text


def words(port: int) -> list[str]:
    return ["run", "app.py", "--server.headless", "true", "--server.port", str(port)]


def serve(port: int, home: Path) -> None:
    """What `streamlit run app.py` does, to be forked; it ends with its input, and so where the tests are killed."""
    from streamlit.web.cli import main

    def end() -> None:
        sys.stdin.read()
        os._exit(0)

    threading.Thread(target=end, daemon=True).start()
    with (home / "streamlit.log").open("wb") as log:
        for number in (1, 2):
            os.dup2(log.fileno(), number)
    os.chdir(ROOT)
    main(words(port))


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    return port


def answering(port: int, ended: Callable[[], int | None]) -> str:
    """The address of the server at this port, once it answers."""
    url = f"http://localhost:{port}"
    while True:
        try:
            urllib.request.urlopen(f"{url}/_stcore/health").close()
            return url
        except (urllib.error.URLError, ConnectionError):
            assert ended() is None, "the server has ended; its log says why"
            time.sleep(0.05)


@pytest.fixture(scope="package")  # not of the whole session: while Playwright runs, no other loop may
def browser() -> Iterator[Browser]:
    """One browser; each page that a test opens in it has a context of its own, and so nothing of any other."""
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield chromium
        chromium.close()
