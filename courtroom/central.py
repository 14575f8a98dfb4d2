"""TextRank: the sentences that stand most in the middle of a text."""

from __future__ import annotations

import networkx as nx

from courtroom.text import sentences, words

LONGEST = 40
"""Sentences that are compared, at most; the first ones count."""


def central(texts: tuple[str, ...] | list[str], count: int) -> tuple[str, ...]:
    """The sentences most like all others (TextRank: PageRank over shared words), in their order."""
    found = list(dict.fromkeys(sentence for text in texts for sentence in sentences(text)))[:LONGEST]
    if len(found) <= count:
        return tuple(found)
    sets = [frozenset(words(sentence)) for sentence in found]
    graph = nx.Graph()
    graph.add_nodes_from(range(len(found)))
    for i, mine in enumerate(sets):
        for j in range(i):
            if shared := len(mine & sets[j]):
                graph.add_edge(i, j, weight=shared / (len(mine) + len(sets[j])))
    rank = nx.pagerank(graph)
    best = sorted(sorted(rank, key=lambda i: (-rank[i], i))[:count])
    return tuple(found[i] for i in best)
