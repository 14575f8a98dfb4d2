"""Recorded hearings: played, asked what would change them, compared with their forks; and what is said in them is read whole on every screen."""

import json
import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from courtroom import Courthouse, Settings, report
from courtroom.engine.run import ABOUT_RECORDINGS, RECORDING
from courtroom.room.player import program, static
from courtroom.room.scene import places, scene
from tests.app_server import forked_app
from tests.browser.site import Site
from tests.browser.test_hearing import settled, tab
from tests.pages import ROOT
from tests.test_recordings import Studio, studio

__all__ = ["studio"]  # a fixture
NOTICE = ABOUT_RECORDINGS[RECORDING]


def test_a_recording_is_played_and_its_forks_are_compared(studio: Studio, page: Page, tmp_path: Path) -> None:
    with forked_app(tmp_path / "home", {"COURTROOM_RECORDINGS": str(studio.folder)}, path="/court") as app:
        assert app.url.endswith("/court")
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


SCENE: dict[str, Any] = json.loads((ROOT / "tests/inputs/scene.json").read_text(encoding="utf-8"))
"""Nine jurors have voted; the first says more than any bubble holds."""
PLACED = places("ring", [seat["id"] for seat in SCENE["seats"] if seat["votes"]], ["clerk", "examiner"])
SCENE["seats"] = [{**seat, "place": PLACED[seat["id"]]} for seat in SCENE["seats"]]


def shown_room(page: Page, scene: dict[str, object]) -> None:
    """A room at the end of a scene."""
    page.set_content(f"<style>{static('room.css')}</style><div id=room></div><script>{program()}</script>")
    page.evaluate("(scene) => mountRoom(document.getElementById('room')).update(scene)", scene)


def test_a_long_statement_is_read_whole_in_the_room_on_a_phone(page: Page) -> None:
    page.set_viewport_size({"width": 360, "height": 780})
    shown_room(page, SCENE)
    spoken = page.locator(".room .line-said.now .part-text")
    expect(spoken).to_contain_text(SCENE["moments"][-1]["parts"][0]["text"].strip())
    speech = page.locator(".room .speech")
    expect(speech).to_have_attribute("style", re.compile("max-height"))
    for words in (spoken, speech.locator(".speech-text")):
        assert words.evaluate(
            "(e) => e.scrollHeight <= e.clientHeight + 1 && getComputedStyle(e).webkitLineClamp === 'none'"
        )
    expect(speech).to_have_class(re.compile("longer"))  # it says that there is more
    speech.evaluate("(e) => e.scrollTo(0, e.scrollHeight)")
    assert speech.evaluate("(e) => e.scrollTop > 0"), "the rest of it is read in place"


def test_the_tally_says_what_the_seats_show(page: Page) -> None:
    shown_room(page, {**SCENE, "moments": SCENE["moments"][:2]})
    expect(page.locator(".room .tally-told")).to_have_text("Round 1 · 8 still to vote")
    again = [
        {"kind": "stage", "path": "round-2", "stage": "round-2", "title": "Round 2"},
        {"kind": "vote", "stage": "round-2", "ballot": "round-2", "member": "juror-01", "choice": "buyer"},
    ]
    shown_room(page, {**SCENE, "moments": [*SCENE["moments"], *again]})
    expect(page.locator(".room .tally .count strong")).to_have_text(["1", "8"])
    expect(page.locator(".room .tally-told")).to_contain_text("8 still to vote, shown as they voted before")
    expect(page.locator(".room .seat .word").filter(has_text="Seller")).to_have_count(8)


PHONE = {"width": 360, "height": 800}
DESK = {"width": 1366, "height": 800}
LOOKS = (ROOT / "tests/browser/prose.js").read_text()
CUT, PLAYED = (f"given => {{ {LOOKS} return {name}(given); }}" for name in ("cut", "played"))


@pytest.fixture(scope="module")
def house(site: Site) -> Iterator[Courthouse]:
    """Another process on the store of the app: what is taken in here is there."""
    with closing(Courthouse(Settings(home=site.home))) as house:
        yield house


def test_all_that_is_said_is_read_whole_in_room_and_report(house: Courthouse, page: Page, tmp_path: Path) -> None:
    """In the room on a phone and where it is presented, and in a report on a phone."""
    for hearing in house.recordings.hearings:
        record = house.record(house.files.play(hearing))
        procedure, title = house.procedures[record.run.procedure], record.run.title
        page.goto("about:blank")  # else the policy of the report before would hold
        page.set_content(f"<style>{static('room.css')}</style><div id=room></div><script>{program()}</script>")
        played = scene(record, procedure.about(record.case)).model_dump(mode="json")
        for size, present in ((DESK, True), (PHONE, False)):
            page.set_viewport_size(size)
            assert not page.evaluate(PLAYED, [played, present]), title
        path = tmp_path / f"{record.run.id}.html"
        path.write_text(report.as_html(record, procedure, house.answers, house.media))
        page.goto(path.as_uri())
        page.evaluate("() => document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        assert not page.locator("td, .inert, dd, .line-said .part-text").evaluate_all(CUT), title
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth + 1"), title


def test_tabs_and_comparison_show_long_words_whole_on_a_phone(site: Site, house: Courthouse, page: Page) -> None:
    family = [recording for recording in house.recordings if recording.family == "vacuum-charging"]
    run, *forks = [house.files.play(recording) for recording in family]
    record = house.record(run)
    last = record.ballots[list(record.ballots)[-1]]
    found = {call.value["evidence_summary"] for call in record.calls if call.task == "perceive" and call.value}
    wanted = {"Members": [line for vote in last.values() for line in vote.reasons], "Evidence": sorted(found)}
    page.set_viewport_size(PHONE)
    page.goto(f"{site.url}/deliberation?run={run}")
    expect(page.locator(".members .chain").first).to_be_visible()
    settled(page)
    for name, texts in wanted.items():
        tab(page, name)
        settled(page)
        whole = page.locator(".members, .prose").filter(visible=True)
        expect(whole).to_have_count(1)  # what the tab before showed has gone
        expect(whole).to_contain_text(texts[0])
        seen = " ".join(whole.all_inner_texts())
        assert not [text for text in texts if " ".join(text.split()) not in " ".join(seen.split())], name
        assert not whole.locator("p, td, div").evaluate_all(CUT), name
    page.goto(f"{site.url}/compare?runs={run},{forks[-1]}")
    for name in ("What differs", "Members"):
        tab(page, name)
        settled(page)
        beside = page.get_by_test_id("stMain").locator(".beside td, .stHtml div").filter(visible=True)
        expect(beside.first).to_be_visible()
        assert not beside.evaluate_all(CUT), name
