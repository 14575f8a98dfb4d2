"""Whether an audience of 200 phones is carried: `python -m tests.benchmarks.bench_audience`.

Each phone is a session of its own on a real server, over Streamlit's websocket protocol, and asks for news as a browser
does. They come over some seconds, wait, vote in the open round all at once, and are shown the next round. A presenter's
session has the run's page open. Printed are the server's CPU time in each part (1 being one core), its memory, how long
a phone waits for its page and for its vote to be confirmed, and how long until the presenter's page counts all votes.
The phones share the machine's cores with the server.
"""

import asyncio
import os
import random
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from statistics import median

from courtroom import Courthouse, Settings
from courtroom.procedures.cyberjurors.setup import CyberJurorsSetup
from courtroom.questions.audience import BEFORE
from tests.app_server import AppServer, app_server
from tests.benchmarks.app_session import Session, cpu_s, memory_mb
from tests.benchmarks.tables import options
from tests.driving import drive

COME_S, WAIT_S, VOTE_S = 20.0, 15.0, 5.0
"""Over how long phones come, nothing happens, and votes are cast."""


async def part(name: str, server: AppServer, work: Awaitable[list[float]]) -> None:
    """Do one part and print what it took; the times are those that phones waited."""
    before, began = cpu_s(server.pid), time.monotonic()
    waited = sorted(await work)
    took = time.monotonic() - began
    line = f"{name:<28}{took:7.1f}{(cpu_s(server.pid) - before) / took:9.2f}{memory_mb(server.pid):10.0f}"
    if waited:
        line += f"{median(waited):10.2f}{waited[int(0.95 * (len(waited) - 1))]:9.2f}{waited[-1]:9.2f}"
    print(line, flush=True)


async def measure(server: AppServer, house: Courthouse, run: str, token: str, count: int) -> None:
    """All parts, one after the other."""
    draw = random.Random(0)
    phones = [Session(server.url, ("", {"audience": token})) for _ in range(count)]
    presenter = Session(server.url, ("deliberation", {"run": run}))

    async def come(phone: Session) -> None:
        await phone.open()
        await phone.until(lambda: bool(phone.states) and any("uyer" in label for label in phone.buttons))

    async def vote(phone: Session) -> None:
        labels = [label for label in phone.buttons if "uyer" in label or "eller" in label]
        await phone.click(draw.choice(labels))
        await phone.until(lambda: "You voted" in phone.text)

    async def all_of(work: Callable[[Session], Awaitable[None]], over_s: float = 0.0) -> list[float]:
        """Each phone at a moment of its own within these seconds for 200 phones; how long each waited."""

        async def one(phone: Session) -> float:
            await asyncio.sleep(draw.uniform(0, over_s * count / 200))
            began = time.monotonic()
            await work(phone)
            return time.monotonic() - began

        return await asyncio.gather(*map(one, phones))

    async def counted() -> list[float]:
        began = time.monotonic()
        votes = asyncio.create_task(all_of(vote, VOTE_S))
        await presenter.until(lambda: f"{count} have voted" in presenter.text)
        counted_all = time.monotonic() - began
        waited = await votes
        print(f"{'':<28}the presenter's page counts all votes {counted_all:.1f} s after the first could come")
        return waited

    async def nothing() -> list[float]:
        await asyncio.sleep(WAIT_S * min(1.0, count / 50))
        return []

    await presenter.open()
    await presenter.until(lambda: "have voted" in presenter.text)
    print(f"{'':<28}{'s':>7}{'CPU':>9}{'MB':>10}{'median s':>10}{'95 %':>9}{'most':>9}")
    await part("presenter alone", server, nothing())
    await part(f"{count} phones come", server, all_of(come, COME_S))
    await part("nothing happens", server, nothing())
    await part("all vote", server, counted())
    assert sum(house.audiences.counts(run)[BEFORE].values()) == count
    house.audiences.show(run, 1)
    await part("the next round is opened", server, all_of(lambda phone: phone.until(lambda: "Round 1" in phone.text)))
    for session in (presenter, *phones):
        await session.leave()


def main() -> None:
    count = options(phones=200).phones
    os.environ["COURTROOM_AUDIENCE_PHONES"] = str(count)  # all of them are on this machine
    with tempfile.TemporaryDirectory() as name:
        house = Courthouse(Settings(home=Path(name)))
        setup = CyberJurorsSetup(jury_size=17, rounds=3)
        run = drive(house, house.new_run("cyberjurors", house.library.case("phone-battery"), setup, 0))
        token = house.audiences.open(run, 0).token
        with app_server(Path(name)) as server:
            asyncio.run(measure(server, house, run, token, count))
        house.close()


if __name__ == "__main__":
    main()
