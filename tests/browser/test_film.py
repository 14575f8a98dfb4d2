"""A film of a run: drawn on the page, and played by the browser."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from courtroom.courthouse import Courthouse
from courtroom.settings import Settings
from tests.app_server import forked_app
from tests.browser.test_hearing import settled, themed
from tests.test_room import RUNS

PLAYS = "film => film.readyState >= 2 && film.error === null && film.videoWidth"


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Of a finished run."""
    home = tmp_path_factory.mktemp("home")
    house = Courthouse(Settings(home=home))
    case, knobs = RUNS["cyberjurors"]
    setup = house.procedures["cyberjurors"].setup.model_validate(knobs)
    run = house.new_run("cyberjurors", house.library.case(case), setup, 0)
    house.runner.go(run)
    house.runner.wait(run, 60)
    house.close()
    with forked_app(home) as server:
        yield f"{server.url}/deliberation?run={run}"


def test_a_film_is_drawn_and_plays(address: str, page: Page) -> None:
    page.set_viewport_size({"width": 1440, "height": 900})
    page.goto(address)
    settled(page)
    page.get_by_role("button", name="Share").click()
    page.get_by_role("button", name="Film").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_text("seconds are chosen")).to_be_visible()
    page.emulate_media(color_scheme="dark")  # draws the whole page anew
    themed(page, "dark")
    dialog.get_by_text("9:16, for a phone").click()
    dialog.get_by_role("button", name="Draw the film").click()
    film = dialog.locator("video")
    expect(film).to_be_visible(timeout=60_000)
    page.wait_for_function(f"() => ({PLAYS})(document.querySelector('video')) === 720")
    with page.expect_download() as taken:
        dialog.get_by_role("button", name="Download the film").click()
    assert taken.value.suggested_filename.endswith(".mp4")
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    page.emulate_media(color_scheme="light")
    themed(page, "light")
    expect(dialog).to_be_hidden()
