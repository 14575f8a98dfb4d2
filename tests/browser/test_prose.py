"""The recorded hearings, whose members speak at length: what they say is read whole, on every screen."""

from pathlib import Path

from playwright.sync_api import Page, expect

from courtroom import Courthouse, report
from courtroom.room.player import program, style
from courtroom.room.scene import scene
from tests.app_server import forked_app
from tests.browser.test_hearing import settled, tab

PHONE = {"width": 360, "height": 800}
DESK = {"width": 1366, "height": 800}
LOOKS = (Path(__file__).parent / "prose.js").read_text()
CUT, PLAYED = (f"given => {{ {LOOKS} return {name}(given); }}" for name in ("cut", "played"))


def test_all_that_is_said_is_read_whole_in_room_and_report(house: Courthouse, page: Page, tmp_path: Path) -> None:
    """In the room on a phone and where it is presented, and in a report on a phone."""
    for hearing in house.recordings.hearings:
        record = house.record(house.files.play(hearing))
        procedure, title = house.procedures[record.run.procedure], record.run.title
        page.set_content(f"<style>{style()}</style><div id=room></div><script>{program()}</script>")
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


def test_tabs_and_comparison_show_long_words_whole_on_a_phone(house: Courthouse, page: Page) -> None:
    family = [recording for recording in house.recordings if recording.family == "vacuum-charging"]
    run, *forks = [house.files.play(recording) for recording in family]
    record = house.record(run)
    last = record.ballots[list(record.ballots)[-1]]
    found = {call.value["evidence_summary"] for call in record.calls if call.task == "perceive" and call.value}
    wanted = {"Members": [line for vote in last.values() for line in vote.reasons], "Evidence": sorted(found)}
    page.set_viewport_size(PHONE)
    with forked_app(house.settings.home) as app:
        page.goto(f"{app.url}/deliberation?run={run}")
        expect(page.locator(".members .chain").first).to_be_visible()
        settled(page)
        for name, texts in wanted.items():
            tab(page, name)
            settled(page)
            whole = page.locator(".members, .prose").filter(visible=True)
            expect(whole).to_contain_text(texts[0])
            seen = " ".join(whole.all_inner_texts())
            assert not [text for text in texts if " ".join(text.split()) not in " ".join(seen.split())], name
            assert not whole.locator("p, td, div").evaluate_all(CUT), name
        page.goto(f"{app.url}/compare?runs={run},{forks[-1]}")
        for name in ("What differs", "Members"):
            tab(page, name)
            settled(page)
            beside = page.get_by_test_id("stMain").locator(".beside td, .stHtml div").filter(visible=True)
            expect(beside.first).to_be_visible()
            assert not beside.evaluate_all(CUT), name
