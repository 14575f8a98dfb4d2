"""Reciprocal rank fusion (Cormack, Clarke and Büttcher, SIGIR 2009), weighted."""

from __future__ import annotations

from collections.abc import Sequence

DAMPING = 60
"""k of the paper: how little the first ranks outweigh the next."""
Weights = tuple[float, float]
"""Of the ranking by meaning (dense) and of the one by words (BM25)."""
EQUAL: Weights = (1.0, 1.0)


def fuse(rankings: Sequence[Sequence[str]], weights: Sequence[float]) -> dict[str, float]:
    """Fused scores by id, best first: the sum over the rankings of weight / (60 + rank), ranks from 1.

    A ranking of weight 0 adds nothing: what only it found is left out.
    """
    scores: dict[str, float] = {}
    for ranking, weight in zip(rankings, weights, strict=True):
        for rank, name in enumerate(ranking if weight else (), start=1):
            scores[name] = scores.get(name, 0.0) + weight / (DAMPING + rank)
    return dict(sorted(scores.items(), key=lambda pair: -pair[1]))
