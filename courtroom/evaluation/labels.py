"""Measures over label sets: articles, charges, classes of terms, choices (VERDICT, section 4.1.3; JurisAgents, section 4.1)."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass

Labels = Collection[Hashable]
"""A label set. A plain text is one label, never a set of its characters."""


@dataclass(frozen=True)
class Macro:
    """Precision, recall and F1, each averaged over the labels with equal weight; 0 to 1."""

    precision: float
    recall: float
    f1: float


def accuracy(predicted: Sequence[Labels], gold: Sequence[Labels]) -> float:
    """Share of cases whose label set is met exactly (subset accuracy), 0 to 1.

    Raises:
        ValueError: the two differ in length, or are empty.
    """
    paired(predicted, gold)
    return sum(set(several(mine)) == set(several(real)) for mine, real in zip(predicted, gold, strict=True)) / len(gold)


def macro_scores(predicted: Sequence[Labels], gold: Sequence[Labels]) -> Macro:
    """Macro precision, recall and F1 over the labels that are seen in a prediction or in the gold; others don't count.

    A label that is never predicted has precision 0, one that is never in the gold recall 0. Without any label all are 0.

    Raises:
        ValueError: the two differ in length, or are empty.
    """
    from sklearn.metrics import precision_recall_fscore_support  # slow to import: only when something is measured
    from sklearn.preprocessing import MultiLabelBinarizer

    paired(predicted, gold)
    sides = [[several(labels) for labels in side] for side in (predicted, gold)]
    seen = dict.fromkeys(label for side in sides for labels in side for label in labels)
    if not seen:
        return Macro(0.0, 0.0, 0.0)
    numbers = {label: number for number, label in enumerate(seen)}
    # A column that stays empty: scikit-learn takes a single one for two classes, “has it” and “has it not”.
    binarizer = MultiLabelBinarizer(classes=range(len(numbers) + 1))
    mine, real = (binarizer.fit_transform([{numbers[label] for label in labels} for labels in side]) for side in sides)
    precision, recall, f1, _ = precision_recall_fscore_support(
        real, mine, labels=range(len(numbers)), average="macro", zero_division=0
    )
    return Macro(float(precision), float(recall), float(f1))


def hit_at(k: int, ranked: Sequence[Sequence[Hashable]], gold: Sequence[Labels]) -> float:
    """Share of cases with a gold label among the first k ranked ones, 0 to 1. VERDICT reports k = 2.

    Raises:
        ValueError: k is below 1, or the two differ in length, or are empty.
    """
    if k < 1:
        raise ValueError("k must be at least 1")
    paired(ranked, gold)
    first = (tuple(several(mine))[:k] for mine in ranked)
    return sum(bool(set(mine) & set(several(real))) for mine, real in zip(first, gold, strict=True)) / len(gold)


def choice_accuracy(predicted: Sequence[str | None], gold: Sequence[str]) -> float:
    """Share of questions with the right option or label, 0 to 1; None, no answer, is wrong.

    LawBench measures its task 3-6 so, and Courtroom-LLM its texts (tables 3 to 5).

    Raises:
        ValueError: the two differ in length, or are empty.
    """
    paired(predicted, gold)
    return sum(mine == real for mine, real in zip(predicted, gold, strict=True)) / len(gold)


def several(labels: Labels) -> Labels:
    """The labels of a set; a plain text is one of them."""
    return (labels,) if isinstance(labels, str) else labels


def paired(predicted: Sequence[object], gold: Sequence[object]) -> None:
    """Check that there is one prediction a case, and a case at all.

    Raises:
        ValueError: there isn't.
    """
    if len(predicted) != len(gold):
        raise ValueError(f"{len(predicted)} predictions for {len(gold)} cases")
    if not gold:
        raise ValueError("there is nothing to measure")
