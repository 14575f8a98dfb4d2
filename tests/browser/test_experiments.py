"""From a fresh install to a table and the figure of accuracy against cost, or to the first words on a question, by the page alone."""

import re
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest
from playwright.sync_api import Page, expect

from tests.app_server import AppServer, forked_app
from tests.browser.site import Site
from tests.browser.test_hearing import in_both_themes, settled, sound


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[AppServer]:
    """The app over a store in which nothing was ever done."""
    with forked_app(tmp_path) as server:
        yield server


def test_from_a_fresh_install_to_a_table_with_a_mark_and_the_figure(fresh: AppServer, page: Page) -> None:
    """A paper's table is made with two of its arms, estimated, run, read, taken away, and leads to a hearing."""
    page.goto(fresh.url)
    page.get_by_role("link", name="Experiments").click()
    expect(page.get_by_text("No experiment yet")).to_be_visible()
    settled(page)
    page.get_by_role("button", name="Use a recipe of a paper").click()
    for paper in ("CyberJurors", "JurisAgents", "VERDICT", "JURIS", "Courtroom-LLM"):
        expect(page.get_by_role("heading", name=paper, exact=True)).to_be_visible()
    expect(page.get_by_text("Import its dataset under the name “cnndm1”.").first).to_be_visible()
    settled(page)
    page.locator(".st-key-recipe-first button").click()
    arms = page.get_by_role("combobox", name=re.compile("Arms"))
    expect(page.get_by_text("three judges after a trial", exact=True)).to_be_visible()
    for gone in ("three judges after a trial", "three judges"):  # fewer cells: the others show the difference
        arms.press("Backspace")
        expect(page.get_by_text(gone, exact=True)).to_have_count(0)
    page.get_by_role("button", name="Estimate").click()
    expect(page.get_by_text("For 120 cells it takes about 60 calls")).to_be_visible()
    settled(page)
    page.get_by_role("button", name="Start", exact=True).click()
    quoted = re.compile(r"Accuracy: one judge is better than nearest text \(83.3 % against 36.7 %; .*60 cases")
    figure = page.locator(".st-key-experiment-frontier")
    for _ in in_both_themes(page):
        expect(page.get_by_text(quoted).first).to_be_visible(timeout=120_000)
        page.set_viewport_size({"width": 1280, "height": 2400})
        expect(page.get_by_role("row", name=re.compile("one judge 83.3 %.*▲ 1")).first).to_be_visible()
        expect(page.get_by_role("heading", name="Accuracy against cost")).to_be_visible()
        expect(figure.locator(".xtitle")).to_have_text("calls a case")
        expect(figure.locator(".legendtext").filter(has_text="one judge")).to_be_visible()
        sound(page)
    expect(page.get_by_role("button", name="Draw again")).to_have_count(0)  # it is over, and drawn for good
    settled(page)
    with page.expect_download(timeout=120_000) as caught:
        page.get_by_role("button", name="Cells as Parquet").click()
    cells = pd.read_parquet(caught.value.path())
    assert list(cells.groupby("arm")["accuracy"].mean().round(2)) == [0.37, 0.83]
    settled(page)
    mark = page.locator(".st-key-experiment-matrix .js-plotly-plot .points path").first
    expect(mark).to_be_visible()  # a click that is forced does not wait for it
    mark.click(force=True)
    page.wait_for_url(re.compile("deliberation.*run=cell-"))


def test_a_question_is_heard_after_two_actions(site: Site, page: Page) -> None:
    """It is typed and put; its hearing begins by itself."""
    page.goto(site.url)
    page.get_by_role("textbox", name="Ask a question", exact=True).fill("Should the town close the old bridge to cars?")
    page.get_by_role("button", name="Deliberate", exact=True).click()
    expect(page.locator(".line-said .part-text").first).to_be_visible()
    sound(page)
