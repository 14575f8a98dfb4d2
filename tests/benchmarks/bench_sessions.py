"""Many who look on at one run: `python -m tests.benchmarks.bench_sessions`.

`--sessions` says how many browsers' sessions look at the page Deliberation (50 by default), `--rounds` how often both sides are
measured in turn (2), `--tiny` only shows that it runs.

The app, in a process of its own, drives a run whose model answers after a second: members vote, two at a time. Sessions over real web sockets open the run's
page and stay there: each has its fragments drawn at their intervals, as a browser does. One after the other they leave, and
open the page anew; a single session does the same as often. Printed are the seconds from opening a page until it is drawn, p50
of both and their ratio; what each session cost the app; and, where Chromium is installed, how long a real browser took beside both.
"""

import asyncio
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import NamedTuple

from playwright.async_api import async_playwright

from courtroom.courthouse import Courthouse
from courtroom.engine.run import Control
from courtroom.models.spec import ModelSpec
from courtroom.procedures.cyberjurors.setup import CyberJurorsSetup
from courtroom.settings import Settings
from tests.app_server import CHROMIUM, FLAGS, AppServer, app_server, forked_app
from tests.benchmarks.app_session import Place, Session, cpu_s, memory_mb, opened
from tests.benchmarks.bench_engine import CASE
from tests.benchmarks.tables import options
from tests.openai_server import server_process

DELAY = 1.0
PAUSE_S = 0.3
"""Seconds between two pages that are opened."""
LEAST = 30
"""Elements that the page has at least."""
OPENED = 25
"""Pages that are opened in each round of each side."""
SETUP = CyberJurorsSetup(
    model=ModelSpec(id="openai/any", vision="no", concurrency=2), jury_size=40, rounds=10, consensus=1.0
)


class Scale(NamedTuple):
    """How much is measured, and how the app is started."""

    sessions: int
    rounds: int
    opens: int
    setup: CyberJurorsSetup
    app_of: Callable[[Path], AbstractContextManager[AppServer]]
    chromium: bool
    stay_s: float
    """Seconds that the sessions stay after the last one has come."""


async def looking(app: AppServer, place: Place, sessions: int, scale: Scale) -> tuple[list[float], str]:
    """So many sessions look on; in turn one of them leaves and another opens the page. Seconds of each, and what they cost."""
    there = []
    for _ in range(sessions):
        there.append(Session(app.url, place))
        await there[-1].open()
    left, took = [], []
    began, cpu = time.perf_counter(), cpu_s(app.pid)
    for number in range(scale.opens):
        await asyncio.sleep(PAUSE_S)
        left.append(await there[number % sessions].leave())
        there[number % sessions] = Session(app.url, place)
        took.append(await there[number % sessions].open())
    cpu, wall = cpu_s(app.pid) - cpu, time.perf_counter() - began
    await asyncio.sleep(scale.stay_s)
    every = [*left, *[await one.leave() for one in there]]
    assert (least := min(one.elements for one in every)) > LEAST, f"a page had {least} elements alone"
    redrawn, sent = (sum(getattr(one, name) for one in every) for name in ("redrawn", "bytes"))
    looks = sum(len(one.ticks) for one in every)
    return took, f"{cpu / wall:.0%} of a core; {looks} looks, {redrawn} redrawn, {sent / 2**20:.1f} MB sent"


async def seen(app: AppServer, place: Place) -> float:
    """Seconds until a real browser shows the run's page."""
    name, query = place
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        page = await browser.new_page()
        began = time.perf_counter()
        await page.goto(f"{app.url}/{name}?run={query['run']}")
        await page.get_by_text("calls asked").first.wait_for(timeout=120_000)
        took = time.perf_counter() - began
        await browser.close()
    return took


async def measure(app: AppServer, place: Place, scale: Scale, goes_on: Callable[[], object]) -> None:
    """Both sides in turn, as soon as the run goes on, and print."""
    await opened(app.url, [place], 1, 0.0)  # what the first visit loads
    while not goes_on():
        await asyncio.sleep(PAUSE_S)
    took: dict[int, list[float]] = {1: [], scale.sessions: []}
    browser: dict[int, list[float]] = {1: [], scale.sessions: []}
    for _ in range(scale.rounds):
        for many, found in took.items():
            seconds, cost = await looking(app, place, many, scale)
            found += seconds
            print(f"{many:3} sessions: p50 {1000 * statistics.median(seconds):6.0f} ms; {cost}", flush=True)
            if scale.chromium:
                there = [Session(app.url, place) for _ in range(many - 1)]
                for one in there:
                    await one.open()
                browser[many].append(await seen(app, place))
                for one in there:
                    await one.leave()
    alone, crowd = (1000 * statistics.median(found) for found in took.values())
    many = f"{crowd:.0f} ms for {scale.sessions}"
    print(f"page time p50: {alone:.0f} ms for one session, {many}: {crowd / alone:.2f} times")
    if scale.chromium:
        calm, beside = (statistics.median(found) for found in browser.values())
        print(f"a real browser: {calm:.1f} s alone, {beside:.1f} s beside {scale.sessions - 1} sessions")


def bench(home: Path, scale: Scale) -> None:
    """Have the app drive a run, and look on."""
    os.environ["OPENAI_API_KEY"] = "none"
    with server_process() as address:
        os.environ["OPENAI_API_BASE"] = address
        house = Courthouse(Settings(home=home))
        run = house.new_run("cyberjurors", house.library.case(CASE), scale.setup, 0)
        house.runner.run_to(run, "precedents")
        house.runner.wait(run)
        house.runner.release(run)
        before = house.record(run).asked
    with server_process(DELAY) as address:
        os.environ["OPENAI_API_BASE"] = address
        house.store.set_control(run, Control())
        house.store.set_status(run, "running")  # as if its process had died: the app goes on with it
        with scale.app_of(home) as app:
            asyncio.run(measure(app, ("deliberation", {"run": run}), scale, lambda: house.record(run).asked > before))
            row, held = house.record(run), memory_mb(app.pid, "VmHWM") / 1024
            print(f"the run is {row.run.status} after {row.asked} calls; at most {held:.2f} GB of memory")
            house.runner.stop(run)
        house.close()


def main() -> None:
    given = options(sessions=50, rounds=2, opens=OPENED)
    scale = Scale(given.sessions, given.rounds, given.opens, SETUP, app_server, bool(CHROMIUM), 1.0)
    if given.tiny:
        scale = Scale(2, 1, 1, SETUP.model_copy(update={"jury_size": 3, "rounds": 1}), forked_app, False, 0.0)
    with tempfile.TemporaryDirectory() as folder:
        bench(Path(folder), scale)


if __name__ == "__main__":
    main()
