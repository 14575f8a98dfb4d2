"""The page What if, drawn by Streamlit's own test harness."""

from __future__ import annotations

from functools import partial

import pytest
from streamlit.testing.v1 import AppTest

from courtroom.courthouse import Courthouse
from courtroom.engine.procedure import Choice
from courtroom.figures.sweep import draw_flips, draw_shares, draw_swings
from courtroom.sweeps.plan import evidence_left_out, singly
from courtroom.sweeps.results import results
from tests.test_pages import benched, heard, house, opened_at, page, texts
from tests.test_sweep_plans import PLAN, cell

__all__ = ["house"]  # a fixture

CHOICES = (Choice("buyer", "Buyer", 0, "circle", "●"), Choice("seller", "Seller", 1, "square", "■"))
SMALL = {"jury_size": 3, "rounds": 2, "grounding_rounds": 1, "consensus": 1.0}


opened = partial(opened_at, "sweep")


def press(app: AppTest, label: str) -> None:
    next(button for button in app.button if button.label == label).click().run()
    assert not app.exception, app.exception


def test_without_a_finished_run_it_says_where_to_begin(house: Courthouse) -> None:  # noqa: F811
    app = page("sweep")
    assert "No hearing is done yet" in texts(app)
    assert "Pick a case" in [button.label for button in app.button]


def test_from_a_finished_run_to_what_would_change_its_verdict(house: Courthouse) -> None:  # noqa: F811
    run = heard(house, **SMALL)
    app = page("deliberation", run=run)
    press(app, "What would change this verdict?")
    assert [element.value for element in app.title] == ["What if"]
    assert app.query_params["base"] == run
    app.switch_page("pages/sweep.py").run()  # the harness itself stays on the page that it had opened
    app.number_input(key="sweep_budget").set_value(40).run()
    press(app, "Find the changes")
    press(app, "Start")
    (sweep,) = house.sweeps.store.sweeps()
    assert sweep.base == run
    assert len(sweep.plan.variants) > 3
    house.sweeps.wait(sweep.id, 60)
    app.run()
    assert not app.exception, app.exception
    assert app.session_state["sweep"] == sweep.id
    assert "changes turn the verdict" in texts(app) or "changes turns the verdict" in texts(app)
    (table,) = app.dataframe
    assert list(table.value["change"])[0] == "as it was"
    assert list(table.value["run"])[0] == f"deliberation?run={run}"
    assert set(table.value["done"]) == {"1 of 1"}


def test_what_is_chosen_is_estimated_and_run(house: Courthouse) -> None:  # noqa: F811
    run = heard(house, **SMALL)
    app = opened(base=run)
    app.button_group(key="sweep_way").set_value("Choose what to vary").run()
    assert "Choose something to vary" in texts(app)
    app.multiselect(key=f"sweep-drop-{run}").set_value(["Each member (3)"]).run()
    app.multiselect(key=f"sweep-vary-{run}").set_value(["rounds", "graph.kind"]).run()
    app.text_input(key=f"sweep-{run}-rounds").set_value("1, 11").run()
    assert "must be at most 10" in texts(app)
    app.text_input(key=f"sweep-{run}-rounds").set_value("1").run()
    app.number_input(key="sweep_seeds").set_value(2).run()
    assert not app.exception, app.exception
    assert "calls asked anew" in texts(app)
    press(app, "Start")
    (sweep,) = house.sweeps.store.sweeps()
    house.sweeps.wait(sweep.id, 60)
    assert {variant.kind for variant in sweep.plan.variants} == {"base", "member", "knob"}
    app.run()
    assert len(app.dataframe) == 2
    assert len(app.dataframe[1].value) == 2 * len(sweep.plan.variants)


def test_a_sweep_is_found_by_its_address_and_can_be_deleted(house: Courthouse) -> None:  # noqa: F811
    run = benched(house, "verdict")
    case = house.record(run).case
    sweep = house.sweeps.start(house.sweeps.plan(run, singly(evidence_left_out(case)), (0,)))
    house.sweeps.wait(sweep, 60)
    app = opened(sweep=sweep)
    assert "What moves it" in [element.value for element in app.subheader]
    app.button(key="sweep-delete").click().run()
    assert not app.exception, app.exception
    assert house.sweeps.store.sweeps() == []
    assert [row.id for row in house.store.runs()] == [run]
    assert "There is no sweep" in texts(opened(sweep=sweep))


def test_a_paused_sweep_goes_on_from_the_page(house: Courthouse) -> None:  # noqa: F811
    run = heard(house, **SMALL)
    plan = house.sweeps.plan(run, singly(evidence_left_out(house.record(run).case)), (0,))
    sweep = house.sweeps.store.create(plan, "<b>Table</b>", 0)
    app = opened(sweep=sweep)
    assert "<b>" not in texts(app)
    app.button(key="sweep-go").click().run()
    house.sweeps.wait(sweep, 60)
    assert house.sweeps.store.status(sweep) == "done"


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_figures_show_what_the_results_say(theme: str) -> None:
    cells = [
        cell(0, 0, "buyer", 7, 3), cell(0, 1, "buyer", 6, 4),
        cell(1, 0, "seller", 2, 8), cell(1, 1, "seller", 3, 7),
        cell(2, 0, "buyer", 8, 2),
    ]  # fmt: skip
    found = results(PLAN, cells)
    swings = draw_swings(found, CHOICES, theme).data[0]
    assert [label.split(" ", 1)[1] for label in swings.y] == ["without buyer-1", "without juror-01"]
    assert list(swings.x) == pytest.approx([-0.4, 0.1])
    assert swings.text[0] == "-40% · 2 of 2 flipped"
    shares = draw_shares(found, CHOICES, theme).data[0]
    assert list(shares.x) == [1, 0, 1]
    assert shares.error_x.arrayminus[0] == pytest.approx(1 - found.rows[0].shares["buyer"].low)
    flips = draw_flips(found, theme).data[0]
    assert (list(flips.x), list(flips.text)) == ([1.0], ["2 of 2"])
