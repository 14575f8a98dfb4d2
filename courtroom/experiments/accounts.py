"""What stands beside a score: answers of no case, cases without an answer, answers that can't be read, arms over different cases."""

from collections.abc import Sequence

from courtroom.cases.criminal import CriminalCase
from courtroom.cases.document import Document
from courtroom.experiments.measures import Measure, measures_of
from courtroom.experiments.measures.criminal import CRIMINAL, is_plain_text
from courtroom.experiments.measures.measure import Scored
from courtroom.experiments.spec import Experiment
from courtroom.experiments.table import CellRow
from courtroom.strict import Strict


class Account(Strict):
    """How the answers of one arm and the cases fit together."""

    arm: str
    cases: int
    """Of the experiment, that the arm has answered."""
    unanswered: int
    """Cases that another arm has answered and this one has not."""
    unknown: int
    """Cases of the predictions that the dataset does not have."""
    unreadable: int
    """Predictions that can't be read as an answer; they count as wrong."""


def accounts(experiment: Experiment, rows: Sequence[CellRow], measures: Sequence[Measure]) -> tuple[Account, ...]:
    """How each arm's answers and the cases fit together, in the order of the arms; nothing while cells are waiting."""
    if any(row.state == "waiting" for row in rows):
        return ()
    done = {arm.name: {row.row for row in rows if row.arm == arm.name and row.outcome} for arm in experiment.arms}
    every = set().union(*done.values())
    structured = any(measure.name in {one.name for one in CRIMINAL} for measure in measures)
    unreadable = {arm.name: 0 for arm in experiment.arms}
    for row in rows:
        if (scored := row.scored) and not readable(scored, structured):
            unreadable[row.arm] += 1
    return tuple(
        Account(
            arm=arm.name,
            cases=len(done[arm.name]),
            unanswered=len(every - done[arm.name]),
            unknown=arm.unknown,
            unreadable=unreadable[arm.name],
        )
        for arm in experiment.arms
    )


def readable(row: Scored, structured: bool = False) -> bool:
    """Whether a prediction made elsewhere can be read as an answer; what a procedure came to always can. `structured`: whether
    measures want judgments, choices or amounts; else LawBench's scorers say whether a text is an answer."""
    if row.outcome.raw is None:
        return True
    if isinstance(row.case, CriminalCase):
        abstains = measures_of("criminal")["abstention"].each
        return not (is_plain_text(row) if structured else abstains is not None and abstains(row) == 1.0)
    return bool(row.outcome.raw.strip() if isinstance(row.case, Document) else row.outcome.outcome)


def sentences(found: Sequence[Account]) -> list[str]:
    """What of it is no matter of course, a sentence each."""
    lines = []
    for one in found:
        if one.unknown:
            lines.append(
                f"{one.arm}: {one.unknown:,} of the answered cases are not in the dataset and count for nothing."
            )
        if one.unreadable:
            lines.append(f"{one.arm}: {one.unreadable:,} answers can't be read and count as wrong.")
    if any(one.unanswered for one in found):
        counted = ", ".join(f"{one.arm} {one.cases:,}" for one in found)
        lines.append(
            f"The arms are not over the same cases ({counted}); a pair is compared on the cases that both have."
        )
    return lines
