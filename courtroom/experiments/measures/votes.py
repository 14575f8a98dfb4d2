"""Measures of how a panel voted: whether its share of votes can be taken for a probability, whether members agree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from courtroom.cases.dispute import Dispute
from courtroom.cases.labelled import LabelledTask
from courtroom.evaluation.calibration import BINS, bin_of
from courtroom.experiments.measures.measure import Measure, Scored, mean

if TYPE_CHECKING:
    from courtroom.evaluation.bootstrap import Sums


def share_and_hit(row: Scored) -> tuple[float, bool] | None:
    """The share of the votes for the outcome, and whether the outcome is right; None where either is not known."""
    cast = sum(row.outcome.counts.values())
    real = _real(row)
    if not cast or real is None:
        return None
    return row.outcome.counts.get(row.outcome.outcome, 0) / cast, row.outcome.outcome == real


def _real(row: Scored) -> str | None:
    if isinstance(row.case, Dispute):
        return row.case.jury.winner if row.case.jury else None
    if isinstance(row.case, LabelledTask) and len(row.case.items) == 1:
        return row.case.items[0].label
    return None


def _brier(row: Scored) -> float | None:
    found = share_and_hit(row)
    return None if found is None else (found[0] - found[1]) ** 2


def _bins(rows: Sequence[Scored]) -> Sums:
    """Shape (rows, 1 + bins): 1, and share less hit in the bin that the share lies in."""
    import numpy as np

    parts = np.zeros((len(rows), 1 + BINS))
    for at, row in enumerate(rows):
        if found := share_and_hit(row):
            parts[at, 0] = 1
            parts[at, 1 + bin_of(found[0])] = found[0] - found[1]
    return parts


def _calibration(sums: Sums) -> Sums:
    import numpy as np

    with np.errstate(invalid="ignore", divide="ignore"):
        found: Sums = np.abs(sums[:, 1:]).sum(axis=1) / sums[:, 0]
    return found


def _unanimous(row: Scored) -> float | None:
    cast = sum(row.outcome.counts.values())
    return max(row.outcome.counts.values()) / cast if cast else None


VOTES: tuple[Measure, ...] = (
    mean("brier", "Brier score of the vote share", "Brier 1950", _brier, better="lower", percent=False),
    Measure(
        "calibration",
        "Calibration error of the vote share",
        "Guo et al. 2017, Eq. 3",
        _bins,
        _calibration,
        better="lower",
    ),
    mean("majority", "Share of the majority", "Votes for the outcome with most, by votes cast", _unanimous),
)
