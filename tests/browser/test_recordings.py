"""The first minute: a recorded hearing is played, what would change it is asked, a recorded fork stands beside it."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from courtroom.engine.run import ABOUT_RECORDINGS, RECORDING
from courtroom.room.player import program, style
from courtroom.room.scene import places
from tests.app_server import forked_app
from tests.test_recordings import Studio, studio

__all__ = ["studio"]  # a fixture
NOTICE = ABOUT_RECORDINGS[RECORDING]


def test_a_recording_is_played_and_its_forks_are_compared(studio: Studio, page: Page, tmp_path: Path) -> None:
    with forked_app(tmp_path / "home", {"COURTROOM_RECORDINGS": str(studio.folder)}) as app:
        page.goto(app.url)
        expect(page.get_by_text(NOTICE)).to_be_visible()
        page.get_by_role("button", name="Watch this hearing").click()
        expect(page.locator(".room .seat.lit").first).to_be_visible()  # it plays by itself
        expect(page.get_by_label("Speed", exact=True)).to_have_value("1")  # to read all would take far longer
        expect(page.get_by_text(NOTICE).first).to_be_visible()
        page.get_by_role("button", name="What would change this verdict?").click()
        expect(page.get_by_text("Recorded with this hearing:")).to_be_visible()
        page.get_by_role("button", name="Compare", exact=True).first.click()
        expect(page.get_by_role("heading", name="Compare")).to_be_visible()
        expect(page.get_by_text(NOTICE)).to_have_count(2)
        page.goto(f"{app.url}/setup?fork={studio.runs[0]}")
        expect(page.get_by_text("Who answers what is asked anew?")).to_be_visible()
        page.goto(f"{app.url}/runs")
        expect(page.get_by_text(NOTICE).first).to_be_visible()


LONG = "Seven pieces were read, and each was weighed against what the listing said. " * 12
"""More than any bubble holds."""
JURY = [f"juror-{number:02d}" for number in range(1, 10)]
PLACED = places("ring", JURY, ["clerk", "examiner"])
SIDES = [
    {"name": "buyer", "title": "Buyer", "mark": "●", "symbol": "circle", "light": "#0070aa", "dark": "#4db5ee"},
    {"name": "seller", "title": "Seller", "mark": "■", "symbol": "square", "light": "#b54f00", "dark": "#f58d3d"},
]
SCENE = {
    "run": "a-run", "title": "A case", "procedure": "CyberJurors", "status": "done", "seating": "ring", "carries": True,
    "above": 0.8, "rule": "most", "sides": SIDES, "ballots": {"round-1": "Round 1"}, "ended": ["round-1"],
    "seats": [
        {"id": name, "name": f"Juror {name[-2:]}", "role": "Juror", "votes": name in JURY, "model": "m", "place": place}
        for name, place in PLACED.items()
    ],
    "moments": [
        {"kind": "stage", "path": "round-1", "stage": "round-1", "title": "Round 1"},
        *({"kind": "vote", "stage": "round-1", "ballot": "round-1", "member": name, "choice": "seller"} for name in JURY),
        {"kind": "call", "path": "round-1/juror-01", "stage": "round-1", "title": "Verdict", "member": "juror-01",
         "parts": [{"label": "Reasoning", "text": LONG}]},
    ],
}  # fmt: skip
CLEAR = """(words) => words.map((one) => [one.textContent, one.getBoundingClientRect()]).filter(([text, box]) => text && box.width)
  .filter(([, box]) => { const said = document.querySelector(".speech").getBoundingClientRect();
    return box.right > said.left && box.left < said.right && box.bottom > said.top && box.top < said.bottom; }).length"""


@pytest.mark.parametrize("size", [(360, 780), (1920, 1080)], ids=lambda size: f"{size[0]} px")
def test_a_long_statement_is_read_whole_in_the_room(page: Page, size: tuple[int, int]) -> None:
    page.set_viewport_size({"width": size[0], "height": size[1]})
    page.set_content(f"<style>{style()}</style><div id=room></div><script>{program()}</script>")
    page.evaluate("(scene) => mountRoom(document.getElementById('room')).update(scene)", SCENE)
    spoken = page.locator(".room .line-said.now .part-text")
    expect(spoken).to_contain_text(LONG.strip())
    speech = page.locator(".room .speech")
    expect(speech).to_have_attribute("style", re.compile("max-height"))
    for words in (spoken, speech.locator(".speech-text")):
        assert words.evaluate(
            "(e) => e.scrollHeight <= e.clientHeight + 1 && getComputedStyle(e).webkitLineClamp === 'none'"
        )
    is_longer = speech.evaluate("(e) => e.scrollHeight > e.clientHeight + 2")
    assert ("longer" in (speech.get_attribute("class") or "")) == is_longer, "it says that there is more"
    assert is_longer or size[0] > 1366
    speech.evaluate("(e) => e.scrollTo(0, e.scrollHeight)")
    assert speech.evaluate("(e) => e.scrollTop > 0") == is_longer, "the rest of it is read in place"
    assert page.locator(".room .seat .word").evaluate_all(CLEAR) == 0, "no vote lies under what is said"


def shown_room(page: Page, scene: dict[str, object], then: str = "") -> None:
    """A room at the end of a scene."""
    page.set_content(f"<style>{style()}</style><div id=room></div><script>{program()}</script>")
    page.evaluate(
        f"(scene) => {{ const room = mountRoom(document.getElementById('room')); room.update({then or 'scene'}); }}",
        scene,
    )


def test_a_statement_stands_as_long_as_it_takes_to_read(browser: Browser) -> None:
    page = browser.new_page()  # of its own, as its clock stands still
    page.clock.install(time=0)
    page.clock.pause_at(1)  # on a busy machine the seconds that a test takes would be played too
    shown_room(
        page,
        {**SCENE, "moments": [*SCENE["moments"][:1], SCENE["moments"][-1], *SCENE["moments"][:1]]},
        "scene, null, true",
    )  # type: ignore[index]
    told = page.locator(".room .told")
    page.get_by_label("Speed", exact=True).select_option("read")
    page.clock.run_for(15_000)
    expect(told).to_have_text("2 of 3")
    page.get_by_title("To the end").click()
    expect(told).to_have_text("3 of 3")
    page.context.close()


def vote(stage: str, member: str, choice: str) -> dict[str, str]:
    return {"kind": "vote", "stage": stage, "ballot": stage, "member": member, "choice": choice}


def test_the_tally_says_what_the_seats_show(page: Page) -> None:
    again = [
        {"kind": "stage", "path": "round-2", "stage": "round-2", "title": "Round 2"},
        vote("round-2", "juror-01", "buyer"),
    ]
    shown_room(page, {**SCENE, "moments": [*SCENE["moments"], *again]})  # type: ignore[misc]
    expect(page.locator(".room .tally .count strong")).to_have_text(["1", "8"])
    expect(page.locator(".room .tally-told")).to_contain_text("8 still to vote, shown as they voted before")
    expect(page.locator(".room .seat .word").filter(has_text="Seller")).to_have_count(8)


def test_in_the_first_round_nobody_has_voted_before(page: Page) -> None:
    shown_room(page, {**SCENE, "moments": SCENE["moments"][:2]})  # type: ignore[index]
    expect(page.locator(".room .tally-told")).to_have_text("Round 1 · 8 still to vote")


def test_a_vote_stays_at_its_seat_while_others_speak_on(page: Page) -> None:
    ended = {"outcome": "Buyer", "note": "The chair departs.", "counts": {"buyer": 0, "seller": 9}, "summary": "So."}
    moments = [
        *SCENE["moments"][:10],  # type: ignore[index]
        {"kind": "tally", "stage": "round-1", "ballot": "round-1", "counts": ended["counts"]},
        {"kind": "stage", "path": "end", "stage": "end", "title": "Conclusion"},
        {"kind": "verdict"},
    ]
    seats = [*SCENE["seats"], {"id": "zh", "name": "书记员", "role": "书记员", "place": (50, 60)}]  # type: ignore[misc]
    shown_room(page, {**SCENE, "carries": False, "moments": moments, "verdict": ended, "seats": seats})
    expect(page.locator(".room .seat.voted")).to_have_count(9)
    expect(page.locator(".room .speech")).to_contain_text("The chair departs.")
    expect(page.locator(".room .initials[data-short=书记]")).to_have_count(1)
