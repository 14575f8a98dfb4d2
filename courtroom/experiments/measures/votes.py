"""Measures of how a panel voted: whether its share of votes can be taken for a probability, whether members agree."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from courtroom.cases.criminal import Trial
from courtroom.cases.dispute import SIDES, Dispute
from courtroom.cases.labelled import LabelledTask
from courtroom.experiments.measures.measure import CaseResult, Measure, mean, over_labels, quotient
from courtroom.experiments.outcome import Outcome
from courtroom.language import N_

if TYPE_CHECKING:
    from courtroom.evaluation.intervals import Sums


BINS = 10


def bin_of(share: float) -> int:
    """In which bin a share lies: the first is [0, 1 / BINS], each other one open below and closed above."""
    return next((number for number in range(BINS) if share <= (number + 1) / BINS), BINS - 1)


def share_and_hit(row: CaseResult) -> tuple[float, bool] | None:
    """The share of the votes for the outcome, and whether the outcome is right; None where either is not known."""
    cast = sum(row.outcome.counts.values())
    real = _real(row)
    if not cast or real is None:
        return None
    return row.outcome.counts.get(row.outcome.outcome, 0) / cast, row.outcome.outcome == real


def _real(row: CaseResult) -> str | None:
    if isinstance(row.case, Dispute):
        return row.case.jury.winner if row.case.jury else None
    if isinstance(row.case, LabelledTask) and len(row.case.items) == 1:
        return row.case.items[0].label
    return None


def _brier(row: CaseResult) -> float | None:
    return None if (pair := share_and_hit(row)) is None else (pair[0] - pair[1]) ** 2


def _bins(rows: Sequence[CaseResult]) -> Sums:
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

    return quotient(np.abs(sums[:, 1:]).sum(axis=1), sums[:, 0])


def _unanimous(row: CaseResult) -> float | None:
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
        bounds=None,  # chance alone pushes it up, so no interval around it holds the truth
    ),
    mean("majority", "Share of the majority", "Votes for the outcome with most, by votes cast", _unanimous),
)

CYBERJURORS = "CyberJurors, table 2"


def _winner_right(row: CaseResult) -> float | None:
    assert isinstance(row.case, Dispute)
    return float(row.outcome.outcome == row.case.jury.winner) if row.case.jury else None


def _sides(row: CaseResult) -> Sequence[tuple[frozenset[Hashable], frozenset[Hashable]]]:
    assert isinstance(row.case, Dispute)
    if row.case.jury is None:
        return ()
    return ((frozenset({row.outcome.outcome} & {*SIDES}), frozenset({row.case.jury.winner})),)


def _votes_off(row: CaseResult) -> float | None:
    """By how many votes the buyer's count is off, the panel scaled to the jury on record; one vote alone is no panel."""
    assert isinstance(row.case, Dispute)
    cast, jury = sum(row.outcome.counts.get(side, 0) for side in SIDES), row.case.jury
    if jury is None or cast < 2 or not (real := jury.buyer + jury.seller):
        return None
    return abs(row.outcome.counts.get("buyer", 0) / cast * real - jury.buyer)


def _squared(row: CaseResult) -> float | None:
    return None if (off := _votes_off(row)) is None else off**2


FIGURE_5 = "CyberJurors, figure 5 (a)"
ROUNDS = 3
"""As many as the paper has at most."""


def _first_right(row: CaseResult) -> float | None:
    """Whether the first ballot alone was right; a tie goes to the buyer, as in equation 10."""
    assert isinstance(row.case, Dispute)
    if not row.outcome.first or row.case.jury is None:
        return None
    buyer, seller = (row.outcome.first.get(side, 0) for side in SIDES)
    return float(("seller" if seller > buyer else "buyer") == row.case.jury.winner)


def _ended(number: int) -> Measure:
    """Share of the cases whose jury voted so many times."""

    def each(row: CaseResult) -> float | None:
        return float(row.outcome.rounds == number) if row.outcome.rounds else None

    return mean(f"ended_{number}", f"Ended after round {number}", FIGURE_5, each)


DISPUTES: tuple[Measure, ...] = (
    mean("accuracy", "Accuracy", CYBERJURORS, _winner_right, usual=True),
    over_labels("weighted_f1", "Weighted F1", CYBERJURORS, _sides, "weighted F1", usual=True),
    over_labels("macro_f1", "Macro F1", CYBERJURORS, _sides, "macro F1", usual=True),
    over_labels("macro_recall", "Macro recall", CYBERJURORS, _sides, "macro recall"),
    over_labels("macro_precision", "Macro precision", CYBERJURORS, _sides, "macro precision"),
    mean(
        "votes_mae", "Votes off (MAE)", CYBERJURORS, _votes_off, better="lower", usual=True, percent=False, bounds=None
    ),
    mean(
        *("votes_rmse", "Votes off (RMSE)", CYBERJURORS, _squared),
        root=True,
        better="lower",
        usual=True,
        percent=False,
        bounds=None,
    ),
    mean("first_accuracy", "Accuracy after round 1", FIGURE_5, _first_right),
    *map(_ended, range(1, ROUNDS + 1)),
)

COURTROOM_LLM, GAIN = "Courtroom-LLM, section 4.2", "Courtroom-LLM, section 4.2.3, figure 6"


def _results(outcome: Outcome | None) -> dict[str, dict[str, Any]]:
    """What texts came to, by their ids."""
    results: Any = outcome.details.get("results") if outcome else None
    return {result["id"]: result for result in results or ()}


def _texts(row: CaseResult) -> Iterator[tuple[str, str | None, bool | None, str | None]]:
    """Real and predicted label, whether it is ambiguous, and the single model's label, of each labelled text that was heard."""
    assert isinstance(row.case, LabelledTask)
    made, single = _results(row.outcome), _results(row.single)
    real = {item.id: item.label for item in row.case.items if item.label is not None}
    for name in made.keys() & real.keys() if made else real.keys():
        result = made.get(name, {})
        yield str(real[name]), result.get("label"), result.get("ambiguous"), single.get(name, {}).get("label")


def _share(which: bool | None) -> Callable[[CaseResult], float | None]:
    """Share of texts with the right label; of the ambiguous, of the clear, or of all."""

    def right(row: CaseResult) -> float | None:
        hits = [real == mine for real, mine, ambiguous, _ in _texts(row) if which is None or ambiguous is which]
        return sum(hits) / len(hits) if hits else None

    return right


def _hearing(row: CaseResult) -> float | None:
    """Share of texts whose preliminary hearing named the right label; the first hearing, by which the trial goes."""
    assert isinstance(row.case, LabelledTask)
    made = _results(row.outcome)
    hits = [made[item.id]["first"] == item.label for item in row.case.items if made.get(item.id, {}).get("first")]
    return sum(hits) / len(hits) if hits else None


def _ambiguous(row: CaseResult) -> float | None:
    known = [ambiguous for _, _, ambiguous, _ in _texts(row) if ambiguous is not None]
    return sum(known) / len(known) if known else None


def _gain(name: str, title: str, which: bool | None) -> Measure:
    """By how much more texts have the right label than a single model gives it, relative to the latter; 0.5 is half as many more.
    The single model is the arm that the experiment names for this one. Whether a text is ambiguous the arm's own hearings say.
    Only texts count that the single model was given; without one that it has right there is no value."""

    def parts(rows: Sequence[CaseResult]) -> Sums:
        import numpy as np

        return np.array([_hits(row, which) for row in rows], dtype=float).reshape(-1, 2)

    return Measure(
        name,
        title,
        GAIN,
        parts,
        lambda sums: quotient(sums[:, 0] - sums[:, 1], sums[:, 1]),
        bounds=None,
        ratio=True,
        missing=_without_single,
    )


def _without_single(rows: Sequence[CaseResult]) -> str:
    if not rows or any(row.single for row in rows):
        return ""
    return "The gain on a single model is left out: name the arm of the single model under gain_over."


def _hits(row: CaseResult, which: bool | None) -> tuple[int, int]:
    """Texts with the right label, and those that have it from the single model; a text without a label is wrong."""
    both = [one for one in _texts(row) if row.single and (which is None or one[2] is which)]
    return sum(real == mine for real, mine, *_ in both), sum(real == single for real, _, _, single in both)


def _labels(row: CaseResult) -> Sequence[tuple[frozenset[Hashable], frozenset[Hashable]]]:
    return tuple((frozenset({mine} - {None}), frozenset({real})) for real, mine, *_ in _texts(row))


LABELLED: tuple[Measure, ...] = (
    mean("accuracy", "Accuracy", COURTROOM_LLM, _share(None), usual=True),
    over_labels("macro_f1", "Macro F1", COURTROOM_LLM, _labels, "macro F1", usual=True),
    over_labels("weighted_f1", "Weighted F1", COURTROOM_LLM, _labels, "weighted F1"),
    mean("ambiguous_accuracy", "Accuracy, ambiguous texts", COURTROOM_LLM, _share(True)),
    mean("clear_accuracy", "Accuracy, clear texts", COURTROOM_LLM, _share(False)),
    mean("hearing_accuracy", "Accuracy of the hearing", "Courtroom-LLM, figure 3", _hearing),
    mean("ambiguous", "Ambiguous texts", COURTROOM_LLM, _ambiguous, better="lower"),
    _gain("gain", "Gain on a single model", None),
    _gain("ambiguous_gain", "Gain, ambiguous texts", True),
    _gain("clear_gain", "Gain, clear texts", False),
)


def _proven(row: CaseResult) -> float | None:
    assert isinstance(row.case, Trial)
    return float(row.outcome.outcome == row.case.sides[0])


def _hung(row: CaseResult) -> float | None:
    assert isinstance(row.case, Trial)
    return float(row.outcome.outcome not in row.case.sides)


TRIALS: tuple[Measure, ...] = (
    mean("proven", N_("Found guilty, or for the plaintiff"), N_("Share of all juries"), _proven, usual=True),
    mean("hung", N_("Hung juries"), N_("Share of all juries"), _hung, better="lower", usual=True),
)
