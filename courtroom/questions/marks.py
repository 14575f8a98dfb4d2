"""Marks: what reviewers think of runs, members and answers. Each reviewer has one mark on each, and can change it."""

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Self

from pydantic import Field, ValidationError, field_validator

from courtroom.access import Access, Resource, needs, signed
from courtroom.cases.checks import explain
from courtroom.engine.errors import NoSuchRun
from courtroom.engine.record import Record
from courtroom.errors import CourtroomError
from courtroom.evaluation.significance import krippendorffs_alpha
from courtroom.sharing import listed, may_see, note
from courtroom.store.connection import read, read_all
from courtroom.store.database import Tables, insert
from courtroom.store.database import marks as placeholders
from courtroom.strict import Strict

LOWEST, HIGHEST = 1, 5
"""Of a score."""
A_RUN = ""
"""The target of a mark on the run as a whole; else it is a member's id, or the path of a call."""


class Mark(Strict):
    target: str = A_RUN
    reviewer: str = Field(min_length=1, max_length=80)
    star: bool = False
    score: int | None = Field(default=None, ge=LOWEST, le=HIGHEST)
    tags: tuple[str, ...] = Field(default=(), max_length=20)
    comment: str = Field(default="", max_length=5_000)
    at: float = Field(default=0.0, description="When it was made, in seconds since the epoch.")

    @field_validator("tags")
    @classmethod
    def _plain(cls, tags: tuple[str, ...]) -> tuple[str, ...]:
        """Each once, in small letters and one line, so that reviewers' tags meet."""
        plain = (" ".join(tag.casefold().split())[:40] for tag in tags)
        return tuple(dict.fromkeys(tag for tag in plain if tag))

    def with_(self, changes: Mapping[str, object]) -> Self:
        """This mark with other values. Raises `CourtroomError`: one does not fit."""
        try:
            return type(self).model_validate({**self.model_dump(), **changes})
        except ValidationError as error:
            raise CourtroomError(" ".join(explain(error))) from error


@dataclass(frozen=True)
class Short:
    """What all marks on a run say together."""

    star: bool = False
    tags: tuple[str, ...] = ()


def check_target(record: Record, target: str) -> None:
    if target and record.member(target) is None and record.call(target) is None:
        raise CourtroomError(f"This run has no member and no call “{target}”. Name one by its id or its path.")


class MarkStore(Tables):
    """Reads and writes marks. Methods may be called from any thread. A damaged row raises `Unreadable`."""

    @needs(Access.LOOK)
    def put(self, run: str, mark: Mark) -> None:
        """Keep a mark in place of the reviewer's earlier one on the same; one that says nothing takes it away."""
        mark = mark.with_({"reviewer": signed(mark.reviewer), "at": time.time()})
        if not may_see(self._database, Resource(kind="run", id=run)):
            raise NoSuchRun(run)
        note(self._database, "mark", Resource(kind="run", id=run))
        if mark.star or mark.score is not None or mark.tags or mark.comment:
            insert(self._database.connection, "marks", [_row(run, mark)], key=["run", "target", "reviewer"])
        else:
            name = (run, mark.target, mark.reviewer)
            self._database.execute("DELETE FROM marks WHERE run = ? AND target = ? AND reviewer = ?", name)

    def take_in(self, run: str, marks: Iterable[Mark]) -> None:
        """Keep those of an imported run with their times, within a transaction of the caller's."""
        insert(self._database.connection, "marks", [_row(run, one) for one in marks])

    def of(self, run: str) -> tuple[Mark, ...]:
        """All marks on a run, its members and its answers, oldest first."""
        if not may_see(self._database, Resource(kind="run", id=run)):
            return ()
        rows = self._database.execute("SELECT * FROM marks WHERE run = ? ORDER BY at, target, reviewer", (run,))
        return tuple(read_mark(row["run"], row["body"]) for row in rows)

    def one(self, run: str, target: str, reviewer: str) -> Mark | None:
        row = self._database.row(
            "SELECT * FROM marks WHERE run = ? AND target = ? AND reviewer = ?", (run, target, reviewer)
        )
        return read_mark(row["run"], row["body"]) if row else None

    def all(self) -> dict[str, tuple[Mark, ...]]:
        runs = [row["run"] for row in self._database.execute("SELECT DISTINCT run FROM marks ORDER BY run")]
        return {run: self.of(run) for run in runs}

    @needs(Access.LOOK)
    def add(self, runs: Iterable[str], reviewer: str, *, star: bool = False, tags: Iterable[str] = ()) -> None:
        """Add a star or tags to a reviewer's marks on runs; what the marks say besides stays."""
        more, reviewer = tuple(tags), signed(reviewer)
        with self._database.transaction():
            for run in runs:
                mark = self.one(run, A_RUN, reviewer) or Mark(reviewer="?")
                own = tuple(dict.fromkeys((*mark.tags, *more)))
                self.put(run, mark.with_({"reviewer": reviewer, "star": mark.star or star, "tags": own}))

    def short(self, runs: Iterable[str]) -> dict[str, Short]:
        """What marks say of these runs, their members and answers, for a list; runs without a mark are left out."""
        named = list(runs)
        found: dict[str, Short] = {}
        sql = f"SELECT * FROM marks WHERE run IN ({placeholders(named)}) ORDER BY at, target, reviewer"
        rows = self._database.execute(sql, named)
        for mark_of, mark in read_all(rows, lambda row: (row["run"], read_mark(row["run"], row["body"])))[0]:
            before = found.get(mark_of, Short())
            found[mark_of] = Short(before.star or mark.star, tuple(dict.fromkeys((*before.tags, *mark.tags))))
        return found

    def tags(self) -> tuple[str, ...]:
        return self._known("tag.value FROM marks, json_each(body, '$.tags') AS tag")

    def reviewers(self) -> tuple[str, ...]:
        return self._known("reviewer FROM marks")

    def _known(self, what: str) -> tuple[str, ...]:
        fits, values = listed("run", "marks.run")
        rows = self._database.execute(f"SELECT DISTINCT {what} WHERE {fits} ORDER BY 1", values)
        return tuple(str(row[0]) for row in rows)


def _row(run: str, mark: Mark) -> dict[str, object]:
    return {"run": run, **mark.model_dump(include={"target", "reviewer", "at"}), "body": mark.model_dump_json()}


def read_mark(run: str, body: str) -> Mark:
    return read("mark", run, lambda: Mark.model_validate_json(body))


class Agreement(Strict):
    reviewers: int
    marked: int = Field(description="Runs, members and answers that at least two reviewers gave a score.")
    scores: float | None
    """Krippendorff's alpha of the scores, at the level of intervals; None where it is not defined."""
    note: str = ""


def agreement(marks: Mapping[str, Iterable[Mark]]) -> Agreement:
    """How far reviewers agree in their scores (Krippendorff 2004, chapter 11). `marks`: by run."""
    scores: dict[tuple[str, str], dict[str, int]] = {}
    for run, given in marks.items():
        for mark in given:
            if mark.score is not None:
                scores.setdefault((run, mark.target), {})[mark.reviewer] = mark.score
    shared = [[*given.values()] for given in scores.values() if len(given) > 1]
    value = krippendorffs_alpha(shared, "interval")
    alike = "All scores are alike, so agreement beyond chance is not defined." if value is None else ""
    note = alike if shared else "No two reviewers have scored the same."
    reviewers = {reviewer for given in scores.values() for reviewer in given}
    return Agreement(reviewers=len(reviewers), marked=len(shared), scores=value, note=note)
