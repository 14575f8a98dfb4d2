"""The list of hearings, a page at a time: a line for each run, and one for all runs of an experiment or a case."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from courtroom.access import acting_account
from courtroom.engine.record import Record
from courtroom.engine.run import Run
from courtroom.engine.store import read_run
from courtroom.errors import Unreadable, shown
from courtroom.evaluation.comparison import put_in
from courtroom.language import N_
from courtroom.sharing import listed, own
from courtroom.store.connection import read, read_all
from courtroom.store.database import Tables
from courtroom.strict import Strict
from courtroom.text.words import short

Order = Literal["newest", "oldest", "case"]
ORDERS: dict[Order, str] = {"newest": "made DESC", "oldest": "made", "case": "folded(title), made DESC"}
"""By the order in which runs were made, which no clock can change; an experiment stands where its last run does. By
case, all runs of a case are one line."""


class GroupLine(Strict):
    """All runs of one experiment or case, as one line."""

    kind: Literal["experiment", "case"]
    id: str
    title: str
    created: float
    """Of a case, its last run."""
    runs: int
    """Of those that the filters let through."""
    parent: str = ""
    """The run whose forks an experiment's are; empty where its cases are a dataset's."""
    procedure: str = ""
    """The parent's."""
    status: str = ""


Line = Run | GroupLine | Unreadable
Whose = Literal["", "mine", "others"]


@dataclass(frozen=True)
class RunFilter:
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
    experiment: str = ""
    """The experiment whose runs are wanted, each as a line of its own."""
    whose: Whose = ""
    """The person's own, or those of others that the person may see; all where nobody has signed in."""
    made_here: bool = False
    """Leave out those that were imported: nobody here knows who answered in them."""


class RunList(Tables):
    """Reads the lines of one page, and no more, from the database."""

    def count(self, wanted: RunFilter, order: Order = "newest") -> int:
        query = f"SELECT count(*) FROM ({_lines(wanted, order)}) AS lines"
        return int(self._database.row(query, _values(wanted))[0])

    def newest(self, wanted: RunFilter, most: int) -> list[Run]:
        """The newest runs that the filters let through and that can be read, each as a line of its own."""
        return self._run_lines(f"{_fits(wanted)} ORDER BY number DESC LIMIT :most", {**_values(wanted), "most": most})

    def named(self, runs: Iterable[str]) -> list[Run]:
        """Those of the runs that are on record and can be read, newest first."""
        each = {f"run{number}": run for number, run in enumerate(runs)}
        fits, values = listed("run", "runs.id")
        named = f"runs.id IN ({', '.join(f':{name}' for name in each) or 'NULL'}) AND {fits}"
        return self._run_lines(f"{named} ORDER BY number DESC", {**values, **each})

    def _run_lines(self, wanted: str, values: dict[str, object]) -> list[Run]:
        rows = self._database.execute(f"SELECT {_OF_A_RUN} FROM runs WHERE {wanted}", values)
        return read_all(rows, read_run)[0]

    def what_is_wanted(self, wanted: RunFilter) -> str:
        """What the case or the experiment is called whose runs are wanted; empty where it is not there."""
        if wanted.case:
            fits, values = listed("run", "runs.id")
            found = f"SELECT title FROM runs WHERE case_id = :case AND {fits} ORDER BY number DESC LIMIT 1"
        else:
            fits, values = listed("experiment", "experiments.id")
            found = f"SELECT {_TITLE} FROM experiments WHERE id = :experiment AND {fits}"
        row = self._database.row(found, {**_values(wanted), **values})
        return shown(row[0]) if row else ""

    def running(self) -> bool:
        return self._database.row("SELECT 1 FROM runs WHERE status = 'running' LIMIT 1") is not None

    def page(self, wanted: RunFilter, start: int, count: int, order: Order = "newest") -> list[Line]:
        """Some lines; a row that can't be read is a line that says so."""
        found = self._database.execute(
            f"SELECT kind, number, runs FROM ({_lines(wanted, order)}) AS lines"
            f" ORDER BY {ORDERS[order]} LIMIT :count OFFSET :start",
            {**_values(wanted), "start": start, "count": count},
        ).fetchall()
        return [self._line(row["kind"], row["number"], row["runs"]) for row in found]

    def _line(self, kind: str, number: int, runs: int) -> Line:
        try:
            if kind == "run":
                return read_run(self._database.row(f"SELECT {_OF_A_RUN} FROM runs WHERE number = ?", (number,)))
            row = self._database.row(
                "SELECT case_id AS id, title, created FROM runs WHERE number = ?"
                if kind == "case"
                else f"SELECT id, {_TITLE} AS title, parent, status, created,"
                " coalesce((SELECT procedure FROM runs WHERE runs.id = parent), '') AS procedure"
                " FROM experiments WHERE number = ?",
                (number,),
            )
            return read(kind, row["id"], lambda: GroupLine.model_validate({**dict(row), "kind": kind, "runs": runs}))
        except Unreadable as error:
            return error


_TITLE = (
    "CASE WHEN experiments.parent <> '' AND json_valid(experiments.body) THEN json_extract(experiments.body, '$.title')"
    " ELSE experiments.name END"
)
"""A what-if is called as its case is."""
_OF_A_RUN = ", ".join(Run.model_fields)


def _fits(wanted: RunFilter) -> str:
    """SQL for what the filters let through of `runs`."""
    tests = [listed("run", "runs.id")[0]]
    if wanted.whose and acting_account() is not None:
        tests.append(f"{'' if wanted.whose == 'mine' else 'NOT '}{own('run', 'runs.id')}")
    columns = {"status": "status", "procedure": "procedure", "case": "case_id"}
    tests += [f"runs.{column} = :{name}" for name, column in columns.items() if getattr(wanted, name)]
    if wanted.made_here:
        tests.append("runs.imported IS NULL")
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


def _lines(wanted: RunFilter, order: Order) -> str:
    """SQL for all lines. A column is read only where it is needed: the text of a long setup lies before the verdict."""
    fits = _fits(wanted)
    if order == "case" and not wanted.case:
        return (
            "SELECT CASE WHEN count(*) = 1 THEN 'run' ELSE 'case' END AS kind,"
            " max(runs.number) AS number, max(runs.number) AS made,"
            f" max(title) AS title, count(*) AS runs FROM runs WHERE {fits} GROUP BY case_id"
        )
    titles = ("runs.title", _TITLE) if order == "case" else ("''", "''")
    single = (
        "SELECT 'run' AS kind, runs.number AS number, runs.number AS made,"
        f" {titles[0]} AS title, 1 AS runs FROM runs WHERE {fits}"
    )
    if wanted.experiment:
        return single
    return (
        f"{single} AND NOT EXISTS (SELECT 1 FROM experiment_cells WHERE experiment_cells.run = runs.id)"
        f" UNION ALL SELECT 'experiment', experiments.number, max(runs.number), {titles[1]}, count(*)"
        " FROM experiments JOIN experiment_cells ON experiment_cells.experiment = experiments.id"
        f" JOIN runs ON runs.id = experiment_cells.run WHERE {fits} GROUP BY experiments.number"
    )


def _values(wanted: RunFilter) -> dict[str, object]:
    person = acting_account()
    mine: dict[str, object] = {"me": person.id} if person else {}
    return {**asdict(wanted), "text": wanted.text.casefold(), **mine, **listed("run", "runs.id")[1]}


MAX_SETTINGS = 12
"""Columns for settings that are not the same in all runs."""


def run_table(records: Sequence[Record]) -> list[dict[str, Any]]:
    """Return a row for each run; settings that differ have columns of their own, named by their paths as in `--set`.

    Votes are of the last ballot; the share is that of the largest side among all seats, 0 to 1. Costs are in US dollars.
    """
    if not records:
        return []
    differs = put_in([(one.run, one.case, one.setup) for one in records]).setup[:MAX_SETTINGS]
    return [
        {
            **{"run": one.run.id, "case": one.run.title, N_("procedure"): one.run.procedure, "seed": one.run.seed},
            **{setting.path: _short(setting.values[number]) for setting in differs},
            N_("imported"): one.run.is_unverified,
            **_outcome(one),
        }
        for number, one in enumerate(records)
    ]


def _outcome(record: Record) -> dict[str, Any]:
    tally = [*record.tallies.values()][-1] if record.tallies else None
    counts = sorted(tally.counts.items(), key=lambda item: -item[1]) if tally else []
    return {
        "status": record.run.status,
        "verdict": record.run.verdict.outcome if record.run.verdict else "",
        "votes": ", ".join(f"{name} {number}" for name, number in counts),
        "share": tally.share if tally else None,
        N_("ballots"): len(record.tallies),
        N_("changes of mind"): sum(vote.changed for votes in record.ballots.values() for vote in votes.values()),
        "calls": len(record.calls),
        N_("without an answer"): record.failed,
        "cost": record.cost,
        N_("seconds"): round(record.run.wall_s, 1),
    }


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else "" if value is None else json.dumps(value, ensure_ascii=False)
    return short(text)
