"""Writes the pictures of the documentation: `python -m tests.write_pictures`.

A recording of a run opens the README; `docs/pictures/` holds the room of every procedure, running and done, at three sizes and in
both themes. `--only NAME` writes those whose file begins so.
"""

import argparse
import io
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Page, expect, sync_playwright

from courtroom.courthouse import Courthouse
from courtroom.models.spec import ModelSpec
from courtroom.settings import Settings
from tests.app_server import CHROMIUM, FLAGS, app_server
from tests.played_model import played
from tests.test_room import RUNS

DOCS = Path(__file__).parents[1] / "docs"
SIZES = {"wide": (1440, 900), "tablet": (1024, 768), "phone": (390, 844)}
FRAMES = 60
FRAME_MS = 500
"""Half a minute in all."""
LARGE: dict[str, object] = {"jury_size": 17, "examination": "own", "consensus": 1.0}


SHARE = 0.87
"""Of its calls, what a run that goes on has behind it."""
PLAYED = ModelSpec(id="openai/played", vision="no", timeout_s=3600, concurrency=100)
"""Answers as the offline model has answered; half-way through the run each answer stops in the middle."""


def runs_in(house: Courthouse, spec: ModelSpec | None = None) -> dict[str, str]:
    """A new run of every procedure, by the offline model where no other is named."""
    runs = {}
    for name, (case, knobs) in RUNS.items():
        given = {**knobs, **(LARGE if name == "cyberjurors" else {}), **({"model": spec} if spec else {})}
        setup = house.procedures[name].setup.model_validate(given)
        runs[name] = house.new_run(name, house.library.case(case), setup, 0)
    return runs


def opened(browser: Browser, url: str, size: tuple[int, int], theme: str) -> Page:
    """A run's page, drawn."""
    page = browser.new_page(viewport={"width": size[0], "height": size[1]}, color_scheme=theme)  # type: ignore[arg-type]
    page.goto(url)
    expect(page.locator(".room .seat").first).to_be_visible(timeout=60_000)
    page.wait_for_timeout(1500)  # a run that goes on is looked at again and again
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


def write(browser: Browser, url: str, runs: dict[str, str], folder: Path, name: str, only: str) -> None:
    """The room of every procedure, at every size and in both themes."""
    for procedure, run in runs.items():
        for size, pixels in SIZES.items():
            for theme in ("light", "dark"):
                path = folder / name.format(procedure=procedure, size=size, theme=theme)
                if path.name.startswith(only):
                    page = opened(browser, f"{url}/deliberation?run={run}", pixels, theme)
                    picture(page).save(path, quality=70)
                    page.close()


def main() -> None:
    """Write them all."""
    options = argparse.ArgumentParser()
    options.add_argument("--only", default="")
    only = options.parse_args().only
    folder = DOCS / "pictures"
    folder.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        home = Path(name)
        house = Courthouse(Settings(home=home))
        done = runs_in(house)
        for run in done.values():
            house.runner.go(run)
            house.runner.wait(run, 60)
        running = runs_in(house, PLAYED)
        with played(house, done.values(), SHARE) as model:
            house.close()
            keys = {"OPENAI_API_BASE": model.url, "OPENAI_API_KEY": "none"}
            with app_server(home, environment=keys) as server:
                browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
                write(browser, server.url, done, folder, "{procedure}-{size}-{theme}.webp", only)
                for run in running.values():
                    page = opened(browser, f"{server.url}/deliberation?run={run}", SIZES["wide"], "light")
                    page.locator(".st-key-do-run button").first.click()
                    expect(page.locator(".room .seat.lit").first).to_be_visible(timeout=60_000)
                    page.close()
                write(browser, server.url, running, folder, "{procedure}-running-{size}-{theme}.webp", only)
                if not only:
                    page = opened(
                        browser, f"{server.url}/deliberation?run={done['cyberjurors']}", SIZES["wide"], "light"
                    )
                    first, *others = recording(page)
                    first.save(
                        DOCS / "room.webp",
                        save_all=True,
                        append_images=others,
                        duration=FRAME_MS,
                        loop=0,
                        quality=55,
                        method=4,
                    )
                browser.close()
    written = [*folder.iterdir(), DOCS / "room.webp"]
    print(f"{len(written)} pictures, {sum(path.stat().st_size for path in written) / 1e6:.1f} MB in all.")


if __name__ == "__main__":
    main()
