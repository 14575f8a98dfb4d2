"""Whether a share of votes can be taken for a probability of being right."""

from __future__ import annotations

from collections.abc import Sequence

BINS = 10


def brier(shares: Sequence[float], right: Sequence[bool]) -> float:
    """Mean squared distance of a share from 1 where the outcome is right and from 0 where it is not (Brier 1950)."""
    _some(shares)
    return sum((share - hit) ** 2 for share, hit in zip(shares, right, strict=True)) / len(shares)


def expected_calibration_error(shares: Sequence[float], right: Sequence[bool], bins: int = BINS) -> float:
    """Mean distance of share and accuracy over bins of equal width, weighted by cases (Guo et al. 2017, Eq. 3)."""
    _some(shares)
    held: list[list[tuple[float, bool]]] = [[] for _ in range(bins)]
    for share, hit in zip(shares, right, strict=True):
        held[bin_of(share, bins)].append((share, hit))
    return sum(abs(sum(s for s, _ in one) - sum(h for _, h in one)) for one in held) / len(shares)


def bin_of(share: float, bins: int = BINS) -> int:
    """In which bin a share lies: the first is [0, 1/bins], each other one open below and closed above."""
    return next((number for number in range(bins) if share <= (number + 1) / bins), bins - 1)


def _some(values: Sequence[float]) -> None:
    if not values:
        raise ValueError("there is nothing to measure")
