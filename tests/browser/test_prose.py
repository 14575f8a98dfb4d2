"""The recorded hearings, whose members speak at length: what they say is read whole, on every screen."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from playwright.sync_api import Page, ViewportSize

from courtroom import report
from courtroom.courthouse import Courthouse
from courtroom.engine.record import Record
from courtroom.room.player import program, style
from courtroom.room.scene import scene
from courtroom.settings import Settings

PHONE: ViewportSize = {"width": 360, "height": 800}
DESK: ViewportSize = {"width": 1366, "height": 800}
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
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Courthouse]:
    with closing(Courthouse(Settings(home=tmp_path_factory.mktemp("home")))) as house:
        yield house


def played(house: Courthouse) -> list[Record]:
    """Every recorded hearing that comes along, but its forks."""
    return [house.record(house.files.play(hearing)) for hearing in house.recordings.hearings]


@pytest.mark.parametrize(("size", "present"), [(PHONE, False), (DESK, True)], ids=["phone", "presented"])
def test_all_that_is_said_is_read_whole_in_the_room(
    house: Courthouse, page: Page, size: ViewportSize, present: bool
) -> None:
    page.set_viewport_size(size)
    page.set_content(f"<style>{style()}</style><div id=room></div><script>{program()}</script>")
    for record in played(house):
        shown = scene(record, house.procedures[record.run.procedure].about(record.case)).model_dump(mode="json")
        assert not page.evaluate(PLAYED, [shown, present]), record.run.title


def test_no_words_are_cut_in_a_report_on_a_phone(house: Courthouse, page: Page, tmp_path: Path) -> None:
    page.set_viewport_size(PHONE)
    for record in played(house):
        path = tmp_path / f"{record.run.id}.html"
        procedure = house.procedures[record.run.procedure]
        path.write_text(report.as_html(record, procedure, house.answers, house.media))
        page.goto(path.as_uri())
        page.evaluate("() => document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        assert not page.locator("td, .inert, dd, .line-said .part-text").evaluate_all(CUT), record.run.title
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth + 1"), record.run.title
