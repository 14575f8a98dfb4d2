"""An audience in a real browser: a presenter at a desk and two phones, one of them dark."""

import re

from playwright.sync_api import Page, expect

from tests.browser.site import Site
from tests.browser.test_hearing import settled, sound

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
