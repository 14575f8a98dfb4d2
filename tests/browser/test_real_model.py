"""A real language model answers while a browser looks on."""

from contextlib import closing
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from courtroom.courthouse import Courthouse
from courtroom.procedures import PROCEDURES
from courtroom.settings import Settings
from tests.app_server import forked_app
from tests.browser.test_hearing import settled
from tests.real_model import MODEL, needs_packages

MOST_MS = 900_000
"""Until a verdict, on a machine that does much else. On two idle cores it takes half a minute."""


@pytest.mark.real_model
def test_a_case_with_pictures_is_heard_live_by_a_small_model(page: Page, tmp_path: Path) -> None:
    needs_packages()
    procedure = PROCEDURES["debate"]
    with closing(Courthouse(Settings(home=tmp_path))) as house:
        setup = procedure.setup.model_validate({**procedure.small, "model": {"id": MODEL}})
        case = house.library.case("phone-battery")
        assert list(case.media()), "the case has no pictures"
        run = house.new_run("debate", case, setup, 0)
    with forked_app(tmp_path) as server:
        page.goto(f"{server.url}/deliberation?run={run}")
        settled(page)
        page.locator(".st-key-do-run button").first.click()
        expect(page.get_by_text("Grounds", exact=True)).to_be_visible(timeout=MOST_MS)
        page.goto("about:blank")
    with closing(Courthouse(Settings(home=tmp_path))) as house:
        record = house.record(run)
    assert record.run.verdict is not None
    assert {call.model for call in record.calls} == {MODEL}
