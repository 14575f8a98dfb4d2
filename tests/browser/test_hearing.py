"""From the first screen to a verdict and a report, as a newcomer does it."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from playwright.sync_api import Browser, Page, WebSocketRoute, expect

from courtroom.procedures import PROCEDURES

THEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")


def opened(browser: Browser, url: str) -> Page:
    """A page in a browser of its own, beside the one that the test has."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.set_default_timeout(120_000)
    page.goto(url)
    return page


def in_both_themes(page: Page) -> Iterator[str]:
    """The page as it stands, in one theme after the other: it follows the system's setting."""
    for theme in THEMES:
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


def start(page: Page, case: str, button: str = "Start") -> None:
    """From the first screen to a hearing of a case that has begun."""
    page.locator(f".st-key-hear-{case} button").click()
    expect(page.get_by_role("button", name=button, exact=True)).to_be_visible()
    settled(page)
    page.get_by_role("button", name=button, exact=True).click()


def heard(page: Page, case: str = "phone-battery") -> str:
    """Three clicks at most: hear, start; the verdict comes by itself."""
    start(page, case)
    expect(page.get_by_text("Grounds", exact=True)).to_be_visible(timeout=120_000)
    found = re.search(r"run=([\w-]+)", page.url)
    assert found
    return found.group(1)


def tab(page: Page, name: str) -> None:
    """Open a tab of the deliberation."""
    page.get_by_test_id("stMain").get_by_role("radio", name=name, exact=True).first.click()


def sound(page: Page) -> None:
    """Nothing on the page is an error, and nothing is wider than the window."""
    expect(page.get_by_test_id("stException")).to_have_count(0)
    main = page.get_by_test_id("stMain")
    assert main.evaluate("e => e.scrollWidth <= e.clientWidth + 1")


def test_every_tab_of_a_hearing_is_sound_in_both_themes_and_widths(app: str, run: str, page: Page) -> None:
    page.goto(app)
    sound(page)
    page.goto(f"{app}/deliberation?run={run}")
    helps = {view.title: view.help for view in PROCEDURES["cyberjurors"].views}
    own = {"Members": "Others who take part", "Votes": "How votes moved", "Calls": "Select a row to read"}
    for width, _ in zip((1280, 1920), in_both_themes(page), strict=True):
        page.set_viewport_size({"width": width, "height": 900})
        for name, told in {**own, **helps}.items():
            tab(page, name)
            expect(page.get_by_text(told, exact=False).filter(visible=True).first).to_be_visible()
            sound(page)


def test_the_report_of_a_run_found_by_its_address_opens_without_the_app_and_shows_the_verdict(
    app: str, run: str, page: Page, browser: Browser, tmp_path: Path
) -> None:
    """And it comes although others look at pages before a slow browser has fetched it."""
    slow = browser.new_page()
    line = SlowLine(slow)
    slow.goto(f"{app}/deliberation?run={run}")
    expect(slow.get_by_text("Grounds", exact=True)).to_be_visible()
    expect(slow.locator(".st-key-pane-7")).to_be_attached()  # all that follows is there
    slow.get_by_role("button", name=re.compile("Share")).first.click()
    expect(slow.get_by_role("button", name=re.compile("HTML report"))).to_be_visible()
    settled(slow)
    with slow.expect_download(timeout=120_000) as download, line.held():
        slow.get_by_role("button", name=re.compile("HTML report")).click()
        for name in ("runs", "compare", "runs"):
            page.goto(f"{app}/{name}")
            expect(page.locator("h1").first).to_be_visible()
            settled(page)
    path = tmp_path / "report.html"
    download.value.save_as(path)
    report = browser.new_context(offline=True).new_page()
    report.goto(path.as_uri())
    expect(report.get_by_text("Verdict:", exact=False).first).to_be_visible()
    expect(report.locator(".room .seat").first).to_be_visible()
    assert "http" not in (
        report.evaluate("[...document.querySelectorAll('[src]')].map(e => e.src).join()") or ""
    ).replace("data:", "")
    report.locator("details summary").first.click()
    report.close()
