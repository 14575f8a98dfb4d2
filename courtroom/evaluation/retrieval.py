"""How well a search finds what experts hold relevant: hit@k and nDCG on graded judgments (qrels)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence


def hit_at(k: int, ranked: Sequence[str], relevance: Mapping[str, float], least: float = 1.0) -> float:
    """1 where a record of at least this relevance is among the first k, else 0.

    Raises:
        ValueError: k is below 1.
    """
    _positive(k)
    return float(any(relevance.get(record, 0.0) >= least for record in ranked[:k]))


def ndcg_at(k: int, ranked: Sequence[str], relevance: Mapping[str, float]) -> float:
    """Discounted gain of the first k by the best that could be had (Järvelin and Kekäläinen 2002), gain = relevance; 0 to 1.

    Records without a judgment count as not relevant; 0 where nothing is.

    Raises:
        ValueError: k is below 1.
    """
    _positive(k)
    best = _gain(sorted(relevance.values(), reverse=True)[:k])
    return _gain([relevance.get(record, 0.0) for record in ranked[:k]]) / best if best else 0.0


def _gain(relevances: Sequence[float]) -> float:
    return sum(value / math.log2(place + 2) for place, value in enumerate(relevances))


def _positive(k: int) -> None:
    if k < 1:
        raise ValueError("k must be at least 1")
