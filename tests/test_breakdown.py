"""Results by category, difficulty, rounds and votes, and learning curves: numbers, figures, and both from page and
shell."""

import csv
import json
from dataclasses import replace
from pathlib import Path

import pytest
from scipy.stats import binomtest

from courtroom.cases.dispute import SIDES
from courtroom.courthouse import Courthouse
from courtroom.datasets import Row
from courtroom.errors import CourtroomError
from courtroom.experiments.breakdown import FEATURES, breakdown, differing, learning_curve
from courtroom.experiments.measures import MEASURES
from courtroom.experiments.outcome import Outcome
from courtroom.experiments.table import CellRow
from courtroom.figures.experiment import draw_breakdown
from tests.driving import shell
from tests.pages import texts
from tests.test_experiment_measures import dispute, of, task, voted
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


def test_accuracy_by_difficulty_is_that_of_each_class_alone() -> None:
    found = breakdown(CELLS, ["a", "b"], ACCURACY, FEATURES["difficulty"])
    assert found.labels == ("large margin", "clear margin", "near tie")
    told = {(point.arm, point.label): (point.value.value, point.cases, point.share) for point in found.points}
    assert told == {
        ("a", "large margin"): (1.0, 1, 0.25),
        ("a", "clear margin"): (1.0, 1, 0.25),
        ("a", "near tie"): (0.5, 2, 0.5),
        ("b", "near tie"): (1.0, 1, 1.0),
    }
    (wide,) = [point for point in found.points if (point.arm, point.label) == ("a", "near tie")]
    exact = binomtest(1, 2).proportion_ci(method="exact")
    assert (wide.value.low, wide.value.high) == pytest.approx((exact.low, exact.high))


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


def test_one_arms_hearings_tell_which_texts_are_hard() -> None:
    """So a single model's accuracy on the same ambiguous texts stands beside (Courtroom-LLM, figure 6)."""

    def cell_of(number: int, arm: str, label: str, ambiguous: bool | None) -> CellRow:
        told = {} if ambiguous is None else {"ambiguous": ambiguous}
        outcome = Outcome(outcome=label, details={"results": [{"id": "t", "label": label, **told}]})
        return CellRow(number, arm, f"text-{number}", task("yes"), "", 0, "", "done", "", outcome)

    cells = [cell_of(number, "single", "no" if number < 2 else "yes", None) for number in range(4)]
    cells += [cell_of(number, "court", "yes", number < 2) for number in range(4)]
    found = breakdown(cells, ["single", "court"], MEASURES["labelled"]["accuracy"], FEATURES["difficulty"])
    assert {(point.arm, point.label): point.value.value for point in found.points} == {
        ("single", "clear text"): 1.0,
        ("single", "ambiguous text"): 0.0,
        ("court", "clear text"): 1.0,
        ("court", "ambiguous text"): 1.0,
    }


def test_accuracy_by_share_adds_up_to_the_calibration_error() -> None:
    found = breakdown(CELLS, ["a"], ACCURACY, FEATURES["share"])
    shares = {"80 to 90 %": 14 / 17, "90 to 100 %": 1.0}
    apart = sum(point.share * abs(point.value.value - shares[point.label]) for point in found.points)
    assert apart == pytest.approx(of("dispute", "calibration", [one.scored for one in CELLS if one.arm == "a"]))


def test_a_learning_curve_is_over_blocks_in_order() -> None:
    # 20 cases in blocks of five: those after the tenth are right.
    cells = [cell(number, "a", (17, 0), (17, 0) if number >= 10 else (0, 17)) for number in range(20)]
    found = learning_curve(list(reversed(cells)), ["a"], ACCURACY)
    assert found.labels == ("0 to 4", "5 to 9", "10 to 14", "15 to 19")
    assert [point.value.value for point in found.points] == [0.0, 0.0, 1.0, 1.0]
    assert {point.cases for point in found.points} == {5}
    many = [cell(number, "a", (17, 0), (17, 0)) for number in range(95)]
    assert len(learning_curve(many, ["a"], ACCURACY).points) == 10
    assert learning_curve(CELLS[:2], ["a"], ACCURACY).labels == ("0", "1")


def test_the_figure_shows_what_the_table_says() -> None:
    found = breakdown(CELLS, ["a", "b"], ACCURACY, FEATURES["rounds"])
    figure = draw_breakdown(found, "dark")
    drawn = {
        (trace.name, found.labels[x]): (y, y - minus, y + plus)
        for trace in figure.data
        for x, y, plus, minus in zip(trace.x, trace.y, trace.error_y.array, trace.error_y.arrayminus, strict=True)
    }
    assert drawn == {
        (row["arm"], row["Rounds"]): pytest.approx((row["Accuracy"], row["from"], row["to"])) for row in found.rows()
    }
    assert list(figure.layout.xaxis.ticktext) == ["1<br>n = 2", "2<br>n = 1", "3<br>n = 1"]
    hostile = [replace(one, category=f"<b>{one.number}", arm="<b>a") for one in CELLS]
    figure = draw_breakdown(breakdown(hostile, ["<b>a"], ACCURACY, FEATURES["category"]))
    assert "<b>" not in figure.to_json().replace("\\u003c", "<")


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
    app.session_state["experiment-by"] = "votes"
    app.run()
    assert not app.exception, app.exception
    (shown,) = [one.value for one in app.dataframe if "share of cells" in one.value.columns]
    assert list(shown["Votes of the run"]) == ["17:0", "3:14", "0:17"]
