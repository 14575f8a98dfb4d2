"""The list of hearings, a page at a time: a line for each run, and one for all runs of a sweep or an experiment."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import Literal

from courtroom.engine.control import Control
from courtroom.engine.events import Verdict
from courtroom.engine.run import Status
from courtroom.errors import Unreadable
from courtroom.store.database import Database
from courtroom.store.rows import read
from courtroom.strict import Strict

Order = Literal["newest", "oldest", "case"]
ORDERS: dict[Order, str] = {
    "newest": "made DESC",
    "oldest": "made",
    "case": "folded(title), made DESC",
}
"""By the order in which runs were made, which no clock can change; a sweep stands where its last run does."""


class RunLine(Strict):
    """A run as listed."""

    id: str
    title: str
    procedure: str
    status: Status
    outcome: str | None
    created: float
    parent: str | None
    owner: str | None
    heartbeat: float | None


class SweepLine(Strict):
    """All runs of one sweep, as one line."""

    id: str
    title: str
    procedure: str
    status: str
    created: float
    base: str
    runs: int
    """Of those that the filters let through."""


class ExperimentLine(Strict):
    """All runs of one experiment, as one line."""

    id: str
    title: str
    status: str
    created: float
    runs: int
    """Of those that the filters let through."""


Line = RunLine | SweepLine | ExperimentLine | Unreadable


@dataclass(frozen=True)
class Wanted:
    """Which runs are listed; an empty filter lets all through."""

    text: str = ""
    """Within a case's title, a verdict or an id."""
    status: str = ""
    procedure: str = ""
    tag: str = ""
    """That a reviewer has put on the run, on one of its members or answers."""
    reviewer: str = ""
    """Who has marked it; with `tag` or `starred`, who has done that."""
    starred: bool = False


class RunList:
    """Reads the lines of one page, and no more, from the database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def count(self, wanted: Wanted) -> int:
        """How many lines there are."""
        row = self._connection.execute(f"SELECT count(*) FROM ({_lines(wanted)})", _values(wanted)).fetchone()
        return int(row[0])

    def running(self) -> bool:
        """Whether any run goes on."""
        return self._connection.execute("SELECT 1 FROM runs WHERE status = 'running' LIMIT 1").fetchone() is not None

    def page(self, wanted: Wanted, start: int, count: int, order: Order = "newest") -> list[Line]:
        """Some lines; a row that can't be read is a line that says so."""
        with_title = order == "case"
        found = self._connection.execute(
            f"SELECT kind, number, runs FROM ({_lines(wanted, with_title)}) ORDER BY {ORDERS[order]} LIMIT :count OFFSET :start",
            {**_values(wanted), "start": start, "count": count},
        ).fetchall()
        return [self._line(row["kind"], row["number"], row["runs"]) for row in found]

    @property
    def _connection(self) -> sqlite3.Connection:
        connection = self._database.connection
        connection.create_function("folded", 1, lambda text: str(text or "").casefold(), deterministic=True)
        return connection

    def _line(self, kind: str, number: int, runs: int) -> Line:
        try:
            if kind == "experiment":
                return self._experiment(number, runs)
            return self._run(number) if kind == "run" else self._sweep(number, runs)
        except Unreadable as error:
            return error

    def _run(self, number: int) -> RunLine:
        row = self._connection.execute(
            "SELECT id, title, procedure, status, verdict, created, parent, control, owner, heartbeat FROM runs WHERE rowid = ?",
            (number,),
        ).fetchone()
        fields = dict(row)
        verdict, control = fields.pop("verdict"), fields.pop("control")

        def parsed() -> RunLine:
            Control.model_validate_json(control)  # a run that could not be opened is reported here
            outcome = Verdict.model_validate_json(verdict).outcome if verdict else None
            return RunLine.model_validate({**fields, "outcome": outcome})

        return read("run", row["id"], parsed)

    def _sweep(self, number: int, runs: int) -> SweepLine:
        row = self._connection.execute(
            "SELECT id, title, status, created, base,"
            " coalesce((SELECT procedure FROM runs WHERE runs.id = base), '') AS procedure FROM sweeps WHERE rowid = ?",
            (number,),
        ).fetchone()
        return read("sweep", row["id"], lambda: SweepLine.model_validate({**dict(row), "runs": runs}))

    def _experiment(self, number: int, runs: int) -> ExperimentLine:
        row = self._connection.execute(
            "SELECT id, name AS title, status, created FROM experiments WHERE rowid = ?", (number,)
        ).fetchone()
        return read("experiment", row["id"], lambda: ExperimentLine.model_validate({**dict(row), "runs": runs}))


def _lines(wanted: Wanted, with_title: bool = False) -> str:
    """SQL for all lines. A column is read only where it is needed: the text of a long setup lies before the verdict."""
    tests = ["1"]
    if wanted.status:
        tests.append("runs.status = :status")
    if wanted.procedure:
        tests.append("runs.procedure = :procedure")
    if wanted.text:
        outcome = "CASE WHEN json_valid(verdict) THEN json_extract(verdict, '$.outcome') END"
        tests.append(
            f"(instr(folded(runs.title), :text) OR instr(folded(runs.id), :text) OR instr(folded({outcome}), :text))"
        )
    if wanted.tag or wanted.reviewer or wanted.starred:
        marked = ["marks.run = runs.id"]
        marked += ["marks.reviewer = :reviewer"] if wanted.reviewer else []
        marked += ["json_extract(marks.body, '$.star')"] if wanted.starred else []
        marked += ["EXISTS (SELECT 1 FROM json_each(marks.body, '$.tags') WHERE value = :tag)"] if wanted.tag else []
        tests.append(f"EXISTS (SELECT 1 FROM marks WHERE {' AND '.join(marked)})")
    fits = " AND ".join(tests)
    titles = ("runs.title", "sweeps.title", "experiments.name") if with_title else ("''", "''", "''")
    within = "sweep_runs.run <> sweeps.base"  # the base was there before, and is a run by itself
    return (
        f"SELECT 'run' AS kind, runs.rowid AS number, runs.rowid AS made, {titles[0]} AS title, 1 AS runs FROM runs"
        f" WHERE {fits} AND NOT EXISTS (SELECT 1 FROM sweep_runs JOIN sweeps ON sweeps.id = sweep_runs.sweep"
        f" WHERE sweep_runs.run = runs.id AND {within})"
        " AND NOT EXISTS (SELECT 1 FROM experiment_cells WHERE experiment_cells.run = runs.id)"
        f" UNION ALL SELECT 'sweep', sweeps.rowid, max(runs.rowid), {titles[1]}, count(*)"
        " FROM sweeps JOIN sweep_runs ON sweep_runs.sweep = sweeps.id JOIN runs ON runs.id = sweep_runs.run"
        f" WHERE {within} AND {fits} GROUP BY sweeps.rowid"
        f" UNION ALL SELECT 'experiment', experiments.rowid, max(runs.rowid), {titles[2]}, count(*)"
        " FROM experiments JOIN experiment_cells ON experiment_cells.experiment = experiments.id"
        f" JOIN runs ON runs.id = experiment_cells.run WHERE {fits} GROUP BY experiments.rowid"
    )


def _values(wanted: Wanted) -> dict[str, object]:
    return {
        "text": wanted.text.casefold(),
        "status": wanted.status,
        "procedure": wanted.procedure,
        "tag": wanted.tag,
        "reviewer": wanted.reviewer,
    }
