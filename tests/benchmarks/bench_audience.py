"""Whether an audience of 200 phones is carried: `python -m tests.benchmarks.bench_audience`.

Each phone is a session of its own on a real server, over Streamlit's websocket protocol, and asks for news as a browser does.
They come over some seconds, wait, vote in the open round all at once, and are shown the next round. A presenter's session
has the run's page open. Printed are the server's CPU time in each part (1 being one core), its memory, how long a phone waits
for its page and for its vote to be confirmed, and how long until the presenter's page counts all votes.
The phones share the machine's cores with the server.
"""

import argparse
import asyncio
import os
import random
import re
import secrets
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import aiohttp
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from courtroom.courthouse import Courthouse
from courtroom.procedures.cyberjurors.setup import CyberJurorsSetup
from courtroom.questions.audience import BEFORE
from courtroom.settings import Settings
from tests.app_server import AppServer, app_server, forked_app

COME_S, WAIT_S, VOTE_S = 20.0, 15.0, 5.0
"""Over how long phones come, nothing happens, and votes are cast."""


class Session:
    """One browser on one page: draws what it is sent, and asks again when it is told to."""

    def __init__(self, page: str, query: str) -> None:
        self.page, self.query = page, query
        self.phone = secrets.token_urlsafe(18)
        self.states: dict[str, str] = {}
        self.buttons: dict[str, tuple[str, str]] = {}
        """Widget and fragment of each button, by its key."""
        self.texts: dict[tuple[int, ...], str] = {}
        """What was last drawn at each place."""
        self.told = asyncio.Condition()
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._reader: asyncio.Task[None] | None = None

    async def open(self, http: aiohttp.ClientSession, url: str) -> None:
        """Connect, and ask for the page."""
        self.socket = await http.ws_connect(
            f"{url.replace('http', 'ws')}/_stcore/stream", protocols=("streamlit",), max_msg_size=0
        )
        self._reader = asyncio.create_task(self._read())
        await self.ask()

    async def ask(self, fragment: str = "", click: str = "", *, timed: bool = False) -> None:
        """Have the script, or one fragment of it, run."""
        message = BackMsg()
        state = message.rerun_script
        state.query_string, state.page_name = self.query, self.page
        state.fragment_id, state.is_auto_rerun = fragment, timed
        for name, value in self.states.items():
            state.widget_states.widgets.add(id=name, json_value=value)
        if click:
            state.widget_states.widgets.add(id=click, trigger_value=True)
        await self.socket.send_bytes(message.SerializeToString())

    @property
    def text(self) -> str:
        """All that is on the page."""
        return "\n".join(self.texts.values())

    async def click(self, key: str) -> None:
        """Press a button."""
        widget, fragment = self.buttons[key]
        await self.ask(fragment, widget)

    async def until(self, holds: Callable[[], bool]) -> None:
        """Wait for something to be on the page."""
        async with self.told:
            await asyncio.wait_for(self.told.wait_for(holds), 60)

    async def close(self) -> None:
        """Leave."""
        for task in (*self._tasks.values(), self._reader):
            if task:
                task.cancel()
        await self.socket.close()

    async def _read(self) -> None:
        async for frame in self.socket:
            message = ForwardMsg.FromString(frame.data)
            kind = message.WhichOneof("type")
            if kind == "auto_rerun":
                asked = message.auto_rerun
                if asked.fragment_id not in self._tasks:
                    self._tasks[asked.fragment_id] = asyncio.create_task(self._again(asked.fragment_id, asked.interval))
            elif kind == "delta":
                await self._take(message)
            elif kind == "script_finished":
                async with self.told:
                    self.told.notify_all()

    async def _take(self, message: ForwardMsg) -> None:
        element, place = message.delta.new_element, tuple(message.metadata.delta_path)
        match element.WhichOneof("type"):
            case "button":
                self.buttons[element.button.label] = (element.button.id, message.delta.fragment_id)
            case "bidi_component" if "phone" in element.bidi_component.component_name:
                if element.bidi_component.id not in self.states:
                    self.states[element.bidi_component.id] = f'{{"id": "{self.phone}"}}'
                    await self.ask()
            case "markdown":
                self.texts[place] = element.markdown.body
            case "html":
                self.texts[place] = element.html.body

    async def _again(self, fragment: str, interval: float) -> None:
        while True:
            await asyncio.sleep(interval)
            await self.ask(fragment, timed=True)


def cpu_s(process: int) -> float:
    """Processor time of a process so far, in seconds."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory_mb(process: int) -> float:
    """Resident memory of a process."""
    found = re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{process}/status").read_text())
    return int(found[1]) / 1024 if found else 0.0


async def part(name: str, server: AppServer, work: Awaitable[list[float]]) -> None:
    """Do one part and print what it took; the times are those that phones waited."""
    before, began = cpu_s(server.pid), time.monotonic()
    waited = sorted(await work)
    took = time.monotonic() - began
    line = f"{name:<28}{took:7.1f}{(cpu_s(server.pid) - before) / took:9.2f}{memory_mb(server.pid):10.0f}"
    if waited:
        line += f"{statistics.median(waited):10.2f}{waited[int(0.95 * (len(waited) - 1))]:9.2f}{waited[-1]:9.2f}"
    print(line, flush=True)


async def measure(server: AppServer, house: Courthouse, run: str, token: str, count: int) -> None:
    """All parts, one after the other."""
    draw = random.Random(0)
    phones = [Session("", f"audience={token}") for _ in range(count)]
    presenter = Session("deliberation", f"run={run}")

    async def come(phone: Session) -> float:
        await asyncio.sleep(draw.uniform(0, COME_S * count / 200))
        began = time.monotonic()
        await phone.open(http, server.url)
        await phone.until(lambda: bool(phone.states) and any("uyer" in label for label in phone.buttons))
        return time.monotonic() - began

    async def vote(phone: Session) -> float:
        await asyncio.sleep(draw.uniform(0, VOTE_S * count / 200))
        began = time.monotonic()
        labels = [label for label in phone.buttons if "uyer" in label or "eller" in label]
        await phone.click(draw.choice(labels))
        await phone.until(lambda: "You voted" in phone.text)
        return time.monotonic() - began

    async def counted() -> list[float]:
        began = time.monotonic()
        votes = asyncio.gather(*map(vote, phones))
        await presenter.until(lambda: f"{count} have voted" in presenter.text)
        counted_all = time.monotonic() - began
        waited = await votes
        print(f"{'':<28}the presenter's page counts all votes {counted_all:.1f} s after the first could come")
        return waited

    async def shown() -> list[float]:
        began = time.monotonic()
        house.audiences.show(run, 1)

        async def one(phone: Session) -> float:
            await phone.until(lambda: "Round 1" in phone.text)
            return time.monotonic() - began

        return await asyncio.gather(*map(one, phones))

    async def nothing() -> list[float]:
        await asyncio.sleep(WAIT_S * min(1.0, count / 50))
        return []

    async def together() -> list[float]:
        return await asyncio.gather(*map(come, phones))

    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as http:
        await presenter.open(http, server.url)
        await presenter.until(lambda: "have voted" in presenter.text)
        print(f"{'':<28}{'s':>7}{'CPU':>9}{'MB':>10}{'median s':>10}{'95 %':>9}{'most':>9}")
        await part("presenter alone", server, nothing())
        await part(f"{count} phones come", server, together())
        await part("nothing happens", server, nothing())
        await part("all vote", server, counted())
        assert sum(house.audiences.counts(run)[BEFORE].values()) == count
        await part("the next round is opened", server, shown())
        for session in (presenter, *phones):
            await session.close()


def main() -> None:
    """Measure in a home of its own."""
    options = argparse.ArgumentParser()
    options.add_argument("--phones", type=int, default=200)
    options.add_argument("--tiny", action="store_true")
    given = options.parse_args()
    count = 5 if given.tiny else given.phones
    os.environ["COURTROOM_AUDIENCE_PHONES"] = str(count)  # all of them are on this machine
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        house = Courthouse(Settings(home=home))
        setup = CyberJurorsSetup(jury_size=17, rounds=3)
        run = house.new_run("cyberjurors", house.library.case("phone-battery"), setup, 0)
        house.runner.go(run)
        house.runner.wait(run, 120)
        token = house.audiences.open(run, 0).token
        with (forked_app if given.tiny else app_server)(home) as server:
            asyncio.run(measure(server, house, run, token, count))
        house.close()


if __name__ == "__main__":
    main()
