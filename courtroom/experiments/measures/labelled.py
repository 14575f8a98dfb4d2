"""Measures of labelled texts (Courtroom-LLM, section 4.2): over all, and over ambiguous and clear ones."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any

from courtroom.cases.labelled import LabelledTask
from courtroom.experiments.measures.measure import Measure, Scored, mean, over_labels

PAPER = "Courtroom-LLM, section 4.2"


def _texts(row: Scored) -> Iterator[tuple[str, str | None, bool | None]]:
    """Real label, predicted label, and whether the text is ambiguous, of each labelled text that was heard."""
    assert isinstance(row.case, LabelledTask)
    results: Any = row.outcome.details.get("results") or []
    made = {result["id"]: result for result in results}
    real = {item.id: item.label for item in row.case.items if item.label is not None}
    for name in made.keys() & real.keys() if made else real.keys():
        result = made.get(name, {})
        yield str(real[name]), result.get("label"), result.get("ambiguous")


def _share(which: bool | None) -> Callable[[Scored], float | None]:
    """Share of texts with the right label; of the ambiguous, of the clear, or of all."""

    def right(row: Scored) -> float | None:
        hits = [real == mine for real, mine, ambiguous in _texts(row) if which is None or ambiguous is which]
        return sum(hits) / len(hits) if hits else None

    return right


def _ambiguous(row: Scored) -> float | None:
    known = [ambiguous for _, _, ambiguous in _texts(row) if ambiguous is not None]
    return sum(known) / len(known) if known else None


def _labels(row: Scored) -> Sequence[tuple[frozenset[Hashable], frozenset[Hashable]]]:
    return tuple((frozenset({mine} - {None}), frozenset({real})) for real, mine, _ in _texts(row))


LABELLED: tuple[Measure, ...] = (
    mean("accuracy", "Accuracy", PAPER, _share(None), usual=True),
    over_labels("macro_f1", "Macro F1", PAPER, _labels, "macro F1", usual=True),
    over_labels("weighted_f1", "Weighted F1", PAPER, _labels, "weighted F1"),
    mean("ambiguous_accuracy", "Accuracy, ambiguous texts", PAPER, _share(True)),
    mean("clear_accuracy", "Accuracy, clear texts", PAPER, _share(False)),
    mean("ambiguous", "Ambiguous texts", PAPER, _ambiguous, better="lower"),
)
