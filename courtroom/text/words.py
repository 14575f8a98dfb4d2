"""Words and sentences of English and Chinese text."""

import re
import sys
from collections.abc import Collection, Iterator
from difflib import SequenceMatcher
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

_CJK = re.compile(r"[\u3400-\u9fff]+")
_TOKEN = re.compile(r"[\u3400-\u9fff]+|[a-z]+(?:'[a-z]+)?|\d+(?:[.,]\d+)*%?", re.IGNORECASE)
_NOT_IN_WORDS = re.compile(r"[\W_]+")
_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？；])|\n+")
Kind = Literal["same", "gone", "new"]
_PIECE = re.compile(r"[\u3400-\u9fff]|\s+|[^\s\u3400-\u9fff]+")

STOP_WORDS = frozenset(Path(__file__).with_name("stop_words.txt").read_text(encoding="utf-8").split())
LONGEST = 40
"""Sentences that `central` compares, at most; the first ones count."""
DAMPING, ROUNDS = 0.85, 60


@lru_cache(maxsize=8192)
def words(text: str) -> tuple[str, ...]:
    """Words in order, lower case, stop words left out. Chinese runs are segmented with jieba's words.

    A word is kept once in memory, however many texts have it: thousands of texts are remembered.
    """
    found: list[str] = []
    for token in _TOKEN.findall(text.lower()):
        found.extend(_segment(token) if _CJK.match(token) else (token,))
    return tuple(sys.intern(word) for word in found if word not in STOP_WORDS)


def word_count(text: str) -> int:
    """Return how many words a text has, those included that say little."""
    return sum(len(_segment(token)) if _CJK.match(token) else 1 for token in _TOKEN.findall(text))


@lru_cache(maxsize=2048)
def sentences(text: str) -> tuple[str, ...]:
    """Sentences in order, white space trimmed, empty ones left out."""
    return tuple(part.strip() for part in _SENTENCE.split(text) if part and part.strip())


def plain(text: str) -> str:
    """A text in small letters, without anything but its words: quotation marks and line breaks make no difference."""
    return _NOT_IN_WORDS.sub(" ", text.casefold()).strip()


def short(text: str, most: int = 60) -> str:
    """Return a text of so many characters at most, with a sign where something is left out: whole words, if it has
    such."""
    if len(text) <= most:
        return text
    words_before, _, word = text[:most].rpartition(" ")
    return f"{words_before.rstrip() if words_before and len(word) <= most // 4 else text[: most - 1]}…"


def strings(value: Any, without: Collection[str] = ()) -> Iterator[str]:
    """Give every text within plain data, in order. `without`: the names of fields that are left out."""
    if isinstance(value, str):
        yield value
    if isinstance(value, dict):
        value = [part for name, part in value.items() if name not in without]
    for part in value if isinstance(value, list) else ():
        yield from strings(part, without)


def has_chinese(text: str) -> bool:
    """Return whether there are Chinese words in a text; `language_of` says which language it is in."""
    return _CJK.search(text) is not None


def _segment(run: str) -> list[str]:
    import rjieba  # reads its dictionary when it is imported, about 0.1 s: only texts that need it pay for it

    return list(rjieba.cut(run, hmm=False))


def central(texts: tuple[str, ...] | list[str], count: int) -> tuple[str, ...]:
    """The sentences most like all others, in their order."""
    found = list(dict.fromkeys(sentence for text in texts for sentence in sentences(text)))[:LONGEST]
    if len(found) <= count:
        return tuple(found)
    rank = centrality(tuple(found))
    best = sorted(sorted(range(len(found)), key=lambda i: (-rank[i], i))[:count])
    return tuple(found[i] for i in best)


@lru_cache(maxsize=64)
def centrality(found: tuple[str, ...]) -> tuple[float, ...]:
    """PageRank of each sentence in the graph of words that sentences share; they add up to 1.

    An edge weighs the shared words by the words of both (after Mihalcea and Tarau 2004). Sparse, so that a long
    document of some thousand sentences takes a second.
    """
    import numpy as np
    from scipy.sparse import coo_array, diags_array

    if not found:
        return ()
    places: dict[str, int] = {}
    pairs = [(row, places.setdefault(word, len(places))) for row, s in enumerate(found) for word in set(words(s))]
    size = len(found)
    if not pairs:
        return (1.0 / size,) * size
    rows, columns = zip(*pairs, strict=True)
    holds = coo_array((np.ones(len(pairs)), (rows, columns)), shape=(size, len(places))).tocsr()
    shared = (holds @ holds.T).tocoo()
    counts = np.asarray(holds.sum(axis=1))
    apart = shared.row != shared.col
    row, column = shared.row[apart], shared.col[apart]
    weight = shared.data[apart] / (counts[row] + counts[column])
    graph = coo_array((weight, (row, column)), shape=(size, size)).tocsr()
    out = np.asarray(graph.sum(axis=1))
    alone = out == 0
    step = (diags_array(np.where(alone, 0.0, 1.0 / np.where(alone, 1.0, out))) @ graph).T.tocsr()
    rank = np.full(size, 1.0 / size)
    for _ in range(ROUNDS):
        rank = DAMPING * (step @ rank + rank[alone].sum() / size) + (1 - DAMPING) / size
    return tuple(float(value) for value in rank)


def changes(before: str, after: str) -> Iterator[tuple[Kind, str]]:
    """Runs of text in order; those that are not `new` make up `before`, those that are not `gone` make up `after`."""
    old, new = _PIECE.findall(before), _PIECE.findall(after)
    for tag, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if a < b:
            yield "same" if tag == "equal" else "gone", "".join(old[a:b])
        if c < d and tag != "equal":
            yield "new", "".join(new[c:d])
