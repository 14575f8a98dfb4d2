"""A film of a run: drawn on the page, and played by the browser."""

from playwright.sync_api import Page, expect

from tests.browser.site import Site
from tests.browser.test_hearing import settled, themed

PLAYS = "film => film.readyState >= 2 && film.error === null && film.videoWidth"


def test_a_film_is_drawn_and_plays(site: Site, page: Page) -> None:
    page.set_viewport_size({"width": 1440, "height": 900})
    page.goto(site.run("seven"))
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
