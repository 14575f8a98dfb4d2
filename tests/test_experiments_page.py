"""The page Experiments, drawn by Streamlit's own test harness."""

from functools import partial

from streamlit.testing.v1 import AppTest

from courtroom.courthouse import Courthouse
from courtroom.datasets.samples import add_sample
from tests.docs import ROOT
from tests.driving import done
from tests.pages import house, opened_at, texts
from tests.test_experiments import SINGLE, spec
from tests.test_experiments import texts as rows

__all__ = ["house"]  # a fixture

opened = partial(opened_at, "experiments")


def unmarked(app: AppTest) -> str:
    """All texts, without what keeps their marks from taking effect."""
    return texts(app).replace("\\", "")


def press(app: AppTest, key: str) -> None:
    app.button(key=key).click().run()
    assert not app.exception, app.exception


def test_every_recipe_is_offered_for_other_cases(house: Courthouse) -> None:  # noqa: F811
    add_sample(house.datasets, house.library, "sample-criminal-cases")
    app = opened()
    press(app, "experiment-to-Recipes")
    press(app, "recipe-verdict-table-2")
    press(app, "experiment-start")
    assert "There is no dataset “cail2018”" in unmarked(app), "one whose dataset is missing is refused"
    app = opened()
    press(app, "experiment-to-Recipes")
    files = {f"recipe-{path.stem}" for path in (ROOT / "data" / "experiments").glob("*.toml")}
    assert {button.key for button in app.button if str(button.key).startswith("recipe-")} == files
    press(app, "recipe-juris-table-1")
    assert "No dataset of its kind is here" in unmarked(app)
    press(app, "sample-sample-documents")
    assert "which is not here. Other cases of its kind stand in" in unmarked(app)
    arms = app.multiselect(key="experiment-juris-table-1-arms")
    assert len(arms.value) == len(arms.options)
    arms.set_value(["Mistral-7B", "SummIt"]).run()
    app.selectbox(key="experiment-juris-table-1-model").select("offline").run()
    app.number_input(key="experiment-juris-table-1-sample-sample-documents").set_value(2).run()
    app.toggle(key="experiment-batch").set_value(True).run()
    press(app, "experiment-estimate")
    assert "4 cells" in unmarked(app)
    assert "the time of their batches" in unmarked(app)
    press(app, "experiment-start")
    (kept,) = house.experiments.store.experiments()
    house.experiments.wait(kept.id, 60)
    assert kept.experiment.batch
    assert {arm.model for arm in kept.experiment.arms} == {"offline"}
    assert (kept.experiment.dataset.name, kept.experiment.dataset.split) == ("sample-documents", None)
    assert [row.state for row in house.experiments.rows(kept.id)] == ["done"] * 4


def test_one_setting_is_varied_over_arms_and_models(house: Courthouse) -> None:  # noqa: F811
    house.datasets.add("feelings", rows())
    app = opened()
    press(app, "experiment-to-New")
    arms = app.multiselect(key="experiment-arms-labelled")
    arms.set_value(["Courtroom-LLM: Single model", "Courtroom-LLM: Nearest texts"]).run()
    app.selectbox(key="experiment-vary").select("neighbours").run()
    app.text_input(key="experiment-values-neighbours").set_value("1, 3").run()
    app.multiselect(key="experiment-models").set_value(["offline"]).run()
    shown = app.dataframe[0].value
    presets = ("Courtroom-LLM: Single model", "Courtroom-LLM: Nearest texts")
    names = [f"{preset} · Nearest texts that decide: {value}" for preset in presets for value in (1, 3)]
    assert list(shown["Arm"]) == names
    assert shown["Settings"][3] == "Structure: nearest, Nearest texts that decide: 3"
    app.number_input(key="experiment-sample-feelings").set_value(3).run()
    press(app, "experiment-estimate")
    assert "cells" in texts(app)
    press(app, "experiment-start")
    (kept,) = house.experiments.store.experiments()
    assert ([arm.name for arm in kept.experiment.arms], kept.experiment.dataset.sample) == (names, 3)
    house.experiments.wait(kept.id, 120)
    app.run()
    assert not app.exception, app.exception
    table = app.table[0].value
    assert [name.replace("\\", "") for name in table["Arm"]][:-2] == names
    assert " to " in table["Accuracy"][0]
    assert any(value.startswith("**") for value in table["Accuracy"]), "the best is bold"
    assert {"Accuracy against cost", "Arms and cases"} <= {one.value for one in app.subheader}
    press(app, "canary-ask")
    assert "is no language model" in texts(app)
    cells = app.dataframe[-1].value
    assert len(cells) == 12
    assert str(cells["run"][0]).startswith("deliberation?run=cell-")


def test_the_page_raises_a_budget_and_deletes_an_experiment(house: Courthouse) -> None:  # noqa: F811
    house.datasets.add("feelings", rows())
    arms = [{"name": "one judge", "procedure": "courtroom-llm", "set": SINGLE}]
    found = done(house, spec(arms=arms, budget={"calls": 4}, at_once=1))
    app = opened(experiment=found.kept.id)
    assert "The budget of 4 calls has no room for another cell: spent so far: 4 calls" in unmarked(app)
    assert "2 cells are left" in unmarked(app)
    assert app.dataframe[0].value["Done"][0] == 4
    app.number_input(key=f"experiment-new-{found.kept.id}-calls").set_value(0).run()
    press(app, "experiment-set-budget")
    press(app, "experiment-go")
    house.experiments.wait(found.kept.id, 60)
    assert house.experiments.store.status(found.kept.id) == "done"
    assert [row.state for row in house.experiments.rows(found.kept.id)] == ["done"] * 6
    app.run()
    press(app, "experiment-delete")
    assert house.experiments.store.experiments() == []
    assert "There is no experiment" in texts(opened(experiment=found.kept.id))
