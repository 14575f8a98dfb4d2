"""Rows divided into splits by shares, alike in each stratum."""

import hashlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

BANDS = (0.2, 0.6)
"""Where bands of the vote margin begin: of 17 jurors, a near tie is at most 10:7, and a clear majority at most 13:4."""


class Unit(NamedTuple):
    """What of a row decides where it goes."""

    seq: int
    id: str
    category: str
    group: str
    outcome: str
    margin: float | None
    fingerprint: bytes


def divided(units: Sequence[Unit], parts: Mapping[str, float], seed: int) -> list[str]:
    """A split for each row.

    Rows of one record and rows with the same text stay together. Within a stratum (category and band of the vote margin;
    without votes, category and outcome) each bundle goes where most is missing of the stratum's share and of the whole's
    together. So shares are held in each large stratum and, over many small ones, in all.
    """
    total = sum(parts.values())
    shares = {name: share / total for name, share in parts.items()}
    bundles = _bundles(units)
    strata: dict[tuple[str, ...], list[list[int]]] = defaultdict(list)
    for bundle in bundles:
        strata[_stratum(units[bundle[0]])].append(bundle)
    chosen = [""] * len(units)
    overall = dict.fromkeys(parts, 0)
    for stratum in sorted(strata):
        within = dict.fromkeys(parts, 0)
        done = 0
        for bundle in sorted(strata[stratum], key=lambda bundle: _lot(units[bundle[0]], seed)):
            done += len(bundle)
            everything = sum(overall.values()) + len(bundle)

            def missing(
                name: str, done: int = done, everything: int = everything, counts: dict[str, int] = within
            ) -> float:
                return shares[name] * (done + everything) - counts[name] - overall[name]

            best = max(parts, key=missing)
            for place in bundle:
                chosen[place] = best
            within[best] += len(bundle)
            overall[best] += len(bundle)
    return chosen


def _stratum(unit: Unit) -> tuple[str, ...]:
    if unit.margin is None:
        return unit.category, unit.outcome
    return unit.category, str(sum(unit.margin > band for band in BANDS))


def _lot(unit: Unit, seed: int) -> bytes:
    """A row's place in the draw: it depends on the seed and the row, not on the other rows."""
    return hashlib.sha256(f"{seed}\n{unit.id}".encode()).digest()


def _bundles(units: Sequence[Unit]) -> list[list[int]]:
    """Positions that must stay together: joined by record or by text, over any number of steps."""
    parent = list(range(len(units)))

    def root(place: int) -> int:
        while parent[place] != place:
            parent[place] = parent[parent[place]]
            place = parent[place]
        return place

    first: dict[tuple[str, str | bytes], int] = {}
    for place, unit in enumerate(units):
        for key in (("text", unit.fingerprint), *((("record", unit.group),) if unit.group else ())):
            parent[root(place)] = root(first.setdefault(key, place))
    bundles: dict[int, list[int]] = defaultdict(list)
    for place in range(len(units)):
        bundles[root(place)].append(place)
    return list(bundles.values())
