"""Measures of disputes (CyberJurors, section 5: Acc., Weig. F1, F1, Recall, Precision, MAE, RMSE)."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from courtroom.cases.dispute import SIDES, Dispute
from courtroom.experiments.measures.measure import Measure, Scored, mean, over_labels

PAPER = "CyberJurors, table 2"


def _right(row: Scored) -> float | None:
    assert isinstance(row.case, Dispute)
    return float(row.outcome.outcome == row.case.jury.winner) if row.case.jury else None


def _sides(row: Scored) -> Sequence[tuple[frozenset[Hashable], frozenset[Hashable]]]:
    assert isinstance(row.case, Dispute)
    if row.case.jury is None:
        return ()
    return ((frozenset({row.outcome.outcome} & {*SIDES}), frozenset({row.case.jury.winner})),)


def _votes_off(row: Scored) -> float | None:
    """By how many votes the buyer's count is off, the panel scaled to the real jury's size."""
    assert isinstance(row.case, Dispute)
    cast, jury = sum(row.outcome.counts.get(side, 0) for side in SIDES), row.case.jury
    if jury is None or not cast or not (real := jury.buyer + jury.seller):
        return None
    return abs(row.outcome.counts.get("buyer", 0) / cast * real - jury.buyer)


def _squared(row: Scored) -> float | None:
    off = _votes_off(row)
    return None if off is None else off**2


DISPUTES: tuple[Measure, ...] = (
    mean("accuracy", "Accuracy", PAPER, _right, usual=True),
    over_labels("weighted_f1", "Weighted F1", PAPER, _sides, "weighted F1", usual=True),
    over_labels("macro_f1", "Macro F1", PAPER, _sides, "macro F1", usual=True),
    over_labels("macro_recall", "Macro recall", PAPER, _sides, "macro recall"),
    over_labels("macro_precision", "Macro precision", PAPER, _sides, "macro precision"),
    mean("votes_mae", "Votes off (MAE)", PAPER, _votes_off, better="lower", usual=True, percent=False),
    mean("votes_rmse", "Votes off (RMSE)", PAPER, _squared, root=True, better="lower", usual=True, percent=False),
)
