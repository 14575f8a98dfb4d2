"""JURIS offline: sentences taken from the document, weighed by counts of words. It writes no sentence of its own.

Generator A takes what stands most in the middle (TextRank), generator B what is told early in words that recur often.
A juror weighs five standards; each seat gives one of them more weight, so that jurors differ for a reason.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from functools import lru_cache
from typing import Any

from courtroom.cases.document import Document
from courtroom.evaluation.grounding import grounding
from courtroom.models.offline import Methods
from courtroom.procedures.juris.tasks import (
    Assess,
    Assessment,
    Ballot,
    Candidate,
    CastBallot,
    Edit,
    Edited,
    Length,
    Letter,
    NextSentence,
    ProposeLength,
    WriteAlone,
)
from courtroom.text.central import centrality
from courtroom.text.words import sentences, words

STANDARDS = ("support in the document", "weight in the document", "news value", "place in the document", "brevity")
WEIGHTS = (0.5, 1.2, 1.0, 0.6, 0.4)
EMPHASIS = 2.5
"""How much more a seat's own standard weighs."""
SHORT, LONG = 6, 45
"""Words of a sentence that can stand in a summary; others only where there is nothing else."""
PER_STEP = 11.0
"""Sentences of a document for each of its summary, at a document of some forty sentences."""


def propose_length(task: ProposeLength, draw: random.Random) -> Length:
    """A sentence for each few of the document, fewer where words recur; seats differ by one either way."""
    found = sentences(task.document.text)
    told = words(task.document.text)
    density = len(set(told)) / max(1, len(told))
    ideal = 2 + len(found) / PER_STEP * (0.5 + density)
    lean = (-1, 0, 0, 1, 0)[task.seat % len(STANDARDS)]
    count = min(max(round(ideal) + lean, task.shortest), task.longest)
    return Length(sentences=count, reason=f"{len(found)} sentences, of whose words {density:.0%} are different ones.")


def next_sentence(task: NextSentence, draw: random.Random) -> Candidate:
    """The best sentence that is not accepted yet, by this generator's own measure."""
    best = _ranked(task.document, task.accepted, task.letter)[0]
    return Candidate(sentence=best, evidence=(best,))


def write_alone(task: WriteAlone, draw: random.Random) -> Edited:
    """As many sentences as a middling juror would propose, one by one, in the document's order."""
    wanted = propose_length(
        ProposeLength(document=task.document, seat=2, shortest=task.shortest, longest=task.longest), draw
    ).sentences
    taken: list[str] = []
    while len(taken) < wanted:
        taken.append(_ranked(task.document, tuple(taken), task.letter)[0])
    return Edited(sentences=_in_order(task.document, taken))


def cast_ballot(task: CastBallot, draw: random.Random) -> Ballot:
    """Both candidates by five standards; the higher sum gets the vote."""
    scores = {letter: _standards(task.document, task.accepted, one) for letter, one in _offered(task).items()}
    own = task.seat % len(STANDARDS)
    sums = {letter: sum(_weighted(values, own)) for letter, values in scores.items()}
    vote: Letter = "B" if sums["B"] > sums["A"] else "A"
    lost: Letter = "A" if vote == "B" else "B"
    gain = [a - b for a, b in zip(_weighted(scores[vote], own), _weighted(scores[lost], own), strict=True)]
    decisive = STANDARDS[gain.index(max(gain))]
    told = {
        letter: "; ".join(f"{name} {value:.2f}" for name, value in zip(STANDARDS, values, strict=True))
        + f". This seat gives most weight to {STANDARDS[own]}."
        for letter, values in scores.items()
    }
    chosen = _offered(task)[vote]
    spans = grounding(chosen, task.document.text).spans
    return Ballot(
        critique_a=told["A"] + (f" Ahead by its {decisive}." if vote == "A" else ""),
        critique_b=told["B"] + (f" Ahead by its {decisive}." if vote == "B" else ""),
        evidence=tuple(task.document.text[start:end] for start, end in spans),
        vote=vote,
    )


def edit(task: Edit, draw: random.Random) -> Edited:
    """The accepted sentences in the document's order; nothing else is changed."""
    ordered = _in_order(task.document, list(task.accepted))
    changes = () if ordered == task.accepted else ("Put into the order in which the document tells it.",)
    return Edited(sentences=ordered, changes=changes)


def assess(task: Assess, draw: random.Random) -> Assessment:
    """Counts of words: supported sentences, share of the document's weight, sentences that repeat nothing."""
    told = sentences(task.summary)
    support = sum(grounding(one, task.document.text).share for one in told) / max(1, len(told))
    known = set(words(task.summary))
    counts = Counter(words(task.document.text))
    often = {word: count for word, count in counts.items() if count > 1} or counts
    covered = sum(count for word, count in often.items() if word in known) / max(1, sum(often.values()))
    repeated = sum(_repeats(one, told[:n]) for n, one in enumerate(told)) / max(1, len(told))
    return Assessment(
        faithfulness=round(100 * support, 1),
        completeness=round(100 * covered, 1),
        conciseness=round(100 * (1 - repeated), 1),
        reason="Counted: words found in the document, recurring words that are told, words told before. No reader has judged.",
    )


def _offered(task: CastBallot) -> dict[Letter, str]:
    return {"A": task.candidate_a, "B": task.candidate_b}


def _weighted(values: tuple[float, ...], own: int) -> tuple[float, ...]:
    return tuple(
        value * weight * (EMPHASIS if number == own else 1.0)
        for number, (value, weight) in enumerate(zip(values, WEIGHTS, strict=True))
    )


def _standards(document: Document, accepted: tuple[str, ...], sentence: str) -> tuple[float, ...]:
    """Five numbers from 0 to 1, in the order of `STANDARDS`."""
    found = sentences(document.text)
    place = found.index(sentence) if sentence in found else len(found) // 2
    weights = _weights(document.text)
    count = len(words(sentence))
    return (
        grounding(sentence, document.text).share,
        weights[place] if sentence in found else 0.5,
        1.0 - _repeats(sentence, accepted),
        1.0 - place / max(1, len(found)),
        math.exp(-(max(0, count - 14) ** 2) / 600),
    )


def _ranked(document: Document, accepted: tuple[str, ...], letter: Letter) -> list[str]:
    """The document's sentences that are not accepted, best first; at least one."""
    found = sentences(document.text)
    weights, often = _weights(document.text), _often(document.text)
    scored: list[tuple[float, int]] = []
    for place, sentence in enumerate(found):
        told = words(sentence)
        fits = SHORT <= len(told) <= LONG and not sentence.rstrip().endswith(("?", "？", ":"))
        early = 1.0 / (1.0 + place / max(6, len(found) / 4))
        density = sum(often[word] for word in set(told)) / max(1, len(set(told)))
        measure = weights[place] * (0.6 + 0.4 * early) if letter == "A" else density * early
        new = 1.0 - _repeats(sentence, accepted)
        scored.append((measure * new * (1.0 if fits else 0.1) - (10.0 if sentence in accepted else 0.0), place))
    return [found[place] for _, place in sorted(scored, key=lambda one: (-one[0], one[1]))]


def _repeats(sentence: str, before: tuple[str, ...]) -> float:
    """The share of a sentence's words that stand in one of those before it, at the most."""
    own = set(words(sentence))
    return max((len(own & set(words(other))) / max(1, len(own)) for other in before), default=0.0)


def _in_order(document: Document, taken: list[str]) -> tuple[str, ...]:
    places = {sentence: place for place, sentence in reversed(list(enumerate(sentences(document.text))))}
    return tuple(sorted(taken, key=lambda sentence: places.get(sentence, len(places))))


@lru_cache(maxsize=16)
def _weights(text: str) -> tuple[float, ...]:
    """Centrality of each sentence, the highest 1."""
    rank = centrality(sentences(text))
    top = max(rank, default=1.0)
    return tuple(value / top for value in rank)


@lru_cache(maxsize=16)
def _often(text: str) -> dict[str, Any]:
    """How often each word is told, by the square root: the most frequent one must not decide alone."""
    counts = Counter(words(text))
    top = max(counts.values(), default=1)
    return {word: math.sqrt(count / top) for word, count in counts.items()}


METHODS: Methods = {
    ProposeLength: propose_length,
    NextSentence: next_sentence,
    WriteAlone: write_alone,
    CastBallot: cast_ballot,
    Edit: edit,
    Assess: assess,
}
