"""Datasets in the store: listed, read row by row, written, divided into splits."""

import hashlib
import json
import re
import time
from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import islice
from typing import Any

from courtroom.access import Access, Resource, needs
from courtroom.cases.case import Case
from courtroom.cases.labelled import Example, LabelledTask
from courtroom.datasets import selection
from courtroom.datasets.draft import CHUNK_ROWS, RELEVANCE, DatasetDraft, forget
from courtroom.datasets.row import DatasetInfo, ImportCounts, PendingDataset, Problem, Row, SharedFields, parsed
from courtroom.datasets.selection import EVERY, POOL, VERSION_MARK, Labels, Line, Preparation, Selection, labels_in
from courtroom.errors import CourtroomError
from courtroom.sharing import changing, give_up, listed, take
from courtroom.store.connection import StoredRow, read
from courtroom.store.database import Database

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}")
CUT_KINDS = ("criminal", "document")
DEFAULT_SHARES: Mapping[str, float] = {"train": 3, "validation": 1, "test": 2}


class Datasets:
    """All datasets of one store. Methods may be called from any thread."""

    def __init__(self, database: Database) -> None:
        self.database = database

    def newest(self) -> list[DatasetInfo]:
        """Return the newest version of each dataset, by name."""
        newest = {row["name"]: row for row in self._finished()}
        return [self._info(newest[name]) for name in sorted(newest)]

    def versions(self, name: str) -> list[DatasetInfo]:
        return [self._info(row) for row in self._finished() if row["name"] == name]

    def info(self, name: str, version: str | None = None) -> DatasetInfo:
        """One version of a dataset; the newest by default. Raises `CourtroomError`: there is none."""
        return self._info(self._row(name, version))

    def problems(self, name: str, version: str | None = None) -> list[Problem]:
        """Records that were not taken in, with their reasons: at most the first 1,000."""
        sql = "SELECT place, message FROM dataset_problems WHERE dataset = ? ORDER BY number"
        rows = self.database.execute(sql, (self._row(name, version)["content"],))
        return [Problem(place=row["place"], message=row["message"]) for row in rows]

    def refused(self, name: str, version: str | None = None) -> int:
        return int(self._state(name, version).get("refused", 0))

    def counts(self, name: str, version: str | None = None) -> ImportCounts | None:
        """The counts that its import ended with; None where it was not imported."""
        found = self._state(name, version).get("counts")
        return ImportCounts.model_validate(found) if found else None

    def keep_counts(self, info: DatasetInfo, counts: ImportCounts) -> None:
        state = self._state(info.name, info.version) | {"counts": counts.model_dump(mode="json")}
        values = (json.dumps(state), info.name, info.version)
        self.database.execute("UPDATE datasets SET state = ? WHERE name = ? AND version = ?", values)

    def pending(self) -> list[PendingDataset]:
        """Imports that have not come to their end, oldest first."""
        fits, values = listed("dataset", "datasets.name")
        sql = f"SELECT name, source, state, orders FROM datasets WHERE version IS NULL AND {fits} ORDER BY id"
        return [
            PendingDataset(name=name, source=source, taken=json.loads(state).get("taken", 0), order=order)
            for name, source, state, order in self.database.execute(sql, values)
        ]

    def rows(self, name: str, version: str | None = None, wanted: Selection = EVERY) -> Iterator[Row]:
        """Rows in the dataset's own order. Raises `CourtroomError`: there is no such dataset, split or row."""
        dataset = self._row(name, version)
        split, ids = wanted.split, wanted.ids
        if split is not None and split not in (known := selection.splits_of(self.database, dataset["id"])):
            raise CourtroomError(f"“{name}” has no split “{split}”. It has: {', '.join(known) or 'none'}.")
        if ids is not None and (unknown := selection.missing(self.database, dataset, ids)):
            raise CourtroomError(f"“{name}” has no row {', '.join(unknown[:5])}. See `datasets show {name}`.")
        if wanted.cut and dataset["kind"] not in CUT_KINDS:
            raise CourtroomError(f"Facts and documents alone can be cut; “{name}” has neither. Leave out `cut`.")
        gone = self.left_out(name, version, wanted).values()
        numbers = selection.numbers_of(self.database, dataset, wanted, {line.seq for lines in gone for line in lines})
        return selection.rows_of(self.database, dataset, numbers, wanted.cut)

    def left_out(self, name: str, version: str | None, wanted: Preparation) -> dict[str, list[Line]]:
        """Return the rows that a preparation leaves out, by why. Raises `CourtroomError`: there is no such dataset, or
        none whose labels are wanted."""
        steps = {step for step in Preparation.model_fields if step != "cut" and getattr(wanted, step)}
        if not steps:
            return {}
        other, _, of = wanted.labels_of.partition(VERSION_MARK)
        allowed = self.labels(other, of or None) if other else frozenset()
        labelled = not steps <= {"distinct", "consistent"}
        return selection.left_out(self.lines(name, version, labelled), wanted, allowed)

    def labels(self, name: str, version: str | None = None) -> frozenset[Hashable]:
        """Return all labels of a dataset, as measures compare them."""
        return frozenset[Hashable]().union(*(line.labels.names for line in self.lines(name, version, labelled=True)))

    def lines(self, name: str, version: str | None = None, labelled: bool = False) -> list[Line]:
        """Read what of each row decides where it goes; with `labelled`, its labels too."""
        columns = ["seq", "id", "category", "grp", "asked", "outcome", "margin", "fingerprint"]
        rows = self.columns(name, version, [*columns, *(["body"] if labelled else [])])
        return [Line._make((*row[:9], labels_in(row[9], row[6]) if labelled else Labels())) for row in rows]

    def columns(self, name: str, version: str | None, wanted: Sequence[str]) -> Iterator[tuple[Any, ...]]:
        """Read split and columns of all rows, in order; see the table `dataset_rows`."""
        dataset = self._row(name, version)
        rows = self.database.execute(
            f"SELECT coalesce(s.split, ''), {', '.join(f'r.{column}' for column in wanted)} FROM dataset_rows AS r"
            " LEFT JOIN dataset_splits AS s ON s.dataset = ? AND s.seq = r.seq WHERE r.content = ? ORDER BY r.seq",
            (dataset["id"], dataset["content"]),
        )
        return (tuple(row) for row in rows)

    def with_media(self) -> Iterator[Case]:
        """Read all cases that have pictures or videos in the store; those that can't be read are left out."""
        rows = self.database.each("""SELECT body FROM dataset_rows WHERE instr(body, '"sha256":"') > 0""")
        for row in rows:
            try:
                case = parsed(row["body"])
            except (ValueError, CourtroomError):
                continue
            if isinstance(case, Case):
                yield case

    def relevance(self, name: str, version: str | None = None) -> dict[str, dict[str, int]]:
        """Read how relevant candidates' rows are for each query's row (qrels); empty where nobody has judged that."""
        found: dict[str, dict[str, int]] = {}
        for row in self.database.execute(RELEVANCE, (self._row(name, version)["content"],)):
            found.setdefault(row["query"], {})[row["candidate"]] = row["grade"]
        return found

    def examples(self, pool: str) -> Iterator[Example]:
        """The labelled texts of a pool, as a row's case names it; nothing where it is no dataset's."""
        found = re.fullmatch(rf"{POOL}([0-9a-f]+)(?:-(.+))?", pool)
        dataset = found and self.database.row("SELECT * FROM datasets WHERE version = ? ORDER BY id", (found[1],))
        if not found or not dataset:
            return
        numbers = selection.numbers_of(self.database, dataset, Selection(split=found[2]))
        for row in selection.rows_of(self.database, dataset, numbers):
            if isinstance(row.case, LabelledTask) and (item := row.case.items[0]).label is not None:
                yield Example(**{**item.model_dump(), "id": f"{row.case.under(item.label)}item/{item.id}"})

    @needs(Access.RUN)
    def add(self, name: str, rows: Iterable[Row], source: str = "") -> DatasetInfo:
        """Keep rows as a dataset, chunk by chunk; a call that was killed begins anew. Raises `CourtroomError`: the name
        can't be used, or the rows are not of one kind; labelled tasks must have one label set and one text each."""
        job = hashlib.sha256(f"rows\n{name}\n{source}".encode()).hexdigest()
        draft = self.draft(name, source, job)
        if draft.state:
            draft.give_up()
            draft = self.draft(name, source, job)
        kind, frame, done, left = "", None, 0, iter(rows)
        while chunk := list(islice(left, CHUNK_ROWS)):
            first = chunk[0].case
            kind = kind or first.kind
            if frame is None and isinstance(first, LabelledTask):
                frame = SharedFields.of(first)
            done += len(chunk)
            draft.put([row.incoming(kind, frame) for row in chunk], {"taken": done})
        return self.finished(draft, kind, frame)

    @needs(Access.RUN)
    def split(
        self, name: str, version: str | None = None, parts: Mapping[str, float] = DEFAULT_SHARES, seed: int = 0
    ) -> DatasetInfo:
        """A new version whose rows are divided into splits, alike in category, outcome and votes. Rows of one
        record, and rows with the same text, come into one split. Raises `CourtroomError`: the parts can't be used."""
        dataset = self._row(name, version)
        if not parts or any(share <= 0 for share in parts.values()):
            raise CourtroomError("Give each split a share above 0, such as train=3,validation=1,test=2.")
        units = self.lines(name, dataset["version"])
        chosen = _divided(units, parts, seed)
        with self.database.transaction() as db:
            changing(self.database, "change", _named(name), "split")
            made = db.execute(
                "INSERT INTO datasets (name, content, kind, count, source, state, made, frame)"
                " SELECT name, content, kind, count, source, state, ?, frame FROM datasets WHERE id = ? RETURNING id",
                (time.time(), dataset["id"]),
            ).fetchone()["id"]
            splits = ((made, unit.seq, split) for unit, split in zip(units, chosen, strict=True))
            db.executemany("INSERT INTO dataset_splits VALUES (?, ?, ?)", splits)
            draft = DatasetDraft(self.database, made, json.loads(dataset["state"]))
            frame = SharedFields.model_validate_json(dataset["frame"]) if dataset["frame"] else None
            return self.finished(draft, dataset["kind"], frame)

    @needs(Access.RUN)
    def without(self, name: str, version: str | None, ids: Collection[str]) -> DatasetInfo:
        """A new version without these rows, in the same splits; the version before stays as it is. Raises
        `CourtroomError`: there is no such dataset, or no row would be left."""
        dataset = self._row(name, version)
        gone = set(selection.numbers_of(self.database, dataset, Selection(ids=tuple(ids))))
        kept = [number for number in selection.numbers_of(self.database, dataset) if number not in gone]
        if not kept:
            raise CourtroomError(f"No row of “{name}” would be left. Nothing was changed.")
        state = {key: value for key, value in self._state(name, dataset["version"]).items() if key != "counts"}
        job = hashlib.sha256(f"without\n{dataset['id']}\n{sorted(gone)}\n{time.time()}".encode()).hexdigest()
        with self.database.transaction() as db:
            draft = self.draft(name, dataset["source"], job)
            columns = (
                "id, category, grp, asked, number, place, outcome, length, language, margin, fingerprint, numbers, body"
            )
            places = [(draft.number, seq, dataset["content"], number) for seq, number in enumerate(kept)]
            db.executemany(
                f"INSERT INTO dataset_rows (content, seq, {columns})"
                f" SELECT ?, ?, {columns} FROM dataset_rows WHERE content = ? AND seq = ?",
                places,
            )
            db.executemany(
                "INSERT INTO dataset_splits SELECT ?, ?, split FROM dataset_splits WHERE dataset = ? AND seq = ?",
                ((new, seq, dataset["id"], number) for new, seq, _, number in places),
            )
            db.execute(
                "INSERT INTO dataset_relevance"
                " SELECT ?, query, candidate, grade FROM dataset_relevance AS j WHERE content = ?"
                " AND EXISTS (SELECT 1 FROM dataset_rows WHERE content = ? AND id = j.query)"
                " AND EXISTS (SELECT 1 FROM dataset_rows WHERE content = ? AND id = j.candidate)",
                (draft.number, dataset["content"], draft.number, draft.number),
            )
            db.execute(
                "INSERT INTO dataset_problems (dataset, place, message)"
                " SELECT ?, place, message FROM dataset_problems WHERE dataset = ? ORDER BY number",
                (draft.number, dataset["content"]),
            )
            draft.put((), state)
            frame = SharedFields.model_validate_json(dataset["frame"]) if dataset["frame"] else None
            return self.finished(draft, dataset["kind"], frame)

    @needs(Access.RUN)
    def delete(self, name: str, version: str | None = None) -> None:
        """Forget a version of a dataset; by default all, and begun imports. Raises `CourtroomError`: there is none."""
        begun = self.database.execute("SELECT id FROM datasets WHERE name = ? AND version IS NULL", (name,)).fetchall()
        if version is not None or not begun:
            self._row(name, version)
        with self.database.transaction() as db:
            changing(self.database, "delete", _named(name), version or "")
            for row in begun if version is None else ():
                forget(db, row["id"])
            for row in self._finished():
                if row["name"] == name and version in (None, row["version"]):
                    forget(db, row["id"])
            if not db.execute("SELECT 1 FROM datasets WHERE name = ? LIMIT 1", (name,)).fetchone():
                give_up(self.database, _named(name))

    @needs(Access.RUN)
    def draft(self, name: str, source: str, job: str, orders: str = "") -> DatasetDraft:
        """The unfinished dataset of a job, or a new one. Raises `CourtroomError`: the name can't be used."""
        if not NAME.fullmatch(name):
            raise CourtroomError(f"“{name}” can't name a dataset. Use letters, digits, `.`, `_` and `-`.")
        with self.database.transaction() as db:
            self.claim(name)
            row = db.execute("SELECT id, state FROM datasets WHERE version IS NULL AND job = ?", (job,)).fetchone()
            if row:
                return DatasetDraft(self.database, row["id"], json.loads(row["state"]))
            number = db.execute(
                "INSERT INTO datasets (name, content, source, made, job, orders)"
                " VALUES (?, 0, ?, ?, ?, ?) RETURNING id",
                (name, source, time.time(), job, orders),
            ).fetchone()["id"]
            db.execute("UPDATE datasets SET content = id WHERE id = ?", (number,))
        return DatasetDraft(self.database, number)

    @needs(Access.RUN)
    def claim(self, name: str) -> None:
        """A dataset of this name is about to be written: a new one is then the person's own. Raises `Forbidden`: there
        is one already, and it is somebody else's."""
        with self.database.transaction() as db:
            there = db.execute("SELECT 1 FROM datasets WHERE name = ? LIMIT 1", (name,)).fetchone()
            if not there:
                take(self.database, _named(name), anew=True)
            changing(self.database, "change" if there else "make", _named(name))

    @needs(Access.RUN)
    def give_up(self, order: str) -> None:
        """Forget an unfinished import, with the rows that it has taken in."""
        with self.database.transaction() as db:
            begun = db.execute("SELECT id, name FROM datasets WHERE version IS NULL AND orders = ?", (order,))
            for row in begun.fetchall():
                changing(self.database, "delete", _named(row["name"]))
                forget(db, row["id"])

    def finished(self, draft: DatasetDraft, kind: str, frame: SharedFields | None) -> DatasetInfo:
        number = draft.finish(kind, frame)
        return self._info(self.database.row("SELECT * FROM datasets WHERE id = ?", (number,)))

    def _finished(self) -> list[StoredRow]:
        fits, values = listed("dataset", "datasets.name")
        sql = f"SELECT * FROM datasets WHERE version IS NOT NULL AND {fits} ORDER BY made, id"
        return self.database.execute(sql, values).fetchall()

    def _row(self, name: str, version: str | None) -> StoredRow:
        rows = [row for row in self._finished() if row["name"] == name]
        if not rows:
            raise CourtroomError(f"There is no dataset “{name}”. See all with `python -m courtroom datasets list`.")
        fitting = [row for row in rows if version in (None, row["version"])]
        if not fitting:
            known = ", ".join(row["version"] for row in rows)
            raise CourtroomError(f"The dataset “{name}” has no version “{version}”. It has: {known}.")
        return fitting[-1]

    def _state(self, name: str, version: str | None) -> dict[str, Any]:
        """What was kept while it was written."""
        found: dict[str, Any] = json.loads(self._row(name, version)["state"])
        return found

    def _info(self, row: StoredRow) -> DatasetInfo:
        made = datetime.fromtimestamp(row["made"], UTC).isoformat(timespec="seconds")
        values = {name: row[name] for name in ("name", "version", "kind", "count", "source")}
        splits = selection.splits_of(self.database, row["id"])
        return read("dataset", row["name"], lambda: DatasetInfo(**values, splits=splits, made=made))


def _named(name: str) -> Resource:
    return Resource(kind="dataset", id=name)


def _divided(units: Sequence[Line], parts: Mapping[str, float], seed: int) -> list[str]:
    """Choose a split for each row. Rows of one record, and rows with the same text, stay together.

    A stratum is a category with an outcome, of disputes with the votes on record too. In it each bundle goes where most
    is missing of the stratum's share and of the whole's, so that shares are held in each large stratum and, over many
    small ones, in all.
    """
    total = sum(parts.values())
    shares = {name: share / total for name, share in parts.items()}
    strata: dict[tuple[str, ...], list[list[int]]] = defaultdict(list)
    for bundle in _bundles(units):
        first = units[bundle[0]]
        votes = "" if first.margin is None else f"{first.margin:.3f}"
        strata[first.category, first.outcome, votes].append(bundle)
    chosen = [""] * len(units)
    overall = dict.fromkeys(parts, 0)
    for stratum in sorted(strata):
        within = dict.fromkeys(parts, 0)
        # A row's place in the draw depends on the seed and the row, not on the other rows.
        lots = (hashlib.sha256(f"{seed}\n{units[bundle[0]].id}".encode()).digest() for bundle in strata[stratum])
        for _, bundle in sorted(zip(lots, strata[stratum], strict=True)):
            placed = sum(within.values()) + sum(overall.values()) + 2 * len(bundle)
            best = max(parts, key=lambda name: shares[name] * placed - within[name] - overall[name])
            for place in bundle:
                chosen[place] = best
            within[best] += len(bundle)
            overall[best] += len(bundle)
    return chosen


def _bundles(units: Sequence[Line]) -> list[list[int]]:
    """Find positions that must stay together: joined by record or by text, over any number of steps."""
    from networkx.utils import UnionFind  # slow to import

    joined, first = UnionFind(range(len(units))), dict[tuple[str, str | bytes], int]()
    for place, unit in enumerate(units):
        for key in (("text", unit.fingerprint), *((("record", unit.group),) if unit.group else ())):
            joined.union(first.setdefault(key, place), place)
    return sorted(map(sorted, joined.to_sets()))
