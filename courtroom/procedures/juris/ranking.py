"""Which sentences of a document the offline model takes, by counts of words."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

from courtroom.cases.document import Document
from courtroom.procedures.juris.tasks import Letter
from courtroom.text.central import centrality
from courtroom.text.words import sentences, words

SHORT, LONG = 6, 45
"""Words of a sentence that can stand in a summary; others only where there is nothing else."""


def best_first(document: Document, accepted: Sequence[str], letter: Letter) -> list[str]:
    """The document's sentences that are not accepted, best first; at least one.

    Args:
        letter: A goes by what stands most in the middle, B by what is said early in words that recur often.
    """
    found = sentences(document.text)
    central, often = weights(document.text), _often(document.text)
    scored: list[tuple[float, int]] = []
    for place, sentence in enumerate(found):
        terms = words(sentence)
        fits = SHORT <= len(terms) <= LONG and not sentence.rstrip().endswith(("?", "？", ":"))
        early = 1.0 / (1.0 + place / max(6, len(found) / 4))
        density = sum(often[word] for word in set(terms)) / max(1, len(set(terms)))
        measure = central[place] * (0.6 + 0.4 * early) if letter == "A" else density * early
        new = 1.0 - repeats(sentence, accepted)
        scored.append((measure * new * (1.0 if fits else 0.1) - (10.0 if sentence in accepted else 0.0), place))
    return [found[place] for _, place in sorted(scored, key=lambda one: (-one[0], one[1]))]


def repeats(sentence: str, before: Sequence[str]) -> float:
    """The share of a sentence's words that stand in one of those before it, at the most."""
    own = set(words(sentence))
    return max((len(own & set(words(other))) / max(1, len(own)) for other in before), default=0.0)


def in_order(document: Document, taken: Sequence[str]) -> tuple[str, ...]:
    """Sentences as the document has them one after the other."""
    places = {sentence: place for place, sentence in reversed(list(enumerate(sentences(document.text))))}
    return tuple(sorted(taken, key=lambda sentence: places.get(sentence, len(places))))


@lru_cache(maxsize=16)
def weights(text: str) -> tuple[float, ...]:
    """Centrality of each sentence, the highest 1."""
    rank = centrality(sentences(text))
    top = max(rank, default=1.0)
    return tuple(value / top for value in rank)


@lru_cache(maxsize=16)
def _often(text: str) -> dict[str, float]:
    """How often each word is used, by the square root: the most frequent one must not decide alone."""
    counts = Counter(words(text))
    top = max(counts.values(), default=1)
    return {word: math.sqrt(count / top) for word, count in counts.items()}
