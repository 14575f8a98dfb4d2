"""The recipes of the papers' tables: each fits the procedures as it stands, and runs on bundled cases with the offline model."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from courtroom.__main__ import app
from courtroom.courthouse import Courthouse
from courtroom.datasets.importing import Order
from courtroom.errors import CourtroomError
from courtroom.experiments.adapted import adapted
from courtroom.experiments.begin import check
from courtroom.experiments.frames import frame_of
from courtroom.experiments.spec import Experiment, parsed, read_toml
from courtroom.settings import Settings
from tests.docs import ROOT

RECIPES = sorted((ROOT / "data" / "experiments").glob("*-*.toml"))
BUNDLED = {
    "dispute": "cases",
    "criminal": "criminal_precedents.jsonl",
    "labelled": "tasks/message-feeling.json",
    "document": "documents",
}
SMALL: dict[str, dict[str, Any]] = {
    "cyberjurors": {"jury_size": 2, "rounds": 1, "grounding_rounds": 1},
    "courtroom-llm": {"judges": 1, "hearings": 1},
    "juris": {"jury_size": 1, "pool": 2, "shortest": 1, "longest": 2},
    "jurisagents": {},
    "verdict": {"turns": 1},
    "discussion": {"speakers": 2, "turns": 1},
    "debate": {"rounds": 1},
}


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Courthouse]:
    """A store with two bundled cases of each kind in the split `test`, and one in `train`."""
    house = Courthouse(Settings(home=tmp_path_factory.mktemp("recipes")))
    for kind, source in BUNDLED.items():
        house.dataset_imports.run(Order(source=str(ROOT / "data" / source), name="all", split="test"))
        rows = list(islice(house.datasets.rows("all"), 3))
        splits = ("test", "test", "train")
        house.datasets.add(
            kind, (row.model_copy(update={"split": split}) for row, split in zip(rows, splits, strict=True))
        )
    yield house
    house.close()


def kind_of(house: Courthouse, experiment: Experiment) -> str:
    """The kind of case that its first arm's procedure hears."""
    return house.procedures[experiment.arms[0].procedure].case_kind


def distinct(experiment: Experiment) -> Experiment:
    """Without arms that differ by their names alone, as rows of several models do once all have the offline model."""
    found = {(arm.procedure, str(sorted(arm.set.items()))): arm for arm in experiment.arms}
    return experiment.model_copy(update={"arms": tuple(found.values())})


@pytest.mark.parametrize("file", RECIPES, ids=lambda file: file.stem)
def test_a_recipe_fits_as_it_stands_and_is_documented(file: Path, house: Courthouse) -> None:
    experiment = read_toml(file)
    assert experiment.name == file.stem
    check(experiment, kind_of(house, experiment), house.procedures)
    assert f"[{file.stem}](../data/experiments/{file.name})" in (ROOT / "docs" / "reproduce.md").read_text()


@pytest.mark.parametrize("file", RECIPES, ids=lambda file: file.stem)
def test_a_recipe_runs_with_the_offline_model_on_bundled_cases(file: Path, house: Courthouse) -> None:
    as_written = read_toml(file)
    kind = kind_of(house, as_written)
    small = adapted(as_written, dataset=kind, split="test", repeats=1, model="offline")
    assert {arm.name for arm in small.arms} == {arm.name for arm in as_written.arms}
    arms = tuple(arm.model_copy(update={"set": {**arm.set, **SMALL[arm.procedure]}}) for arm in small.arms)
    experiment = distinct(small.model_copy(update={"arms": arms}))
    name = house.experiments.begin(experiment)
    house.experiments.go(name)
    house.experiments.wait(name, 60)
    found = house.experiments.results(name)
    assert [row.reason for row in found.rows if row.state != "done"] == []
    assert len(found.rows) == 2 * len(experiment.arms)
    left_out = {"bertscore"} if found.notes else set()
    assert {measure.name for measure in found.table.measures} | left_out == set(as_written.measures)
    assert {line.arm for line in found.table.lines} == {arm.name for arm in experiment.arms}
    if kind == "dispute":  # figures of rounds and votes are drawn from these
        cells = frame_of(found.rows, found.measures)
        assert (cells["votes_buyer"] + cells["votes_seller"] > 0).all()
        assert cells["rounds"].max() >= 1
        free = [arm.name for arm in experiment.arms if arm.set.get("variant") == "nearest-precedents"]
        assert (cells[cells["arm"].isin(free)]["calls"] == 0).all()


def test_another_dataset_and_model_take_the_place_of_the_files() -> None:
    values = {
        "name": "a",
        "dataset": {"name": "b", "version": "1", "split": "test", "ids": ["x"], "sample": 9},
        "repeats": 3,
        "arms": [
            {
                "name": "x",
                "procedure": "juris",
                "model": "openai/gpt-4o",
                "set": {"members.editor.id": "openai/o3", "embedding": "local/longformer", "model.top_p": 1, "pool": 4},
            },
            {"name": "y", "predictions": "answers.csv", "model": "gpt"},
        ],
    }
    written = parsed(values, "here")
    found = adapted(
        written, dataset="c", split="dev", sample=2, repeats=1, model="offline", values={"longest": 3, "pool": 9}
    )
    assert found.dataset.model_dump(exclude_defaults=True) == {"name": "c", "split": "dev", "sample": 2}
    assert found.repeats == 1
    assert (found.arms[0].model, found.arms[0].set) == ("offline", {"model.top_p": 1, "pool": 9, "longest": 3})
    assert found.arms[1] == written.arms[1]
    assert adapted(written) == written


def test_what_does_not_fit_an_arm_is_said_with_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COURTROOM_HOME", str(tmp_path))
    do = CliRunner().invoke
    made = do(app, ["datasets", "import", str(ROOT / "data" / "documents"), "--name", "cnndm1", "--split", "test"])
    assert made.exit_code == 0
    file = str(ROOT / "data" / "experiments" / "juris-figure-3.toml")
    done = do(app, ["experiment", "run", file, "--model", "offline", "--set", "seats=3"])
    assert isinstance(done.exception, CourtroomError)
    assert "With the chief editor" in str(done.exception)
    done = do(app, ["experiment", "run", file, "--model", "offline", "--estimate", "--sample", "1"])
    assert done.exit_code == 0, done.output
    assert "2 cells take about" in done.stdout
