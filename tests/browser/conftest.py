"""The app in a process of its own, and a real Chromium before it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.app_server import CHROMIUM, FLAGS, NO_BROWSER, app_server, forked_app
from tests.browser.test_hearing import heard, opened

expect.set_options(timeout=60_000)  # a new server on a busy machine takes its time to draw the first page


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent) and CHROMIUM is None:
            item.add_marker(pytest.mark.skip(reason=NO_BROWSER))


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The app's address; its store is new."""
    with forked_app(tmp_path_factory.mktemp("home")) as server:
        yield server.url


@pytest.fixture(scope="module")
def run(app: str, browser: Browser) -> str:
    """A hearing that is done, from the first screen on; its run id."""
    page = opened(browser, app)
    found = heard(page, "oak-table")
    page.close()
    return found


@pytest.fixture
def new_app(tmp_path: Path) -> Iterator[str]:
    """The app's address, started as people start it; its store is new."""
    with app_server(tmp_path) as server:
        yield server.url


@pytest.fixture(scope="package")  # not of the whole session: while Playwright runs, no other loop may
def browser() -> Iterator[Browser]:
    """One browser; each page that a test opens in it has a context of its own, and so nothing of any other."""
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture(scope="package")
def window(browser: Browser) -> Iterator[Page]:
    """A page that has read the app's program already: the next address in it costs half as much."""
    page = browser.new_page()
    page.set_default_timeout(120_000)
    yield page
    page.close()


@pytest.fixture
def page(window: Page) -> Iterator[Page]:
    """The one page of a test that needs no second one, as new: light, nothing kept in the browser."""
    window.set_viewport_size({"width": 1280, "height": 900})
    window.emulate_media(color_scheme="light")
    yield window
    if not window.url.startswith("about:"):
        window.evaluate("() => { localStorage.clear(); sessionStorage.clear(); }")
    window.goto("about:blank")
    window.context.clear_cookies()
