"""The page What if, drawn by Streamlit's own test harness."""

from functools import partial

import pytest
from streamlit.testing.v1 import AppTest

from courtroom.courthouse import Courthouse
from courtroom.engine.procedure import Choice
from courtroom.experiments.what_if import evidence_left_out, results, singly
from courtroom.figures.what_if import draw_flips, draw_shares, draw_swings
from tests.pages import benched, heard, house, opened_at, page, texts
from tests.test_what_if_variants import PLAN, cell
from tests.test_what_ifs import started

__all__ = ["house"]  # a fixture

CHOICES = (Choice("buyer", "Buyer", 0, "circle", "●"), Choice("seller", "Seller", 1, "square", "■"))
SMALL = {"jury_size": 3, "rounds": 2, "grounding_rounds": 1, "consensus": 1.0}


opened = partial(opened_at, "what_if")


def press(app: AppTest, label: str) -> None:
    next(button for button in app.button if button.label == label).click().run()
    assert not app.exception, app.exception


def test_from_where_to_begin_over_a_finished_run_to_what_would_change_its_verdict(house: Courthouse) -> None:
    app = page("what_if")
    assert "No hearing is done yet" in texts(app)
    assert "Pick a case" in [button.label for button in app.button]
    run = heard(house, **SMALL)
    app = page("deliberation", run=run)
    press(app, "What would change this verdict?")
    assert [element.value for element in app.title] == ["What if"]
    assert app.query_params["base"] == run
    app.switch_page("pages/what_if.py").run()  # the harness itself stays on the page that it had opened
    app.number_input(key="what-if-budget").set_value(40).run()
    press(app, "Find the changes")
    press(app, "Start")
    (what_if,) = house.experiments.store.experiments()
    assert what_if.experiment.dataset.run == run
    assert len(what_if.experiment.arms) > 3
    house.experiments.wait(what_if.id, 60)
    app.run()
    assert not app.exception, app.exception
    assert app.session_state["what-if"] == what_if.id
    assert "What decided it:" in texts(app)
    table, cells = app.dataframe
    assert len(cells.value) == len(table.value), "and every cell has a row"
    assert list(table.value["change"])[0] == "as it was"
    assert list(table.value["run"])[0] == f"deliberation?run={run}"
    assert set(table.value["done"]) == {"1 of 1"}


def test_what_is_chosen_is_estimated_and_run(house: Courthouse) -> None:  # noqa: F811
    run = heard(house, **SMALL)
    app = opened(base=run)
    app.button_group(key="what-if-way").set_value("Choose what to vary").run()
    assert "Choose something to vary" in texts(app)
    app.multiselect(key=f"what-if-drop-{run}").set_value(["Each member (3)"]).run()
    app.multiselect(key=f"what-if-vary-{run}").set_value(["rounds", "graph.kind"]).run()
    app.text_input(key=f"what-if-{run}-rounds").set_value("1, 11").run()
    assert "must be at most 10" in texts(app)
    app.text_input(key=f"what-if-{run}-rounds").set_value("1").run()
    app.number_input(key="what-if-seeds").set_value(2).run()
    assert not app.exception, app.exception
    assert "calls" in texts(app)
    press(app, "Start")
    (what_if,) = house.experiments.store.experiments()
    house.experiments.wait(what_if.id, 60)
    assert {variant.kind for variant in what_if.experiment.arms} == {"base", "member", "knob"}
    app.run()
    assert len(app.dataframe) == 2
    assert len(app.dataframe[1].value) == 2 * len(what_if.experiment.arms)


def test_a_what_if_is_found_by_its_address_and_can_be_deleted(house: Courthouse) -> None:  # noqa: F811
    run = benched(house, "verdict")
    case = house.record(run).case
    what_if = started(house, house.experiments.what_ifs.experiment(run, singly(evidence_left_out(case)), (0,)))
    house.experiments.wait(what_if, 60)
    app = opened(experiment=what_if)
    assert "What moves it" in [element.value for element in app.subheader]
    app.button(key="experiment-delete").click().run()
    assert not app.exception, app.exception
    assert house.experiments.store.experiments() == []
    assert [row.id for row in house.store.runs()] == [run]
    assert "There is no experiment" in texts(opened(experiment=what_if))


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
    assert list(swings.x) == pytest.approx([-40, 10])
    assert swings.text[0] == "-40 · 2 of 2 flipped"
    shares = draw_shares(found, CHOICES, theme).data[0]
    assert list(shares.x) == [1, 0, 1]
    assert shares.error_x.arrayminus[0] == pytest.approx(1 - found.rows[0].shares["buyer"].low)
    flips = draw_flips(found, theme).data[0]
    assert (list(flips.x), list(flips.text)) == ([1.0], ["2 of 2"])
