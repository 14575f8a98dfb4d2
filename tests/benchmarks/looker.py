"""A browser's session that stays on a page: it opens the page and, as a browser does, has its fragments drawn at their intervals."""

import asyncio
import time
from contextlib import suppress
from typing import Self
from urllib.parse import urlencode

import aiohttp
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from tests.benchmarks.app_session import MOST_S, Place


class Looker:
    """One session over a web socket. Opened by `open`, ended by `leave`."""

    def __init__(self, url: str, place: Place) -> None:
        self._url, (self._name, query) = url, place
        self._query = urlencode(query)
        self._http = aiohttp.ClientSession()
        self._script = ""
        self._timers: dict[str, asyncio.Task[None]] = {}
        self._reader: asyncio.Task[None] | None = None
        self._drawn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.ticks: list[int] = []
        """Each time that a fragment was drawn at its interval: how many elements it had."""
        self._elements = 0
        self.redrawn = 0
        """How often the whole page was."""
        self.elements = 0
        """What the page was drawn from when it was opened."""
        self.bytes = 0
        """What the server has sent."""

    async def open(self) -> float:
        """Open the page; seconds from asking for the socket until the page's script has ended."""
        began = time.perf_counter()
        self._socket = await self._http.ws_connect(f"{self._url}/_stcore/stream", max_msg_size=0)
        self._reader = asyncio.create_task(self._read())
        asked = BackMsg()
        asked.rerun_script.page_name, asked.rerun_script.query_string = self._name, self._query
        await self._socket.send_bytes(asked.SerializeToString())
        await asyncio.wait_for(asyncio.shield(self._drawn), MOST_S)
        return time.perf_counter() - began

    async def leave(self) -> Self:
        """Close the socket, as a browser does with the tab.

        Raises:
            AssertionError: a page or a fragment showed an exception.
        """
        self._stop(*self._timers)
        self._reader.cancel()
        with suppress(asyncio.CancelledError):
            await self._reader
        await self._http.close()
        return self

    async def _read(self) -> None:
        try:
            async for message in self._socket:
                self.bytes += len(message.data)
                self._take(ForwardMsg.FromString(message.data))
        except Exception as error:
            if self._drawn.done():
                raise
            self._drawn.set_exception(error)

    def _take(self, message: ForwardMsg) -> None:
        kind = message.WhichOneof("type")
        if kind == "delta" and message.delta.new_element.WhichOneof("type") == "exception":
            raise AssertionError(message.delta.new_element.exception.message)
        if kind == "new_session":
            self._elements = 0
        if kind == "delta":
            self._elements += 1
        if kind == "new_session" and not message.metadata.run.fragment_ids:
            self._stop(*self._timers)
        if kind == "navigation":  # as a browser does: only now is it known which page the address means
            self._script = message.navigation.page_script_hash
        if kind == "stop_auto_rerun":
            self._stop(*message.stop_auto_rerun.fragment_ids)
        if kind == "auto_rerun":
            name, interval = message.auto_rerun.fragment_id, message.auto_rerun.interval
            self._stop(name)
            self._timers[name] = asyncio.create_task(self._tick(name, interval))
        if kind == "script_finished":
            if message.script_finished == ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY:
                self.ticks.append(self._elements)
            if message.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY:
                self.redrawn += self._drawn.done()
                if not self._drawn.done():
                    self.elements = self._elements
                    self._drawn.set_result(None)

    def _stop(self, *fragments: str) -> None:
        for name in fragments:
            if timer := self._timers.pop(name, None):
                timer.cancel()

    async def _tick(self, fragment: str, interval: float) -> None:
        asked = BackMsg()
        asked.rerun_script.query_string, asked.rerun_script.page_script_hash = self._query, self._script
        asked.rerun_script.fragment_id, asked.rerun_script.is_auto_rerun = fragment, True
        while True:
            await asyncio.sleep(interval)
            await self._socket.send_bytes(asked.SerializeToString())
