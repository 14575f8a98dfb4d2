"""Everybody can read every page: who sees little or uses no mouse, as axe-core finds, and who reads Chinese."""

from playwright.sync_api import Page, expect

from tests.browser.axe import OF_COLOURS, TAGS, violations
from tests.browser.site import Site
from tests.browser.test_hearing import THEMES, in_both_themes, settled

PAGES = ("", "setup", "knowledge", "what_if", "experiments", "runs", "compare?runs={0},{1}")


def test_no_page_keeps_anybody_out(site: Site, page: Page) -> None:
    runs = [site.runs[name] for name in ("seven", "juris")]  # a jury around a table, candidates with a jury in rows
    found = {}
    page.set_viewport_size({"width": 1440, "height": 900})
    for number, one in enumerate((*PAGES, *(f"deliberation?run={run}" for run in runs))):
        page.goto(f"{site.url}/{one.format(*runs)}")
        settled(page)
        expect(page.get_by_test_id("stSkeleton")).to_have_count(0)
        for theme in in_both_themes(page, THEMES[:: -1 if number % 2 else 1]):  # each page begins as the last one ended
            if wrong := violations(page, TAGS if theme == "light" else OF_COLOURS):
                found[one, theme] = wrong
    assert found == {}
