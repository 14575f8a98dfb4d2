"""Two runs beside each other, by an address that can be shared."""

import re

from playwright.sync_api import Page, expect

from tests.browser.site import Site
from tests.browser.test_hearing import settled, sound
from tests.browser.test_interventions import fits, shot


def fork(page: Page, run: str) -> str:
    """Fork the run that the page shows with another number of norms, and wait for the verdict."""
    page.locator(".st-key-do-fork button").first.click()
    expect(page.get_by_text(re.compile("Nothing is changed yet"))).to_be_visible()
    page.get_by_text("A fork of run", exact=False).wait_for()
    knob = page.get_by_role("spinbutton", name="Norms a juror is given (K)")
    knob.fill("1")
    knob.press("Enter")
    page.get_by_text("norms: 3 → 1").wait_for()
    settled(page)
    page.get_by_role("button", name="Start", exact=True).click()
    expect(page.get_by_text("Grounds", exact=True)).to_be_visible()
    found = re.search(r"run=([\w-]+)", page.url)
    assert found
    assert found[1] != run
    return found[1]


def test_a_fork_and_a_run_under_way_are_compared_and_followed(site: Site, page: Page, other: Page) -> None:
    """From the fork's page, and by an address that somebody else opens."""
    run, begun = site.runs["usual"], site.runs["begun"]
    page.goto(site.run("usual"))
    forked = fork(page, run)
    page.get_by_role("button", name=re.compile("Compare with its parent")).click()
    expect(page.get_by_text("They part at", exact=False)).to_be_visible()
    expect(page.get_by_text("What differs").first).to_be_visible()
    shot(page, "compare")
    page.get_by_role("button", name="Share").click()
    address = page.get_by_test_id("stCode").inner_text().strip()
    assert address == f"{site.url}/compare?runs={run},{forked}"
    other.goto(address)
    expect(other.get_by_text("What differs").first).to_be_visible()
    fits(other)
    other.goto(address.replace(forked, begun))
    expect(other.get_by_text("so far, in Evidence")).to_be_visible()
    page.goto(site.run("begun"))
    expect(page.get_by_text("Paused before Precedents")).to_have_count(1)
    settled(page)
    page.locator(".st-key-do-step button").first.click()
    expect(other.get_by_text("so far, in Precedents")).to_be_visible()
    sound(other)
