"""The app's side of the process in which Chroma works."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
import threading
import weakref
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from courtroom.knowledge import chroma_process
from courtroom.knowledge.chroma_process import SIZE

PATIENCE_S = 2.0
"""For a process that ends by itself."""


class Broken(Exception):
    """Chroma failed; what it holds can be made anew."""


class ChromaApart:
    """Asks a process that starts when it is first needed. May be used from any thread, one request after the other.

    The process ends with this object, when it is asked nothing for a while, or when this process ends.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def running(self) -> bool:
        """Whether the process is there, with what it has open."""
        return self._process is not None and self._process.poll() is None

    def start(self) -> None:
        """Have the process start, where it is not there; it is ready a little later."""
        with self._lock:
            if not self.running:
                self._start()

    def ask(self, what: str, *arguments: Any) -> Any:
        """Have a method of the process's server called.

        Raises:
            Broken: Chroma failed, or the process ended.
        """
        with self._lock:
            try:
                if not self.running:
                    self._start()
                self._send((what, arguments))
                reply = self._receive()
            except (OSError, EOFError, ValueError) as error:
                code = self._end()
                raise Broken(f"Chroma's process ended with the code {code}") from error
        if "error" in reply:
            raise Broken(str(reply["error"]))
        return reply.get("value")

    def close(self) -> None:
        """End the process; what it has written is on disk only after it was asked to `finish`."""
        with self._lock:
            if self._process is not None and self._process.stdin is not None:
                with suppress(OSError, subprocess.TimeoutExpired):  # by itself, as it takes its temporary files along
                    self._process.stdin.close()
                    self._process.wait(PATIENCE_S)
            self._end()

    def _start(self) -> None:
        self._end()
        engine = find_spec("chromadb_rust_bindings")
        found = str(Path(engine.origin).parents[1]) if engine and engine.origin else ""
        # Nothing of this process's environment but what it needs to run: the rest may hold keys.
        kept = ("SYSTEMROOT", "PATH", "LD_LIBRARY_PATH", "HOME", "TMPDIR", "TEMP")
        given = {name: os.environ[name] for name in kept if name in os.environ}
        self._process = subprocess.Popen(
            [sys.executable, "-B", "-P", "-S", chroma_process.__file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=given | {"PYTHONPATH": found},
        )
        weakref.finalize(self, _kill, self._process)

    def _send(self, content: object) -> None:
        assert self._process is not None
        assert self._process.stdin is not None
        body = pickle.dumps(content, protocol=5)
        self._process.stdin.write(SIZE.pack(len(body)) + body)
        self._process.stdin.flush()

    def _receive(self) -> dict[str, Any]:
        assert self._process is not None
        assert self._process.stdout is not None
        head = self._process.stdout.read(SIZE.size)
        if len(head) != SIZE.size:
            raise EOFError
        reply = json.loads(self._process.stdout.read(SIZE.unpack(head)[0]))
        if not isinstance(reply, dict):
            raise EOFError
        return reply

    def _end(self) -> int:
        process, self._process = self._process, None
        return _kill(process) if process is not None else 0


def _kill(process: subprocess.Popen[bytes]) -> int:
    process.kill()
    code = process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with suppress(OSError):  # what was not sent is not missed
                pipe.close()
    return code
