"""Processes of their own that start at once: forked from one that has all imports behind it (`tests.warm`).

A fork is as real as a process of a shell: it has a store, threads and connections of its own, is seen by its output and its
exit code only, and dies by a signal at any moment. What it does not show is that a new interpreter does the same, so
tests that begin or end with one start `python -m courtroom` as people do.
"""

import multiprocessing
import multiprocessing.forkserver
import os
import sys
from collections.abc import Callable, Collection, Mapping
from multiprocessing.connection import Connection, wait
from subprocess import CompletedProcess, TimeoutExpired
from types import ModuleType
from typing import Any, Self

_context = multiprocessing.get_context("forkserver")
_context.set_forkserver_preload(["tests.warm"])
_server = multiprocessing.forkserver._forkserver


def ready() -> None:
    """Have the process that is forked from: whoever forks from one after this, forks from it."""
    _server.ensure_running()


def inherited() -> None:
    """In a process that was forked itself: it forks from the one that its parent does."""
    _server.ensure_running = lambda: None  # type: ignore[method-assign]  # it would look for a child of its own


class Fork:
    """A function that runs in a process of its own, with pipes for its input and its output.

    Args:
        work: a function of a module; where it raises SystemExit, that is the exit code.
        environment: all of it; by default this process's.
    """

    def __init__(self, work: Callable[..., object], *given: Any, environment: Mapping[str, str] | None = None) -> None:
        read, self._in = _context.Pipe(duplex=False)
        self._out, out = _context.Pipe(duplex=False)
        self._err, err = _context.Pipe(duplex=False)
        ends = (read, out, err)
        begin = (work, given, dict(environment or os.environ), os.getcwd(), ends)
        self._process = _context.Process(target=_begin, args=begin)
        self._code: int | None = None
        # Streamlit's AppTest leaves the script that it ran as the main module, and a fork would run it again.
        main, sys.modules["__main__"] = sys.modules["__main__"], ModuleType("__main__")
        try:
            self._process.start()
        finally:
            sys.modules["__main__"] = main
        for end in ends:
            end.close()
        self.pid = self._process.pid

    @property
    def returncode(self) -> int | None:
        """The exit code, below zero for a signal; None while it runs."""
        if self._code is None:
            self._code = self._process.exitcode
        return self._code

    def kill(self) -> None:
        """End it as a power cut does: it can do nothing about it."""
        self._process.kill()
        self._process.join()
        assert self.returncode is not None

    def until(self, wanted: Collection[bytes]) -> bytes:
        """What it writes to its error output until one of these texts is in it; all of it where none comes."""
        text = b""
        while not any(one in text for one in wanted) and (piece := _read(self._err)):
            text += piece
        return text

    def line(self) -> str:
        """The next line of its output; empty at the end."""
        text = b""
        while not text.endswith(b"\n") and (letter := _read(self._out, 1)):
            text += letter
        return text.decode()

    def tell(self, line: str) -> None:
        """Write a line to its input."""
        os.write(self._in.fileno(), f"{line}\n".encode())

    def finish(self, timeout_s: float = 300) -> CompletedProcess[str]:
        """Close its input, and wait for its end, or kill it; with what it wrote since it was last read."""
        self._in.close()
        texts = {self._out: b"", self._err: b""}
        left = list(texts)
        while left:
            if not (ready := wait(left, timeout_s)):
                self.kill()
                raise TimeoutExpired(str(self._process), timeout_s, texts[self._out], texts[self._err])
            for end in ready:
                piece = _read(end)
                texts[end] += piece
                if not piece:
                    left.remove(end)
        self._process.join()
        return CompletedProcess([], self.returncode, texts[self._out].decode(), texts[self._err].decode())

    def output(self) -> str:
        """As `finish`: what it wrote to its output, where all went well."""
        done = self.finish()
        assert done.returncode == 0, done.stderr
        return done.stdout

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self.returncode is None:
            self.kill()
        self._process.join()
        for end in (self._in, self._out, self._err):
            end.close()
        self._process.close()


def shell(*words: str) -> None:
    """What `python -m courtroom WORDS` does, to be forked."""
    from courtroom.__main__ import main

    sys.argv = ["courtroom", *words]
    main()


def run(*words: str, environment: Mapping[str, str] | None = None) -> CompletedProcess[str]:
    """The command of the shell in a fork, to its end."""
    with Fork(shell, *words, environment=environment) as process:
        return process.finish()


def _read(end: Connection, size: int = 65536) -> bytes:
    return os.read(end.fileno(), size)


def _begin(
    work: Callable[..., object],
    given: tuple[Any, ...],
    environment: dict[str, str],
    folder: str,
    ends: tuple[Connection, ...],
) -> None:
    for number, end in enumerate(ends):
        os.dup2(end.fileno(), number)
        end.close()
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    work(*given)
