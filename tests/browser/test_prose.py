"""The recorded hearings, whose members speak at length: what they say is read whole, on every screen."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from courtroom.courthouse import Courthouse
from courtroom.room.player import program, style
from courtroom.room.scene import scene
from courtroom.settings import Settings
from tests.app_server import AppServer, forked_app
from tests.browser.test_hearing import settled, tab

PHONE = {"width": 360, "height": 800}
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
PLAYED = f"""async (scene) => {{
  document.getElementById("room").replaceChildren();
  const room = mountRoom(document.getElementById("room")), cut = {CUT}, missing = [];
  room.update(scene);
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


def test_all_that_is_said_is_read_whole_in_the_room_on_a_phone(home: Path, page: Page) -> None:
    page.set_viewport_size(PHONE)
    page.set_content(f"<style>{style()}</style><div id=room></div><script>{program()}</script>")
    for played in scenes(home):
        assert not page.evaluate(PLAYED, played), played["title"]


def test_tabs_show_long_words_whole_on_a_phone(home: Path, app: AppServer, page: Page) -> None:
    with closing(Courthouse(Settings(home=home))) as house:
        record = house.record(house.files.play(house.recordings.hearings[0]))
    page.set_viewport_size(PHONE)
    page.goto(f"{app.url}/deliberation?run={record.run.id}")
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
