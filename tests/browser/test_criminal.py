"""A criminal case from the first screen to the judgment, and what the benches show of it."""

import re

import pytest
from playwright.sync_api import Page, expect

from courtroom.engine.procedure import Procedure
from courtroom.procedures import PROCEDURES
from tests.browser.test_hearing import THEMES, settled, sound, tab
from tests.browser.test_interventions import shot

BENCHES = [PROCEDURES[name] for name in ("jurisagents", "verdict")]


def judged(page: Page, bench: Procedure, case: str, preset: str = "") -> str:
    """From the first screen: find the case, take it to the bench, start; the judgment comes by itself."""
    page.get_by_role("textbox", name="Search").fill(case)
    page.keyboard.press("Enter")
    page.locator(f".st-key-hear-criminal-{case} button").click()
    page.get_by_role("combobox", name="Procedure").click()
    page.get_by_role("option", name=bench.title, exact=True).click()
    expect(page.get_by_text(bench.summary)).to_be_visible()
    if preset:
        page.get_by_role("radio", name=preset, exact=True).click()
        expect(page.get_by_text(next(one.help for one in bench.presets if one.title == preset))).to_be_visible()
        page.locator('[data-testid="stApp"][data-test-script-state="notRunning"]').wait_for()
    page.get_by_role("button", name="Start", exact=True).click()
    expect(page.get_by_text("Grounds", exact=True)).to_be_visible(timeout=120_000)
    found = re.search(r"run=([\w-]+)", page.url)
    assert found
    return found.group(1)


def drawn(page: Page, name: str) -> None:
    """Once the page is drawn: a picture, where somebody wants to look at it."""
    settled(page)
    shot(page, name)


def contrast(page: Page, name: str) -> float:
    """The contrast of a button's words with its ground, as WCAG reckons it."""
    words = page.get_by_role("button", name=name).first.locator("p")
    found: float = words.evaluate(
        """e => {
            const light = colour => {
                const parts = colour.match(/[\\d.]+/g).slice(0, 3).map(c => c / 255);
                const [r, g, b] = parts.map(c => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
                return 0.2126 * r + 0.7152 * g + 0.0722 * b;
            };
            const ground = getComputedStyle(e.closest('button')).backgroundColor;
            const [low, high] = [light(getComputedStyle(e).color), light(ground)].sort((a, b) => a - b);
            return (high + 0.05) / (low + 0.05);
        }"""
    )
    return found


def test_the_words_on_the_main_buttons_can_be_read(app: str, page: Page) -> None:
    for theme in THEMES:
        page.emulate_media(color_scheme=theme)
        page.goto(app)
        expect(page.get_by_role("button", name="Hear this case").first).to_be_visible()
        assert contrast(page, "Hear this case") >= 4.5, theme


@pytest.mark.parametrize("bench", BENCHES, ids=lambda bench: bench.name)
def test_a_case_is_heard_from_the_first_screen_and_every_tab_is_sound(app: str, page: Page, bench: Procedure) -> None:
    page.goto(app)
    judged(page, bench, "bus-wallet")
    sound(page)
    expect(page.get_by_text("What is on record of its outcome").filter(visible=True)).to_have_count(1)
    page.set_viewport_size({"width": 1280, "height": 1800})
    helps = {view.title: view.help for view in bench.views}
    for title, told in {**helps, "Members": "Open a member to see", "Calls": "Select a row to read"}.items():
        tab(page, title)
        expect(page.get_by_role("radio", name=title, exact=True)).to_be_checked()
        expect(page.get_by_text(told, exact=False).filter(visible=True)).to_have_count(1)
        drawn(page, f"{bench.name}-{title}")
        sound(page)
