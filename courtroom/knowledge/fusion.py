"""Reciprocal rank fusion (Cormack, Clarke and Büttcher, SIGIR 2009)."""

from __future__ import annotations

from collections.abc import Sequence

DAMPING = 60
"""k of the paper: how little the first ranks outweigh the next."""


def fuse(*rankings: Sequence[str]) -> dict[str, float]:
    """Fused scores by id, best first: the sum over the rankings of 1 / (60 + rank), ranks from 1."""
    scores: dict[str, float] = {}
    for ranking in rankings:
        for rank, name in enumerate(ranking, start=1):
            scores[name] = scores.get(name, 0.0) + 1.0 / (DAMPING + rank)
    return dict(sorted(scores.items(), key=lambda pair: -pair[1]))
