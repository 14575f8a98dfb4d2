"""Two runs beside each other, by an address that can be shared."""

import re

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.test_hearing import opened, settled, sound, start


def fork(page: Page, run: str) -> str:
    """Fork the run that the page shows with another number of norms, and wait for the verdict."""
    page.locator(".st-key-do-fork button").first.click()
    page.get_by_text("A fork of run", exact=False).wait_for()
    knob = page.get_by_role("spinbutton", name="Norms a juror is given (K)")
    knob.fill("1")
    knob.press("Enter")
    page.get_by_text("norms: 3 → 1").wait_for()
    settled(page)
    page.get_by_role("button", name="Start", exact=True).click()
    expect(page.get_by_text("Grounds", exact=True)).to_be_visible(timeout=120_000)
    found = re.search(r"run=([\w-]+)", page.url)
    assert found
    assert found[1] != run
    return found[1]


@pytest.fixture(scope="module")
def link(app: str, run: str, browser: Browser) -> str:
    """The shared address of a fork beside its parent, reached from the fork's page."""
    page = opened(browser, f"{app}/deliberation?run={run}")
    other = fork(page, run)
    page.get_by_role("button", name=re.compile("Compare with its parent")).click()
    expect(page.get_by_text("They part at", exact=False)).to_be_visible()
    page.get_by_role("button", name="Share").click()
    address = page.get_by_test_id("stCode").inner_text().strip()
    page.close()
    assert address == f"{app}/compare?runs={run},{other}"
    return address


def test_a_run_under_way_is_compared_and_followed(app: str, link: str, page: Page, browser: Browser) -> None:
    stepped = opened(browser, app)
    start(stepped, "oak-table", "Start step by step")
    expect(stepped.get_by_text("Paused before Precedents")).to_have_count(1)
    begun = re.search(r"run=([\w-]+)", stepped.url)
    assert begun
    page.goto(link.split(",")[0] + f",{begun[1]}")
    expect(page.get_by_text("so far, in Evidence")).to_be_visible()
    stepped.locator(".st-key-do-step button").first.click()
    expect(page.get_by_text("so far, in Precedents")).to_be_visible()
    sound(page)
    stepped.close()
