"""Writes the pictures of the documentation, all of recorded hearings: `python -m tests.write_pictures`.

A film of the first hearing opens the README. `docs/pictures/` holds the first hearing of each procedure in the room, half-way
and at its end, on a screen in both themes and on a phone; and the way from a hearing to what would change its verdict.
`--only NAME` writes those whose file begins so.
"""

import io
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Page, expect, sync_playwright

from courtroom import Courthouse, Settings
from tests.app_server import CHROMIUM, FLAGS, app_server
from tests.benchmarks.tables import options

DOCS = Path(__file__).parents[1] / "docs"
WIDE, PHONE = (1440, 900), (390, 844)
SHOTS = {"light": (WIDE, "light"), "dark": (WIDE, "dark"), "phone": (PHONE, "light")}
MOMENTS = {"halfway": 500, "end": 1000}
"""Places on the timeline, in thousandths."""
FRAMES = 60
FRAME_MS = 500
"""Half a minute in all."""
HELD_FRAMES = 6
"""At the end of the film, to read the verdict."""


def opened(browser: Browser, url: str, size: tuple[int, int], theme: str) -> Page:
    page = browser.new_page(viewport={"width": size[0], "height": size[1]}, color_scheme=theme)  # type: ignore[arg-type]
    page.goto(url)
    expect(page.locator(".room .seat").first).to_be_visible(timeout=60_000)
    expect(page.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning", timeout=60_000)
    return page


def at(page: Page, place: int) -> Image.Image:
    """The page at a moment of the run."""
    page.get_by_role("slider", name="Moment of the run").evaluate(
        "(one, at) => { one.value = at; one.dispatchEvent(new Event('input', { bubbles: true })); }", place
    )
    page.wait_for_timeout(300)  # seats change their colour softly
    return picture(page)


def picture(page: Page) -> Image.Image:
    return Image.open(io.BytesIO(page.screenshot())).convert("RGB")


def rooms(browser: Browser, url: str, name: str, folder: Path) -> None:
    """One hearing, half-way and at its end."""
    for shot, (size, theme) in SHOTS.items():
        page = opened(browser, url, size, theme)
        for moment, place in MOMENTS.items():
            at(page, place).save(folder / f"{name}-{moment}-{shot}.webp", quality=70)
        page.close()


def what_if(browser: Browser, url: str, run: str, folder: Path) -> None:
    """The way from a recorded hearing to what would change its verdict, and to the comparison."""
    page = opened(browser, f"{url}/deliberation?run={run}", WIDE, "light")
    at(page, MOMENTS["end"]).save(folder / "what-if-hearing.webp", quality=70)
    page.goto(f"{url}/what_if?base={run}")
    expect(page.get_by_text("Recorded with this hearing:")).to_be_visible(timeout=60_000)
    page.wait_for_timeout(1500)
    picture(page).save(folder / "what-if-forks.webp", quality=70)
    page.get_by_role("button", name="Compare", exact=True).nth(1).click()
    expect(page.get_by_text("What differs").first).to_be_visible(timeout=60_000)
    page.wait_for_timeout(1500)
    picture(page).save(folder / "what-if-comparison.webp", quality=70)
    page.close()


def film(browser: Browser, url: str) -> None:
    page = opened(browser, url, WIDE, "light")
    places = [round(1000 * number / (FRAMES - HELD_FRAMES)) for number in range(FRAMES - HELD_FRAMES)]
    frames = [at(page, place).resize((1080, 675)) for place in places + [1000] * HELD_FRAMES]
    played = {"save_all": True, "append_images": frames[1:], "duration": FRAME_MS, "loop": 0}
    frames[0].save(DOCS / "room.webp", quality=55, method=4, **played)
    page.close()


def main() -> None:
    only = options(only="").only
    folder = DOCS / "pictures"
    folder.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as home, sync_playwright() as playwright:
        house = Courthouse(Settings(home=Path(home)))
        recordings = house.recordings
        played = {hearing.file.stem: house.record(house.files.play(hearing)).run for hearing in recordings.hearings}
        first = recordings.hearings[0].file.stem
        first_of = {run.procedure: name for name, run in reversed(played.items())}
        runs = {name: run.id for name, run in played.items() if first_of[run.procedure] == name}
        house.close()
        with app_server(Path(home)) as server:
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
            for name, run in runs.items():
                if name.startswith(only):
                    rooms(browser, f"{server.url}/deliberation?run={run}", name, folder)
            if "what-if".startswith(only):
                what_if(browser, server.url, runs[first], folder)
            if not only:
                film(browser, f"{server.url}/deliberation?run={runs[first]}")
            browser.close()
    written = [*folder.iterdir(), DOCS / "room.webp"]
    print(f"{len(written)} pictures, {sum(path.stat().st_size for path in written) / 1e6:.1f} MB in all.")


if __name__ == "__main__":
    main()
