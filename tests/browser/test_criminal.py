"""A criminal case from the first screen to the judgment, and what the benches show of it."""

from playwright.sync_api import Page, expect

from courtroom.engine.procedure import Procedure
from courtroom.procedures import PROCEDURES
from tests.browser.test_hearing import settled, sound, tab
from tests.browser.test_interventions import shot


def judged(page: Page, bench: Procedure, case: str, preset: str) -> None:
    """From the first screen: find the case, take it to the bench, start; the judgment comes by itself."""
    page.get_by_role("textbox", name="Search").fill(case)
    page.keyboard.press("Enter")
    page.locator(f".st-key-hear-criminal-{case} button").click()
    page.get_by_role("combobox", name="Procedure").click()
    page.get_by_role("option", name=bench.title, exact=True).click()
    expect(page.get_by_text(bench.summary)).to_be_visible()
    page.get_by_role("radio", name=preset, exact=True).click()
    expect(page.get_by_text(next(one.help for one in bench.presets if one.title == preset))).to_be_visible()
    settled(page)
    page.get_by_role("button", name="Start", exact=True).click()
    expect(page.get_by_text("Grounds", exact=True)).to_be_visible(timeout=120_000)


def drawn(page: Page, name: str) -> None:
    """Once the page is drawn: a picture, where somebody wants to look at it."""
    settled(page)
    shot(page, name)


def tabs_are_sound(page: Page, bench: Procedure) -> None:
    """Every tab of the run that the page shows."""
    expect(page.get_by_text("What is on record of its outcome").filter(visible=True)).to_have_count(1)
    page.set_viewport_size({"width": 1280, "height": 1800})
    helps = {view.title: view.help for view in bench.views}
    for title, told in {**helps, "Members": "Open a member to see", "Calls": "Select a row to read"}.items():
        tab(page, title)
        expect(page.get_by_role("radio", name=title, exact=True)).to_be_checked()
        expect(page.get_by_text(told, exact=False).filter(visible=True)).to_have_count(1)
        drawn(page, f"{bench.name}-{title}")
        sound(page)


def test_a_case_is_heard_from_the_first_screen_and_every_tab_is_sound(app: str, page: Page) -> None:
    page.goto(app)
    judged(page, PROCEDURES["verdict"], "bus-wallet", "Training run")
    sound(page)
    tabs_are_sound(page, PROCEDURES["verdict"])
