"""The recorded hearings, whose members speak at length: what they say is read whole, on every screen."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, ViewportSize, expect

from courtroom import Courthouse, Settings, report
from courtroom.room.player import program, style
from courtroom.room.scene import scene
from tests.app_server import AppServer, forked_app
from tests.browser.test_hearing import settled, tab

PHONE = {"width": 360, "height": 800}
DESK = {"width": 1366, "height": 800}
CUT = """(words) => words.filter((one) => {
  const how = getComputedStyle(one);
  if (!one.getClientRects().length || /hidden|clip/.test(how.overflowY) && one.scrollHeight > one.clientHeight + 1) return true;
  if (/hidden|clip/.test(how.overflowX) && one.scrollWidth > one.clientWidth + 1) return true;
  let box = one.getBoundingClientRect();
  for (let around = one.parentElement; around; around = around.parentElement) {
    const frame = around.getBoundingClientRect(), flow = getComputedStyle(around);
    if (/auto|scroll/.test(flow.overflowY)) box = frame;  // the rest is scrolled to
    else if (/hidden|clip/.test(flow.overflowY) && (box.bottom > frame.bottom + 1 || box.top < frame.top - 1)) return true;
    if (/hidden|clip/.test(flow.overflowX) && (box.right > frame.right + 1 || box.left < frame.left - 1)) return true;
  }
  return false;
}).map((one) => one.textContent.slice(0, 80))"""
"""Elements of which a part is seen nowhere, by their first words."""
PLAYED = f"""async ([scene, present]) => {{
  document.getElementById("room").replaceChildren();
  const room = mountRoom(document.getElementById("room")), cut = {CUT}, missing = [];
  room.update(scene);
  room.root.classList.toggle("present", present);
  for (const [number, moment] of scene.moments.entries()) {{
    const said = (moment.parts || []).map((part) => part.text);
    if (moment.kind !== "call" || !said.length) continue;
    room.go(number);
    for (let n = 0; n < 3; n += 1) await new Promise(requestAnimationFrame);
    const line = document.querySelector(".line-said.now"), speech = document.querySelector(".speech");
    const read = line ? [...line.querySelectorAll(".part-text")] : [];
    if (read.map((one) => one.textContent).join() !== said.join()) missing.push(`not in the transcript: ${{moment.path}}`);
    if (speech.textContent.indexOf(said.join("\\n")) < 0) missing.push(`not in the room: ${{moment.path}}`);
    missing.push(...cut([...read, speech.querySelector(".speech-text")]));
    if (!read.length || read[0].getBoundingClientRect().bottom < document.querySelector(".list").getBoundingClientRect().top)
      missing.push(`not in view: ${{moment.path}}`);
  }}
  return missing;
}}"""
"""Plays a hearing, moment by moment, and says what can't be read."""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store into which every recording that comes along was taken by its button."""
    home = tmp_path_factory.mktemp("home")
    with closing(Courthouse(Settings(home=home))) as house:
        for recording in house.recordings:
            house.files.play(recording)
    return home


@pytest.fixture(scope="module")
def app(home: Path) -> Iterator[AppServer]:
    with forked_app(home) as server:
        yield server


def scenes(home: Path) -> list[dict[str, Any]]:
    with closing(Courthouse(Settings(home=home))) as house:
        records = [house.record(house.files.play(hearing)) for hearing in house.recordings.hearings]
        return [
            scene(record, house.procedures[record.run.procedure].about(record.case)).model_dump(mode="json")
            for record in records
        ]


@pytest.mark.parametrize(("size", "present"), [(PHONE, False), (DESK, True)], ids=["phone", "presented"])
def test_all_that_is_said_is_read_whole_in_the_room(home: Path, page: Page, size: ViewportSize, present: bool) -> None:
    page.set_viewport_size(size)
    page.set_content(f"<style>{style()}</style><div id=room></div><script>{program()}</script>")
    for played in scenes(home):
        assert not page.evaluate(PLAYED, [played, present]), played["title"]


def test_no_words_are_cut_in_a_report_on_a_phone(home: Path, page: Page, tmp_path: Path) -> None:
    page.set_viewport_size(PHONE)
    with closing(Courthouse(Settings(home=home))) as house:
        for hearing in house.recordings.hearings:
            record = house.record(house.files.play(hearing))
            path = tmp_path / f"{record.run.id}.html"
            procedure = house.procedures[record.run.procedure]
            path.write_text(report.as_html(record, procedure, house.answers, house.media))
            page.goto(path.as_uri())
            page.evaluate("() => document.querySelectorAll('details').forEach((one) => { one.open = true; })")
            written = page.locator("td, .inert, dd, .line-said .part-text")
            assert not written.evaluate_all(CUT), record.run.title
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth + 1"), record.run.title


def test_tabs_and_comparison_show_long_words_whole_on_a_phone(home: Path, app: AppServer, page: Page) -> None:
    with closing(Courthouse(Settings(home=home))) as house:
        family = [recording for recording in house.recordings if recording.family == "vacuum-charging"]
        run, *forks = [house.files.play(recording) for recording in family]
        record = house.record(run)
    page.set_viewport_size(PHONE)
    page.goto(f"{app.url}/deliberation?run={run}")
    expect(page.locator(".members .chain").first).to_be_visible()
    settled(page)
    last = record.ballots[list(record.ballots)[-1]]
    found = {call.value["evidence_summary"] for call in record.calls if call.task == "perceive" and call.value}
    wanted = {"Members": [line for vote in last.values() for line in vote.reasons], "Evidence": sorted(found)}
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
