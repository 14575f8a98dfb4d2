"""People sign in at a real OpenID provider in a real Chromium, see what their access allows, and sign out."""

import json
import re
from collections.abc import Iterator
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Page, expect

from tests.app_server import forked_app, free_port
from tests.browser.test_hearing import settled
from tests.openid_server import OpenIDServer

PEOPLE = {
    "Ada": {"sub": "1", "name": "Ada", "email": "ada@example.org", "email_verified": True},
    "Bea": {"sub": "2", "name": "Bea", "email": "bea@example.org", "email_verified": True},
}

SMALL = json.dumps({"procedure": "debate", "case": "camera-fungus", "seed": 3, "setup": {"rounds": 3}})


@pytest.fixture(scope="module")
def closed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of an app in which people sign in, and which Ada owns."""
    home, port = tmp_path_factory.mktemp("closed"), free_port()
    with OpenIDServer(PEOPLE, f"http://localhost:{port}/oauth2callback") as provider:
        secrets = home / "secrets.toml"
        secrets.write_text(provider.secrets())
        options = ("--secrets.files", str(secrets))
        with forked_app(home, {"COURTROOM_OWNERS": "ada@example.org"}, options, port) as app:
            yield app.url
        assert provider.refused == []


def signed_in(page: Page, url: str, name: str) -> None:
    """A browser in which this person has signed in."""
    page.goto(url)
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("link", name=name).click()
    expect(page.locator(".st-key-person button")).to_be_visible()
    settled(page)


def test_an_owner_lets_a_newcomer_run_hearings_who_signs_out(page: Page, other: Page, closed: str) -> None:
    ada, bea = page, other
    for cookie in ("eyJzdWIiOiIxIn0", "2|1:0|10:1|15:_streamlit_user|4:e30=|0000"):
        bea.context.add_cookies([{"name": "_streamlit_user", "value": cookie, "url": closed}])
        bea.goto(closed)
        expect(bea.get_by_role("button", name="Sign in")).to_be_visible()  # a cookie that was made up signs nobody in
    bea.context.clear_cookies()
    signed_in(ada, closed, "Ada")
    signed_in(bea, closed, "Bea")
    bea.locator(".st-key-hear-oak-table button").click()
    expect(bea.get_by_text("You look on here.")).to_be_visible()
    expect(bea.get_by_role("button", name="Start", exact=True)).to_be_disabled()
    ada.locator(".st-key-person button").click()
    ada.get_by_role("link", name="People").click()
    expect(ada.get_by_text("bea@example.org").last).to_be_visible()
    settled(ada)
    line = ["bea" in address for address in ada.get_by_text("@example.org").all_inner_texts()].index(True)
    ada.get_by_role("combobox", name="May do").nth(line).click()
    ada.get_by_role("option", name="Runs hearings").click()
    settled(ada)
    ada.get_by_role("button", name="Save").nth(line).click()
    settled(ada)
    bea.goto(f"{closed}/setup?{urlencode({'setup': SMALL})}")
    bea.get_by_role("button", name="Use these settings").click()
    expect(bea.get_by_role("button", name="Start step by step")).to_be_enabled()
    settled(bea)
    bea.get_by_role("button", name="Start step by step").click()
    expect(bea.get_by_text("Paused").first).to_be_visible(timeout=120_000)
    settled(bea)
    asked = bea.get_by_text(re.compile(r"\d+ calls asked")).first.inner_text()
    # In a fragment, which runs without the page's script.
    bea.locator(".st-key-do-step button").first.click()
    expect(bea.get_by_text(asked)).to_have_count(0, timeout=120_000)
    expect(bea.get_by_text("Your access does not allow this")).to_have_count(0)
    settled(bea)
    bea.locator(".st-key-person button").click()
    with bea.expect_response("**/auth/logout*"):  # it takes the cookie away; until then a page still opens
        bea.get_by_role("button", name="Sign out").click()
    expect(bea.get_by_role("button", name="Sign in")).to_be_visible()
    bea.goto(f"{closed}/runs")
    expect(bea.get_by_role("button", name="Sign in")).to_be_visible()
