"""The list of hearings, a page at a time: a line for each run, and one for all runs of a sweep, an experiment or a case."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Literal

from courtroom.access.acting import acting
from courtroom.engine.control import Control
from courtroom.engine.events import Verdict
from courtroom.engine.run import Status
from courtroom.errors import Unreadable, shown
from courtroom.sharing.rules import listed, own
from courtroom.store.connection import StoreConnection, StoredRow
from courtroom.store.database import Database
from courtroom.store.rows import read, read_all
from courtroom.strict import Strict

Order = Literal["newest", "oldest", "case"]
ORDERS: dict[Order, str] = {
    "newest": "made DESC",
    "oldest": "made",
    "case": "folded(title), made DESC",
}
"""By the order in which runs were made, which no clock can change; a sweep stands where its last run does. By case, all
runs of a case are one line."""


class RunLine(Strict):
    """A run as listed."""

    id: str
    title: str
    procedure: str
    status: Status
    outcome: str | None
    created: float
    parent: str | None
    imported: str | None
    """The hash of the file that it was imported from, if it was."""
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


class CaseLine(Strict):
    """All runs of one case, as one line."""

    id: str
    title: str
    created: float
    """Of the last one."""
    runs: int
    """Of those that the filters let through."""


Line = RunLine | SweepLine | ExperimentLine | CaseLine | Unreadable


Whose = Literal["", "mine", "others"]


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
    case: str = ""
    """The id of the case that was heard."""
    sweep: str = ""
    """The sweep whose runs are wanted, each as a line of its own."""
    experiment: str = ""
    """The experiment whose runs are wanted, each as a line of its own."""
    whose: Whose = ""
    """The person's own, or those of others that the person may see; all where nobody has signed in."""


class RunList:
    """Reads the lines of one page, and no more, from the database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def count(self, wanted: Wanted, order: Order = "newest") -> int:
        """How many lines there are."""
        query = f"SELECT count(*) FROM ({_lines(wanted, order)}) AS lines"
        return int(self._connection.execute(query, _values(wanted)).fetchone()[0])

    def runs(self, wanted: Wanted, most: int) -> list[str]:
        """Ids of the runs that the filters let through, newest first, also of those that stand together in one line."""
        rows = self._connection.execute(
            f"SELECT id FROM runs WHERE {_fits(wanted)} ORDER BY number DESC LIMIT :most",
            {**_values(wanted), "most": most},
        )
        return [str(row["id"]) for row in rows]

    def newest(self, wanted: Wanted, most: int) -> list[RunLine]:
        """The newest runs that the filters let through and that can be read, each as a line of its own."""
        rows = self._connection.execute(
            f"SELECT {_OF_A_RUN} FROM runs WHERE {_fits(wanted)} ORDER BY number DESC LIMIT :most",
            {**_values(wanted), "most": most},
        )
        return read_all(rows, _run_line)[0]

    def named(self, runs: Iterable[str]) -> list[RunLine]:
        """Those of the runs that are on record and can be read, newest first."""
        fits, values = _among(runs)
        rows = self._connection.execute(f"SELECT {_OF_A_RUN} FROM runs WHERE {fits} ORDER BY number DESC", values)
        return read_all(rows, _run_line)[0]

    def there(self, runs: Iterable[str]) -> list[str]:
        """Those of the runs that are on record, in the given order."""
        named = list(runs)
        fits, values = _among(named)
        known = {row["id"] for row in self._connection.execute(f"SELECT id FROM runs WHERE {fits}", values)}
        return [run for run in named if run in known]

    def what_is_wanted(self, wanted: Wanted) -> str:
        """What the case, the sweep or the experiment is called whose runs are wanted; empty where it is not there."""
        if wanted.case:
            fits, values = listed("run", "runs.id")
            found = f"SELECT title FROM runs WHERE case_id = :case AND {fits} ORDER BY number DESC LIMIT 1"
        elif wanted.sweep:
            fits, values = listed("sweep", "sweeps.id")
            found = f"SELECT title FROM sweeps WHERE id = :sweep AND {fits}"
        else:
            fits, values = listed("experiment", "experiments.id")
            found = f"SELECT name FROM experiments WHERE id = :experiment AND {fits}"
        row = self._connection.execute(found, {**_values(wanted), **values}).fetchone()
        return shown(row[0]) if row else ""

    def running(self) -> bool:
        """Whether any run goes on."""
        return self._connection.execute("SELECT 1 FROM runs WHERE status = 'running' LIMIT 1").fetchone() is not None

    def page(self, wanted: Wanted, start: int, count: int, order: Order = "newest") -> list[Line]:
        """Some lines; a row that can't be read is a line that says so."""
        found = self._connection.execute(
            f"SELECT kind, number, runs FROM ({_lines(wanted, order)}) AS lines ORDER BY {ORDERS[order]} LIMIT :count OFFSET :start",
            {**_values(wanted), "start": start, "count": count},
        ).fetchall()
        return [self._line(row["kind"], row["number"], row["runs"]) for row in found]

    @property
    def _connection(self) -> StoreConnection:
        return self._database.connection

    def _line(self, kind: str, number: int, runs: int) -> Line:
        try:
            if kind == "experiment":
                return self._experiment(number, runs)
            if kind == "case":
                return self._case(number, runs)
            return self._run(number) if kind == "run" else self._sweep(number, runs)
        except Unreadable as error:
            return error

    def _run(self, number: int) -> RunLine:
        row = self._connection.execute(f"SELECT {_OF_A_RUN} FROM runs WHERE number = ?", (number,)).fetchone()
        return _run_line(row)

    def _case(self, number: int, runs: int) -> CaseLine:
        row = self._connection.execute(
            "SELECT case_id AS id, title, created FROM runs WHERE number = ?", (number,)
        ).fetchone()
        return read("case of run", row["id"], lambda: CaseLine.model_validate({**dict(row), "runs": runs}))

    def _sweep(self, number: int, runs: int) -> SweepLine:
        row = self._connection.execute(
            "SELECT id, title, status, created, base,"
            " coalesce((SELECT procedure FROM runs WHERE runs.id = base), '') AS procedure FROM sweeps WHERE number = ?",
            (number,),
        ).fetchone()
        return read("sweep", row["id"], lambda: SweepLine.model_validate({**dict(row), "runs": runs}))

    def _experiment(self, number: int, runs: int) -> ExperimentLine:
        row = self._connection.execute(
            "SELECT id, name AS title, status, created FROM experiments WHERE number = ?", (number,)
        ).fetchone()
        return read("experiment", row["id"], lambda: ExperimentLine.model_validate({**dict(row), "runs": runs}))


_OF_A_RUN = "id, title, procedure, status, verdict, created, parent, control, owner, heartbeat, imported"


def _run_line(row: StoredRow) -> RunLine:
    fields = dict(row)
    verdict, control = fields.pop("verdict"), fields.pop("control")

    def parsed() -> RunLine:
        Control.model_validate_json(control)  # a run that could not be opened is reported here
        outcome = Verdict.model_validate_json(verdict).outcome if verdict else None
        return RunLine.model_validate({**fields, "outcome": outcome})

    return read("run", row["id"], parsed)


def _among(runs: Iterable[str]) -> tuple[str, dict[str, object]]:
    """SQL, with its values, for those of the runs that the person who acts may see."""
    each: dict[str, object] = {f"run{number}": run for number, run in enumerate(runs)}
    fits, values = listed("run", "runs.id")
    return f"runs.id IN ({', '.join(f':{name}' for name in each) or 'NULL'}) AND {fits}", {**values, **each}


def _fits(wanted: Wanted) -> str:
    """SQL for what the filters let through of `runs`."""
    tests = [listed("run", "runs.id")[0]]
    if wanted.whose and acting() is not None:
        tests.append(f"{'' if wanted.whose == 'mine' else 'NOT '}{own('run', 'runs.id')}")
    if wanted.status:
        tests.append("runs.status = :status")
    if wanted.procedure:
        tests.append("runs.procedure = :procedure")
    if wanted.case:
        tests.append("runs.case_id = :case")
    if wanted.sweep:
        tests.append("runs.id IN (SELECT run FROM sweep_runs WHERE sweep = :sweep)")
    if wanted.experiment:
        tests.append("runs.id IN (SELECT run FROM experiment_cells WHERE experiment = :experiment)")
    if wanted.text:
        outcome = "CASE WHEN json_valid(verdict) THEN json_extract(verdict, '$.outcome') END"
        tests.append(
            f"(instr(folded(runs.title), folded(:text)) > 0 OR instr(folded(runs.id), folded(:text)) > 0"
            f" OR instr(folded({outcome}), folded(:text)) > 0)"
        )
    if wanted.tag or wanted.reviewer or wanted.starred:
        marked = ["marks.run = runs.id"]
        marked += ["marks.reviewer = :reviewer"] if wanted.reviewer else []
        marked += ["CAST(json_extract(marks.body, '$.star') AS BIGINT) = 1"] if wanted.starred else []
        marked += ["EXISTS (SELECT 1 FROM json_each(marks.body, '$.tags') WHERE value = :tag)"] if wanted.tag else []
        tests.append(f"EXISTS (SELECT 1 FROM marks WHERE {' AND '.join(marked)})")
    return " AND ".join(tests)


def _lines(wanted: Wanted, order: Order) -> str:
    """SQL for all lines. A column is read only where it is needed: the text of a long setup lies before the verdict."""
    fits = _fits(wanted)
    if order == "case" and not wanted.case:
        return (
            "SELECT CASE WHEN count(*) = 1 THEN 'run' ELSE 'case' END AS kind, max(runs.number) AS number, max(runs.number) AS made,"
            f" max(title) AS title, count(*) AS runs FROM runs WHERE {fits} GROUP BY case_id"
        )
    with_title = order == "case"
    titles = ("runs.title", "sweeps.title", "experiments.name") if with_title else ("''", "''", "''")
    single = f"SELECT 'run' AS kind, runs.number AS number, runs.number AS made, {titles[0]} AS title, 1 AS runs FROM runs WHERE {fits}"
    if wanted.sweep or wanted.experiment:
        return single
    within = "sweep_runs.run <> sweeps.base"  # the base was there before, and is a run by itself
    return (
        f"{single} AND NOT EXISTS (SELECT 1 FROM sweep_runs JOIN sweeps ON sweeps.id = sweep_runs.sweep"
        f" WHERE sweep_runs.run = runs.id AND {within})"
        " AND NOT EXISTS (SELECT 1 FROM experiment_cells WHERE experiment_cells.run = runs.id)"
        f" UNION ALL SELECT 'sweep', sweeps.number, max(runs.number), {titles[1]}, count(*)"
        " FROM sweeps JOIN sweep_runs ON sweep_runs.sweep = sweeps.id JOIN runs ON runs.id = sweep_runs.run"
        f" WHERE {within} AND {fits} GROUP BY sweeps.number"
        f" UNION ALL SELECT 'experiment', experiments.number, max(runs.number), {titles[2]}, count(*)"
        " FROM experiments JOIN experiment_cells ON experiment_cells.experiment = experiments.id"
        f" JOIN runs ON runs.id = experiment_cells.run WHERE {fits} GROUP BY experiments.number"
    )


def _values(wanted: Wanted) -> dict[str, object]:
    person = acting()
    mine: dict[str, object] = {"me": person.id} if person else {}
    return {**asdict(wanted), "text": wanted.text.casefold(), **mine, **listed("run", "runs.id")[1]}
