"""Steering in a real browser: pause in round 2, overrule, undo, fork, compare, share, and a seat taken from elsewhere."""

import os
import re
from contextlib import suppress
from pathlib import Path

from playwright.sync_api import Browser, Page, expect

from tests.browser.test_hearing import settled

WAIT_MS = 120_000


def shot(page: Page, name: str) -> None:
    """A picture of the page, where somebody wants to look at it."""
    if folder := os.environ.get("COURTROOM_SHOTS"):
        page.screenshot(path=Path(folder) / f"{name}.png", full_page=True)


def fits(page: Page) -> None:
    """Nothing is wider than the window, and nothing went wrong."""
    main = "document.querySelector('[data-testid=stMain]')"
    assert page.evaluate(f"{main}.scrollWidth - {main}.clientWidth") <= 0
    assert page.get_by_test_id("stException").count() == 0


def paused_in_round_two(page: Page, app: str) -> str:
    """A hearing that waits after round 1's end and before round 2's; its run id."""
    page.goto(app)
    page.locator(".st-key-hear-oak-table button").click(timeout=WAIT_MS)
    page.get_by_role("slider", name="Consensus").press("End")  # so that there are three rounds
    expect(page.get_by_text("Default: 0.8")).to_be_visible(timeout=WAIT_MS)
    settled(page)
    page.get_by_role("button", name="Start step by step").click(timeout=WAIT_MS)
    expect(page.get_by_text("✓ Evidence")).to_be_visible(timeout=WAIT_MS)
    for name in ("Precedents", "Round 1", "Round 2"):
        step(page, name)
    expect(page.locator(".st-key-do-step button").first).to_be_enabled(timeout=WAIT_MS)
    found = re.search(r"run=([\w-]+)", page.url)
    assert found
    return found.group(1)


def step(page: Page, name: str) -> None:
    """Step until a stage is done."""
    button = page.locator(".st-key-do-step button").first
    expect(button).to_be_enabled(timeout=WAIT_MS)
    settled(page)
    button.click()
    done = page.get_by_text(re.compile(f"✓ {name}"))
    with suppress(AssertionError):
        expect(done).to_be_visible(timeout=WAIT_MS / 4)
    if not done.is_visible() and button.is_enabled():
        button.click()  # the page was drawn anew under the first click
    expect(done).to_be_visible(timeout=WAIT_MS)


def intervene(page: Page, way: str) -> None:
    """Open one of the ways to intervene."""
    settled(page)
    if not page.get_by_text("Your name", exact=True).is_visible():
        page.get_by_text("Intervene", exact=True).click()
    choice = page.get_by_role("radio", name=way, exact=True)
    choice.click(timeout=WAIT_MS)
    settled(page)
    if not choice.is_checked():  # a page that was just being drawn anew takes no click
        choice.click(timeout=WAIT_MS)
    expect(choice).to_be_checked()
    settled(page)


def test_a_person_steers_forks_compares_shares_and_sits(app: str, browser: Browser) -> None:
    first = browser.new_context(color_scheme="dark", viewport={"width": 1280, "height": 900})
    page = first.new_page()
    page.set_default_timeout(WAIT_MS)
    run = paused_in_round_two(page, app)

    intervene(page, "Overrule")
    page.get_by_label("Your name").fill("Ada")
    page.get_by_label("Your name").press("Enter")
    settled(page)
    form = page.get_by_test_id("stForm").last
    chosen = form.get_by_role("radio", checked=True)
    shot(page, "steer-overrule")
    if chosen.count():  # a juror's vote; the clerk's summary has no choice
        form.get_by_test_id("stRadio").locator("label").last.click()
    form.get_by_role("textbox").first.fill("The chair has looked at the table itself.")
    form.get_by_role("button", name="Overrule").click()
    expect(page.get_by_text("What persons did")).to_be_visible()
    expect(page.get_by_text(re.compile("takes effect when the run goes on"))).to_be_visible()
    shot(page, "steer-listed")
    fits(page)

    intervene(page, "Note")
    page.get_by_label("Note to all").fill("Speak plainly.")
    page.get_by_role("button", name="Tell all").click()
    expect(page.get_by_text(re.compile("gave all a note")).first).to_be_visible()
    settled(page)
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text(re.compile("gave all a note"))).to_have_count(0)

    intervene(page, "Seats")
    page.get_by_role("button", name="Give the seat to a person").click()
    link = page.get_by_test_id("stCode").filter(has_text="?seat=").first
    expect(link).to_be_visible()
    address = link.inner_text().strip()
    assert address.startswith(app)
    settled(page)
    page.locator(".st-key-do-step button").first.click()

    third = browser.new_context(color_scheme="light", viewport={"width": 1280, "height": 900})
    seat = third.new_page()
    seat.set_default_timeout(WAIT_MS)
    seat.goto(address)
    expect(seat.get_by_text("Your answer")).to_be_visible()
    expect(seat.get_by_text("JSON")).to_have_count(0)  # a person has the fields of a form in its place
    shot(seat, "seat")
    fits(seat)
    assert seat.get_by_role("link", name="Runs").count() == 0
    assert run not in seat.content()
    seat.get_by_test_id("stForm").get_by_text("buyer", exact=True).click()
    seat.get_by_test_id("stForm").get_by_role("textbox").first.fill("I sit here in person.")
    seat.get_by_role("button", name="Give this answer").click()
    expect(seat.get_by_text("You are not asked for anything now")).to_be_visible()
    expect(page.get_by_text(re.compile("✓ Round 3")).first).to_be_visible()

    settled(page)
    page.locator(".st-key-do-run button").first.click()
    expect(page.get_by_text("What would change this verdict?").first).to_be_visible()
    settled(page)
    shot(page, "steered")
    page.locator(".st-key-do-fork button").first.click()
    expect(page.get_by_text(re.compile("Nothing is changed yet"))).to_be_visible()
    settled(page)
    page.get_by_role("button", name="Start", exact=True).click()
    expect(page.get_by_role("button", name="Compare with its parent")).to_be_visible()
    expect(page.get_by_text("What would change this verdict?").first).to_be_visible()
    settled(page)
    page.get_by_role("button", name="Compare with its parent").click()
    expect(page.get_by_text("What differs").first).to_be_visible()
    settled(page)
    shot(page, "compare")

    second = browser.new_context(color_scheme="light")
    shared = second.new_page()
    shared.set_default_timeout(WAIT_MS)
    shared.goto(page.url)
    expect(shared.get_by_text("What differs").first).to_be_visible()
    fits(shared)
    for context in (first, second, third):
        context.close()
