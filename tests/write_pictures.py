"""Writes the pictures of the documentation: `python -m tests.write_pictures`.

A film of the first recorded hearing opens the README; `docs/pictures/` holds the room of every procedure, running and done, at three
sizes and in both themes, and the way from a hearing to what would change its verdict. `--only NAME` writes those whose file begins so.
"""

import io
import tempfile
import threading
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import Browser, Page, expect, sync_playwright

from courtroom.courthouse import Courthouse
from courtroom.models.spec import ModelSpec
from courtroom.settings import Settings
from tests.app_server import CHROMIUM, FLAGS, app_server
from tests.benchmarks.tables import options
from tests.driving import drive
from tests.openai_server import OpenAIServer, texts_of
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


class PlayedModel:
    """Serves the answers of finished runs to others that ask the same questions."""

    def __init__(self, house: Courthouse, runs: Iterable[str]) -> None:
        self._known: dict[str, tuple[str, list[str]]] = {}
        self._left: dict[str, int] = {}
        for run in runs:
            calls = house.record(run).calls
            self._left[run] = round(SHARE * len(calls))
            for call in calls:
                if found := house.answers.entry(call.keys[-1]):
                    parts = (part for message in house.answers.request(call.keys[-1]) for part in message.parts)
                    asked = "\n".join(part for part in parts if isinstance(part, str))
                    self._known.setdefault(asked, (run, []))[1].append(found[1].text)

    def answer(self, body: dict[str, Any]) -> str | None:
        """What the finished run was answered; None where it was not asked."""
        if (found := self._found(body)) is None:
            return None
        run, answers = found
        self._left[run] -= 1
        return answers.pop(0) if len(answers) > 1 else answers[0]

    def stops(self, body: dict[str, Any]) -> bool:
        """Whether the run has gone on for long enough."""
        found = self._found(body)
        return found is not None and self._left[found[0]] < 0

    def _found(self, body: dict[str, Any]) -> tuple[str, list[str]] | None:
        asked = "\n".join(map(texts_of, body["messages"]))
        return self._known.get(max(filter(asked.startswith, self._known), key=len, default=""))


def runs_in(house: Courthouse, spec: ModelSpec | None = None) -> dict[str, str]:
    """A new run of every procedure, by the offline model where no other is named."""
    runs = {}
    for name, (case, knobs) in RUNS.items():
        given = {**knobs, **(LARGE if name == "cyberjurors" else {}), **({"model": spec} if spec else {})}
        setup = house.procedures[name].setup.model_validate(given)
        runs[name] = house.new_run(name, house.library.case(case), setup, 0)
    return runs


def opened(browser: Browser, url: str, size: tuple[int, int], theme: str) -> Page:
    page = browser.new_page(viewport={"width": size[0], "height": size[1]}, color_scheme=theme)  # type: ignore[arg-type]
    page.goto(url)
    expect(page.locator(".room .seat").first).to_be_visible(timeout=60_000)
    page.wait_for_timeout(1500)  # a run that goes on is looked at again and again
    return page


def picture(page: Page) -> Image.Image:
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


def what_if(browser: Browser, url: str, run: str, folder: Path) -> None:
    """The way from a recorded hearing to what would change its verdict, and to the comparison."""
    page = opened(browser, f"{url}/deliberation?run={run}", SIZES["wide"], "light")
    picture(page).save(folder / "what-if-hearing.webp", quality=70)
    page.goto(f"{url}/what_if?base={run}")
    expect(page.get_by_text("Recorded with this hearing:")).to_be_visible(timeout=60_000)
    page.wait_for_timeout(1500)
    picture(page).save(folder / "what-if-forks.webp", quality=70)
    page.get_by_role("button", name="Compare", exact=True).nth(1).click()
    expect(page.get_by_text("What differs").first).to_be_visible(timeout=60_000)
    page.wait_for_timeout(1500)
    picture(page).save(folder / "what-if-comparison.webp", quality=70)
    page.close()


def main() -> None:
    only = options(only="").only
    folder = DOCS / "pictures"
    folder.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        home = Path(name)
        house = Courthouse(Settings(home=home))
        hearings = house.recordings.hearings
        first_of = {hearing.family: house.files.play(hearing) for hearing in hearings}
        families = Counter(recording.family for recording in house.recordings)
        done = runs_in(house)
        for run in done.values():
            drive(house, run)
        running, played = runs_in(house, PLAYED), PlayedModel(house, done.values())
        with OpenAIServer(answer=played.answer, half=threading.Event(), stops=played.stops) as model:
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
                if "what-if".startswith(only):
                    what_if(browser, server.url, first_of[families.most_common(1)[0][0]], folder)
                if not only:
                    address = f"{server.url}/deliberation?run={first_of[hearings[0].family]}"
                    first, *others = recording(opened(browser, address, SIZES["wide"], "light"))
                    played_on = {"save_all": True, "append_images": others, "duration": FRAME_MS, "loop": 0}
                    first.save(DOCS / "room.webp", quality=55, method=4, **played_on)
                browser.close()
    written = [*folder.iterdir(), DOCS / "room.webp"]
    print(f"{len(written)} pictures, {sum(path.stat().st_size for path in written) / 1e6:.1f} MB in all.")


if __name__ == "__main__":
    main()
