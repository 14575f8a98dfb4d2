"""How what was found is ordered: by meaning, by words, or by both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

from courtroom.knowledge.fusion import EQUAL, Weights, fuse
from courtroom.strict import Strict

Mode = Literal["dense", "bm25", "hybrid"]
Ranking = Sequence[tuple[str, float]]
"""Ids with scores, best first."""
R = TypeVar("R")


class Scores(Strict):
    """Where a record stood in each ranking; None where it was not among the first 100."""

    similarity: float | None = None
    """Cosine, at most 1."""
    dense_rank: int | None = None
    bm25: float | None = None
    bm25_rank: int | None = None
    fused: float | None = None
    """Reciprocal rank fusion of both."""


@dataclass(frozen=True)
class Found(Generic[R]):
    """A record with how it was found."""

    record: R
    scores: Scores


def ranked(dense: Ranking, by_words: Ranking, mode: Mode, weights: Weights = EQUAL) -> dict[str, Scores]:
    """What two rankings found, in the order of one of them or of both fused, each with all its scores.

    Args:
        weights: of the ranking by meaning and of the one by words, where they are fused.
    """
    cosines, bm25 = dict(dense), dict(by_words)
    fused = fuse((list(cosines), list(bm25)), weights)
    order = {"dense": cosines, "bm25": bm25, "hybrid": fused}[mode]
    dense_ranks = {name: rank for rank, name in enumerate(cosines, 1)}
    word_ranks = {name: rank for rank, name in enumerate(bm25, 1)}
    return {
        name: Scores(
            similarity=cosines.get(name),
            dense_rank=dense_ranks.get(name),
            bm25=bm25.get(name),
            bm25_rank=word_ranks.get(name),
            fused=round(fused.get(name, 0.0), 6),
        )
        for name in order
    }
