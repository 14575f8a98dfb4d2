"""The room in a browser beside empty Streamlit pages: `python -m tests.benchmarks.bench_room`.

With `--local` a small model of this machine hears a long run in the app meanwhile (`tests.real_model`). One Chromium looks at two servers in turn: the app, and `tests.benchmarks.empty_app`. Each figure is a median, with the same of an empty
page beside it:

- From recorded to on screen: 17 jurors answer in streams. For each answer and each vote, the time from its being recorded to its
  being in the room. Then the empty app counts to as many at the same distances of time, in a fragment that is drawn as often.
- Opening a finished run of about 800 calls: from navigation to all seats and the end of the transcript. The empty page has an address of
  its own too: an app's first page opens sooner.
- A click on each tab of the page, until its content is there: of that run, and of one with 17 jurors in three rounds.
"""

import json
import re
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from statistics import median
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

from courtroom.courthouse import Courthouse
from courtroom.engine.events import Called, Voted
from courtroom.engine.record import Record
from courtroom.models.spec import ModelSpec
from courtroom.procedures.cyberjurors.setup import CyberJurorsSetup
from courtroom.settings import Settings
from pages.parts.live.room_view import LIVE_S
from tests.app_server import CHROMIUM, FLAGS, STREAMLIT, app_server
from tests.benchmarks.tables import options
from tests.driving import drive
from tests.openai_server import OpenAIServer, answer_for
from tests.real_model import MODEL

CASE = "oak-table"
EMPTY = (*STREAMLIT[:-1], "tests/benchmarks/empty_app.py")
SEEN = Path(__file__).parent / "seen.js"
BARS = {"recorded": 2.0, "opened": 3.0, "clicked": 2.0}
TABLE = "[data-testid='stDataFrame'] canvas"
TABS = {
    "Members": ["Others who take part", ".members .chain"],
    "Votes": ["", ".votes .line"],
    "Follow-graph": ["Arrows go from a juror", ".js-plotly-plot .main-svg"],
    "Precedents": ["Earlier verdicts closest", TABLE],
    "Summary": ["How heated the debate is", ""],
    "Evidence": ["Which evidence was selected", TABLE],
    "Calls": ["Select a row to read", TABLE],
}
"""A text that each tab shows, and what else it draws."""


@dataclass(frozen=True)
class Scale:
    jurors: int = 17
    rounds: int = 3
    live_runs: int = 3
    delay_s: float = 1.0
    pace_s: float = 0.15
    large: tuple[int, int] = (51, 6)
    """Jurors and rounds of the run with many calls."""
    openings: int = 9
    """So many count, and of clicks; one before them loads what the browser then keeps."""
    clicks: int = 7


TINY = Scale(jurors=3, rounds=1, live_runs=1, delay_s=0.1, pace_s=0.02, large=(5, 2), openings=1, clicks=1)


@dataclass
class Times:
    """Milliseconds of the app and of the empty page, measured in turn."""

    ours: list[float] = field(default_factory=list)
    empty: list[float] = field(default_factory=list)

    def line(self, name: str, bar: float) -> str:
        """The medians, their ratio and the bar."""
        ours, empty = median(self.ours), median(self.empty)
        told = f"{'within' if ours <= bar * empty else 'ABOVE'}  ({len(self.ours)}, {len(self.empty)})"
        return f"{name:44}{ours:9.0f}{empty:9.0f}{ours / empty:8.2f}{bar:6.0f}  {told}"


@dataclass(frozen=True)
class Stand:
    """What is measured: two servers before one browser."""

    scale: Scale
    browser: Browser
    app: str
    empty: str
    counter: Path
    runs: dict[str, str]
    house: Courthouse
    """A second reader of the app's store."""

    def page(self, address: str = "about:blank") -> Page:
        """A new page that knows how to look for what appears."""
        page = self.browser.new_page(viewport={"width": 1440, "height": 900})
        page.set_default_timeout(120_000)
        page.add_init_script(path=SEEN)
        page.goto(address)
        return page

    def address(self, run: str) -> str:
        """Of a run's page."""
        return f"{self.app}/deliberation?run={self.runs[run]}"


def numbered() -> Callable[[dict[str, Any]], str]:
    """Answers by the schema; each has a number of its own in its sentences, by which it is known on the page."""
    numbers = count(1)

    def answer(body: dict[str, Any]) -> str:
        number = next(numbers)
        return answer_for(body, str(number)).replace("what was said", f"statement {number} is what was said")

    return answer


def recorded(record: Record) -> Iterator[tuple[str, float]]:
    """Each answer and each vote with the time at which it was recorded, in seconds since the epoch."""
    numbers = dict[str, str]()
    for at, event in record.events:
        if isinstance(event, Called):
            found = re.search(r"statement (\d+) ", json.dumps(event.value))
            assert found, event.value
            numbers[event.member] = found[1]
            yield f"answer {found[1]}", at
        elif isinstance(event, Voted):
            yield f"vote {numbers[event.member]}", at


def live(stand: Stand, run: str) -> tuple[list[float], list[float]]:
    """One live run: for each answer and vote, when it was recorded (seconds), and how long until it was seen (ms)."""
    page = stand.page(stand.address(run))
    page.locator(".room .seat").first.wait_for()
    page.evaluate("courtroomBench.follow()")
    page.locator(".st-key-do-run button").first.click()
    page.locator(".room .speech.verdict").wait_for()
    page.get_by_text("Grounds", exact=True).wait_for()
    seen: dict[str, float] = page.evaluate("courtroomBench.seen")
    page.close()
    written = dict(recorded(stand.house.record(stand.runs[run])))
    assert written.keys() <= seen.keys(), f"recorded and never seen: {sorted(written.keys() - seen.keys())}"
    return list(written.values()), [seen[name] - 1000 * at for name, at in written.items()]


def counted(stand: Stand, times: list[float]) -> list[float]:
    """The empty app at the same distances of time: how long until each number was seen (ms)."""
    with closing(sqlite3.connect(stand.counter, isolation_level=None)) as database:
        database.execute("DELETE FROM counted")
        database.execute("INSERT INTO counted VALUES (0)")
        page = stand.page(f"{stand.empty}/counter?every={LIVE_S}")
        page.get_by_text("Counted: 0").wait_for()
        page.evaluate("courtroomBench.count()")
        began, written = time.time() - times[0] + 0.5, []
        for number, at in enumerate(times, 1):
            time.sleep(max(0.0, began + at - time.time()))
            database.execute("INSERT INTO counted VALUES (?)", (number,))
            written.append(time.time())
    page.get_by_text(f"Counted: {len(times)}").wait_for()
    seen: list[tuple[int, float]] = page.evaluate("courtroomBench.counts")
    page.close()
    return [next(at for shown, at in seen if shown >= number) - 1000 * at for number, at in enumerate(written, 1)]


def on_screen(stand: Stand) -> Times:
    """From recorded to on screen."""
    found = Times()
    for number in range(stand.scale.live_runs):
        times, took = live(stand, f"live {number}")
        found.ours += took
        found.empty += counted(stand, times)
    return found


def opened(stand: Stand) -> Times:
    """From navigation to what is on the page."""
    seats = len(stand.house.record(stand.runs["large"]).members)
    ours = f"courtroomBench.when(() => courtroomBench.drawn({seats}))"
    empty = "courtroomBench.when(() => courtroomBench.text('[data-testid=stMain]').includes('An empty page.'))"
    found, page = Times(), stand.page()
    for number in range(1 + stand.scale.openings):
        for address, ready, kept in (
            (stand.address("large"), ours, found.ours),
            (f"{stand.empty}/empty", empty, found.empty),
        ):
            page.goto("about:blank")
            page.goto(address, wait_until="commit")
            took = page.evaluate(ready)
            if number:
                kept.append(took)
    page.close()
    return found


def clicked(stand: Stand, name: str) -> dict[str, Times]:
    """From a click on each tab of a run to its content."""
    page, beside = stand.page(stand.address(name)), stand.page(f"{stand.empty}/choice")
    radios = page.get_by_test_id("stMain").get_by_role("radio")
    radios.first.wait_for()
    tabs = [text for text in radios.all_inner_texts() if text in TABS]
    # The tabs that are not open follow when the browser has time.
    page.get_by_test_id("stDataFrame").first.wait_for(state="attached")
    found = {tab: Times() for tab in tabs}
    _settled(beside)
    shown, plain, other = tabs[0], "Two", "One"
    for number in range(1 + stand.scale.clicks):
        for tab in tabs:
            plainest = "Members" if tab == "Summary" else "Summary"
            if plainest != shown:
                _go(page, plainest)
            took, shown, same = _go(page, tab), tab, _choose(beside, plain)
            plain, other = other, plain
            if number:
                found[tab].ours.append(took)
                found[tab].empty.append(same)
    page.close()
    beside.close()
    return found


def _go(page: Page, tab: str) -> float:
    """Click on a tab; milliseconds until its content was there."""
    return _clicked(page, tab, "courtroomBench.below(...wanted)", TABS[tab])


def _choose(page: Page, choice: str) -> float:
    return _clicked(page, choice, "courtroomBench.text('[data-testid=stMain]').includes(wanted)", f"Chosen: {choice}")


def _clicked(page: Page, name: str, shown: str, wanted: object) -> float:
    """Ends when the page is at rest."""
    button = page.get_by_test_id("stMain").get_by_role("radio", name=name, exact=True).first
    took: float = button.evaluate(f"(button, wanted) => courtroomBench.click(button, () => {shown})", wanted)
    _settled(page)
    return took


def _settled(page: Page) -> None:
    page.locator("[data-testid=stApp][data-test-script-state=notRunning]").wait_for()


def made(house: Courthouse, scale: Scale) -> dict[str, str]:
    """Runs that are done, and runs that wait to be run by a model that writes slowly."""
    case, runs = house.library.case(CASE), {}
    for name, (jurors, rounds) in {"large": scale.large, "small": (scale.jurors, scale.rounds)}.items():
        setup = CyberJurorsSetup(jury_size=jurors, rounds=rounds, consensus=1.0)
        runs[name] = drive(house, house.new_run("cyberjurors", case, setup, 0))
    slow = setup.model_copy(update={"model": ModelSpec(id="hosted_vllm/any")})  # small, as the last one
    for number in range(scale.live_runs):
        runs[f"live {number}"] = house.new_run("cyberjurors", case, slow, number)
    own = CyberJurorsSetup(model=ModelSpec(id=MODEL), consensus=1.0)
    return {**runs, "local": house.new_run("cyberjurors", case, own, 0)}


def measure(folder: Path, scale: Scale, browser: Browser, *, local: bool = False) -> None:
    """Measure, and print each figure as soon as it is known. `local`: while a model of this machine hears a run in the app."""
    counter = folder / "empty" / "counter.sqlite"
    counter.parent.mkdir()
    with closing(sqlite3.connect(counter)) as database:
        database.executescript("PRAGMA journal_mode = WAL; CREATE TABLE counted (number INTEGER)")
    house = Courthouse(Settings(home=folder / "home"))
    runs = made(house, scale)
    calls = {name: len(house.record(runs[name]).calls) for name in ("large", "small")}
    print(f"{'median, ms':44}{'app':>9}{'empty':>9}{'ratio':>8}{'bar':>6}", flush=True)
    with (
        OpenAIServer(delay=scale.delay_s, pace=scale.pace_s, answer=numbered()) as models,
        app_server(
            house.settings.home, environment={"HOSTED_VLLM_API_BASE": models.url, "HOSTED_VLLM_API_KEY": "none"}
        ) as app,
        app_server(counter.parent, command=EMPTY) as empty,
    ):
        stand = Stand(scale, browser, app.url, empty.url, counter, runs, house)
        if local:
            begin(stand.page(), stand.address("local"))
        print(opened(stand).line(f"opening a run of {calls['large']} calls", BARS["opened"]), flush=True)
        for name in ("small", "large"):
            for tab, times in clicked(stand, name).items():
                print(times.line(f"tab {tab} of {calls[name]} calls", BARS["clicked"]), flush=True)
        name = f"recorded to on screen, {scale.jurors} jurors"
        print(on_screen(stand).line(name, BARS["recorded"]), flush=True)
    house.close()


def begin(page: Page, address: str) -> None:
    """Have a run go on, and leave its page."""
    page.goto(address)
    page.locator(".st-key-do-run button").first.click()
    page.locator(".st-key-do-pause button:enabled").first.wait_for()
    page.close()


def main() -> None:
    given = options(local=False)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        measure(Path(folder), TINY if given.tiny else Scale(), browser, local=given.local)
        browser.close()


if __name__ == "__main__":
    main()
