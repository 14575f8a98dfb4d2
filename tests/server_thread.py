"""A server with a loop and a thread of its own, for a test that asks it over a real connection."""

import asyncio
import threading
from abc import ABC, abstractmethod
from typing import Self

from aiohttp import web


class ServerThread(ABC):
    """Runs in a thread of its own; use as a context manager."""

    port: int = 0
    """Where it listens, once it runs; before that any free one is wanted."""
    _loop: asyncio.AbstractEventLoop

    @property
    def url(self) -> str:
        """Its address, as a provider's is set."""
        return f"http://127.0.0.1:{self.port}/v1"

    def __enter__(self) -> Self:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._start(), self._loop).result(10)
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self._end(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    @abstractmethod
    async def _start(self) -> None:
        """Listen, and set the port."""

    @abstractmethod
    async def _end(self) -> None:
        """Let go of the port and of calls that hang."""


class WebServer(ServerThread):
    """One of routes."""

    host = "127.0.0.1"

    async def _start(self) -> None:
        app = web.Application(client_max_size=2**28)
        app.router.add_routes(self._routes())
        self._runner = web.AppRunner(app, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, self.host, self.port).start()
        self.port = self._runner.addresses[0][1]

    async def _end(self) -> None:
        await self._runner.cleanup()
        hanging = asyncio.all_tasks() - {asyncio.current_task()}
        for task in hanging:
            task.cancel()
        await asyncio.gather(*hanging, return_exceptions=True)

    @abstractmethod
    def _routes(self) -> list[web.RouteDef]:
        """What it answers, by path."""
