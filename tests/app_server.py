"""The app in a process of its own, for tests before a real browser."""

import os
import re
import shutil
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from tests import forks

ROOT = Path(__file__).parents[1]
BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
"""Programs that will do; the first draws the same pages with a sixth less work, as it has no windows."""
CHROMIUM = next(filter(None, map(shutil.which, BROWSERS)), None)
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run", "--disable-sync"]
HEALTH = "/_stcore/health"
STREAMLIT = (sys.executable, "-m", "streamlit", "run", "app.py")
RACE = re.compile(
    r"Exception in thread ScriptRunner\.scriptThread:\nTraceback(?:(?!Traceback).)*?_reset_triggers"
    r"(?:(?!Traceback).)*?RuntimeError: dictionary changed size during iteration\n",
    re.DOTALL,
)
"""What Streamlit logs, rarely, where it ends a drawing while the next has begun: each has a lock of its own. The next is whole."""
NO_BROWSER = "no chromium here: install Debian's package `chromium-headless-shell`"


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
    path: str = "",
) -> Iterator[AppServer]:
    """The app over a store, on a free port; fails where it ends by itself, or its log holds a traceback.

    Args:
        folder: where the command is started.
        path: under which the app answers, such as `/court`.
    """
    port, under = free_port(), ("--server.baseUrlPath", path) if path else ()
    given = [*command, "--server.headless", "true", port_option, str(port), *under]
    around = {**os.environ, **(environment or {}), "COURTROOM_HOME": str(home)}
    with (
        _log_of(home, port) as written,
        written.open("wb") as log,
        subprocess.Popen(given, cwd=folder, env=around, stdout=log, stderr=log) as process,
    ):
        try:
            yield AppServer(answers(f"http://localhost:{port}{path}", HEALTH, process.poll, written), process.pid)
        finally:
            process.terminate()


@contextmanager
def forked_app(
    home: Path,
    environment: Mapping[str, str] | None = None,
    options: Sequence[str] = (),
    port: int | None = None,
    path: str = "",
) -> Iterator[AppServer]:
    """The same, forked from a process that has its imports behind it, which saves some seconds; `options` are of `streamlit run`."""
    port, under = port or free_port(), ("--server.baseUrlPath", path) if path else ()
    around = {**os.environ, **(environment or {}), "COURTROOM_HOME": str(home)}
    with (
        _log_of(home, port) as written,
        forks.Fork(_serve, port, written, (*options, *under), environment=around) as process,
    ):
        url = answers(f"http://localhost:{port}{path}", HEALTH, lambda: process.returncode, written)
        yield AppServer(url, process.pid)


@contextmanager
def _log_of(home: Path, port: int) -> Iterator[Path]:
    """Where an app writes at this port, which then is free again; looks for a traceback at its end."""
    home.mkdir(parents=True, exist_ok=True)
    yield (written := home / "streamlit.log")
    _let_go_of.append(port)
    assert "Traceback" not in (text := RACE.sub("", written.read_text())), text


def _serve(port: int, written: Path, options: Sequence[str]) -> None:
    """What `streamlit run app.py` does, to be forked; it ends with its input, and so where the tests are killed."""
    from streamlit.web.cli import main

    def end() -> None:
        sys.stdin.read()
        os._exit(0)

    threading.Thread(target=end, daemon=True).start()
    with written.open("wb") as log:
        for number in (1, 2):
            os.dup2(log.fileno(), number)
    os.chdir(ROOT)
    main(["run", "app.py", "--server.headless", "true", "--server.port", str(port), *options])


_let_go_of: list[int] = []


def free_port() -> int:
    """A free port; that of a server before, where there is one, as a browser keeps an address's programs."""
    while _let_go_of:
        with socket.socket() as free, suppress(OSError):
            free.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            free.bind(("127.0.0.1", port := _let_go_of.pop()))
            return port
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def answers(url: str, page: str, ended: Callable[[], int | None], written: Path) -> str:
    """The address, once a process that writes into this file answers on one of its pages, and not with an error."""
    while True:
        try:
            urllib.request.urlopen(url + page).close()
            return url
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{url} answers with {error.code}") from error
        except (urllib.error.URLError, ConnectionError):
            assert ended() is None, written.read_text()
            time.sleep(0.05)
