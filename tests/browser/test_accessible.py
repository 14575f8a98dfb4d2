"""Every page can be read and used by who sees little or uses no mouse: axe-core finds nothing serious."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from courtroom.courthouse import Courthouse
from courtroom.settings import Settings
from tests.app_server import forked_app
from tests.browser.axe import OF_COLOURS, TAGS, violations
from tests.browser.test_hearing import in_both_themes, settled
from tests.test_room import RUNS

SHOWN = ("cyberjurors", "juris")
"""A jury around a table, and candidates with a jury in rows."""
PAGES = ("", "setup", "knowledge", "what_if", "experiments", "runs", "compare?runs={0},{1}")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, list[str]]]:
    """The app's address over a store with two finished runs."""
    home = tmp_path_factory.mktemp("home")
    house, runs = Courthouse(Settings(home=home)), []
    for name in SHOWN:
        case, knobs = RUNS[name]
        setup = house.procedures[name].setup.model_validate(knobs)
        runs.append(house.new_run(name, house.library.case(case), setup, 0))
        house.runner.go(runs[-1])
        house.runner.wait(runs[-1], 60)
    house.close()
    with forked_app(home) as server:
        yield server.url, runs


def looked_at(page: Page, url: str) -> None:
    page.set_viewport_size({"width": 1440, "height": 900})
    page.goto(url)
    settled(page)
    expect(page.get_by_test_id("stSkeleton")).to_have_count(0)


def test_no_page_keeps_anybody_out(site: tuple[str, list[str]], page: Page) -> None:
    url, runs = site
    found = {}
    for one in (*PAGES, *(f"deliberation?run={run}" for run in runs)):
        looked_at(page, f"{url}/{one.format(*runs)}")
        for theme in in_both_themes(page):
            if wrong := violations(page, TAGS if theme == "light" else OF_COLOURS):
                found[one, theme] = wrong
    assert found == {}


def test_the_room_is_used_by_the_keyboard_alone(site: tuple[str, list[str]], page: Page) -> None:
    url, (run, _) = site
    looked_at(page, f"{url}/deliberation?run={run}")
    seat = page.locator(".room .seat").first
    page.keyboard.press("Tab")  # focus is shown to who uses the keyboard
    seat.focus()
    assert seat.evaluate("one => getComputedStyle(one).outlineStyle") == "solid", "focus is visible"
    page.keyboard.press("Enter")
    expect(page.locator(".room .drawer")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator(".room .drawer")).to_be_hidden()
    page.get_by_role("slider", name="Moment of the run").focus()
    page.keyboard.press("Home")
    expect(page.locator(".room .timeline")).to_contain_text("1 of ")
