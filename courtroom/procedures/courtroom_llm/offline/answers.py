"""The offline answers of hearing, sides and judges."""

from __future__ import annotations

import random

from courtroom.models.offline import Methods
from courtroom.procedures.courtroom_llm.offline.affinity import affinities, cues, is_relation, shared
from courtroom.procedures.courtroom_llm.offline.lexicon import FOLLOWS
from courtroom.procedures.courtroom_llm.tasks import (
    Argue,
    Argument,
    Classify,
    Explain,
    Explanation,
    Hear,
    Hearing,
    Judge,
    OfText,
    Opinion,
    Similar,
    folded,
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


def hear(task: Hear, draw: random.Random) -> Hearing:
    """The two labels with the highest affinities, each seen with a little doubt."""
    values = affinities(task.about.labels, task.about.item)
    doubt = DOUBT * max(values.values())
    seen = {label: value + draw.gauss(0, doubt) for label, value in values.items()}
    first, second, *_ = sorted(seen, key=lambda label: -seen[label])
    told = _grounds(task.about, first)
    return Hearing(features=tuple(told[:6]), first=first, second=second, reason=_sentence(task.about, first))


def argue(task: Argue, draw: random.Random) -> Argument:
    """What in the words speaks for the label, and what is lacking for the other."""
    mine, others = _grounds(task.about, task.label), _grounds(task.about, task.other)
    against = (
        f"For “{task.other}” there is only {_quoted(others)}."
        if others
        else f"Nothing in its words speaks for “{task.other}”."
    )
    argument = f"{_sentence(task.about, task.label)} {against}"
    return Argument(argument=argument, evidence=_passages(task.about, mine))


def judge(task: Judge, draw: random.Random) -> Opinion:
    """Affinity, the nearest similar cases, what earlier judges held; each judge with a doubt of its own."""
    labels = tuple(pleading.label for pleading in task.pleadings)
    return _decide(task.about, labels, task.similar, [earlier.label for earlier in task.earlier], draw)


def classify(task: Classify, draw: random.Random) -> Opinion:
    """As a judge decides, among all labels."""
    return _decide(task.about, task.about.labels, task.similar, [], draw)


def explain(task: Explain, draw: random.Random) -> Explanation:
    """The words that speak for the label."""
    return Explanation(reason=_sentence(task.about, task.label))


def _decide(
    about: OfText, labels: tuple[str, ...], similar: tuple[Similar, ...], held: list[str], draw: random.Random
) -> Opinion:
    base = affinities(about.labels, about.item)
    total = sum(base[label] for label in labels) or 1.0
    alike = () if about.item.second and is_relation(about.labels) else similar  # there a like topic tells nothing
    nearest = {label: max((one.similarity for one in alike if one.label == label), default=0.0) for label in labels}
    if len(labels) == PAIR and not all(nearest.values()):
        nearest = dict.fromkeys(labels, 0.0)  # a case on one side alone tells nothing of the other
    company = {label: held.count(label) / len(held) if held else 0.0 for label in labels}
    doubt = DOUBT * max(base[label] for label in labels) / total
    scores = {
        label: base[label] / total + LIKENESS * nearest[label] + COMPANY * company[label] + draw.gauss(0, doubt)
        for label in labels
    }
    label = max(labels, key=lambda one: scores[one])
    told = [_sentence(about, label)]
    if nearest[label] > 0 and nearest[label] == max(nearest.values()):
        told.append(f"The most similar case, at {nearest[label]:.2f}, has this label too.")
    if company[label] > 0.5:
        told.append("Most judges before saw it so.")
    return Opinion(label=label, reason=" ".join(told))


def _grounds(about: OfText, label: str) -> list[str]:
    """The words that speak for a label."""
    if about.item.second and is_relation(about.labels):
        there, lacking = shared(about.item)
        return there if folded(label) in FOLLOWS else lacking
    return list(dict.fromkeys(word for word, _ in cues(label, about.item.whole)))


def _sentence(about: OfText, label: str) -> str:
    told = _grounds(about, label)
    if about.item.second and is_relation(about.labels):
        there, lacking = shared(about.item)
        if folded(label) in FOLLOWS:
            return f"“{label}”: {len(there)} of {len(there) + len(lacking)} words of one text stand in the other."
        if not lacking:
            return f"“{label}”: the same words need not mean the same."
        return f"“{label}”: the other text does not hold {_quoted(lacking)}."
    return (
        f"“{label}”: the words {_quoted(told)} speak for it."
        if told
        else f"“{label}”: no single word decides; it is what is left."
    )


def _quoted(told: list[str]) -> str:
    more = f" and {len(told) - 5} more" if len(told) > 5 else ""
    return ", ".join(f"“{word}”" for word in told[:5]) + more if told else "nothing"


def _passages(about: OfText, told: list[str]) -> tuple[str, ...]:
    """The sentences in which the words stand."""
    found = [s for s in sentences(about.item.whole) if any(word in s.lower() for word in told)]
    return tuple(dict.fromkeys(found))[:3]


METHODS: Methods = {
    Hear: hear,
    Argue: argue,
    Judge: judge,
    Classify: classify,
    Explain: explain,
}
