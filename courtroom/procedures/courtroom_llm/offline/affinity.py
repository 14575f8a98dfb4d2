"""How well each label fits a text, from counts of words: 0 to 1, adding up to 1 over the labels."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from functools import lru_cache

from courtroom.models.narrow import folded
from courtroom.procedures.courtroom_llm.offline.lexicon import AGAINST, ALSO, DENIALS, FOLLOWS, FOLLOWS_NOT, STEMS
from courtroom.procedures.courtroom_llm.tasks import Passage
from courtroom.text.words import is_chinese, words

EVEN = 0.575
"""Share of the shorter text's words in the longer one at which both answers are equally likely."""
STEEP = 6.0
STEM = 5
_WORD = re.compile(r"[a-z']+|\d[\d.,]*", re.IGNORECASE)


def affinities(labels: Sequence[str], passages: Sequence[Passage]) -> dict[str, float]:
    """The affinity of each label; all alike where nothing is known about them."""
    if compares(labels, passages):
        return _relation(labels, passages)
    weights = {label: 0.3 + sum(weight for _, weight in cues(label, whole(passages))) for label in labels}
    total = sum(weights.values())
    return {label: weight / total for label, weight in weights.items()}


def whole(passages: Sequence[Passage]) -> str:
    """All passages as one text."""
    return "\n".join(passage.text for passage in passages)


def compares(labels: Sequence[str], passages: Sequence[Passage]) -> bool:
    """Whether the labels say whether one text of a pair bears out the other."""
    names = {folded(label) for label in labels}
    return len(passages) > 1 and bool(names & FOLLOWS) and names <= FOLLOWS | FOLLOWS_NOT


def cues(label: str, text: str) -> list[tuple[str, float]]:
    """The words of a text that speak for a label, each with its weight; a denial shortly before halves it."""
    stems = _stems(folded(label))
    found: list[tuple[str, float]] = []
    if is_chinese(text):
        return [(part, 1.0) for part in words(label) if part in text]
    terms = _WORD.findall(text.lower())
    for place, word in enumerate(terms):
        if any(word.startswith(stem) for stem in stems):
            denied = any(
                before in DENIALS or before.endswith(("n't", "dnt", "ont"))
                for before in terms[max(0, place - 3) : place]
            )
            found.append((word, 0.4 if denied else 1.0))
    return found


def shared(passages: Sequence[Passage]) -> tuple[list[str], list[str]]:
    """Of the shorter text's words, those that the longer one holds, and those that it lacks."""
    short, long = sorted((passage.text for passage in passages), key=len)
    there = {_stem(word) for word in words(long)}
    terms = list(dict.fromkeys(words(short)))
    return [word for word in terms if _stem(word) in there], [word for word in terms if _stem(word) not in there]


def _relation(labels: Sequence[str], passages: Sequence[Passage]) -> dict[str, float]:
    there, lacking = shared(passages)
    share = len(there) / max(1, len(there) + len(lacking))
    odd_number = any(word[0].isdigit() for word in lacking)
    denied = len({_denied(passage.text) for passage in passages}) > 1
    follows = 1 / (1 + math.exp(-STEEP * (share - EVEN - 0.1 * odd_number - 0.1 * denied)))
    yes = [label for label in labels if folded(label) in FOLLOWS]
    no = [label for label in labels if label not in yes]
    leans = {label: 1.5 if (folded(label) in AGAINST) == (denied or odd_number) else 1.0 for label in no}
    spread = sum(leans.values())
    return {label: follows / len(yes) if label in yes else (1 - follows) * leans[label] / spread for label in labels}


def _denied(text: str) -> bool:
    return any(word in DENIALS or word.endswith("n't") for word in _WORD.findall(text.lower()))


@lru_cache(maxsize=512)
def _stems(label: str) -> tuple[str, ...]:
    names = ALSO.get(label, (label,))
    known = [stem for name in names for stem in STEMS.get(name, "").split()]
    return tuple(known) or tuple(_stem(word) for word in words(label))


def _stem(word: str) -> str:
    return word if word[0].isdigit() else word[:STEM]
