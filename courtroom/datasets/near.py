"""Rows that say nearly the same as an earlier one: what a split, or a sample, may hold twice without anybody seeing it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from courtroom.datasets.packing import text_of
from courtroom.datasets.store import Datasets
from courtroom.strict import Strict

SHINGLE = 5
"""Characters that are compared at once; so a text needs no words to be distinguished, Chinese or English."""
ALIKE = 0.8
"""From this share of their shingles in common, two texts are near-duplicates (Lee et al. 2022, section 4.2, who set 0.8 on edit similarity)."""
MOST_ROWS, MOST_CHARACTERS = 5_000, 5_000
"""Of a larger dataset, so many rows are drawn and compared; of a longer text, its beginning. This bounds time and memory."""
PERMUTATIONS = 128
MOST_SHOWN = 50


class Near(Strict):
    """Two rows that say nearly the same."""

    rows: tuple[str, str]
    splits: tuple[str, str]
    alike: float
    """Shingles that both have, by all that either has (Jaccard index)."""


class NearDuplicates(Strict):
    """What was found; the pairs that are most alike first, at most the first 50. The numbers count all."""

    pairs: tuple[Near, ...]
    found: int
    across: int
    """Pairs whose rows are in different splits."""
    compared: int
    rows: int

    def sentences(self) -> list[str]:
        """What was found, in words; empty where nothing was."""
        if not self.found:
            return []
        first = self.pairs[0]
        among = "" if self.compared == self.rows else f" among {self.compared:,} rows drawn by chance"
        sentence = (
            f"Pairs of rows that say nearly the same{among}: {self.found:,}, e.g. {first.rows[0]} and {first.rows[1]}."
        )
        if self.across:
            sentence += f" Of these, {self.across:,} are in two splits: what is tested was nearly seen before."
        return [sentence]


def near_duplicates(
    datasets: Datasets, name: str, version: str | None = None, alike: float = ALIKE, seed: int = 0
) -> NearDuplicates:
    """Pairs of rows whose texts share this much of their shingles, by MinHash (Broder 1997) of the package datasketch.

    Candidates are found by locality-sensitive hashing and then compared exactly, so a pair that is shown is one; of pairs that
    are just alike enough, a few may be missed. Rows with the very same text belong to `examine`, and are left out here.

    Raises:
        CourtroomError: there is no such dataset.
    """
    info = datasets.info(name, version)
    sample = MOST_ROWS if info.count > MOST_ROWS else None
    rows = [(row.id, row.split, _squeezed(text_of(row.case)))
            for row in datasets.rows(name, info.version, sample=sample, seed=seed)]  # fmt: skip
    found = []
    for one, other in _candidates([text for *_, text in rows], alike):
        first, second = _shingles(rows[one][2]), _shingles(rows[other][2])
        share = len(first & second) / len(first | second)
        if share >= alike and rows[one][2] != rows[other][2]:
            ids, splits = (rows[one][0], rows[other][0]), (rows[one][1], rows[other][1])
            found.append(Near(rows=ids, splits=splits, alike=share))
    found.sort(key=lambda pair: (-pair.alike, pair.rows))
    across = sum(pair.splits[0] != pair.splits[1] for pair in found)
    return NearDuplicates(
        pairs=tuple(found[:MOST_SHOWN]), found=len(found), across=across, compared=len(rows), rows=info.count
    )


def _candidates(texts: Sequence[str], alike: float) -> list[tuple[int, int]]:
    """Places of texts that may be alike enough, each pair once, the earlier first."""
    from datasketch import MinHash, MinHashLSH

    found: list[tuple[int, int]] = []
    # A little lower than asked for, so that few pairs that are just alike enough are missed.
    index: Any = MinHashLSH(threshold=max(0.1, alike - 0.1), num_perm=PERMUTATIONS)
    for place, text in enumerate(texts):
        if not text:
            continue
        print_ = MinHash(num_perm=PERMUTATIONS, seed=1)
        print_.update_batch(sorted(_shingles(text)))
        found += [(int(earlier), place) for earlier in sorted(index.query(print_))]
        index.insert(place, print_)
    return found


def _shingles(text: str) -> frozenset[bytes]:
    starts = range(max(1, len(text) - SHINGLE + 1)) if text else ()
    return frozenset(text[start : start + SHINGLE].encode() for start in starts)


def _squeezed(text: str) -> str:
    """Its beginning, without what tells no texts apart: white space, punctuation and case."""
    return "".join(sign for sign in text.casefold() if sign.isalnum())[:MOST_CHARACTERS]
