"""A dataset while it is written, in chunks that say how far the writer is: a killed process goes on where it was."""

import hashlib
import json
import time
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, count
from typing import Any

from courtroom.datasets.row import IncomingRow, Problem, SharedFields, columns_of, fingerprint, text_of
from courtroom.errors import CourtroomError
from courtroom.store.connection import StoreConnection
from courtroom.store.database import Database, marks

CHUNK_ROWS = 500
MAX_KEPT_PROBLEMS = 1_000
RELEVANCE = "SELECT query, candidate, grade FROM dataset_relevance WHERE content = ? ORDER BY query, candidate"


class WrittenElsewhere(CourtroomError):
    """Another process writes the same draft, or has given it up."""


@dataclass
class DatasetDraft:
    """One unfinished dataset. `state` says how far the writer is, in its own words, and is kept with each chunk."""

    database: Database
    number: int
    state: dict[str, Any] = field(default_factory=dict)

    def put(self, lines: Sequence[IncomingRow], state: dict[str, Any], problems: Iterable[Problem] = ()) -> None:
        """Write a chunk: all of it or nothing. Raises `WrittenElsewhere`: another process writes the same draft."""
        with self.database.transaction() as db:
            values = (json.dumps(state), self.number, json.dumps(self.state))
            moved = db.execute("UPDATE datasets SET state = ? WHERE id = ? AND state = ?", values)
            if not moved.rowcount:
                raise WrittenElsewhere("Another process imports this dataset, or it was given up. Look at the list.")
            rows, splits = self._rows(db, lines)
            db.executemany(f"INSERT INTO dataset_rows VALUES ({', '.join('?' * 15)})", rows)
            db.executemany("INSERT INTO dataset_splits VALUES (?, ?, ?)", splits)
            kept = db.execute("SELECT count(*) FROM dataset_problems WHERE dataset = ?", (self.number,)).fetchone()[0]
            new_rows = [(self.number, one.place, one.message) for one in problems][: max(0, MAX_KEPT_PROBLEMS - kept)]
            db.executemany("INSERT INTO dataset_problems (dataset, place, message) VALUES (?, ?, ?)", new_rows)
        self.state = json.loads(json.dumps(state))  # a copy: the writer goes on with its own

    def relate(self, pairs: Iterable[tuple[str, str, int]]) -> None:
        """Keep how relevant one row is for another: query, candidate, grade."""
        with self.database.transaction() as db:
            db.executemany(
                "INSERT INTO dataset_relevance VALUES (?, ?, ?, ?)"
                " ON CONFLICT (content, query, candidate) DO UPDATE SET grade = excluded.grade",
                ((self.number, *pair) for pair in pairs),
            )

    def finish(self, kind: str, frame: SharedFields | None) -> int:
        """Close the draft; the number of the dataset, which is an older one's where that has the same content. Raises
        `CourtroomError`: there is no row in it."""
        with self.database.transaction() as db:
            shared = frame.model_dump_json() if frame else ""
            name, content = db.execute("SELECT name, content FROM datasets WHERE id = ?", (self.number,)).fetchone()
            (count,) = db.execute("SELECT count(*) FROM dataset_rows WHERE content = ?", (content,)).fetchone()
            if not count:
                raise CourtroomError(f"“{name}” would have no row. Check the file.")
            version = version_of(db, self.number, content, kind, shared)
            key = (name, version)
            same = db.execute("SELECT id, content FROM datasets WHERE name = ? AND version = ?", key).fetchone()
            if same:
                if content == self.number:  # what could not be taken in this time is what counts now
                    db.execute("DELETE FROM dataset_problems WHERE dataset = ?", (same[1],))
                    db.execute("UPDATE dataset_problems SET dataset = ? WHERE dataset = ?", (same[1], content))
                forget(db, self.number)
                # It is the newest again.
                newest = (json.dumps(self.state), time.time(), same[0])
                db.execute("UPDATE datasets SET state = ?, made = ? WHERE id = ?", newest)
                return int(same[0])
            db.execute(
                "UPDATE datasets SET version = ?, kind = ?, frame = ?, count = ?, made = ?, job = '' WHERE id = ?",
                (version, kind, shared, count, time.time(), self.number),
            )
        return self.number

    def give_up(self) -> None:
        with self.database.transaction() as db:
            forget(db, self.number)

    def outcomes(self) -> list[str]:
        sql = "SELECT DISTINCT outcome FROM dataset_rows WHERE content = ? AND outcome <> '' ORDER BY outcome"
        return [row[0] for row in self.database.execute(sql, (self.number,))]

    def language(self) -> str:
        """The language of most of the text."""
        sql = "SELECT language FROM dataset_rows WHERE content = ? GROUP BY language ORDER BY SUM(length) DESC LIMIT 1"
        row = self.database.row(sql, (self.number,))
        return str(row[0]) if row else "en"

    def place_of(self, outcome: str) -> str:
        """File and line of the first row with an outcome."""
        sql = "SELECT place FROM dataset_rows WHERE content = ? AND outcome = ? ORDER BY seq LIMIT 1"
        row = self.database.row(sql, (self.number, outcome))
        return row[0] if row else "in the label set"

    def _rows(self, db: StoreConnection, lines: Sequence[IncomingRow]) -> tuple[list[Any], list[Any]]:
        number = db.execute("SELECT count(*) FROM dataset_rows WHERE content = ?", (self.number,)).fetchone()[0]
        there = self._there(db, {line.id for line in lines})
        rows, splits = [], []
        for line in lines:
            text = text_of(line.case)
            print_ = fingerprint(text)
            if line.once and there.get(line.id) == print_:
                continue
            first = (line.id, f"{line.id[:66]}-row-{number}")
            names = chain(first, (f"{line.id[:50]}-row-{number}-{time}" for time in count(2)))
            # Two records of one id are two rows.
            name = next(name for name in names if name not in there and not self._there(db, {name}))
            line = replace(line, id=name)
            there[line.id] = print_
            rows.append((self.number, number, *columns_of(line, text, print_)))
            if line.split:
                splits.append((self.number, number, line.split))
            number += 1
        return rows, splits

    def _there(self, db: StoreConnection, names: Collection[str]) -> dict[str, bytes]:
        names = [*names]
        sql = f"SELECT id, fingerprint FROM dataset_rows WHERE content = ? AND id IN ({marks(names)})"
        return dict(db.execute(sql, (self.number, *names)).fetchall())


def version_of(db: StoreConnection, dataset: int, content: int, kind: str, frame: str) -> str:
    """The digest of a dataset: kind, what its rows share, and each row with its split, in order."""
    digest = hashlib.sha256(f"{kind}\n{frame}\n".encode())
    rows = db.execute(
        "SELECT id, category, grp, coalesce(split, ''), body FROM dataset_rows AS r"
        " LEFT JOIN dataset_splits AS s ON s.dataset = ? AND s.seq = r.seq WHERE content = ? ORDER BY r.seq",
        (dataset, content),
    )
    for row in rows:
        digest.update("\x1f".join(row).encode(errors="surrogatepass") + b"\n")
    for row in db.execute(RELEVANCE, (content,)):
        digest.update("\x1f".join(map(str, row)).encode() + b"\n")
    return digest.hexdigest()[:16]


def forget(db: StoreConnection, dataset: int) -> None:
    """Delete a dataset, and its rows where no other version has them."""
    row = db.execute("SELECT content FROM datasets WHERE id = ?", (dataset,)).fetchone()
    db.execute("DELETE FROM datasets WHERE id = ?", (dataset,))
    db.execute("DELETE FROM dataset_splits WHERE dataset = ?", (dataset,))
    if row and not db.execute("SELECT 1 FROM datasets WHERE content = ?", (row[0],)).fetchone():
        db.execute("DELETE FROM dataset_problems WHERE dataset = ?", (row[0],))
        db.execute("DELETE FROM dataset_rows WHERE content = ?", (row[0],))
        db.execute("DELETE FROM dataset_relevance WHERE content = ?", (row[0],))
