"""The browser's own notice, asked for by a click: a run that waits for a seat, and one that stops."""

from contextlib import closing
from pathlib import Path

from playwright.sync_api import Browser, expect

from courtroom import Courthouse, Settings
from tests.app_server import forked_app
from tests.test_bell import new_run

KEEPS = """
window.told = [];
class Notice { constructor(title, options) { window.told.push([title, options.body]); } close() {} }
Notice.permission = "default";
Notice.requestPermission = async () => (Notice.permission = "granted");
window.Notification = Notice;
document.hasFocus = () => false;
"""
"""The browser's border: a system that takes notices, and a reader who looks elsewhere."""


def test_the_browser_tells_that_a_run_waits_and_stops(browser: Browser, tmp_path: Path) -> None:
    with closing(Courthouse(Settings(home=tmp_path))) as house:
        run = new_run(house, members={"juror-01": {"id": "person"}})
    with forked_app(tmp_path) as app, browser.new_context() as context:
        context.add_init_script(KEEPS)
        page = context.new_page()
        page.goto(f"{app.url}/deliberation?run={run}")
        button = page.locator("button.bell")
        expect(button).to_have_text("Notify me", timeout=120_000)
        button.click()
        expect(button).to_have_text("You will be notified")
        assert page.evaluate("window.told") == []
        page.locator(".st-key-do-run button").first.click()
        page.wait_for_function("window.told.length > 0")
        assert page.evaluate("window.told") == [["The fire at the boatyard", "waits for a seat"]]
        page.locator(".st-key-do-stop button").first.click()
        page.wait_for_function("window.told.length > 1")
        assert page.evaluate("window.told[1]") == ["The fire at the boatyard", "paused"]
        button.click()
        expect(button).to_have_attribute("aria-pressed", "false")
