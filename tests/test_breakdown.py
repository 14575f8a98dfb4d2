"""Results by category, difficulty, rounds and votes, and learning curves: numbers, figures, and both from page and
shell."""

import csv
import json
from dataclasses import replace
from pathlib import Path

import pytest

from courtroom.cases.dispute import SIDES
from courtroom.courthouse import Courthouse
from courtroom.datasets import Row
from courtroom.errors import CourtroomError
from courtroom.experiments.breakdown import FEATURES, breakdown, differing
from courtroom.experiments.measures import MEASURES
from courtroom.experiments.table import CellRow
from tests.driving import shell
from tests.pages import texts
from tests.test_experiment_measures import dispute, voted
from tests.test_experiments import answers
from tests.test_experiments_page import opened

ACCURACY = MEASURES["dispute"]["accuracy"]


def cell(number: int, arm: str, real: tuple[int, int], mine: tuple[int, int], rounds: int = 1) -> CellRow:
    outcome = voted(*mine).model_copy(update={"rounds": rounds})
    return CellRow(number, arm, f"case-{number}", dispute(*real), "", 0, f"run-{number}", "done", "", outcome)


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
    with pytest.raises(
        CourtroomError, match="do not differ by “rounds”. Choose among: difficulty, split, real-votes, share"
    ):
        house.experiments.results("votes").breakdown("rounds", ACCURACY)
    app = opened(experiment=house.experiments.store.experiment("votes").id)
    assert "What the results depend on" in texts(app) + " ".join(one.value for one in app.subheader)
    (shown,) = [one.value for one in app.dataframe if "share of cells" in one.value.columns]
    assert list(shown["Difficulty"]) == ["large margin", "clear margin", "near tie"]
