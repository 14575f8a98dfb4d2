"""Rows divided into splits by shares, alike in each stratum."""

import hashlib
from collections import defaultdict
from collections.abc import Mapping, Sequence

from courtroom.datasets.selection import Line


def divided(units: Sequence[Line], parts: Mapping[str, float], seed: int) -> list[str]:
    """Choose a split for each row. Rows of one record, and rows with the same text, stay together.

    A stratum is a category with an outcome, of disputes with the votes on record too. In it each bundle goes where most
    is missing of the stratum's share and of the whole's, so that shares are held in each large stratum and, over many
    small ones, in all.
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
        # A row's place in the draw depends on the seed and the row, not on the other rows.
        lots = {
            bundle[0]: hashlib.sha256(f"{seed}\n{units[bundle[0]].id}".encode()).digest() for bundle in strata[stratum]
        }
        for bundle in sorted(strata[stratum], key=lambda bundle: lots[bundle[0]]):
            placed = sum(within.values()) + sum(overall.values()) + 2 * len(bundle)
            best = max(parts, key=lambda name: shares[name] * placed - within[name] - overall[name])
            for place in bundle:
                chosen[place] = best
            within[best] += len(bundle)
            overall[best] += len(bundle)
    return chosen


def _stratum(line: Line) -> tuple[str, ...]:
    return line.category, line.outcome, "" if line.margin is None else f"{line.margin:.3f}"


def _bundles(units: Sequence[Line]) -> list[list[int]]:
    """Find positions that must stay together: joined by record or by text, over any number of steps."""
    from networkx.utils import UnionFind  # slow to import

    joined, first = UnionFind(range(len(units))), dict[tuple[str, str | bytes], int]()
    for place, unit in enumerate(units):
        for key in (("text", unit.fingerprint), *((("record", unit.group),) if unit.group else ())):
            joined.union(first.setdefault(key, place), place)
    return sorted(map(sorted, joined.to_sets()))
