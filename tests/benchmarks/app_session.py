"""A browser's session with the app, over a real web socket: opens pages and says how long each took to be drawn."""

import asyncio
import time
from collections.abc import Sequence
from urllib.parse import urlencode

import aiohttp
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

MOST_S = 300.0
"""Seconds after which a page counts as never drawn."""
Place = tuple[str, dict[str, str]]
"""A page's name and the parameters of its address."""


async def opened(url: str, places: Sequence[Place], times: int, pause_s: float) -> list[list[float]]:
    """Open pages over and over in one session.

    Args:
        url: where the app answers.
        times: how often each is opened; a first round, which is not counted, comes before.
        pause_s: seconds between two pages.

    Returns:
        Seconds from asking for a page until its script has ended, by place and time.
    """
    took: list[list[float]] = [[] for _ in places]
    async with aiohttp.ClientSession() as http, http.ws_connect(f"{url}/_stcore/stream", max_msg_size=0) as socket:
        for number in range(1 + times):
            for place, found in zip(places, took, strict=True):
                seconds = await asyncio.wait_for(_drawn(socket, place), MOST_S)
                if number:
                    found.append(seconds)
                await asyncio.sleep(pause_s)
    return took


async def _drawn(socket: aiohttp.ClientWebSocketResponse, place: Place) -> float:
    name, query = place
    asked = BackMsg()
    asked.rerun_script.page_name = name
    asked.rerun_script.query_string = urlencode(query)
    began = time.perf_counter()
    await socket.send_bytes(asked.SerializeToString())
    while True:
        message = ForwardMsg.FromString((await socket.receive()).data)
        kind = message.WhichOneof("type")
        if kind == "delta" and message.delta.new_element.WhichOneof("type") == "exception":
            raise AssertionError(message.delta.new_element.exception.message)
        # A fragment that draws itself anew ends with another status.
        if kind == "script_finished" and message.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY:
            return time.perf_counter() - began
