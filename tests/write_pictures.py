"""Writes the pictures of the documentation: `python -m tests.write_pictures`.

A recording of a run opens the README; `docs/pictures/` holds the room of every procedure, at three sizes and in both themes.
"""

from __future__ import annotations

import io
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Page, expect, sync_playwright

from courtroom.courthouse import Courthouse
from courtroom.settings import Settings
from tests.app_server import CHROMIUM, FLAGS, app_server
from tests.test_room import RUNS

DOCS = Path(__file__).parents[1] / "docs"
SIZES = {"wide": (1440, 900), "tablet": (1024, 768), "phone": (390, 844)}
FRAMES = 60
FRAME_MS = 500
"""Half a minute in all."""
LARGE: dict[str, object] = {"jury_size": 17, "examination": "own", "consensus": 1.0}


def runs_in(home: Path) -> dict[str, str]:
    """A finished run of every procedure by the offline model."""
    house, runs = Courthouse(Settings(home=home)), {}
    for name, (case, knobs) in RUNS.items():
        given = {**knobs, **(LARGE if name == "cyberjurors" else {})}
        setup = house.procedures[name].setup.model_validate(given)
        runs[name] = house.new_run(name, house.library.case(case), setup, 0)
        house.runner.go(runs[name])
        house.runner.wait(runs[name], 60)
    house.close()
    return runs


def opened(browser: Browser, url: str, size: tuple[int, int], theme: str) -> Page:
    """A run's page, drawn."""
    page = browser.new_page(viewport={"width": size[0], "height": size[1]}, color_scheme=theme)  # type: ignore[arg-type]
    page.goto(url)
    expect(page.locator(".room .seat").first).to_be_visible(timeout=60_000)
    expect(page.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning")
    return page


def picture(page: Page) -> Image.Image:
    """The page as it stands."""
    return Image.open(io.BytesIO(page.screenshot())).convert("RGB")


def recording(page: Page) -> list[Image.Image]:
    """A run from its first moment to its last, in as many frames."""
    slider = page.get_by_role("slider", name="Moment of the run")
    frames = []
    for number in range(FRAMES):
        slider.evaluate(
            "(one, at) => { one.value = at; one.dispatchEvent(new Event('input', { bubbles: true })); }",
            round(1000 * number / (FRAMES - 6)) if number < FRAMES - 6 else 1000,
        )
        page.wait_for_timeout(250)  # seats change their colour softly
        frames.append(picture(page).resize((1080, 675), Image.Resampling.LANCZOS))
    return frames


def main() -> None:
    """Write them all."""
    folder = DOCS / "pictures"
    folder.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        runs = runs_in(Path(name))
        with app_server(Path(name)) as server:
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
            for procedure, run in runs.items():
                for size, pixels in SIZES.items():
                    for theme in ("light", "dark"):
                        page = opened(browser, f"{server.url}/deliberation?run={run}", pixels, theme)
                        picture(page).save(folder / f"{procedure}-{size}-{theme}.webp", quality=70)
                        page.close()
            page = opened(browser, f"{server.url}/deliberation?run={runs['cyberjurors']}", SIZES["wide"], "light")
            first, *others = recording(page)
            first.save(
                DOCS / "room.webp", save_all=True, append_images=others, duration=FRAME_MS, loop=0, quality=55, method=4
            )
            browser.close()
    written = [*folder.iterdir(), DOCS / "room.webp"]
    print(f"{len(written)} pictures, {sum(path.stat().st_size for path in written) / 1e6:.1f} MB in all.")


if __name__ == "__main__":
    main()
