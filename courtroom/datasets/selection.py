"""Which rows of a dataset are wanted, and how they are read: chunk by chunk, in the dataset's own order."""

import json
import random
import tomllib
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Sequence, Set
from functools import cache, lru_cache, partial
from itertools import islice
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import BeforeValidator, Field

from courtroom.cases.case import Case
from courtroom.cases.criminal import CriminalCase, Gold
from courtroom.cases.kinds import parse_case
from courtroom.cases.labelled import Document, Labelled
from courtroom.datasets.draft import CHUNK_ROWS
from courtroom.datasets.row import Row, SharedFields
from courtroom.language import N_
from courtroom.law import articles_compared, charges_compared
from courtroom.settings import DATA
from courtroom.store.connection import StoredRow, read
from courtroom.store.database import Database, marks
from courtroom.strict import Strict, option

AMENDMENTS = DATA / "amendments.toml"
CUT_MARK = " […]"
"""Stands where a text was cut, so that whoever reads it knows."""
VERSION_MARK = "@"
"""Between the name of a dataset and its version."""
INCOMPLETE = N_("not all that is decided is known of them")
REPEATED, CONTRADICTORY = N_("they repeat an earlier one"), N_("their text has several outcomes")
FOREIGN = N_("the other dataset lacks one of their labels")
AMENDED = N_("an amendment changed one of their articles")
FREQUENT, RARE = N_("later rows are enough of their label"), N_("too few rows have their label")
POOL = "dataset-"
"""What the names of pools of examples begin with that are datasets."""
EXAMPLES = ("examples", "train")
"""Splits whose texts are the examples for all others; of a dataset without such a split, each text has all others."""
USUAL = {"train": 0, "validation": 1, "test": 2}
MAX_SPLIT_CHARACTERS = 14


class Preparation(Strict):
    """What is kept of a dataset before anything is drawn of it, over all splits, one step after the other."""

    complete: bool = option(False, "Cases alone of which the outcome, or articles, charges and term, are known.")
    distinct: bool = option(False, "Of rows with one text and one outcome, the first that has the outcome.")
    consistent: bool = option(False, "No row of a text that has several outcomes.")
    labels_of: str = option("", "Cases alone whose labels the dataset of this name has too; `name@version`.")
    unchanged_by: Annotated[
        tuple[Literal["IX", "X", "XI", "XII"], ...],
        BeforeValidator(lambda value: [*map(str.strip, value.split(","))] if isinstance(value, str) else value),
    ] = option((), "Amendments to the Criminal Law: no case of an article that one of them changed.")
    at_most: int | None = option(None, "So many rows of each label: those that stand last.", ge=1)
    at_least: int | None = option(None, "No row with a label that has fewer rows.", ge=1)
    cut: int | None = option(None, "Facts and documents are cut behind so many characters.", ge=1)


class Selection(Preparation):
    """Which rows of a dataset are wanted: what is kept of it, then what is chosen and drawn of that."""

    split: str | None = None
    ids: tuple[str, ...] | None = Field(default=None, description="Only these cases.")
    limit: int | None = Field(default=None, ge=1, description="The first so many.")
    sample: int | None = Field(default=None, ge=1, description="So many, drawn with `seed`.")
    seed: int = 0
    category: Annotated[
        tuple[str, ...], BeforeValidator(lambda value: (value,) if isinstance(value, str) else value)
    ] = option((), "Only rows of these categories.")
    contains: str | None = option(None, "Only rows in whose record this text stands.")


EVERY = Selection()


class Labels(NamedTuple):
    """What a row is known to be, as measures compare it."""

    names: frozenset[Hashable] = frozenset()
    """All labels: articles as numbers, the others as texts."""
    counted: frozenset[Hashable] = frozenset()
    """Those by which rows are counted: charges, else articles; of other kinds, the outcome."""
    complete: bool = False


class Line(NamedTuple):
    """What of a row decides where it goes."""

    split: str
    seq: int
    id: str
    category: str
    group: str
    asked: str
    outcome: str
    margin: float | None
    fingerprint: bytes
    labels: Labels = Labels()


def labels_in(body: str, outcome: str) -> Labels:
    """Return the labels of a row by its record."""
    record = json.loads(body)
    if record.get("kind") != CriminalCase.model_fields["kind"].default:
        names = frozenset[Hashable]({outcome} if outcome else ())
        return Labels(names, names, bool(outcome))
    gold = Gold.model_validate(record.get("gold") or {})
    articles: frozenset[Hashable] = articles_compared(gold.relevant_articles or ())
    charges: frozenset[Hashable] = charges_compared(gold.charges or ())
    is_judgment = record.get("asked", "judgment") == "judgment"
    complete = bool(articles and charges and gold.term_of_imprisonment) if is_judgment else bool(outcome)
    return Labels(names=articles | charges, counted=charges or articles, complete=complete)


@cache
def amended() -> dict[str, frozenset[int]]:
    """Read which articles each amendment changed, by its numeral."""
    return {name: frozenset(numbers) for name, numbers in tomllib.loads(AMENDMENTS.read_text("utf-8")).items()}


def left_out(lines: Sequence[Line], wanted: Preparation, allowed: Set[Hashable]) -> dict[str, list[Line]]:
    """Return the rows that a preparation leaves out, by why; `allowed`: the labels of the other dataset."""
    changed = frozenset[int]().union(*(amended()[name] for name in wanted.unchanged_by))
    steps: tuple[tuple[str, object, Callable[[Sequence[Line]], Iterable[Line]]], ...] = (
        (INCOMPLETE, wanted.complete, lambda left: (line for line in left if not line.labels.complete)),
        (REPEATED, wanted.distinct, _repeated),
        (CONTRADICTORY, wanted.consistent, _contradictory),
        (FOREIGN, wanted.labels_of, lambda left: (line for line in left if line.labels.names - allowed)),
        (AMENDED, wanted.unchanged_by, lambda left: (line for line in left if line.labels.names & changed)),
        (FREQUENT, wanted.at_most, partial(_beyond, most=wanted.at_most or 0)),
        (RARE, wanted.at_least, partial(_rare, least=wanted.at_least or 0)),
    )
    found: dict[str, list[Line]] = {}
    for why, asked, step in steps:
        if asked and (gone := list(step(lines))):
            found[why], out = gone, {line.seq for line in gone}
            lines = [line for line in lines if line.seq not in out]
    return found


def together(lines: Iterable[Line], key: Callable[[Line], Hashable]) -> list[list[Line]]:
    """Group rows by a key, where several have it, in the dataset's order."""
    found: dict[Hashable, list[Line]] = defaultdict(list)
    for line in lines:
        found[key(line)].append(line)
    return [several for several in found.values() if len(several) > 1]


def text_and_asked(line: Line) -> Hashable:
    """Its text and what is asked: rows of one record may be about a defendant, or a task, each."""
    return line.fingerprint, line.asked


def _outcomes(lines: Iterable[Line]) -> set[str]:
    return {line.outcome for line in lines} - {""}


def _repeated(lines: Sequence[Line]) -> Iterator[Line]:
    for several in together(lines, text_and_asked):
        if len(_outcomes(several)) <= 1:
            stays = next((line for line in several if line.outcome), several[0])
            yield from (line for line in several if line is not stays)


def _contradictory(lines: Sequence[Line]) -> Iterator[Line]:
    for several in together(lines, text_and_asked):
        if len(_outcomes(several)) > 1:
            yield from several


def _beyond(lines: Sequence[Line], most: int) -> Iterator[Line]:
    """Give the rows of which a label has enough later ones."""
    taken = Counter[Hashable]()
    for line in reversed(lines):
        if any(taken[label] >= most for label in line.labels.counted):
            yield line
        else:
            taken.update(line.labels.counted)


def _rare(lines: Sequence[Line], least: int) -> Iterator[Line]:
    """Give the rows with a label that has too few; a row that goes may leave its other labels with too few."""
    counts = Counter(label for line in lines for label in line.labels.counted)
    left = lines
    while gone := [line for line in left if any(counts[label] < least for label in line.labels.counted)]:
        yield from gone
        counts.subtract(label for line in gone for label in line.labels.counted)
        out = {line.seq for line in gone}
        left = [line for line in left if line.seq not in out]


def splits_of(database: Database, dataset: int) -> dict[str, int]:
    """Rows of each split: the usual names in their order, then others as they begin."""
    sql = "SELECT split, count(*) FROM dataset_splits WHERE dataset = ? GROUP BY split ORDER BY min(seq)"
    found = sorted(database.execute(sql, (dataset,)), key=lambda row: USUAL.get(row[0], len(USUAL)))
    return {row[0]: row[1] for row in found}


def numbers_of(
    database: Database, dataset: StoredRow, wanted: Selection = EVERY, left_out: Set[int] = frozenset()
) -> list[int]:
    """Return the positions of the rows that fit, in order; `left_out`: those that the preparation leaves out."""
    sql, values = "SELECT r.seq FROM dataset_rows AS r", list[Any]()
    if wanted.ids is not None:
        sql += " INDEXED BY dataset_rows_by_id"  # else all rows are gone through in their order
    if wanted.split is not None:
        sql += " JOIN dataset_splits AS s ON s.dataset = ? AND s.seq = r.seq AND s.split = ?"
        values += [dataset["id"], wanted.split]
    sql += " WHERE r.content = ?"
    values.append(dataset["content"])
    if wanted.category:
        sql += f" AND r.category IN ({marks(wanted.category)})"
        values += wanted.category
    if wanted.contains is not None:
        sql += " AND instr(r.body, ?) > 0"
        values.append(json.dumps(wanted.contains, ensure_ascii=False)[1:-1])  # as it stands in JSON
    if wanted.ids is None:
        found = [row[0] for row in database.execute(f"{sql} ORDER BY r.seq", values)]
    else:
        chunks = (
            database.execute(f"{sql} AND r.id IN ({marks(some)})", [*values, *some]) for some in _chunks(wanted.ids)
        )
        found = sorted(row[0] for rows in chunks for row in rows)
    found = [number for number in found if number not in left_out]
    if wanted.sample is not None and wanted.sample < len(found):
        found = sorted(random.Random(f"{wanted.seed}").sample(found, wanted.sample))
    return found[: wanted.limit]


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
    while some := [*islice(every, CHUNK_ROWS)]:
        yield some


def rows_of(database: Database, dataset: StoredRow, numbers: Sequence[int], cut: int | None = None) -> Iterator[Row]:
    """Read the rows at these positions, in chunks between which others write. Raises `Unreadable`: one is damaged."""
    frame = SharedFields.model_validate_json(dataset["frame"]) if dataset["frame"] else None
    pool = _pool(database, dataset["id"], dataset["version"])
    for start in range(0, len(numbers), CHUNK_ROWS):
        some = numbers[start : start + CHUNK_ROWS]
        rows = database.execute(
            "SELECT r.*, s.split FROM dataset_rows AS r"
            " LEFT JOIN dataset_splits AS s ON s.dataset = ? AND s.seq = r.seq"
            f" WHERE r.content = ? AND r.seq IN ({marks(some)}) ORDER BY r.seq",
            (dataset["id"], dataset["content"], *some),
        ).fetchall()
        for row in rows:
            yield read("row", row["id"], partial(_row, row, frame, pool, cut))


@lru_cache(maxsize=64)
def _pool(database: Database, dataset: int, version: str | None) -> str:
    """Where a row's examples are found: named by the version, so that they never change under a run."""
    splits = splits_of(database, dataset)
    fitting = [split for wanted in EXAMPLES for split in splits if split == wanted or split.startswith(f"{wanted}_")]
    short = next((split for split in fitting if len(split) <= MAX_SPLIT_CHARACTERS), "")
    return f"{POOL}{version}" + (f"-{short}" if short else "")


def _row(row: StoredRow, frame: SharedFields | None, pool: str, cut: int | None) -> Row:
    known = {name: row[name] for name in ("id", "category", "number", "place")}
    body = row["body"]
    case = frame.task(Labelled.model_validate_json(body), pool) if frame else parse_case(json.loads(body))
    return Row(case=_cut(case, cut), split=row["split"] or "", group=row["grp"], **known)


def _cut(case: Case, most: int | None) -> Case:
    name = "facts" if isinstance(case, CriminalCase) else "text" if isinstance(case, Document) else ""
    if most is None or len(text := getattr(case, name, "")) <= most:
        return case
    return case.model_copy(update={name: text[:most].rstrip() + CUT_MARK})
