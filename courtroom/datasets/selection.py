"""Which rows of a dataset are wanted, and how they are read: chunk by chunk, in the dataset's own order. And rows divided into splits
by shares, alike in each stratum."""

import hashlib
import json
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from itertools import islice
from typing import Any, NamedTuple

from courtroom.datasets.draft import CHUNK
from courtroom.datasets.row import Row, SharedFields, unpacked
from courtroom.store.connection import StoredRow, read
from courtroom.store.database import Database, marks

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
    """A split for each row. Rows of one record and rows with the same text stay together. Within a stratum (category and band of
    the vote margin; without votes, category and outcome) each bundle goes where most is missing of the stratum's share and of the
    whole's together. So shares are held in each large stratum and, over many small ones, in all."""
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


def _stratum(unit: Unit) -> tuple[str, ...]:
    if unit.margin is None:
        return unit.category, unit.outcome
    return unit.category, str(sum(unit.margin > band for band in BANDS))


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


POOL = "dataset-"
"""What the names of pools of examples begin with that are datasets."""
EXAMPLES = ("examples", "train")
"""Splits whose texts are the examples for all others; of a dataset without such a split, each text has all others."""
USUAL = ("train", "validation", "test")
LONGEST_SPLIT = 14
"""Characters of a split's name that a pool's name has room for."""


def splits_of(database: Database, dataset: int) -> dict[str, int]:
    """Rows of each split: the usual names in their order, then others as they begin."""
    rows = database.execute(
        "SELECT split, count(*) FROM dataset_splits WHERE dataset = ? GROUP BY split ORDER BY min(seq)", (dataset,)
    )
    found = sorted(rows, key=lambda row: USUAL.index(row[0]) if row[0] in USUAL else len(USUAL))
    return {row[0]: row[1] for row in found}


def numbers_of(
    database: Database,
    dataset: StoredRow,
    split: str | None = None,
    category: str | None = None,
    contains: str | None = None,
    ids: Collection[str] | None = None,
) -> list[int]:
    """Positions of the rows that fit, in order."""
    sql = "SELECT r.seq FROM dataset_rows AS r"
    if ids is not None:
        sql += " INDEXED BY dataset_rows_by_id"  # else all rows are gone through in their order
    values: Sequence[Any] = []
    if split is not None:
        sql += " JOIN dataset_splits AS s ON s.dataset = ? AND s.seq = r.seq AND s.split = ?"
        values = [dataset["id"], split]
    sql += " WHERE r.content = ?"
    values = [*values, dataset["content"]]
    if category is not None:
        sql, values = f"{sql} AND r.category = ?", [*values, category]
    if contains is not None:
        written = json.dumps(contains, ensure_ascii=False)[1:-1]  # as it stands in JSON
        sql, values = f"{sql} AND instr(r.body, ?) > 0", [*values, written]
    if ids is None:
        return [row[0] for row in database.execute(f"{sql} ORDER BY r.seq", values)]
    found: list[int] = []
    for some in _chunks(ids):
        rows = database.execute(f"{sql} AND r.id IN ({marks(some)})", [*values, *some])
        found += [row[0] for row in rows]
    return sorted(found)


def missing(database: Database, dataset: StoredRow, ids: Collection[str]) -> list[str]:
    """Those of these ids that no row has."""
    unknown = set(ids)
    for some in _chunks(ids):
        sql = f"SELECT id FROM dataset_rows WHERE content = ? AND id IN ({marks(some)})"
        unknown -= {row[0] for row in database.execute(sql, (dataset["content"], *some))}
    return sorted(unknown)


def _chunks(ids: Collection[str]) -> Iterator[list[str]]:
    """Each id once; as many at a time as a statement may name."""
    every = iter(dict.fromkeys(ids))
    while some := [*islice(every, CHUNK)]:
        yield some


def rows_of(database: Database, dataset: StoredRow, numbers: Sequence[int]) -> Iterator[Row]:
    """The rows at these positions. No reader holds the store for longer than a chunk. Raises `Unreadable`: a row is damaged."""
    frame = SharedFields.model_validate_json(dataset["frame"]) if dataset["frame"] else None
    pool = _pool(database, dataset["id"], dataset["version"])
    for start in range(0, len(numbers), CHUNK):
        some = numbers[start : start + CHUNK]
        rows = database.execute(
            "SELECT r.*, s.split FROM dataset_rows AS r LEFT JOIN dataset_splits AS s ON s.dataset = ? AND s.seq = r.seq"
            f" WHERE r.content = ? AND r.seq IN ({marks(some)}) ORDER BY r.seq",
            (dataset["id"], dataset["content"], *some),
        ).fetchall()
        for row in rows:
            yield read("row", row["id"], partial(_row, row, frame, pool))


@lru_cache(maxsize=64)
def _pool(database: Database, dataset: int, version: str | None) -> str:
    """Where a row's examples are found: named by the version, so that they never change under a run."""
    splits = splits_of(database, dataset)
    fitting = [split for wanted in EXAMPLES for split in splits if split == wanted or split.startswith(f"{wanted}_")]
    short = next((split for split in fitting if len(split) <= LONGEST_SPLIT), "")
    return f"{POOL}{version}" + (f"-{short}" if short else "")


def _row(row: StoredRow, frame: SharedFields | None, pool: str) -> Row:
    return Row(
        id=row["id"],
        case=unpacked(row["body"], frame, pool),
        category=row["category"],
        split=row["split"] or "",
        group=row["grp"],
        number=row["number"],
        place=row["place"],
    )
