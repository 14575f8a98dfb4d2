"""How well a sentence is supported by a text, and by which of its sentences."""

import re
from dataclasses import dataclass
from functools import lru_cache

from courtroom.text.words import sentences, words

SENTENCES = 2
"""So many sentences of the text may together support one sentence."""
SUPPORTED = 0.5
"""Below this share a sentence counts as not supported."""


@dataclass(frozen=True)
class Grounding:
    """What supports a sentence."""

    share: float
    """Of the sentence's content words (numbers included), those found in the supporting sentences; 0 to 1."""
    spans: tuple[tuple[int, int], ...]
    """Where the supporting sentences stand in the text, the one that supports most first."""

    @property
    def supported(self) -> bool:
        return self.share >= SUPPORTED


def grounding(sentence: str, text: str) -> Grounding:
    """How far at most two sentences of a text cover a sentence's content words, taken greedily.

    Words, not meaning: a sentence in other words counts as less grounded than it is. A sentence without any content
    word is fully grounded, as it claims nothing.
    """
    wanted = set(words(sentence))
    if not wanted:
        return Grounding(1.0, ())
    known = _sentences(text)
    left, spans = set(wanted), []
    for _ in range(SENTENCES):
        best = max(known, key=lambda one: len(left & one[2]), default=None)
        if best is None or not left & best[2]:
            break
        left -= best[2]
        spans.append(best[:2])
    return Grounding((len(wanted) - len(left)) / len(wanted), tuple(spans))


def where(quote: str, text: str) -> tuple[int, int] | None:
    """Where a quotation stands in a text, white space and case apart; None where it doesn't."""
    line = quote.strip(" \n\t\"“”'‘’")
    if not line:
        return None
    found = re.search(r"\s+".join(map(re.escape, line.split())), text, re.IGNORECASE)
    return found.span() if found else None


@lru_cache(maxsize=32)
def _sentences(text: str) -> tuple[tuple[int, int, frozenset[str]], ...]:
    """Each sentence's place and words."""
    found, at = [], 0
    for sentence in sentences(text):
        start = text.index(sentence, at)
        at = start + len(sentence)
        found.append((start, at, frozenset(words(sentence))))
    return tuple(found)
