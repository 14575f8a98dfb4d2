"""Many who look on at one run: `python -m tests.benchmarks.bench_sessions`.

The app, in a process of its own, drives a run whose model answers after a second: members vote, two at a time. Sessions over real web sockets open the run's
page and stay there: each has its fragments drawn at their intervals, as a browser does. One after the other they leave, and
open the page anew; a single session does the same as often. Printed are the seconds from opening a page until it is drawn, p50
of both and their ratio; what each session cost the app; and, where Chromium is installed, how long a real browser took beside both.
"""

import asyncio
import tempfile
import time
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path
from statistics import median

from playwright.async_api import async_playwright

from courtroom.courthouse import Courthouse
from courtroom.engine.run import Control
from courtroom.models.spec import ModelSpec
from courtroom.procedures.cyberjurors.setup import CyberJurorsSetup
from courtroom.settings import Settings
from tests.app_server import CHROMIUM, FLAGS, AppServer, app_server, forked_app
from tests.benchmarks.app_session import Place, Session, cpu_s, memory_mb, opened
from tests.benchmarks.bench_engine import CASE
from tests.benchmarks.tables import answering, options

DELAY = 1.0
PAUSE_S = 0.3
"""Seconds between two pages that are opened."""
LEAST = 30
"""Elements that the page has at least."""
SETUP = CyberJurorsSetup(
    model=ModelSpec(id="openai/any", vision="no", concurrency=2), jury_size=40, rounds=10, consensus=1.0
)


async def come(app: AppServer, place: Place, many: int) -> list[Session]:
    """So many sessions that look on."""
    there = [Session(app.url, place) for _ in range(many)]
    for one in there:
        await one.open()
    return there


async def looking(app: AppServer, place: Place, sessions: int, given: Namespace) -> tuple[list[float], str]:
    """So many sessions look on; in turn one of them leaves and another opens the page. Seconds of each, and what they cost."""
    there = await come(app, place, sessions)
    left, took = [], []
    began, cpu = time.perf_counter(), cpu_s(app.pid)
    for number in range(given.opens):
        await asyncio.sleep(PAUSE_S)
        left.append(await there[number % sessions].leave())
        there[number % sessions] = Session(app.url, place)
        took.append(await there[number % sessions].open())
    cpu, wall = cpu_s(app.pid) - cpu, time.perf_counter() - began
    await asyncio.sleep(0.0 if given.tiny else 1.0)  # the last one stays for a while, too
    every = [*left, *[await one.leave() for one in there]]
    assert (least := min(one.elements for one in every)) > LEAST, f"a page had {least} elements alone"
    looks, redrawn = sum(len(one.ticks) for one in every), sum(one.drawn - 1 for one in every)
    sent = sum(one.bytes for one in every)
    return took, f"{cpu / wall:.0%} of a core; {looks} looks, {redrawn} redrawn, {sent / 2**20:.1f} MB sent"


async def seen(app: AppServer, place: Place, beside: int) -> float:
    """Seconds until a real browser shows the run's page beside so many sessions."""
    there = await come(app, place, beside)
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        page = await browser.new_page()
        began = time.perf_counter()
        await page.goto(f"{app.url}/{place[0]}?run={place[1]['run']}")
        await page.get_by_text("calls asked").first.wait_for(timeout=120_000)
        took = time.perf_counter() - began
        await browser.close()
    for one in there:
        await one.leave()
    return took


async def measure(app: AppServer, place: Place, given: Namespace, goes_on: Callable[[], object]) -> None:
    """Both sides in turn, as soon as the run goes on, and print."""
    await opened(app.url, [place], 1, 0.0)  # what the first visit loads
    while not goes_on():
        await asyncio.sleep(PAUSE_S)
    took: dict[int, list[float]] = {1: [], given.sessions: []}
    browser: dict[int, list[float]] = {1: [], given.sessions: []}
    for _ in range(given.rounds):
        for many, found in took.items():
            seconds, cost = await looking(app, place, many, given)
            found += seconds
            print(f"{many:3} sessions: p50 {1000 * median(seconds):6.0f} ms; {cost}", flush=True)
            if CHROMIUM and not given.tiny:
                browser[many].append(await seen(app, place, many - 1))
    alone, crowd = (1000 * median(found) for found in took.values())
    told = f"{alone:.0f} ms for one session, {crowd:.0f} ms for {given.sessions}"
    print(f"page time p50: {told}: {crowd / alone:.2f} times")
    if all(browser.values()):
        calm, beside = map(median, browser.values())
        print(f"a real browser: {calm:.1f} s alone, {beside:.1f} s beside {given.sessions - 1} sessions")


def main() -> None:
    """Have the app drive a run, and look on."""
    given, setup = options(sessions=50, rounds=2, opens=25), SETUP
    if given.tiny:
        given.sessions, given.rounds, given.opens = 2, 1, 1
        setup = SETUP.model_copy(update={"jury_size": 3, "rounds": 1})
    with tempfile.TemporaryDirectory() as folder:
        with answering():
            house = Courthouse(Settings(home=Path(folder)))
            run = house.new_run("cyberjurors", house.library.case(CASE), setup, 0)
            house.runner.run_to(run, "precedents")
            house.runner.wait(run)
            house.runner.release(run)
            before = house.record(run).asked
        with answering(DELAY):
            house.store.set_control(run, Control())
            house.store.set_status(run, "running")  # as if its process had died: the app goes on with it
            with (forked_app if given.tiny else app_server)(Path(folder)) as app:
                asyncio.run(
                    measure(app, ("deliberation", {"run": run}), given, lambda: house.record(run).asked > before)
                )
                row, held = house.record(run), memory_mb(app.pid, "VmHWM") / 1024
                print(f"the run is {row.run.status} after {row.asked} calls; at most {held:.2f} GB of memory")
                house.runner.stop(run)
            house.close()


if __name__ == "__main__":
    main()
