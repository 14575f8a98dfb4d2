"""Steering in a real browser: a run in round 2, overruled, told, undone; a seat taken from elsewhere; an audience on phones; a notice."""

import re
from contextlib import closing
from pathlib import Path

from playwright.sync_api import Browser, Page, expect

from courtroom import Courthouse, Settings
from tests.browser.site import Site
from tests.browser.test_hearing import settled, sound
from tests.test_bell import new_run


def intervene(page: Page, way: str) -> None:
    """Open one of the ways to intervene."""
    settled(page)
    if not page.get_by_text("Your name", exact=True).first.is_visible():
        page.get_by_text("Intervene", exact=True).click()
    choice = page.get_by_role("radio", name=way, exact=True)
    choice.click()
    settled(page)
    if not choice.is_checked():  # a page that was just being drawn anew takes no click
        choice.click()
    expect(choice).to_be_checked()
    settled(page)


def test_a_person_steers_and_sits(site: Site, page: Page, other: Page) -> None:
    page.emulate_media(color_scheme="dark")
    page.goto(site.run("in round 2"))
    expect(page.get_by_text(re.compile("✓ Round 2"))).to_be_visible()
    expect(page.locator(".st-key-do-step button").first).to_be_enabled()

    intervene(page, "Overrule")
    page.get_by_label("Your name").first.fill("Ada")
    page.get_by_label("Your name").first.press("Enter")
    settled(page)
    form = page.get_by_test_id("stForm").filter(has=page.get_by_role("button", name="Overrule"))
    if form.get_by_role("radio", checked=True).count():  # a juror's vote; the clerk's summary has no choice
        form.get_by_test_id("stRadio").locator("label").last.click()
    form.get_by_role("textbox").first.fill("The chair has looked at the table itself.")
    form.get_by_role("button", name="Overrule").click()
    expect(page.get_by_text("What persons did")).to_be_visible()
    expect(page.get_by_text(re.compile("takes effect when the run goes on"))).to_be_visible()
    sound(page)

    intervene(page, "Note")
    page.get_by_label("Note to all").fill("Speak plainly.")
    page.get_by_role("button", name="Tell all").click()
    expect(page.get_by_text(re.compile("gave all a note")).first).to_be_visible()
    settled(page)
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text(re.compile("gave all a note"))).to_have_count(0)

    intervene(page, "Seats")
    page.get_by_role("button", name="Give the seat to a person").click()
    address = page.get_by_test_id("stCode").filter(has_text="?seat=").first.inner_text().strip()
    assert address.startswith(site.url)
    settled(page)
    page.locator(".st-key-do-step button").first.click()

    other.goto(address)
    expect(other.get_by_text("Your answer")).to_be_visible()
    expect(other.get_by_text("JSON")).to_have_count(0)  # a person has the fields of a form in its place
    sound(other)
    assert other.get_by_role("link", name="Runs").count() == 0
    assert site.runs["in round 2"] not in other.content()
    other.get_by_test_id("stForm").get_by_text("buyer", exact=True).click()
    other.get_by_test_id("stForm").get_by_role("textbox").first.fill("I sit here in person.")
    other.get_by_role("button", name="Give this answer").click()
    expect(other.get_by_text("You are not asked for anything now")).to_be_visible()
    expect(page.get_by_text(re.compile("✓ Round 3")).first).to_be_visible()

    settled(page)
    page.locator(".st-key-do-run button").first.click()
    expect(page.get_by_text("What would change this verdict?").first).to_be_visible()


NASTY = "<img src=x onerror=alert(1)> **bold** $x^2$ [link](http://evil.example)"


def test_an_audience_votes_on_phones_and_its_best_argument_is_put_in(site: Site, page: Page, other: Page) -> None:
    run = site.runs["heard by an audience"]
    page.set_viewport_size({"width": 1440, "height": 900})
    page.goto(site.run("heard by an audience"))
    page.get_by_role("button", name="Invite an audience").wait_for()
    settled(page)
    page.get_by_role("button", name="Invite an audience").click()
    room = page.locator(".st-key-audience")
    expect(room.get_by_text("Open now: ")).to_be_visible()
    settled(page)
    link = room.get_by_test_id("stCode").inner_text().strip()
    assert link.startswith(f"{site.url}/?audience=")

    ada, ben = page.context.new_page(), other
    ben.emulate_media(color_scheme="dark")
    for one in (ada, ben):
        one.set_viewport_size({"width": 390, "height": 844})
        one.goto(link)
        expect(one.get_by_role("button", name="■ seller")).to_be_enabled()
        settled(one)
    ada.get_by_role("button", name="■ seller").click()
    expect(ada.get_by_text(re.compile("You voted (■ )?seller", re.IGNORECASE))).to_be_visible()
    ada.get_by_label("Why? Your argument").fill(NASTY)
    ada.get_by_role("button", name="Send my argument").click()
    ben.get_by_role("button", name="● buyer").click()
    expect(ben.get_by_text("You voted")).to_be_visible()
    expect(ben.get_by_text(NASTY)).to_be_visible()
    ben.get_by_role("button", name="It convinces me").first.click()
    ada.reload()
    expect(ada.get_by_text("You voted")).to_be_visible()  # the same phone
    for one in (ada, ben):
        sound(one)
        assert run not in one.content()
        assert one.locator("a[href]:not([href^='#'])").count() == 0  # but for those of headings

    expect(room.get_by_text("2 have voted")).to_be_visible()
    expect(room.get_by_text(NASTY)).to_be_visible()
    settled(page)
    room.get_by_role("button", name="Open the next round").click()
    expect(ben.get_by_text("What was said")).to_be_visible()
    expect(ben.get_by_text("The votes so far")).to_be_visible()
    for one in (ben, page):
        settled(one)
        sound(one)
    room.get_by_role("button", name="Put it in as a note").first.click()
    expect(room.get_by_text(re.compile("to be asked"))).to_be_visible()
    settled(page)
    room.get_by_role("button", name="Fork with this note, and compare").click()
    expect(page.get_by_text("What differs").first).to_be_visible()
    ada.close()


def test_the_browser_tells_that_a_run_waits_and_stops(site: Site, browser: Browser) -> None:
    with closing(Courthouse(Settings(home=site.home))) as house:
        run = new_run(house, members={"juror-01": {"id": "person"}})
    with browser.new_context(reduced_motion="reduce") as context:
        context.add_init_script(path=Path(__file__).parent / "notices.js")
        page = context.new_page()
        page.goto(f"{site.url}/deliberation?run={run}")
        button = page.locator("button.bell")
        expect(button).to_have_text("Notify me", timeout=120_000)
        button.click()
        expect(button).to_have_text("You will be notified")
        assert page.evaluate("window.told") == []
        page.locator(".st-key-do-run button").first.click()
        page.wait_for_function("window.told.length > 0")
        assert page.evaluate("window.told") == [["The fire at the boatyard", "waits for a seat"]]
        page.locator(".st-key-do-stop button").first.click()
        page.wait_for_function("window.told.length > 1")
        assert page.evaluate("window.told[1]") == ["The fire at the boatyard", "paused"]
        button.click()
        expect(button).to_have_attribute("aria-pressed", "false")
