"""A hearing in a real browser: from the first screen to the verdict, its tabs, report and film, and another beside it.

Other tests take from here what they do with a page.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from playwright.sync_api import Browser, Page, WebSocketRoute, expect

from courtroom.procedures import PROCEDURES
from tests.browser.axe import OF_COLOURS, TAGS, violations
from tests.browser.site import Site

Theme = Literal["light", "dark"]
THEMES: tuple[Theme, ...] = ("light", "dark")
PLAYS = (
    "[...document.querySelectorAll('video')].some(e => e.readyState >= 2 && e.error === null && e.videoWidth === 720)"
)


def in_both_themes(page: Page, themes: Sequence[Theme] = THEMES) -> Iterator[str]:
    """The page as it stands, in one theme after the other: it follows the system's setting."""
    for theme in themes:
        page.emulate_media(color_scheme=theme)
        themed(page, theme)
        yield theme


def themed(page: Page, theme: str) -> None:
    """Until the page has been drawn in this theme."""
    expect(page.get_by_test_id("stApp")).to_have_css("color-scheme", theme)
    expect(page.locator(f".st-key-themes [data-theme={theme}]")).to_be_attached()
    settled(page)


def settled(page: Page) -> None:
    """Until Streamlit has drawn what it was told to: a click on what is being drawn anew is lost."""
    expect(page.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning")


class SlowLine:
    """What the server says to a page that is opened afterwards, which can be held back."""

    def __init__(self, page: Page) -> None:
        self._held: list[str | bytes] | None = None
        page.route_web_socket("**/_stcore/stream", self._follow)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Within the block nothing comes; then all of it does."""
        self._held = []
        yield
        waiting, self._held = self._held, None
        for message in waiting:
            self._page.send(message)

    def _follow(self, page: WebSocketRoute) -> None:
        self._page = page
        server = page.connect_to_server()
        server.on_message(lambda message: page.send(message) if self._held is None else self._held.append(message))


def tab(page: Page, name: str) -> None:
    """Open a tab of the deliberation."""
    page.get_by_test_id("stMain").get_by_role("radio", name=name, exact=True).first.click()


def sound(page: Page) -> None:
    """Nothing on the page is an error, and nothing is wider than the window."""
    expect(page.get_by_test_id("stException")).to_have_count(0)
    assert page.get_by_test_id("stMain").evaluate("e => e.scrollWidth <= e.clientWidth + 1")


def test_every_tab_of_a_hearing_is_sound_in_both_themes_and_widths(site: Site, page: Page) -> None:
    """A click on a tab sends no room again."""
    page.goto(site.url)
    sound(page)
    sent: list[int] = []
    page.on("websocket", lambda socket: socket.on("framereceived", lambda frame: sent.append(len(frame))))
    page.goto(site.run("usual"))
    expect(page.locator(".members .chain")).to_have_count(17)
    settled(page)
    room = max(sent)
    helps = {view.title: view.help for view in PROCEDURES["cyberjurors"].views}
    own = {"Votes": "How votes moved", "Calls": "Select a row to read", "Members": "Others who take part"}
    for width, _ in zip((1280, 1920), in_both_themes(page), strict=True):
        page.set_viewport_size({"width": width, "height": 900})
        settled(page)
        for name, told in {**helps, **own}.items():
            sent.clear()
            tab(page, name)
            expect(page.get_by_text(told, exact=False).filter(visible=True).first).to_be_visible()
            settled(page)
            assert max(sent, default=0) < room, "the room was sent again"
            sound(page)
    page.locator(".members .chain").first.click()
    expect(page.get_by_role("button", name="All members")).to_be_visible()
    page.get_by_role("button", name="All members").click()
    expect(page.locator(".members .chain")).to_have_count(17)


def test_a_report_opens_without_the_app(site: Site, page: Page, other: Page, browser: Browser, tmp_path: Path) -> None:
    """It shows the verdict, and it comes although others look at pages before a slow browser has fetched it."""
    line = SlowLine(other)
    other.goto(site.run("usual"))
    expect(other.get_by_text("Grounds", exact=True)).to_be_visible()
    other.get_by_role("button", name=re.compile("Share")).first.click()
    expect(other.get_by_role("button", name=re.compile("HTML report"))).to_be_visible()
    settled(other)
    page.goto(f"{site.url}/runs")
    with other.expect_download(timeout=120_000) as download, line.held():
        other.get_by_role("button", name=re.compile("HTML report")).click()
        for name in ("Compare", "Runs", "Compare"):
            page.get_by_role("link", name=name, exact=True).click()
            expect(page.get_by_role("heading", name=name, exact=True)).to_be_visible()
            settled(page)
    download.value.save_as(path := tmp_path / "report.html")
    report = browser.new_context(offline=True).new_page()
    report.goto(path.as_uri())
    expect(report.get_by_text("Verdict:", exact=False).first).to_be_visible()
    expect(report.locator(".room .seat").first).to_be_visible()
    assert "http" not in report.evaluate("[...document.querySelectorAll('[src]')].map(e => e.src).join()")
    report.locator("details summary").first.click()
    report.context.close()


def test_a_case_is_heard_from_the_first_screen(site: Site, page: Page) -> None:
    """Find the case, take it to the bench, start; the judgment comes by itself."""
    bench = PROCEDURES["verdict"]
    page.goto(site.url)
    page.get_by_role("textbox", name="Search").fill("bus-wallet")
    page.keyboard.press("Enter")
    page.locator(".st-key-hear-criminal-bus-wallet button").click()
    page.get_by_role("combobox", name="Procedure").click()
    page.get_by_role("option", name=bench.title, exact=True).click()
    expect(page.get_by_text(bench.summary)).to_be_visible()
    page.get_by_role("radio", name="Training run", exact=True).click()
    expect(page.get_by_text(next(one.help for one in bench.presets if one.title == "Training run"))).to_be_visible()
    settled(page)
    page.get_by_role("button", name="Start", exact=True).click()
    expect(page.get_by_text("Grounds", exact=True)).to_be_visible(timeout=120_000)
    sound(page)


def test_a_film_is_drawn_and_plays(site: Site, page: Page) -> None:
    page.set_viewport_size({"width": 1440, "height": 900})
    page.goto(site.run("seven"))
    settled(page)
    page.get_by_role("button", name="Share").click()
    page.get_by_role("button", name="Film").click()
    dialog = page.get_by_role("dialog")
    chosen = dialog.get_by_text("seconds are chosen")
    expect(chosen).to_be_visible()
    page.emulate_media(color_scheme="dark")  # draws the whole page anew
    themed(page, "dark")
    usual = chosen.inner_text()
    dialog.get_by_role("slider", name="Seconds, about").press("Home")  # the shortest is drawn soonest
    expect(chosen).not_to_have_text(usual)
    settled(page)
    dialog.get_by_text("9:16, for a phone").click()
    dialog.get_by_role("button", name="Draw the film").click()
    expect(dialog.locator("video")).to_be_visible()
    page.wait_for_function(PLAYS)
    with page.expect_download(timeout=120_000) as taken:
        dialog.get_by_role("button", name="Download the film").click()
    assert taken.value.suggested_filename.endswith(".mp4")
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    page.emulate_media(color_scheme="light")
    themed(page, "light")
    expect(dialog).to_be_hidden()


def test_a_fork_and_a_run_under_way_are_compared_and_followed(site: Site, page: Page, other: Page) -> None:
    """From the fork's page, and by an address that somebody else opens."""
    run, begun = site.runs["usual"], site.runs["begun"]
    page.goto(site.run("usual"))
    page.locator(".st-key-do-fork button").first.click()
    expect(page.get_by_text(re.compile("Nothing is changed yet"))).to_be_visible()
    page.get_by_text("A fork of run", exact=False).wait_for()
    knob = page.get_by_role("spinbutton", name="Norms a juror is given (K)")
    knob.fill("1")
    knob.press("Enter")
    page.get_by_text("Norms a juror is given (K): 3 → 1").wait_for()
    settled(page)
    page.get_by_role("button", name="Start", exact=True).click()
    expect(page.get_by_text("Grounds", exact=True)).to_be_visible()
    (forked,) = re.findall(r"run=([\w-]+)", page.url)
    assert forked != run
    page.get_by_role("button", name=re.compile("Compare with its parent")).click()
    expect(page.get_by_text("They part at", exact=False)).to_be_visible()
    expect(page.get_by_text("What differs").first).to_be_visible()
    page.get_by_role("button", name="Share").click()
    address = page.get_by_test_id("stCode").inner_text().strip()
    assert address == f"{site.url}/compare?runs={run},{forked}"
    other.goto(address)
    expect(other.get_by_text("What differs").first).to_be_visible()
    sound(other)
    other.goto(address.replace(forked, begun))
    expect(other.get_by_text("so far, in Evidence")).to_be_visible()
    page.goto(site.run("begun"))
    expect(page.get_by_text("Paused before Precedents")).to_have_count(1)
    settled(page)
    page.locator(".st-key-do-step button").first.click()
    expect(other.get_by_text("so far, in Precedents")).to_be_visible()
    sound(other)
    other.goto(site.run("begun"))  # it stands still, and who looks on touches nothing
    expect(other.get_by_text("Paused before", exact=False)).to_have_count(1)
    settled(page)
    page.locator(".st-key-do-run button").first.click()
    expect(other.get_by_text("Grounds", exact=True)).to_be_visible()


PAGES = ("", "setup", "knowledge", "what_if", "experiments", "runs", "compare?runs={0},{1}")


def test_no_page_keeps_anybody_out(site: Site, page: Page) -> None:
    runs = [site.runs[name] for name in ("seven", "juris")]  # a jury around a table, candidates with a jury in rows
    found = {}
    page.set_viewport_size({"width": 1440, "height": 900})
    for number, one in enumerate((*PAGES, *(f"deliberation?run={run}" for run in runs))):
        page.goto(f"{site.url}/{one.format(*runs)}")
        settled(page)
        expect(page.get_by_test_id("stSkeleton")).to_have_count(0)
        for theme in in_both_themes(page, THEMES[:: -1 if number % 2 else 1]):  # each page begins as the last one ended
            if wrong := violations(page, TAGS if theme == "light" else OF_COLOURS):
                found[one, theme] = wrong
    assert found == {}
