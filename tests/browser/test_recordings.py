"""The first minute: a recorded hearing is played, what would change its verdict is asked, and a recorded fork stands beside it."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from courtroom.engine.run import ABOUT_RECORDINGS, RECORDING
from tests.app_server import forked_app
from tests.test_recordings import Studio, studio

__all__ = ["studio"]  # a fixture
NOTICE = ABOUT_RECORDINGS[RECORDING]


@pytest.mark.usefixtures("page")
def test_a_recording_is_played_and_its_forks_are_compared(studio: Studio, page: Page, tmp_path: Path) -> None:
    with forked_app(tmp_path / "home", {"COURTROOM_RECORDINGS": str(studio.folder)}) as app:
        page.goto(app.url)
        expect(page.get_by_text(NOTICE)).to_be_visible()
        page.get_by_role("button", name="Watch this hearing").click()
        expect(page.locator(".room .seat.lit").first).to_be_visible()  # it plays by itself
        expect(page.get_by_text(NOTICE).first).to_be_visible()
        page.get_by_role("button", name="What would change this verdict?").click()
        expect(page.get_by_text("Recorded with this hearing:")).to_be_visible()
        page.get_by_role("button", name="Compare", exact=True).first.click()
        expect(page.get_by_role("heading", name="Compare")).to_be_visible()
        expect(page.get_by_text(NOTICE)).to_have_count(2)
        page.goto(f"{app.url}/setup?fork={studio.runs[0]}")
        expect(page.get_by_text("Who answers what is asked anew?")).to_be_visible()
        page.goto(f"{app.url}/runs")
        expect(page.get_by_text(NOTICE).first).to_be_visible()
