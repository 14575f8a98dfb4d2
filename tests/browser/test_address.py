"""A page's own address, opened before any other page of a new server."""

from __future__ import annotations

from playwright.sync_api import Browser, expect


def test_the_first_visit_to_a_new_server_may_be_to_any_page(new_app: str, browser: Browser) -> None:
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.set_default_timeout(120_000)
    page.goto(f"{new_app}/deliberation")
    expect(page.get_by_text("No hearing is chosen", exact=False)).to_be_visible()
    expect(page.get_by_role("link", name="Knowledge")).to_be_visible()
    expect(page.get_by_role("link", name="app", exact=True)).to_have_count(0)
    page.close()
