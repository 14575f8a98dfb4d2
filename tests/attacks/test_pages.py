"""Text from outside on every page, in a real browser: nothing is fetched for it, nothing of it runs."""

import json
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from html import unescape
from pathlib import Path
from typing import Any, Self
from urllib.parse import quote

import pytest
from playwright.sync_api import Locator, Page, TimeoutError, WebSocket, expect, sync_playwright
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from courtroom.models.spec import ModelSpec
from tests.app_server import CHROMIUM, FLAGS, NO_BROWSER, forked_app
from tests.attacks.hostile_store import HEARINGS, MARK, SAMPLES, Canaries, Hostile, hostile_store
from tests.attacks.trap import Sent, Trap
from tests.openai_server import OpenAIServer

expect.set_options(timeout=30_000)  # a new server on a busy machine takes its time to draw the first page
pytestmark = [pytest.mark.browser, pytest.mark.skipif(CHROMIUM is None, reason=NO_BROWSER)]

ELSEWHERE = "http://canary.example"
"""A host outside; the browser finds no address for it, but that it asked is seen."""
NO_NAMES = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1"
SHOWN = "() => document.querySelector('[data-test-script-state=notRunning]') && !document.querySelector('[data-stale=true]')"
SEATS = ".members .chain, [class*='st-key-open-'] button"
COUNT = "mark => (document.body.innerText + [...document.querySelectorAll('input, textarea')].map(e => e.value).join()).split(mark).length - 1"
POINTS = ".js-plotly-plot .point path"
DONE = (ForwardMsg.FINISHED_SUCCESSFULLY, ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY)
OPENED = """() => { for (const one of document.querySelectorAll('details:not([open]) > summary')) one.click(); }"""
TAKEN = """hosts => [...document.querySelectorAll('*')].flatMap(one => [...one.attributes]
  .filter(a => (a.name !== 'href' || one.tagName !== 'A' || /^\\s*javascript:/i.test(a.value) || one.closest('svg'))
    && !['title', 'value', 'placeholder', 'alt', 'aria-label', 'content', 'data-unformatted', 'download'].includes(a.name)
    && (hosts.some(host => a.value.includes(host)) || /^on|javascript:/i.test(a.name + '=' + a.value)
      && /canary|alert/.test(a.value)))
  .map(a => `${one.tagName} ${a.name}=${a.value}`.slice(0, 200)))"""
"""Attributes, other than of plain links and of what is only told, in which an outside address or script has come to stand."""


@dataclass
class Watch:
    """What left the browser, or ran in it, beside the app's own."""

    own: str
    hosts: list[str]
    seen: list[str] = field(default_factory=list)
    drawn: int = 0
    """How often the server has drawn a page, or a part of one that is drawn by itself, to its end."""

    def on(self, page: Page) -> None:
        page.on("request", lambda request: self._asked(request.url))
        page.on("websocket", self._spoken)
        page.on("dialog", self._ran)

    def _spoken(self, socket: WebSocket) -> None:
        self._asked(socket.url.replace("ws://", "http://"))
        socket.on("framereceived", self._told)

    def _told(self, frame: str | bytes) -> None:
        message = ForwardMsg.FromString(frame) if isinstance(frame, bytes) else ForwardMsg()
        ended = message.WhichOneof("type") == "script_finished"
        self.drawn += ended and message.script_finished in DONE

    def _asked(self, url: str) -> None:
        if not url.startswith((f"{self.own}/", "data:", "blob:", "file:")):
            self.seen.append(url)

    def _ran(self, dialog: Any) -> None:
        self.seen.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def holds(self, page: Page) -> None:
        """Nothing went out, nothing is about to; and there was something that could have."""
        assert not self.seen, self.seen
        assert not (taken := page.evaluate(TAKEN, self.hosts)), taken


@dataclass
class Site:
    """The app over a hostile store, and a browser before it."""

    page: Page
    watch: Watch
    url: str
    store: Hostile
    hits: list[Sent]
    """What was fetched of an outside host that answers."""

    def open(self, path: str) -> None:
        """A page by its address, to its end."""
        seen = self.watch.drawn
        self.page.goto(f"{self.url}/{path}", wait_until="domcontentloaded")
        expect(self.page.get_by_test_id("stMain").locator("h1, h2, h3, [role=alert]").first).to_be_visible()
        self.drawn(seen)

    @contextmanager
    def another(self, path: str) -> Iterator[Self]:
        """A page of somebody else, by its address."""
        other = replace(self, page=self.page.context.new_page())
        self.watch.on(other.page)
        other.open(path)
        yield other
        other.page.close()

    def drawn(self, seen: int = 0) -> None:
        """Wait until the server has drawn the page once more; then nothing of it may be wrong."""
        deadline = time.monotonic() + 30
        while self.watch.drawn <= seen:
            assert time.monotonic() < deadline, "the page was not drawn again"
            self.page.wait_for_timeout(10)
        self.page.wait_for_function(SHOWN)
        self.settled()

    def click(self, what: Locator) -> None:
        """A click that has the page drawn again."""
        seen = self.watch.drawn
        what.click()
        self.drawn(seen)

    def settled(self) -> None:
        """Nothing on the page, all of it unfolded, is an error or has left it."""
        self.page.evaluate(OPENED)
        expect(self.page.get_by_test_id("stException")).to_have_count(0)
        self.watch.holds(self.page)

    def each(self, key: str) -> Iterator[str]:
        """Every option of a segmented control, by the beginning of its key, one after the other."""
        buttons = self.page.locator(f"[class*='st-key-{key}'] button")
        expect(buttons.first).to_be_visible()
        for number in range(buttons.count()):
            if buttons.nth(number).get_attribute("data-selected") != "true":
                self.click(buttons.nth(number))
            yield buttons.nth(number).inner_text()

    def popovers(self) -> None:
        """Every popover, opened and closed."""
        for button in self.page.get_by_test_id("stPopoverButton").all():
            if button.is_enabled():
                button.click()
                body = self.page.get_by_test_id("stPopoverBody")
                body.wait_for()
                # Some draw what is in them once they are open, and stay so meanwhile.
                self.page.wait_for_function(SHOWN)
                self.settled()
                deadline = time.monotonic() + 60
                while body.count():
                    assert time.monotonic() < deadline, "the popover does not close"
                    self.page.keyboard.press("Escape")
                    self.page.wait_for_timeout(100)

    def row(self) -> None:
        """The first call of the table that can be opened; a table takes clicks a moment after it is there."""
        table = self.page.get_by_test_id("stDataFrame").filter(visible=True).first
        opened = self.page.get_by_text("Answered", exact=True)
        for number in range(4):
            table.click(position={"x": 15, "y": 55 + 35 * number})
            with suppress(TimeoutError):
                opened.wait_for(timeout=3_000)
                break
        expect(opened).to_be_visible()
        self.settled()

    def shows(self, number: int) -> None:
        """More than so many canaries stand on the page as text, or in fields; it may be drawn in several steps."""
        self.page.wait_for_function(f"mark => ({COUNT})(mark) > {number}", arg=MARK)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """One store with a run of every procedure whose views differ, one server, one page."""
    home: Path = tmp_path_factory.mktemp("hostile")
    with Trap() as fetched, pytest.MonkeyPatch.context() as patch:
        here = fetched.url.removesuffix("/v1")
        canaries = Canaries(here, ELSEWHERE)
        with OpenAIServer(answer=canaries.answer, known_to=patch):
            store = hostile_store(home, canaries)
            with forked_app(home) as app, sync_playwright() as playwright:
                browser = playwright.chromium.launch(executable_path=CHROMIUM, args=[*FLAGS, NO_NAMES])
                context = browser.new_context(viewport={"width": 1280, "height": 900}, reduced_motion="reduce")
                context.set_default_timeout(30_000)
                page = context.new_page()
                watch = Watch(app.url, [here, ELSEWHERE.removeprefix("http://")])
                watch.on(page)
                yield Site(page, watch, app.url, store, fetched.seen)
                browser.close()
        assert not fetched.seen


def test_the_watch_sees_a_request_a_script_and_what_is_about_to_fetch(site: Site) -> None:
    other = site.page.context.new_page()
    watch = Watch("http://localhost:1", ["canary.example"])
    watch.on(other)
    images = f"<img src='{ELSEWHERE}/a.png'><img src='x:' onerror='alert(7)'><img loading=lazy data-x={ELSEWHERE}>"
    other.set_content(images)
    other.wait_for_function("() => [...document.images].slice(0, 2).every(one => one.complete)")
    assert f"{ELSEWHERE}/a.png" in watch.seen
    assert "dialog: 7" in watch.seen
    assert any("data-x" in one for one in other.evaluate(TAKEN, watch.hosts))
    other.close()


def test_cases_and_the_lists_of_cases_and_runs_are_inert(site: Site) -> None:
    for kind in SAMPLES:
        site.open(f"?case=hostile-{kind}")
        site.shows(20)
    site.open("")
    site.shows(5)
    site.open("runs")
    site.popovers()
    expect(site.page.get_by_test_id("stDataFrame").locator("td", has_text=MARK).first).to_be_attached()


@pytest.mark.parametrize("procedure", HEARINGS)
def test_every_view_of_a_hearing_is_inert(site: Site, procedure: str) -> None:
    site.open(f"deliberation?run={site.store.runs[procedure]}")
    site.popovers()
    for name in site.each("tab-"):
        site.shows(0)
        if name == "Members":
            for seat in range(min(2, site.page.locator(SEATS).count())):
                site.click(site.page.locator(SEATS).nth(seat))
                site.shows(5)
                site.click(site.page.get_by_role("button", name="All members"))
        elif name == "Calls":
            site.row()
        points = site.page.locator(POINTS).filter(visible=True)
        for number in range(min(2, points.count())):
            points.nth(number).scroll_into_view_if_needed()
            points.nth(number).dispatch_event("mousemove")
        site.watch.holds(site.page)


def test_what_persons_did_and_can_do_is_inert(site: Site) -> None:
    site.open(f"deliberation?run={site.store.runs['paused']}")
    site.popovers()
    for way in site.each("act-"):
        if way == "Change":
            assert list(site.each("section-of-"))
    site.shows(5)
    with site.another(f"?seat={site.store.seat}") as seat:
        expect(seat.page.get_by_text("Your answer")).to_be_visible()
        expect(seat.page.get_by_test_id("stImage").first).to_be_visible()
        seat.settled()
        seat.shows(10)


def test_an_audience_and_the_report_of_its_run_are_inert(site: Site, tmp_path: Path) -> None:
    with site.another(f"?audience={site.store.audience}") as phone:
        vote = phone.page.get_by_role("button", name="Buyer")
        expect(vote).to_be_enabled()
        vote.click()
        expect(phone.page.get_by_text("What the audience says")).to_be_visible()
        phone.settled()
        phone.shows(5)
    site.open(f"deliberation?run={site.store.runs['cyberjurors']}")
    expect(site.page.get_by_role("heading", name="The audience")).to_be_visible()
    site.shows(5)
    # The report of the run which the page shows asks for nothing.
    site.page.get_by_role("button", name=re.compile("Share")).first.click()
    wanted = site.page.get_by_role("button", name="HTML report")
    expect(wanted).to_be_visible()
    site.page.wait_for_function(SHOWN)  # while a page is being drawn, what its button offers is replaced
    with site.page.expect_download(timeout=120_000) as download:
        wanted.click()
    path = tmp_path / "report.html"
    download.value.save_as(path)
    text = path.read_text()
    assert "default-src 'none'" in unescape(text)
    # The policy holds also where a mark got through: here are some, put in by hand.
    marks = f"<img src={site.watch.hosts[0]}/x.png><script>alert(1)</script><img src=x: onerror=alert(2)>"
    path.write_text(text.replace("<header>", f"<header>{marks}"))
    report = site.page.context.new_page()
    watch = Watch("file://", site.watch.hosts)
    watch.on(report)
    report.goto(path.as_uri())
    expect(report.locator(".room .seat").first).to_be_visible()
    expect(report.get_by_text(MARK).first).to_be_visible()
    for one in report.locator("details > summary").all()[:5]:
        one.click()
    assert not site.hits
    assert not [one for one in watch.seen if not one.endswith(("/x.png", "x:"))], watch.seen
    report.close()


def test_comparisons_and_what_ifs_are_inert(site: Site) -> None:
    runs = site.store.runs
    site.open(f"compare?runs={runs['cyberjurors']},{runs['fork']}")
    assert list(site.each("tab-compare"))
    site.shows(0)
    site.open(f"what_if?experiment={site.store.what_if}")
    site.shows(2)


def test_the_setup_page_and_a_hostile_link_to_it_are_inert(site: Site) -> None:
    canary = Canaries(ELSEWHERE).one(90)
    site.open("setup?setup=" + quote(json.dumps({"setup": {"rules": [canary]}})))
    site.shows(0)
    site.open("setup?setup=" + quote(json.dumps({"setup": {"model": {**ModelSpec().model_dump(), "id": canary}}})))
    site.open(f"setup?fork={site.store.runs['cyberjurors']}")
    for _ in site.each("setup_section"):
        site.shows(0)


def test_the_knowledge_and_addresses_that_lead_nowhere_are_inert(site: Site) -> None:
    site.open("knowledge")
    for _ in site.each("knowledge_part"):
        site.shows(0)
    canary = quote(f"![canary]({ELSEWHERE}/address.png)<img src={ELSEWHERE}/address.png>")
    for path in ("?case=", "deliberation?run=", "compare?runs=", "what_if?experiment=", "setup?fork="):
        site.open(f"{path}{canary}")
        site.shows(0)
