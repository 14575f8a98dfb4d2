"""Measures of trials: how often a jury finds the case proven, and how often it hangs. Nobody knows who is right."""

from courtroom.cases.trial import Trial
from courtroom.experiments.measures.measure import Measure, Scored, mean
from courtroom.language import N_


def _proven(row: Scored) -> float | None:
    assert isinstance(row.case, Trial)
    return float(row.outcome.outcome == row.case.sides[0])


def _hung(row: Scored) -> float | None:
    assert isinstance(row.case, Trial)
    return float(row.outcome.outcome not in row.case.sides)


TRIALS: tuple[Measure, ...] = (
    mean("proven", N_("Found guilty, or for the plaintiff"), N_("Share of all juries"), _proven, usual=True),
    mean("hung", N_("Hung juries"), N_("Share of all juries"), _hung, better="lower", usual=True),
)
