"""The room in a real browser: done and running, at every width, by mouse and by keyboard, and in the report."""

import re
from contextlib import closing
from dataclasses import replace

from playwright.sync_api import Browser, Page, expect

from courtroom import Courthouse, Record, Settings, report
from courtroom.engine.events import Event, Voted
from tests.browser.site import Site
from tests.browser.test_hearing import Theme, sound, themed

SIZES = {"desk": (1440, 900), "tablet": (1024, 768), "phone": (390, 844)}
CUT_OFF = """figures => figures.filter(figure => {
  const floor = figure.closest('.room').querySelector('.floor').getBoundingClientRect(), box = figure.getBoundingClientRect();
  return box.left < floor.left - 1 || box.top < floor.top - 1 || box.right > floor.right + 1 || box.bottom > floor.bottom + 1;
}).length"""
"""How many figures are not wholly within the room's floor."""
PARTLY = """() => {
  const whole = JSON.parse(document.getElementById("scene").textContent), host = document.createElement("div");
  document.body.replaceChildren(host);
  const verdict = { ...whole.verdict, turnout: ["16 of 17 voted.", "1 abstained."] };
  mountRoom(host).update({ ...whole, run: "partly", verdict });
}"""
"""Shows the run of a report as one of which somebody is missing."""


def divided(record: Record) -> Record:
    """The same run with 9, 12 and 15 of 17 for the buyer in its three rounds."""
    ballots = list(record.ballots)
    assert len(ballots) == 3

    def vote(event: Event) -> Event:
        if not isinstance(event, Voted):
            return event
        seat, ballot = int(event.member.rpartition("-")[2]), ballots.index(event.ballot)
        return event.model_copy(update={"choice": "buyer" if seat <= 9 + 3 * ballot else "seller"})

    return replace(record, events=tuple((at, vote(event)) for at, event in record.events))


def seated(page: Page, site: Site, procedure: str) -> None:
    """Every seat is in the room, nothing is cut off at any width; dark on the tablet where the jury is largest."""
    for size, (width, height) in SIZES.items():
        page.set_viewport_size({"width": width, "height": height})
        if size == "desk":
            page.goto(site.run(procedure))
            expect(page.locator(".room .seat").first).to_be_visible()
        theme: Theme = "dark" if (size, procedure) == ("tablet", "cyberjurors") else "light"
        page.emulate_media(color_scheme=theme)
        themed(page, theme)
        assert not page.locator(".room .seat .figure").evaluate_all(CUT_OFF), size
        sound(page)
        if size == "desk":
            box = page.locator(".room").bounding_box()
            assert box["y"] + box["height"] <= height, "the room stands on one screen"
    page.set_viewport_size({"width": 1440, "height": 900})


def test_while_answers_stream_in_nothing_is_lost(site: Site, page: Page) -> None:
    """There are sentences, and what was chosen stays when all are in."""
    page.goto(site.run("slow"))
    expect(page.locator(".room .seat").first).to_be_visible()
    page.locator(".room").evaluate("e => { e.marked = 'the same'; }")
    page.locator(".st-key-do-run button").first.click()
    live = page.locator(".room .line-said.live")
    expect(live.first).to_contain_text(re.compile("what was said about it|claim"))
    assert "{" not in "".join(live.all_inner_texts())
    expect(page.locator(".room .seat.lit").first).to_be_visible()
    page.get_by_label("Whose words").select_option(label="Clerk")
    page.locator(".room .seat").first.click()
    name = page.locator(".room .drawer h3").inner_text()
    site.half.set()
    expect(page.get_by_text("Grounds", exact=True)).to_be_visible(timeout=120_000)
    expect(page.locator(".room .speech.verdict")).to_be_visible()
    assert page.locator(".room").evaluate("e => e.marked") == "the same"
    expect(page.locator(".room .drawer h3")).to_have_text(name)
    page.keyboard.press("Escape")
    expect(page.get_by_label("Whose words")).to_have_value("clerk")


def test_judges_are_in_the_room_which_the_keyboard_moves(site: Site, page: Page) -> None:
    """A run is stepped and played, a seat opened and closed."""
    seated(page, site, "courtroom-llm")
    told, track = page.locator(".room .told"), page.get_by_label("Moment of the run")
    last = told.inner_text()
    track.focus()
    page.keyboard.press("ArrowLeft")
    expect(told).not_to_have_text(last)
    expect(page.locator(".room .speech.verdict")).to_have_count(0)
    page.get_by_role("button", name="Go to Arguments").click()
    page.keyboard.press("ArrowRight")
    expect(page.locator(".room .offer")).to_have_count(1)
    page.get_by_label("Speed").select_option("16")
    page.get_by_role("button", name="Play", exact=True).click()
    expect(told).to_have_text(last)
    seat = page.get_by_role("button", name=re.compile(r"^Judge 2 .*, Judge"))
    page.keyboard.press("Tab")  # focus is shown to who uses the keyboard
    seat.focus()
    assert seat.evaluate("one => getComputedStyle(one).outlineStyle") == "solid", "focus is visible"
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Judge 2")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator(".room .drawer")).to_be_hidden()
    expect(seat).to_be_focused()
    track.focus()
    page.keyboard.press("Home")
    expect(page.locator(".room .timeline")).to_contain_text("1 of ")


def test_a_jury_is_in_the_room_and_a_line_leads_to_its_call(site: Site, page: Page) -> None:
    """And so are candidates with a jury in rows."""
    seated(page, site, "juris")
    seated(page, site, "cyberjurors")
    page.get_by_role("button", name=re.compile("Open the call of Clerk")).last.click()
    expect(page.get_by_role("button", name="All calls")).to_be_visible()
    expect(page.get_by_role("heading", name="Round 3 · Clerk · Collective summary")).to_be_visible()


def test_the_report_recounts_from_disk_and_asks_for_nothing(site: Site, browser: Browser) -> None:
    written = site.home / "report.html"
    with closing(Courthouse(Settings(home=site.home))) as house:
        record = divided(house.record(site.runs["cyberjurors"]))
        written.write_text(report.as_html(record, house.procedures["cyberjurors"], house.answers, house.media))
    assert written.stat().st_size < 3_000_000
    page = browser.new_context(offline=True, viewport={"width": 1440, "height": 900}).new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(written.as_uri())
    expect(page.locator(".room .seat")).to_have_count(19)  # 17 jurors, clerk and examiner
    page.get_by_role("button", name="Recount").click()
    result = page.locator(".recounted")
    expect(result).to_contain_text("Recounted, not re-deliberated")
    outcome = result.locator(".recounted-outcome")
    expect(result).to_contain_text("Round 3 · Buyer 15, Seller 2")
    page.get_by_label("Vote rule").select_option("all")
    expect(outcome).to_have_text("No decision")
    page.get_by_label("Vote rule").select_option("most")
    boxes = page.locator(".room .check input").all()
    for box in boxes[:13]:
        box.uncheck()
    expect(result).to_contain_text("Buyer 2, Seller 2")
    expect(outcome).to_have_text("● Buyer")
    page.get_by_label("A tie goes to").select_option("")
    expect(outcome).to_have_text("No decision")
    boxes[13].uncheck()
    expect(outcome).to_have_text("■ Seller")
    page.evaluate(PARTLY)
    page.get_by_label("Moment of the run").press("End")
    expect(page.locator(".room .speech.verdict")).to_contain_text("16 of 17 voted.  ·  1 abstained.")
    assert [url for url in asked if not url.startswith("data:")] == [written.as_uri()]
    page.close()
