"""The offline answers of hearing, sides and judges."""

from __future__ import annotations

import random
from collections.abc import Sequence

from courtroom.models.narrow import folded
from courtroom.models.offline import Methods
from courtroom.procedures.courtroom_llm.offline.affinity import affinities, compares, cues, shared, whole
from courtroom.procedures.courtroom_llm.offline.lexicon import FOLLOWS
from courtroom.procedures.courtroom_llm.tasks import (
    ChooseLabel,
    ChosenLabel,
    Classify,
    Explain,
    Explanation,
    Hear,
    Hearing,
    Passage,
    Plead,
    PleadingAnswer,
)
from courtroom.text.words import sentences

DOUBT = 0.12
"""Standard deviation of a member's own view of an affinity, as a share of the highest: near a tie members differ."""
LIKENESS = 0.6
"""Weight of the nearest similar case against the affinity."""
COMPANY = 0.08
"""Weight of the share of earlier judges who hold a label."""
PAIR = 2
"""Labels in a trial."""

AboutText = Hear | Plead | ChooseLabel | Classify | Explain


def hear(task: Hear, draw: random.Random) -> Hearing:
    """The two labels with the highest affinities, each seen with a little doubt."""
    values = affinities(task.labels, task.passages)
    doubt = DOUBT * max(values.values())
    seen = {label: value + draw.gauss(0, doubt) for label, value in values.items()}
    first, second, *_ = sorted(seen, key=lambda label: -seen[label])
    features = tuple(_grounds(task, first)[:6])
    return Hearing(features=features, reason=_sentence(task, first), first=first, second=second)


def argue(task: Plead, draw: random.Random) -> PleadingAnswer:
    """What in the words speaks for the label, and what is lacking for the other."""
    mine, others = _grounds(task, task.label), _grounds(task, task.other)
    against = f"for “{task.other}” there is only {_quoted(others)}" if others else f"nothing speaks for “{task.other}”"
    argument = f"{_sentence(task, task.label).removesuffix('.')}; {against}."
    return PleadingAnswer(evidence=_passages(task.passages, mine), argument=argument)


def judge(task: ChooseLabel, draw: random.Random) -> ChosenLabel:
    """Affinity, the nearest similar cases, what earlier judges held; each judge with a doubt of its own."""
    return _decide(task, task.in_question, [earlier.label for earlier in task.earlier], draw)


def classify(task: Classify, draw: random.Random) -> ChosenLabel:
    """As a judge decides, among all labels."""
    return _decide(task, task.labels, [], draw)


def explain(task: Explain, draw: random.Random) -> Explanation:
    """The words that speak for the label."""
    return Explanation(reason=_sentence(task, task.label))


def _decide(task: ChooseLabel | Classify, labels: tuple[str, ...], held: list[str], draw: random.Random) -> ChosenLabel:
    base = affinities(task.labels, task.passages)
    total = sum(base[label] for label in labels) or 1.0
    likeness = dict.fromkeys(labels, 0.0)
    if not compares(task.labels, task.passages):  # there a like topic says nothing of the label
        for one, similarity in zip(task.similar, task.similarities, strict=True):
            likeness[one.label] = max(similarity, likeness.get(one.label, 0.0))
    nearest = {label: likeness[label] for label in labels}
    if len(labels) == PAIR and not all(nearest.values()):
        nearest = dict.fromkeys(labels, 0.0)  # a case on one side alone says nothing of the other
    company = {label: held.count(label) / len(held) if held else 0.0 for label in labels}
    doubt = DOUBT * max(base[label] for label in labels) / total
    scores = {
        label: base[label] / total + LIKENESS * nearest[label] + COMPANY * company[label] + draw.gauss(0, doubt)
        for label in labels
    }
    label = max(labels, key=lambda one: scores[one])
    said = [_sentence(task, label)]
    if nearest[label] > 0 and nearest[label] == max(nearest.values()):
        said.append(f"The most similar case, at {nearest[label]:.2f}, has this label too.")
    if company[label] > 0.5:
        said.append("Most judges before saw it so.")
    return ChosenLabel(reason=" ".join(said), label=label)


def _grounds(task: AboutText, label: str) -> list[str]:
    """The words that speak for a label."""
    if compares(task.labels, task.passages):
        there, lacking = shared(task.passages)
        return there if folded(label) in FOLLOWS else lacking
    return list(dict.fromkeys(word for word, _ in cues(label, whole(task.passages))))


def _sentence(task: AboutText, label: str) -> str:
    words = _grounds(task, label)
    if compares(task.labels, task.passages):
        there, lacking = shared(task.passages)
        if folded(label) in FOLLOWS:
            return f"“{label}”: {len(there)} of {len(there) + len(lacking)} words of one text stand in the other."
        if not lacking:
            return f"“{label}”: the same words need not mean the same."
        return f"“{label}”: the other text does not hold {_quoted(lacking)}."
    return (
        f"“{label}”: the words {_quoted(words)} speak for it."
        if words
        else f"“{label}”: no single word decides; it is what is left."
    )


def _quoted(words: list[str]) -> str:
    more = f" and {len(words) - 5} more" if len(words) > 5 else ""
    return ", ".join(f"“{word}”" for word in words[:5]) + more if words else "nothing"


def _passages(passages: Sequence[Passage], words: list[str]) -> tuple[str, ...]:
    """The sentences in which the words stand."""
    found = [s for s in sentences(whole(passages)) if any(word in s.lower() for word in words)]
    return tuple(dict.fromkeys(found))[:3]


METHODS: Methods = {
    Hear: hear,
    Plead: argue,
    ChooseLabel: judge,
    Classify: classify,
    Explain: explain,
}
