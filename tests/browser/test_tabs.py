"""The tabs below the room in a real browser: a click draws what is below anew, and nothing else, and shows it at once."""

from playwright.sync_api import Browser, expect

from tests.browser.test_hearing import opened, settled, tab


def test_a_click_on_a_tab_sends_what_is_below_the_room_and_not_the_room_itself(
    app: str, run: str, browser: Browser
) -> None:
    page = opened(browser, app)
    sent: list[int] = []
    page.on("websocket", lambda socket: socket.on("framereceived", lambda frame: sent.append(len(frame))))
    page.goto(f"{app}/deliberation?run={run}")  # over a socket of which all is noted
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


def test_the_other_tabs_of_a_run_at_rest_are_there_before_they_are_clicked(
    app: str, run: str, browser: Browser
) -> None:
    page = opened(browser, f"{app}/deliberation?run={run}")
    expect(page.locator(".members .chain").first).to_be_visible()
    below = page.locator(".st-key-below")
    expect(below.get_by_test_id("stDataFrame").locator("canvas").first).to_be_attached()
    expect(below.locator(".js-plotly-plot .main-svg").first).to_be_attached()
    settled(page)
    panes = below.locator("[class*='st-key-pane-']")
    assert panes.count() == 7
    assert panes.filter(visible=True).count() == 1
    page.evaluate("WebSocket.prototype.send = () => {}")  # from here on the server hears of nothing
    for name, drawn in (("Votes", ".votes .line"), ("Follow-graph", ".main-svg"), ("Calls", "canvas")):
        tab(page, name)
        shown = panes.filter(visible=True)
        expect(shown).to_have_count(1)
        expect(shown.locator(drawn).first).to_be_visible()
        box, whole = shown.bounding_box(), below.bounding_box()
        assert box
        assert whole
        assert (box["x"], box["width"]) == (whole["x"], whole["width"])
        assert box["y"] - whole["y"] < 200, "nothing stands between the tabs and what they show"
    below.locator(".st-key-pane-6").evaluate("pane => pane.remove()")
    tab(page, "Evidence")  # as where it is not drawn yet
    expect(panes.filter(visible=True).locator("canvas").first).to_be_visible()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.checkVisibility({ visibilityProperty: true })")
    page.close()
