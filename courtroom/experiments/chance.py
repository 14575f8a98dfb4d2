"""What guessing reaches on the cases of a table: always the most frequent answer, or any answer by chance."""

from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import median

from courtroom.cases.dispute import Dispute
from courtroom.cases.labelled import LabelledTask
from courtroom.experiments.measures import Measure, Scored
from courtroom.experiments.outcome import Outcome
from courtroom.experiments.table import ArmGroup, Guess
from courtroom.language import N_

GUESSED = (
    *("accuracy", "macro_f1", "weighted_f1", "macro_recall", "macro_precision"),
    *("votes_mae", "votes_rmse"),
)
"""Measures that a guess has a value for: they read nothing but the answer and the counts of votes."""
MOST_FREQUENT = N_("Always the most frequent answer")
CHANCE = N_("Chance")


def guesses(groups: Mapping[tuple[str, str], ArmGroup], measures: Sequence[Measure]) -> list[Guess]:
    """For each group of cases, what guessing reaches there; none where the kind of case has no answer to guess.

    The constant guess knows the most frequent answer of these very cases, and the middle of their votes: it is the best that
    can be had without reading a case. Chance is the accuracy of an even draw among the answers.
    """
    found = []
    for name in dict.fromkeys(group for _, group in groups):
        cases = {row.row: row for (_, of), group in groups.items() if of == name for row in group.rows}
        scored = [one for row in cases.values() if (one := row.scored)]
        if not (guessed := _constant(scored)):
            continue
        values = {
            measure.name: value
            for measure in measures
            if measure.name in GUESSED and (value := _value(measure, guessed)) == value
        }
        found.append(Guess(MOST_FREQUENT, name, values))
        shares = [1 / len(options) for one in scored if (options := _options(one))]
        if shares and any(measure.name == "accuracy" for measure in measures):
            found.append(Guess(CHANCE, name, {"accuracy": sum(shares) / len(shares)}))
    return found


def _value(measure: Measure, rows: Sequence[Scored]) -> float:
    return float(measure.finish(measure.parts(rows).sum(axis=0, keepdims=True))[0])


def _options(row: Scored) -> Sequence[str]:
    if isinstance(row.case, LabelledTask):
        return row.case.labels
    return ("buyer", "seller") if isinstance(row.case, Dispute) and row.case.jury else ()


def _constant(rows: Sequence[Scored]) -> list[Scored]:
    """The rows with the same answer in place of each arm's own."""
    labels = Counter(
        item.label
        for row in rows
        if isinstance(row.case, LabelledTask)
        for item in row.case.items
        if item.label is not None
    )
    juries = [row.case.jury for row in rows if isinstance(row.case, Dispute) and row.case.jury]
    if labels:
        label = labels.most_common(1)[0][0]
        return [_with(row, Outcome(outcome=label, details={"results": _results(row, label)})) for row in rows]
    if juries:
        winner = Counter(jury.winner for jury in juries).most_common(1)[0][0]
        share = median(jury.buyer / (jury.buyer + jury.seller) for jury in juries)
        counts = {"buyer": round(1_000 * share), "seller": 1_000 - round(1_000 * share)}
        return [_with(row, Outcome(outcome=winner, counts=counts)) for row in rows]
    return []


def _results(row: Scored, label: str) -> list[dict[str, str]]:
    assert isinstance(row.case, LabelledTask)
    return [{"id": item.id, "label": label} for item in row.case.items]


def _with(row: Scored, outcome: Outcome) -> Scored:
    return Scored(row.case, row.category, outcome)
