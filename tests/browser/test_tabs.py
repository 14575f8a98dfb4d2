"""The tabs below the room in a real browser: a click draws what is below anew, and nothing else."""

from __future__ import annotations

from playwright.sync_api import Browser, expect

from tests.browser.test_hearing import heard, opened, settled, tab


def test_a_click_on_a_tab_sends_what_is_below_the_room_and_not_the_room_itself(app: str, browser: Browser) -> None:
    page = opened(browser, app)
    sent: list[int] = []
    page.on("websocket", lambda socket: socket.on("framereceived", lambda frame: sent.append(len(frame))))
    heard(page)
    page.reload()  # over a socket of which all is noted
    expect(page.locator(".members .chain")).to_have_count(17)
    settled(page)
    room = max(sent)
    for name in ("Votes", "Summary", "Evidence", "Members"):
        sent.clear()
        tab(page, name)
        settled(page)
        if name == "Votes":
            expect(page.locator(".votes .line").first).to_be_visible()
        assert sum(sent) < room, "the room was sent again"
    page.locator(".members .chain").first.click()
    expect(page.get_by_role("button", name="All members")).to_be_visible()
    page.get_by_role("button", name="All members").click()
    expect(page.locator(".members .chain")).to_have_count(17)
    page.close()
