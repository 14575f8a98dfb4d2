"""Experiments on disk: what they are, and each cell with its run's id and what it came to."""

import json
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Literal

from courtroom.access import Access, Resource, acting_account, needs
from courtroom.engine.store import DrivenStore
from courtroom.errors import CourtroomError, Unreadable
from courtroom.experiments.outcome import Outcome, State
from courtroom.experiments.plan import Cell, Phase
from courtroom.experiments.spec import Experiment
from courtroom.questions.asides import Cost
from courtroom.sharing import Action, changing, follow, give_up, listed, may_see, note, take
from courtroom.store.connection import StoredRow, read, read_all
from courtroom.store.database import insert
from courtroom.strict import Strict

NAMING = (("runs", "setup"), ("experiments", "body"), ("interventions", "body"), ("setups", "body"))
"""Tables and columns in which a snapshot of the memory may be named, as JSON: setups, and what becomes one."""

Status = Literal["running", "paused", "done"]


class NoSuchExperiment(CourtroomError):
    """No experiment has this id or name."""


class StoredExperiment(Strict):
    """One experiment as listed."""

    id: str
    name: str
    experiment: Experiment
    kind: str
    """Kind of its cases."""
    status: Status
    reason: str
    created: float


class ExperimentStore(DrivenStore):
    """Reads and writes experiments. Methods may be called from any thread."""

    kind = "experiment"

    def create(self, experiment: Experiment, kind: str, cells: Iterable[Cell]) -> str:
        """Put an experiment on record with all its cells, all or nothing; one that is there already stays as it is."""
        own, parent, person = self._named(experiment.id), experiment.dataset.run, acting_account()
        what = {"id": experiment.id, "name": experiment.name, "parent": parent, "body": experiment.model_dump_json()}
        with self._database.transaction() as db:
            row = {**what, "kind": kind, "status": "paused", "created": time.time()}
            if insert(db, "experiments", [row], or_keep=True):
                if parent:  # who sees a run sees what would have changed it
                    follow(self._database, own, Resource(kind="run", id=parent), person.id if person else None)
                else:
                    take(self._database, own)
                note(self._database, "make", own)
                rows = (
                    {"experiment": experiment.id, **cell.model_dump(exclude={"outcome"})}
                    | {"outcome": cell.outcome.model_dump_json() if cell.outcome else None}
                    for cell in cells
                )
                insert(db, "experiment_cells", rows)
            elif not may_see(self._database, own):
                raise CourtroomError("The very same experiment is another person's. Give yours another name.")
        return experiment.id

    @needs(Access.RUN)
    def replace(self, experiment: Experiment) -> None:
        """Change what decides no cell: budget, cells at once, title. Raises `Forbidden`: it is somebody else's."""
        body = experiment.model_dump_json()
        with self._database.transaction() as db:
            if db.execute("SELECT 1 FROM experiments WHERE id = ? AND body = ?", (experiment.id, body)).fetchone():
                return
            self.changing(experiment.id, "change")
            db.execute("UPDATE experiments SET body = ? WHERE id = ?", (body, experiment.id))

    @needs(Access.RUN)
    def changing(self, name: str, action: Action) -> StoredExperiment:
        """Read an experiment that the person who acts is about to change. Raises `Forbidden`: it is somebody else's."""
        kept = self.experiment(name)
        changing(self._database, action, self._named(kept.id))
        return kept

    def experiment(self, name: str) -> StoredExperiment:
        """One experiment by its id, or the newest of a name. Raises `NoSuchExperiment`: there is none."""
        rows = self._database.execute(
            "SELECT * FROM experiments WHERE id = ? OR name = ? ORDER BY id = ? DESC, number DESC", (name, name, name)
        )
        row = next((row for row in rows if may_see(self._database, self._named(row["id"]))), None)
        if row is None:
            raise NoSuchExperiment(f"There is no experiment “{name}” here; it may have been deleted.")
        return _kept(row)

    def experiments(self, what_ifs: bool | None = None) -> list[StoredExperiment]:
        return self.page(0, self.number(what_ifs), what_ifs)[0]

    def page(
        self, start: int, count: int, what_ifs: bool | None = None
    ) -> tuple[list[StoredExperiment], list[Unreadable]]:
        """Some experiments, newest first: those that can be read, and the others. `what_ifs`: only those whose arms are
        forks of a run, or only the others; None is all."""
        fits, values = _listed(what_ifs)
        rows = self._database.execute(
            f"SELECT * FROM experiments WHERE {fits} ORDER BY number DESC LIMIT :count OFFSET :start",
            {**values, "count": count, "start": start},
        )
        return read_all(rows, _kept)

    def number(self, what_ifs: bool | None = None) -> int:
        fits, values = _listed(what_ifs)
        found = self._database.execute(f"SELECT count(*) FROM experiments WHERE {fits}", values)
        return int(found.fetchone()[0])

    def cells(
        self, experiment: str, state: State | None = None, arm: int | None = None, phase: Phase | None = None
    ) -> Iterator[Cell]:
        """Its cells in their order; only those in a state, of an arm or of a phase where one is given."""
        rows = self._database.execute(
            "SELECT number, arm, row, repeat, seed, phase, run, state, reason, outcome FROM experiment_cells"
            " WHERE experiment = :experiment AND (:state IS NULL OR state = :state) AND (:arm IS NULL OR arm = :arm)"
            " AND (:phase IS NULL OR phase = :phase) ORDER BY number",
            {"experiment": experiment, "state": state, "arm": arm, "phase": phase},
        )
        return (_cell(row) for row in rows.fetchall())

    def counts(self, experiment: str) -> dict[tuple[int, State], int]:
        """How many cells are in each state, by the arm's place."""
        query = "SELECT arm, state, count(*) AS many FROM experiment_cells WHERE experiment = ? GROUP BY arm, state"
        return {(row["arm"], row["state"]): row["many"] for row in self._database.execute(query, (experiment,))}

    def took(self, experiment: str) -> dict[int, Cost]:
        """What was really asked for the cells that are done, by the arm's place."""
        rows = self._database.execute(
            "SELECT arm, sum(asked) AS calls, sum(tokens) AS tokens, max(estimated) AS estimated,"
            " CASE WHEN count(*) = count(cost) THEN sum(cost) END AS money"
            " FROM (SELECT arm, CAST(json_extract(outcome, '$.asked') AS BIGINT) AS asked,"
            " CASE WHEN json_extract(outcome, '$.estimated') IS NULL THEN 0 ELSE 1 END AS estimated,"
            " coalesce(CAST(json_extract(outcome, '$.paid_tokens') AS BIGINT),"
            " CAST(json_extract(outcome, '$.prompt_tokens') AS BIGINT)"
            " + CAST(json_extract(outcome, '$.completion_tokens') AS BIGINT)) AS tokens,"
            " CAST(CASE WHEN json_extract(outcome, '$.paid_tokens') IS NULL THEN json_extract(outcome, '$.cost')"
            " ELSE json_extract(outcome, '$.paid_cost') END AS DOUBLE PRECISION) AS cost"
            " FROM experiment_cells WHERE experiment = ? AND outcome IS NOT NULL AND run <> '') AS done GROUP BY arm",
            (experiment,),
        )
        return {row.pop("arm"): Cost.model_validate(row) for row in map(dict, rows)}

    def cheaper(self, experiment: str) -> tuple[int, int]:
        """Return how many tokens of its cells came from a provider's cache, and how many went by batch."""
        row = self._database.row(
            "SELECT coalesce(sum(cached), 0), coalesce(sum(batched), 0) FROM payments"
            " WHERE run IN (SELECT run FROM experiment_cells WHERE experiment = ? AND run <> '')",
            (experiment,),
        )
        return int(row[0]), int(row[1])

    def conclude(self, experiment: str, number: int, outcome: Outcome | None, why: str = "") -> None:
        """Write what a cell has come to; without an outcome it has failed, and `why` says why."""
        state, body = ("done", outcome.model_dump_json()) if outcome else ("failed", None)
        self._database.execute(
            "UPDATE experiment_cells SET state = ?, reason = ?, outcome = ? WHERE experiment = ? AND number = ?",
            (state, why, body, experiment, number),
        )

    def try_again(self, experiment: str) -> int:
        """Have the tested cells that failed wait again; how many there are. What was left out of a training stays so."""
        return self._database.execute(
            "UPDATE experiment_cells SET state = 'waiting', reason = ''"
            " WHERE experiment = ? AND state = 'failed' AND phase = 'test'",
            (experiment,),
        ).rowcount

    def status(self, experiment: str) -> str:
        row = self._database.row("SELECT status FROM experiments WHERE id = ?", (experiment,))
        return str(row["status"]) if row else "deleted"

    @needs(Access.RUN)
    def delete(self, experiment: str, take_out: Callable[[list[str]], None]) -> None:
        """Forget an experiment and its runs, which `take_out` does within the transaction; answers stay."""
        with self._database.transaction() as db:
            rows = db.execute("SELECT run FROM experiment_cells WHERE experiment = ? AND run <> ''", (experiment,))
            take_out([row["run"] for row in rows])
            db.execute("DELETE FROM experiment_cells WHERE experiment = ?", (experiment,))
            db.execute("DELETE FROM experiments WHERE id = ?", (experiment,))
            give_up(self._database, self._named(experiment))

    def names_snapshot(self, name: str) -> bool:
        """Whether a run, an experiment, an intervention or a saved setup names a snapshot of the memory."""
        where = " UNION ALL ".join(f"SELECT {column} AS content FROM {table}" for table, column in NAMING)
        found = self._database.row(
            f"SELECT EXISTS (SELECT 1 FROM ({where}) AS named WHERE instr(content, ?) > 0) AS found",
            (json.dumps(name),),
        )
        return bool(found["found"])


def _listed(what_ifs: bool | None) -> tuple[str, dict[str, object]]:
    """SQL, with its values, for the experiments that are listed."""
    fits, values = listed("experiment", "experiments.id")
    if what_ifs is None:
        return fits, values
    return f"{fits} AND (CASE WHEN parent = '' THEN 0 ELSE 1 END) = :what_ifs", {**values, "what_ifs": int(what_ifs)}


def _kept(row: StoredRow) -> StoredExperiment:
    fields = {name: value for name, value in dict(row).items() if name not in ("number", "parent", "body")}
    body = row["body"]
    return read(
        "experiment", row["id"], lambda: StoredExperiment(**fields, experiment=Experiment.model_validate_json(body))
    )


def _cell(row: StoredRow) -> Cell:
    fields = dict(row)
    body = fields.pop("outcome")
    name = row["run"] or str(row["number"])
    return read("cell", name, lambda: Cell(**fields, outcome=Outcome.model_validate_json(body) if body else None))
