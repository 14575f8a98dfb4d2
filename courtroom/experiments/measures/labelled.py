"""Measures of labelled texts (Courtroom-LLM, section 4.2): over all, and over ambiguous and clear ones."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from courtroom.cases.labelled import LabelledTask
from courtroom.experiments.measures.measure import Measure, Scored, mean, over_labels

if TYPE_CHECKING:
    from courtroom.evaluation.bootstrap import Sums

PAPER, GAIN = "Courtroom-LLM, section 4.2", "Courtroom-LLM, section 4.2.3, figure 6"


def _texts(row: Scored) -> Iterator[tuple[str, str | None, bool | None, str | None]]:
    """Real and predicted label, whether it is ambiguous, and its label after the first hearing, of each labelled text that was heard."""
    assert isinstance(row.case, LabelledTask)
    results: Any = row.outcome.details.get("results") or []
    made = {result["id"]: result for result in results}
    real = {item.id: item.label for item in row.case.items if item.label is not None}
    for name in made.keys() & real.keys() if made else real.keys():
        result = made.get(name, {})
        yield str(real[name]), result.get("label"), result.get("ambiguous"), result.get("first")


def _share(which: bool | None) -> Callable[[Scored], float | None]:
    """Share of texts with the right label; of the ambiguous, of the clear, or of all."""

    def right(row: Scored) -> float | None:
        hits = [real == mine for real, mine, ambiguous, _ in _texts(row) if which is None or ambiguous is which]
        return sum(hits) / len(hits) if hits else None

    return right


def _ambiguous(row: Scored) -> float | None:
    known = [ambiguous for _, _, ambiguous, _ in _texts(row) if ambiguous is not None]
    return sum(known) / len(known) if known else None


def _gain(name: str, title: str, which: bool | None) -> Measure:
    """By how much more texts have the right label than a single model gives it, relative to the latter; 0.5 is half as many more.

    The single model is the run's own first preliminary hearing. Only texts count whose hearing is on record; without one that
    it has right there is no value. The paper compares with a separate run of one model; for that, make it an arm.
    """

    def parts(rows: Sequence[Scored]) -> Sums:
        import numpy as np

        return np.array([_hits(row, which) for row in rows], dtype=float).reshape(-1, 2)

    def finish(sums: Sums) -> Sums:
        import numpy as np

        with np.errstate(invalid="ignore", divide="ignore"):
            found: Sums = np.where(sums[:, 1] > 0, (sums[:, 0] - sums[:, 1]) / sums[:, 1], np.nan)
        return found

    return Measure(name, title, GAIN, parts, finish)


def _hits(row: Scored, which: bool | None) -> tuple[int, int]:
    """Texts with the right label at the end, and after the first preliminary hearing."""
    heard = [one for one in _texts(row) if one[3] is not None and (which is None or one[2] is which)]
    return sum(real == mine for real, mine, *_ in heard), sum(real == first for real, _, _, first in heard)


def _labels(row: Scored) -> Sequence[tuple[frozenset[Hashable], frozenset[Hashable]]]:
    return tuple((frozenset({mine} - {None}), frozenset({real})) for real, mine, *_ in _texts(row))


LABELLED: tuple[Measure, ...] = (
    mean("accuracy", "Accuracy", PAPER, _share(None), usual=True),
    over_labels("macro_f1", "Macro F1", PAPER, _labels, "macro F1", usual=True),
    over_labels("weighted_f1", "Weighted F1", PAPER, _labels, "weighted F1"),
    mean("ambiguous_accuracy", "Accuracy, ambiguous texts", PAPER, _share(True)),
    mean("clear_accuracy", "Accuracy, clear texts", PAPER, _share(False)),
    mean("ambiguous", "Ambiguous texts", PAPER, _ambiguous, better="lower"),
    _gain("gain", "Gain on a single model", None),
    _gain("ambiguous_gain", "Gain, ambiguous texts", True),
    _gain("clear_gain", "Gain, clear texts", False),
)
