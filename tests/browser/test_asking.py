"""From the first page to the first statement on a question of one's own, in a real browser."""

from playwright.sync_api import Page, expect

from tests.browser.site import Site

MOST_ACTIONS = 3
LONGEST_MS = 20_000
"""Until the first statement, offline."""


def test_three_actions_lead_from_a_question_to_its_first_statement(site: Site, page: Page) -> None:
    page.goto(site.url)
    question = page.get_by_role("textbox", name="Ask a question")
    expect(question).to_be_visible()
    actions = (
        lambda: question.fill("Should the town close the old bridge to cars?"),
        lambda: page.get_by_role("textbox", name="Answers to choose from, if any").fill("yes, no, a pilot"),
        lambda: page.get_by_role("button", name="Deliberate", exact=False).first.click(),
    )
    for act in actions:
        act()
    expect(page.get_by_text("This is a formula, no opinion.", exact=False).first).to_be_visible(timeout=LONGEST_MS)
    assert len(actions) <= MOST_ACTIONS
