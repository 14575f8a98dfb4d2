"""What guessing reaches stands in every table of labels or votes, and what is below it is marked."""

import pytest

from courtroom.cases.dispute import Dispute
from courtroom.cases.labelled import Labelled, LabelledTask
from courtroom.courthouse import Courthouse
from courtroom.experiments.measures import Scored, measures_of
from courtroom.experiments.outcome import Outcome
from courtroom.experiments.results import CHANCE, MOST_FREQUENT, guesses
from courtroom.experiments.table import ALL, ArmGroup, CellRow, table
from courtroom.experiments.written import latex, markdown
from courtroom.settings import Settings


def row(number: int, case: LabelledTask | Dispute, outcome: Outcome) -> CellRow:
    return CellRow(number, "arm", case.id, case, "", 0, "", "done", "", outcome)


def texts(labels: str, answers: str) -> list[CellRow]:
    rows = []
    for number, (label, answer) in enumerate(zip(labels, answers, strict=True)):
        item = Labelled(id=f"t-{number}", text="It rains.", label=label)
        case = LabelledTask(id=item.id, title="t", labels=("a", "b", "c"), question="Which?", items=(item,))
        details = {"results": [{"id": item.id, "label": answer}]}
        rows.append(row(number, case, Outcome(outcome=answer, details=details)))
    return rows


def test_the_most_frequent_answer_and_chance_have_a_row_and_what_is_below_is_marked() -> None:
    rows = texts("aaaabbc", "abcabca")
    measures = [measures_of("labelled")[name] for name in ("accuracy", "macro_f1")]
    groups = {("arm", ALL): ArmGroup("arm", ALL, rows)}
    found = {one.name: one.values for one in guesses(groups, measures)}
    assert found[MOST_FREQUENT]["accuracy"] == pytest.approx(4 / 7)
    assert found[MOST_FREQUENT]["macro_f1"] == pytest.approx((2 * 4 / 7 / (1 + 4 / 7)) / 3), (
        "two labels have an F1 of 0"
    )
    assert found[CHANCE] == {"accuracy": pytest.approx(1 / 3)}
    made = table(groups, rows, ["arm"], measures)
    made = type(made)(**{**made.__dict__, "guesses": tuple(guesses(groups, measures))})
    (line,) = made.lines
    assert line.values["accuracy"].value == pytest.approx(3 / 7)
    assert made.below(line, measures[0])
    text = markdown(made)
    assert "42.9 %" in text
    assert " ↓ |" in text
    assert f"| {MOST_FREQUENT} | 57.1 % |" in text
    assert MOST_FREQUENT in latex(made)
    assert "↓" not in latex(made)


def test_disputes_are_guessed_by_the_most_frequent_winner_and_the_middle_of_their_votes(tmp_path: object) -> None:
    house = Courthouse(Settings(home=tmp_path))
    cases = [house.library.case(name) for name in ("oak-table", "phone-battery", "camera-fungus")]
    house.close()
    rows = [row(n, case, Outcome(outcome="buyer")) for n, case in enumerate(cases) if isinstance(case, Dispute)]
    measures = [measures_of("dispute")[name] for name in ("accuracy", "votes_mae")]
    most, chance = guesses({("arm", ALL): ArmGroup("arm", ALL, rows)}, measures)
    juries = [one.case.jury for one in rows if isinstance(one.case, Dispute) and one.case.jury]
    buyer = sum(jury.winner == "buyer" for jury in juries)
    assert most.values["accuracy"] == pytest.approx(max(buyer, 3 - buyer) / 3)
    middle = sorted(jury.buyer for jury in juries)[1]
    assert most.values["votes_mae"] == pytest.approx(sum(abs(jury.buyer - middle) for jury in juries) / 3, abs=0.01)
    assert chance.values == {"accuracy": 0.5}
    scored = [Scored(one.case, "", Outcome(outcome="buyer")) for one in rows]
    assert measures[0].finish(measures[0].parts(scored).sum(axis=0, keepdims=True))[0] == pytest.approx(buyer / 3)
