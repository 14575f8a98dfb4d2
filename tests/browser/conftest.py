"""One app in a process of its own, and a real Chromium before it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from tests.app_server import CHROMIUM, FLAGS, NO_BROWSER
from tests.browser.site import Site
from tests.browser.site import site as opened_site

expect.set_options(timeout=60_000)  # a new server on a busy machine takes its time to draw the first page
WAIT_MS = 120_000


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent) and CHROMIUM is None:
            item.add_marker(pytest.mark.skip(reason=NO_BROWSER))


@pytest.fixture(scope="package")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """One app for all tests that leave to the others what is theirs."""
    with opened_site(tmp_path_factory.mktemp("home")) as there:
        yield there


@pytest.fixture(scope="package")  # not of the whole session: while Playwright runs, no other loop may
def browser() -> Iterator[Browser]:
    """One browser; what is opened in it by itself has nothing of anything else, not even the app's program."""
    with sync_playwright() as playwright, playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS) as chromium:
        yield chromium


@contextmanager
def still(browser: Browser) -> Iterator[BrowserContext]:
    """A browser whose reader wants no motion: else a room is painted anew for as long as it is seen."""
    with browser.new_context(reduced_motion="reduce") as context:
        context.set_default_timeout(WAIT_MS)
        yield context


@pytest.fixture(scope="package")
def window(browser: Browser) -> Iterator[Page]:
    """A page that has read the app's program already: the next address in it costs half as much."""
    with still(browser) as context:
        yield context.new_page()


@pytest.fixture(scope="package")
def elsewhere(browser: Browser) -> Iterator[BrowserContext]:
    """As if it were another browser, which has read the app's program, too."""
    with still(browser) as context:
        yield context


@pytest.fixture
def page(window: Page) -> Iterator[Page]:
    """The one page of a test that needs no second one, as new: light, nothing kept in the browser."""
    yield from _as_new(window)
    window.goto("about:blank")


@pytest.fixture
def other(elsewhere: BrowserContext) -> Iterator[Page]:
    """A page of somebody else, as new."""
    with elsewhere.new_page() as page:
        yield from _as_new(page)


def _as_new(page: Page) -> Iterator[Page]:
    page.set_viewport_size({"width": 1280, "height": 900})
    page.emulate_media(color_scheme="light")
    yield page
    if not page.url.startswith("about:"):
        page.evaluate("() => { localStorage.clear(); sessionStorage.clear(); }")
    page.context.clear_cookies()
