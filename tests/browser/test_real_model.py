"""A real language model answers while a browser looks on."""

import time
from contextlib import closing
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from courtroom.courthouse import Courthouse
from courtroom.settings import Settings
from tests.app_server import forked_app
from tests.browser.test_hearing import settled
from tests.real_model import MODEL, folder_of, heard, keep, needs_packages, new_run

MOST_MS = 900_000
"""Until a verdict, on a machine that does much else. On two idle cores it takes half a minute."""


@pytest.mark.real_model
def test_a_case_with_pictures_is_heard_live_by_a_small_model(
    page: Page, tmp_path: Path, request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]
) -> None:
    needs_packages()
    with closing(Courthouse(Settings(home=tmp_path))) as house:
        assert list(house.library.case("phone-battery").media()), "the case has no pictures"
        run = new_run(house, "debate", "phone-battery")
    with forked_app(tmp_path) as server:
        page.goto(f"{server.url}/deliberation?run={run}")
        settled(page)
        began = time.monotonic()
        page.locator(".st-key-do-run button").first.click()
        expect(page.get_by_text("Grounds", exact=True)).to_be_visible(timeout=MOST_MS)
        seconds = time.monotonic() - began
        page.goto("about:blank")
    with closing(Courthouse(Settings(home=tmp_path))) as house:
        record = house.record(run)
        result = heard(house, record, seconds)
    keep(folder_of(request.config), "debate", result)
    with capsys.disabled():
        print(f"\n{result.tally.row()}")
    assert result.tally.verdict, result.reason
    assert {call.model for call in record.calls} == {MODEL}
