"""The page Experiments, drawn by Streamlit's own test harness; and its figures."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from courtroom.courthouse import Courthouse
from courtroom.experiments.measures import MEASURES
from courtroom.figures.experiment import draw_frontier, draw_matrix, draw_values, frontier, matrix_cases, run_of
from tests.test_experiments import RIGHT, SINGLE, answers, done, spec
from tests.test_experiments import texts as rows
from tests.test_pages import house, opened_at, texts

__all__ = ["house"]  # a fixture


opened = partial(opened_at, "experiments")


def press(app: AppTest, key: str) -> None:
    app.button(key=key).click().run()
    assert not app.exception, app.exception


def test_without_a_dataset_it_says_where_to_begin(house: Courthouse) -> None:  # noqa: F811
    app = opened()
    assert [one.value for one in app.title] == ["Experiments"]
    assert "No dataset is here yet" in texts(app)


def test_from_a_dataset_to_a_table_by_the_page_alone(house: Courthouse) -> None:  # noqa: F811
    house.datasets.add("feelings", rows())
    app = opened()
    arms = app.multiselect(key="experiment-arms-labelled")
    arms.set_value(arms.options[:2]).run()
    app.number_input(key="experiment-sample").set_value(3).run()
    press(app, "experiment-estimate")
    assert "cells" in texts(app)
    assert "save" in texts(app)
    press(app, "experiment-start")
    (kept,) = house.experiments.store.experiments()
    assert (len(kept.experiment.arms), kept.experiment.dataset.sample) == (2, 3)
    house.experiments.wait(kept.id, 120)
    app.run()
    assert not app.exception, app.exception
    table = app.dataframe[0].value
    assert list(table["arm"]) == [arm.name for arm in kept.experiment.arms]
    assert "95" not in table["Accuracy"][0]
    assert " to " in table["Accuracy"][0]
    assert {"What it costs", "Arms and cases"} <= {one.value for one in app.subheader}
    cells = app.dataframe[-1].value
    assert len(cells) == 6
    assert str(cells["run"][0]).startswith("deliberation?run=cell-")


def test_a_paused_experiment_goes_on_from_the_page_and_is_deleted_there(house: Courthouse) -> None:  # noqa: F811
    house.datasets.add("feelings", rows())
    arms = [{"name": "<b>one</b> judge", "procedure": "courtroom-llm", "set": SINGLE}]
    name = house.experiments.begin(spec(arms=arms, title="<i>Feelings</i>"))
    app = opened(experiment=name)
    assert "No cell is done yet" in texts(app)
    press(app, "experiment-go")
    house.experiments.wait(name, 60)
    app.run()
    assert "<b>" not in texts(app)
    assert "<i>" not in texts(app)
    assert house.experiments.store.status(name) == "done"
    press(app, "experiment-delete")
    assert house.experiments.store.experiments() == []
    assert "There is no experiment" in texts(opened(experiment=name))


def test_failed_cells_are_tried_again_from_the_page(house: Courthouse) -> None:  # noqa: F811
    house.datasets.add("feelings", rows())
    poor = {**SINGLE, "budget.calls": 1, "structure": "multiple", "judges": 3}
    found = done(
        house,
        spec(
            arms=[{"name": "poor", "procedure": "courtroom-llm", "set": poor}], dataset={"name": "feelings", "limit": 2}
        ),
    )
    assert {row.state for row in found.rows} == {"failed"}
    app = opened(experiment=found.kept.id)
    assert "2 cells failed" in texts(app)
    press(app, "experiment-again")
    house.experiments.wait(found.kept.id, 60)
    assert {row.state for row in house.experiments.results(found.kept.id).rows} == {"failed"}


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_figures_show_what_the_table_says(house: Courthouse, tmp_path: Path, theme: str) -> None:  # noqa: F811
    house.datasets.add("feelings", rows())
    file = answers(tmp_path / "given.jsonl", {"good": RIGHT, "bad": ["glad"] * 6})
    arms = [
        {"name": "one judge", "procedure": "courtroom-llm", "set": SINGLE},
        *({"name": name, "model": name, "predictions": str(file)} for name in ("good", "bad")),
    ]
    found = done(house, spec(arms=arms))
    accuracy = MEASURES["labelled"]["accuracy"]
    values = draw_values(found.table, "all cases", accuracy, theme).data[0]
    assert list(values.y) == ["one judge", "good", "bad"]
    assert list(values.x)[1:] == [1.0, 0.5]
    groups = [found.groups[arm, "all cases"] for arm in found.arms]
    matrix = draw_matrix(groups, accuracy, theme)
    good = next(trace for trace in matrix.data if trace.name == "good")
    assert set(good.marker.color) == {1.0}
    assert [case for _, case in good.customdata] == matrix_cases(groups, accuracy)
    assert run_of(found.rows, "one judge", "text-0").startswith("cell-")
    assert run_of(found.rows, "good", "text-0") == ""
    costs = draw_frontier(found.table, "all cases", accuracy, theme)
    assert [trace.name for trace in costs.data[1:]] == ["one judge"], "what predictions took is not known"


def test_the_frontier_leaves_out_what_another_arm_beats_for_less() -> None:
    assert frontier([(1.0, 0.5), (2.0, 0.4), (2.0, 0.7), (3.0, 0.7), (0.5, 0.1)]) == [4, 0, 2]
    assert frontier([]) == []
