"""The page Experiments; and results by category, difficulty, rounds and votes, as page and shell show them."""

import csv
import json
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from courtroom import Courthouse, CourtroomError
from courtroom.cases.dispute import SIDES
from courtroom.datasets import Row
from courtroom.datasets.samples import add_sample
from courtroom.experiments.breakdown import FEATURES, breakdown, differing
from courtroom.experiments.measures import MEASURES, CaseResult
from tests.docs import ROOT
from tests.driving import done, shell
from tests.pages import house as house  # a fixture
from tests.pages import opened_at, ran, texts
from tests.test_experiment_measures import dispute, voted
from tests.test_experiments import SINGLE, answers, spec
from tests.test_experiments import texts as rows

opened = partial(opened_at, "experiments")


def unmarked(app: AppTest) -> str:
    """All texts, without what keeps their marks from taking effect."""
    return texts(app).replace("\\", "")


def press(app: AppTest, key: str) -> None:
    ran(app.button(key=key).click())


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
    ran(app)
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


ACCURACY = MEASURES["dispute"]["accuracy"]


def cell(number: int, arm: str, real: tuple[int, int], mine: tuple[int, int], rounds: int = 1) -> CaseResult:
    outcome = voted(*mine).model_copy(update={"rounds": rounds})
    made = {"number": number, "arm": arm, "row": f"case-{number}", "run": f"run-{number}"}
    return CaseResult(dispute(*real), "", outcome, **made)


CELLS = [
    cell(0, "a", (17, 0), (17, 0)),
    cell(1, "a", (9, 8), (3, 14), 3),
    cell(2, "a", (8, 9), (0, 17), 2),
    cell(3, "a", (13, 4), (17, 0)),
    cell(4, "b", (9, 8), (10, 7), 2),
]


def test_classes_of_votes_and_rounds_stand_in_their_order() -> None:
    def labels(feature: str) -> tuple[str, ...]:
        return breakdown(CELLS, ["a", "b"], ACCURACY, FEATURES[feature]).labels

    assert labels("rounds") == ("1", "2", "3")
    named = [replace(one, category=("Home", "Fashion")[one.number % 2]) for one in CELLS]
    assert breakdown(named, ["a", "b"], ACCURACY, FEATURES["category"]).labels == ("Fashion", "Home")
    assert labels("real-votes") == ("17:0", "13:4", "9:8", "8:9")
    assert labels("split") == ("17:0", "13:4", "9:8"), "whoever won"
    assert labels("votes") == ("17:0", "10:7", "3:14", "0:17")
    assert [one.name for one in differing(CELLS)] == ["difficulty", "rounds", "split", "real-votes", "share", "votes"]
    assert differing(CELLS[:1]) == [], "what does not differ is not offered"


def test_rounds_are_told_for_each_split_on_record() -> None:
    """CyberJurors, figure 5 (a)."""
    votes = [((6, 11), (9, 8), 2), ((6, 11), (6, 11), 3), ((17, 0), (17, 0), 1), ((8, 8), (10, 7), 2)]
    cells = []
    for number, (first, last, rounds) in enumerate(votes):
        made = cell(number, "a", (17, 0) if rounds == 1 else (11, 6), last, rounds)
        counts = dict(zip(SIDES, first, strict=True))
        cells.append(replace(made, outcome=made.outcome.model_copy(update={"first": counts})))

    def told(measure: str) -> list[float]:
        found = breakdown(cells, ["a"], MEASURES["dispute"][measure], FEATURES["real-votes"])
        assert found.labels == ("17:0", "11:6")
        return [point.value.value for point in found.points]

    assert told("accuracy") == [1.0, pytest.approx(2 / 3)]
    assert told("first_accuracy") == [1.0, pytest.approx(1 / 3)], "a tie goes to the buyer"
    ended = [told(f"ended_{number}") for number in (1, 2, 3)]
    assert ended == [[1.0, 0.0], [0.0, pytest.approx(2 / 3)], [0.0, pytest.approx(1 / 3)]]


def test_shell_and_page_draw_a_figure_with_its_numbers(house: Courthouse, tmp_path: Path) -> None:
    """Of an experiment over four disputes, of predictions made elsewhere."""
    real, mine = ((17, 0), (9, 8), (8, 9), (13, 4)), ((17, 0), (3, 14), (0, 17), (17, 0))
    cases = [dispute(*votes).model_copy(update={"id": f"text-{number}"}) for number, votes in enumerate(real)]
    house.datasets.add("disputes", [Row(id=case.id, case=case) for case in cases])
    predictions = [json.dumps(dict(zip(SIDES, votes, strict=True))) for votes in mine]
    file = answers(tmp_path / "given.jsonl", {"m": predictions})
    shell("experiment", "predictions", str(file), "--dataset", "disputes", "--name", "votes")
    told = list(csv.DictReader(shell("experiment", "figure", "votes", "difficulty").splitlines(), delimiter="\t"))
    accuracy = [(line["Difficulty"], line["Accuracy"]) for line in told]
    assert accuracy == [("large margin", "1.0"), ("clear margin", "1.0"), ("near tie", "0.5")]
    shell("experiment", "figure", "votes", "real-votes", "--to", str(tmp_path / "votes.html"))
    assert "9:8" in (tmp_path / "votes.html").read_text()
    shell("experiment", "figure", "votes", "values", "--measure", "votes_mae", "--to", str(tmp_path / "v.csv"))
    assert (tmp_path / "v.csv").read_text().startswith("arm,Votes off (MAE),from,to,cases")
    matrix = json.loads(shell("experiment", "figure", "votes", "matrix", "--json"))
    right = {line["case"]: line["Accuracy"] for line in matrix}
    assert right == {"text-0": 1.0, "text-1": 0.0, "text-2": 1.0, "text-3": 1.0}
    told = "do not differ by “rounds”. Choose among: difficulty, split, real-votes, share"
    with pytest.raises(CourtroomError, match=told):
        house.experiments.results("votes").breakdown("rounds", ACCURACY)
    app = opened(experiment=house.experiments.store.experiment("votes").id)
    assert "What the results depend on" in texts(app) + " ".join(one.value for one in app.subheader)
    (shown,) = [one.value for one in app.dataframe if "share of cells" in one.value.columns]
    assert list(shown["Difficulty"]) == ["large margin", "clear margin", "near tie"]
