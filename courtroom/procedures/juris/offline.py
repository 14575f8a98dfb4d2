"""The panel offline: sentences taken from the document, weighed by counts of words. It writes no sentence of its own.

Generator A takes what stands most in the middle (TextRank), generator B what is said early in words that recur often.
A juror weighs five standards. Each seat gives one of them more weight, by its stated point of view or else by its number.
"""

from __future__ import annotations

import math
import random
from collections import Counter

from courtroom.cases.document import Document
from courtroom.evaluation.grounding import grounding
from courtroom.models.offline import Methods
from courtroom.procedures.juris.ranking import best_first, in_order, repeats, weights
from courtroom.procedures.juris.tasks import (
    Ballot,
    Candidate,
    CastBallot,
    Edit,
    Edited,
    Length,
    Letter,
    NextSentence,
    ProposeLength,
)
from courtroom.text.words import sentences, words

STANDARDS = ("support in the document", "weight in the document", "news value", "place in the document", "brevity")
WEIGHTS = (0.5, 1.2, 1.0, 0.6, 0.4)
EMPHASIS = 2.5
"""How much more a seat's own standard weighs."""
CUES = (
    ("support", "supported", "evidence", "faithful", "true", "proof", "fact", "facts"),
    ("important", "importance", "main", "central", "matter", "matters"),
    ("new", "adds", "add", "news", "repeat", "repeats"),
    ("order", "follow", "follows", "before", "first", "flow", "early"),
    ("brevity", "brief", "short", "concise", "plain", "clear", "words"),
)
"""Words of a stated point of view that speak for each standard."""
PER_STEP = 11.0
"""Sentences of a document for each of its summary, at a document of some forty sentences."""


def propose_length(task: ProposeLength, draw: random.Random) -> Length:
    """A sentence for each few of the document, fewer where words recur; seats differ by one either way."""
    found = sentences(task.document.text)
    terms = words(task.document.text)
    density = len(set(terms)) / max(1, len(terms))
    ideal = 2 + len(found) / PER_STEP * (0.5 + density)
    lean = (-1, 0, 0, 1, 0)[own_standard(task.seat, task.viewpoint)]
    reason = f"{len(found)} sentences, of whose words {density:.0%} are different ones."
    return Length(reason=reason, sentences=max(1, round(ideal) + lean))


def next_sentence(task: NextSentence, draw: random.Random) -> Candidate:
    """The best sentence that is not accepted yet, by this generator's own measure."""
    best = best_first(task.document, task.accepted, task.letter)[0]
    return Candidate(evidence=(best,), sentence=best)


def cast_ballot(task: CastBallot, draw: random.Random) -> Ballot:
    """Both candidates by five standards; the higher sum gets the vote."""
    scores = {letter: _standards(task.document, task.accepted, one) for letter, one in _offered(task).items()}
    own = own_standard(task.seat, task.viewpoint)
    sums = {letter: sum(_weighted(values, own)) for letter, values in scores.items()}
    vote: Letter = "B" if sums["B"] > sums["A"] else "A"
    lost: Letter = "A" if vote == "B" else "B"
    gain = [a - b for a, b in zip(_weighted(scores[vote], own), _weighted(scores[lost], own), strict=True)]
    decisive = STANDARDS[gain.index(max(gain))]
    shown = {
        letter: "; ".join(f"{name} {value:.2f}" for name, value in zip(STANDARDS, values, strict=True))
        + f". This seat gives most weight to {STANDARDS[own]}."
        for letter, values in scores.items()
    }
    chosen = _offered(task)[vote]
    spans = grounding(chosen, task.document.text).spans
    return Ballot(
        evidence=tuple(task.document.text[start:end] for start, end in spans),
        critique_a=shown["A"] + (f" Ahead by its {decisive}." if vote == "A" else ""),
        critique_b=shown["B"] + (f" Ahead by its {decisive}." if vote == "B" else ""),
        vote=vote,
    )


def edit(task: Edit, draw: random.Random) -> Edited:
    """The accepted sentences in the document's order; nothing else is changed."""
    ordered = in_order(task.document, list(task.accepted))
    changes = () if ordered == task.accepted else ("Put into the order in which the document tells it.",)
    return Edited(changes=changes, sentences=ordered)


def own_standard(seat: int, viewpoint: str) -> int:
    """The place of the standard that a seat gives most weight to: by its stated point of view, else by its number."""
    text = Counter(word.strip(".,:;?!") for word in viewpoint.casefold().split())
    score, place = max((sum(text[cue] for cue in cues), -place) for place, cues in enumerate(CUES))
    return -place if score else seat % len(STANDARDS)


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
    central = weights(document.text)
    count = len(words(sentence))
    return (
        grounding(sentence, document.text).share,
        central[place] if sentence in found else 0.5,
        1.0 - repeats(sentence, accepted),
        1.0 - place / max(1, len(found)),
        math.exp(-(max(0, count - 14) ** 2) / 600),
    )


METHODS: Methods = {
    ProposeLength: propose_length,
    NextSentence: next_sentence,
    CastBallot: cast_ballot,
    Edit: edit,
}
