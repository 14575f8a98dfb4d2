"""A browser's session with the app, over a real web socket: it opens pages, clicks, and stays as a browser does."""

import asyncio
import os
import re
import secrets
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlencode

import aiohttp
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

MOST_S = 300.0
"""Seconds after which a page counts as never drawn."""
Place = tuple[str, dict[str, str]]
"""A page's name and the parameters of its address."""


class Session:
    """Opened by `open`, ended by `leave`. Fragments are drawn at their intervals, as a browser has them drawn."""

    def __init__(self, url: str, place: Place) -> None:
        self._url, self._place = url, place
        self._http = aiohttp.ClientSession()
        self._socket: aiohttp.ClientWebSocketResponse | None = None
        self._script = ""
        self._timers: dict[str, asyncio.Task[None]] = {}
        self._news = asyncio.Event()
        self._elements = 0
        self.drawn = 0
        """How often the whole page was."""
        self.ticks: list[int] = []
        """Each time that a fragment was drawn at its interval: how many elements it had."""
        self.states: dict[str, str] = {}
        """What the page was told, such as which phone it is on, by widget."""
        self.buttons: dict[str, tuple[str, str]] = {}
        """Widget and fragment of each button, by its label."""
        self._texts: dict[tuple[int, ...], str] = {}

    @property
    def text(self) -> str:
        """All that is on the page."""
        return "\n".join(self._texts.values())

    async def open(self) -> float:
        """Open its page; seconds from asking for the socket until the script has ended."""
        began = time.perf_counter()
        self._socket = await self._http.ws_connect(f"{self._url}/_stcore/stream", max_msg_size=0)
        self._reader = asyncio.create_task(self._read())
        self._reader.add_done_callback(lambda _: self._news.set())
        before = self.drawn
        await self._ask(page_name=self._place[0])
        await self.until(lambda: self.drawn > before)
        return time.perf_counter() - began

    async def click(self, label: str) -> None:
        widget, fragment = self.buttons[label]
        await self._ask({"id": widget, "trigger_value": True}, page_name=self._place[0], fragment_id=fragment)

    async def until(self, holds: Callable[[], bool]) -> None:
        """Wait for something to be so once a script has ended. An exception that the page shows is raised."""
        async with asyncio.timeout(MOST_S):
            while not holds():
                if self._reader.done():
                    await self._reader
                    raise AssertionError("the server has closed the socket")
                self._news.clear()
                await self._news.wait()

    async def leave(self) -> Self:
        """Close the socket, as a browser does with the tab. An exception that the page has shown is raised."""
        self._stop(*self._timers)
        self._reader.cancel()
        with suppress(asyncio.CancelledError):
            await self._reader
        await self._http.close()
        return self

    async def _ask(self, *clicked: dict[str, Any], **asked: Any) -> None:
        widgets = [{"id": name, "json_value": value} for name, value in self.states.items()]
        state = {"query_string": urlencode(self._place[1]), "widget_states": {"widgets": [*widgets, *clicked]}, **asked}
        await self._socket.send_bytes(BackMsg(rerun_script=state).SerializeToString())

    async def _read(self) -> None:
        async for message in self._socket:
            await self._take(ForwardMsg.FromString(message.data))

    async def _take(self, message: ForwardMsg) -> None:
        kind = message.WhichOneof("type")
        if kind == "delta":
            self._elements += 1
            await self._show(message)
        elif kind == "new_session":
            self._elements = 0
            if not message.metadata.run.fragment_ids:
                self._stop(*self._timers)
        elif kind == "navigation":  # as a browser does: only now is it known which page the address means
            self._script = message.navigation.page_script_hash
        elif kind == "stop_auto_rerun":
            self._stop(*message.stop_auto_rerun.fragment_ids)
        elif kind == "auto_rerun":
            name, interval = message.auto_rerun.fragment_id, message.auto_rerun.interval
            self._stop(name)
            self._timers[name] = asyncio.create_task(self._tick(name, interval))
        elif kind == "script_finished":
            if message.script_finished == ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY:
                self.ticks.append(self._elements)
            if message.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY:
                self.drawn += 1
            self._news.set()

    async def _show(self, message: ForwardMsg) -> None:
        element, place = message.delta.new_element, tuple(message.metadata.delta_path)
        match element.WhichOneof("type"):
            case "exception":
                raise AssertionError(element.exception.message)
            case "button":
                self.buttons[element.button.label] = (element.button.id, message.delta.fragment_id)
            case "bidi_component" if "phone" in element.bidi_component.component_name:
                if element.bidi_component.id not in self.states:
                    self.states[element.bidi_component.id] = f'{{"id": "{secrets.token_urlsafe(18)}"}}'
                    await self._ask(page_name=self._place[0])
            case "markdown" | "html" as kind:
                self._texts[place] = getattr(element, kind).body

    def _stop(self, *fragments: str) -> None:
        for timer in filter(None, (self._timers.pop(name, None) for name in fragments)):
            timer.cancel()

    async def _tick(self, fragment: str, interval: float) -> None:
        while True:
            await asyncio.sleep(interval)
            await self._ask(page_script_hash=self._script, fragment_id=fragment, is_auto_rerun=True)


def cpu_s(process: int) -> float:
    """Processor time of a process so far, in seconds."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory_mb(process: int) -> float:
    """Resident memory of a process."""
    found = re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{process}/status").read_text())
    return int(found[1]) / 1024 if found else float("nan")
