"""From a fresh install to a table with a mark of significance and the figure of accuracy against cost, by the page alone."""

import io
import re
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest
from playwright.sync_api import Page, expect

from tests.app_server import forked_app
from tests.browser.site import Site
from tests.browser.test_criminal import drawn
from tests.browser.test_hearing import in_both_themes, sound


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[str]:
    """The app's address; nothing was ever done in its store."""
    with forked_app(tmp_path) as server:
        yield server.url


def test_from_a_fresh_install_to_a_table_with_a_mark_and_the_figure(fresh: str, page: Page) -> None:
    page.goto(fresh)
    page.get_by_role("link", name="Experiments").click()
    expect(page.get_by_text("No experiment yet")).to_be_visible()
    drawn(page, "experiments-empty-light")
    recipe_for_every_table(page)
    set_up(page)
    page.get_by_role("button", name="Start", exact=True).click()
    for theme in in_both_themes(page):
        marked(page, theme)
    taken_away(page)
    a_mark_opens_its_run(page)


def recipe_for_every_table(page: Page) -> None:
    """The papers' tables are offered, each with what it needs."""
    page.get_by_role("button", name="Use a recipe of a paper").click()
    for paper in ("CyberJurors", "JurisAgents", "VERDICT", "JURIS", "Courtroom-LLM"):
        expect(page.get_by_role("heading", name=paper, exact=True)).to_be_visible()
    expect(page.get_by_text("Import its dataset under the name “cnndm1”.").first).to_be_visible()
    drawn(page, "experiments-recipes-light")


def set_up(page: Page) -> None:
    """The first recipe with two of its arms, and what they will take."""
    page.locator(".st-key-recipe-first button").click()
    arms = page.get_by_role("combobox", name=re.compile("Arms"))
    expect(page.get_by_text("three judges after a trial", exact=True)).to_be_visible()
    for gone in ("three judges after a trial", "three judges"):  # fewer cells: the others show the difference
        arms.press("Backspace")
        expect(page.get_by_text(gone, exact=True)).to_have_count(0)
    page.get_by_role("button", name="Estimate").click()
    expect(page.get_by_text("120 cells take about 60 calls")).to_be_visible()
    drawn(page, "experiments-estimate-light")


def marked(page: Page, theme: str) -> None:
    """The table, its mark, the sentence to quote, the figure."""
    quoted = re.compile(r"Accuracy: one judge is better than nearest text \(83.3 % against 53.3 %; .*60 cases")
    expect(page.get_by_text(quoted).first).to_be_visible(timeout=120_000)
    page.set_viewport_size({"width": 1280, "height": 2400})
    expect(page.get_by_role("row", name=re.compile("one judge 83.3 %.*▲ 1")).first).to_be_visible()
    expect(page.get_by_role("heading", name="Accuracy against cost")).to_be_visible()
    figure = page.locator(".st-key-experiment-frontier")
    expect(figure.locator(".xtitle")).to_have_text("calls a case")
    expect(figure.locator(".legendtext").filter(has_text="one judge")).to_be_visible()
    sound(page)
    drawn(page, f"experiments-table-{theme}")


def taken_away(page: Page) -> None:
    """The cells as a file that other programs read."""
    expect(page.get_by_role("button", name="Draw again")).to_have_count(
        0
    )  # the experiment is over, and the page is drawn for good
    expect(page.locator('.stApp[data-test-script-state="notRunning"]')).to_be_visible()
    with page.expect_download() as caught:
        page.get_by_role("button", name="Cells as Parquet").click()
    cells = pd.read_parquet(io.BytesIO(Path(caught.value.path()).read_bytes()))
    assert list(cells.groupby("arm")["accuracy"].mean().round(2)) == [0.53, 0.83]


def a_mark_opens_its_run(page: Page) -> None:
    """A click on a case's mark leads to its hearing."""
    expect(page.locator('.stApp[data-test-script-state="notRunning"]')).to_be_visible()
    mark = page.locator(".st-key-experiment-matrix .js-plotly-plot .points path").first
    expect(mark).to_be_visible()  # a click that is forced does not wait for it
    mark.click(force=True)
    page.wait_for_url(re.compile("deliberation.*run=cell-"))


def test_runs_stand_beside_people_with_the_curve_and_how_many_voices(site: Site, page: Page) -> None:
    page.goto(f"{site.url}/experiments?experiment={site.experiment}")
    page.get_by_text("Beside people", exact=True).click()
    for theme in in_both_themes(page):
        expect(page.get_by_text(re.compile("From first ballot to verdict these 6 runs lie"))).to_be_visible()
        figure = page.locator(".st-key-yardstick-curve")
        expect(figure.locator(".legendtext").filter(has_text="people")).to_be_visible()
        expect(figure.locator(".legendtext").filter(has_text="these runs")).to_be_visible()
        expect(figure.locator(".xtitle")).to_have_text("first votes for the side that has to prove its case")
        expect(page.get_by_test_id("stDataFrame")).to_be_visible()
        sound(page)
        drawn(page, f"yardstick-{theme}")
    page.get_by_role("combobox", name=re.compile("Arm")).click()
    page.get_by_role("option", name="10 of 12", exact=True).click()
    expect(page.get_by_text(re.compile("From first ballot to verdict these 2 runs lie"))).to_be_visible()
