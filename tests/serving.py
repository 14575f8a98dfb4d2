"""The app in a process of its own."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def serving(
    command: Sequence[str], folder: Path, home: Path | None = None, port_option: str = "--server.port"
) -> Iterator[str]:
    """Start a command that opens the app on a free port; its address, once it answers. It is stopped at the end.

    Raises:
        AssertionError: it ended by itself, or its log holds a traceback.
    """
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    home = home or folder / ".courtroom"
    home.mkdir(parents=True, exist_ok=True)
    log = home / "streamlit.log"
    options = ["--server.headless", "true", port_option, str(port)]
    with (
        log.open("wb") as out,
        subprocess.Popen(
            [*command, *options], cwd=folder, env={**os.environ, "COURTROOM_HOME": str(home)}, stdout=out, stderr=out
        ) as process,
    ):
        url = f"http://localhost:{port}"
        try:
            _wait(url, process, log)
            yield url
        finally:
            process.terminate()
    assert "Traceback" not in log.read_text(), log.read_text()


def _wait(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        assert process.poll() is None, log.read_text()
        try:
            urllib.request.urlopen(f"{url}/_stcore/health").close()
            return
        except (urllib.error.URLError, ConnectionError):
            time.sleep(0.1)
    raise AssertionError(f"the app did not answer within a minute\n{log.read_text()}")


STREAMLIT = (sys.executable, "-m", "streamlit", "run", "app.py")
