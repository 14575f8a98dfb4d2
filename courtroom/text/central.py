"""TextRank: the sentences that stand most in the middle of a text."""

from __future__ import annotations

from functools import lru_cache

from courtroom.text.words import sentences, words

LONGEST = 40
"""Sentences that `central` compares, at most; the first ones count."""
DAMPING, ROUNDS = 0.85, 60


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

    An edge weighs the shared words by the words of both (after Mihalcea and Tarau 2004). Sparse, so that a long document
    of some thousand sentences takes a second.
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
