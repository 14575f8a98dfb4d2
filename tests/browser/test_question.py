"""A question of one's own, from a fresh install to the first words on it."""

from playwright.sync_api import Page, expect

from tests.app_server import AppServer
from tests.browser.test_hearing import sound


def test_a_question_is_heard_after_two_actions(fresh: AppServer, page: Page) -> None:
    """It is typed and put; its hearing begins by itself."""
    page.goto(fresh.url)
    page.get_by_role("textbox", name="Ask a question", exact=True).fill("Should the town close the old bridge to cars?")
    page.get_by_role("button", name="Deliberate", exact=True).click()
    expect(page.locator(".line-said .part-text").first).to_be_visible()
    sound(page)
