"""Runs and their events on disk: the source of truth that pages read and the engine writes."""

import json
import secrets
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

from pydantic_core import from_json

from courtroom.access import Access, Resource, needs
from courtroom.cases.case import Case
from courtroom.cases.kinds import parse_case
from courtroom.declarations.setup import Setup
from courtroom.engine.budget import MonthlyBudgets, Payments
from courtroom.engine.errors import NoSuchRun
from courtroom.engine.events import Called, Event, Retrieved, Verdict, read_event
from courtroom.engine.interventions import Intervention, InterventionStore
from courtroom.engine.run import LARGEST_SEED, RECORDING, Control, Run, Status, Steering
from courtroom.errors import CourtroomError, Unreadable
from courtroom.models.spec import RECORDED
from courtroom.sharing import Action, changing, give_up, listed, may_see, note, own_run, take
from courtroom.store.connection import REFUSALS, StoreConnection, StoredRow, StoreLock, read, read_all
from courtroom.store.database import Database, Tables, insert, marks

OF_A_RUN = (
    *("events", "interventions", "rewinds", "questions", "seats", "payments", "imported_answers"),
    *("asides", "marks", "audiences", "audience_votes", "audience_arguments", "audience_likes"),
)
"""Tables whose rows go, and come back, with their run: its own, and of what is kept beside it."""
_WHERE = {
    **dict.fromkeys(OF_A_RUN, "run = ?"),
    "runs": "id = ?",
    **dict.fromkeys(("ownership", "links"), "kind = 'run' AND id = ?"),
}
"""SQL: which rows of each table are a run's."""


@dataclass(frozen=True)
class Deleted:
    """A run that was deleted, with what is needed to bring it back."""

    run: str
    title: str
    rows: Mapping[str, list[dict[str, Any]]]


LINE = (
    "WITH RECURSIVE up(id, parent) AS (SELECT id, parent FROM runs WHERE id = :run"
    " UNION SELECT runs.id, runs.parent FROM runs JOIN up ON runs.id = up.parent)"
)
"""SQL: `up` has the ids of a run and of those that it stems from."""
FAMILY = f"{LINE}, tree(id) AS (SELECT id FROM up UNION SELECT runs.id FROM runs JOIN tree ON runs.parent = tree.id)"
"""SQL: `tree` has the ids of a run's family."""


DIED = "died"
"""On disk, the reason of a run that was taken up again, until something new of it is on record."""
SAID = {DIED: "The program ended while it worked on this run, which goes on from its record."}
"""What a reason on disk says that is no sentence."""
TAKEN = "The run of “{title}” can't be brought back: another run has its id {run} by now. Delete that one first."
S = TypeVar("S", bound=Setup)
READ_ONLY = (
    "This run was imported from a file and can only be read: "
    "its answers were given elsewhere and can't be checked here."
)


def read_only(run: Run) -> str:
    """Why an imported run is not continued, in a sentence."""
    return "A recorded hearing stays as it was recorded." if run.is_recording else READ_ONLY


class DrivenStore(Tables):
    """What is driven, by one process each: runs, or experiments. Methods may be called from any thread."""

    kind: ClassVar[str]
    """In one word; its plural is the table in which they stand."""

    def lock(self, name: str) -> StoreLock:
        """The lock of whoever drives one."""
        return self._database.lock(f"{self.kind} {name}")

    def is_driven(self, name: str) -> bool:
        """Whether some process drives it."""
        return self._database.is_locked(f"{self.kind} {name}")

    def under_way(self) -> list[str]:
        """Those that count as running, in the order in which they were made."""
        rows = self._database.execute(f"SELECT id FROM {self.kind}s WHERE status = 'running' ORDER BY number")
        return [row["id"] for row in rows]

    def set_status(self, name: str, status: Status, reason: str = "") -> None:
        """Say where one stands, with one plain sentence where there is something to say."""
        self._database.execute(f"UPDATE {self.kind}s SET status = ?, reason = ? WHERE id = ?", (status, reason, name))

    def _named(self, name: str) -> Resource:
        return Resource(kind=self.kind, id=name)


class RunStore(DrivenStore):
    """Reads and writes runs and events. Methods may be called from any thread."""

    kind = "run"

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self.interventions = InterventionStore(database)
        self.payments, self.monthly_budgets = Payments(database), MonthlyBudgets(database)

    def together(self) -> AbstractContextManager[object]:
        """A transaction: what is written in it is on disk as a whole or not at all."""
        return self._database.transaction()

    # --- runs -----------------------------------------------------------------------------------------------

    def create(
        self,
        procedure: str,
        case: Case,
        setup: Setup,
        seed: int,
        *,
        parent: str | None = None,
        origin: str = "input",
        run: str | None = None,
        interventions: Sequence[Intervention] = (),
    ) -> str:
        """Put a new run on record, not yet driven, and return its id.

        Args:
            run: the id it is to have; a run that has it already stays as it is.
            interventions: what it begins with, numbered.
        """
        if not 0 <= seed <= LARGEST_SEED:
            raise CourtroomError(f"A seed is a whole number from 0 to {LARGEST_SEED}. Give another one.")
        wanted, run = run, run or time.strftime("%y%m%d-%H%M%S-") + secrets.token_hex(3)
        with self._database.transaction() as db:
            taken = "SELECT 1 FROM runs WHERE id = ? AND imported IS NOT NULL"
            if wanted and db.execute(taken, (wanted,)).fetchone():
                raise CourtroomError(f"{READ_ONLY} Delete the imported run {wanted} first.")
            row = {"id": run, "procedure": procedure, "case_id": case.id, "title": case.title, "seed": seed}
            row |= {"case_hash": _kept(db, case), "setup": setup.model_dump_json(), "status": "paused"}
            row |= {"parent": parent, "origin": origin, "created": time.time(), "control": Control().model_dump_json()}
            fresh = insert(db, "runs", [row], or_keep=True)
            self.interventions.put(run, interventions)
            if fresh:
                own_run(self._database, run, parent)
                note(self._database, "fork" if parent else "make", self._named(run), procedure)
        return run

    def run(self, run: str) -> Run:
        """One run. Raises `NoSuchRun`: nothing is on record under this id; `Unreadable`: its row is damaged."""
        row = self._database.row("SELECT * FROM runs WHERE id = ?", (run,))
        if row is None:
            raise NoSuchRun(run)
        self.demand_seen(run)
        return read_run(row)

    @needs(Access.RUN)
    def changing(self, run: str, action: Action, detail: str = "") -> Run:
        """A run that the person who acts is about to change, with a line in the log of actions."""
        row = self.run(run)
        changing(self._database, action, self._named(run), detail)
        return row

    def is_there(self, run: str) -> bool:
        return self._database.row("SELECT 1 FROM runs WHERE id = ?", (run,)) is not None

    def each(self) -> Iterator[Run | Unreadable]:
        """Read every run in the order in which they were made; of one whose row is damaged, what is wrong."""
        fits, values = listed("run", "runs.id")
        for row in self._database.each(f"SELECT * FROM runs WHERE {fits} ORDER BY number", values):
            good, bad = read_all([row], read_run)
            yield from good
            yield from bad

    def ended(self, procedure: str) -> list[str]:
        """The runs of a procedure that were made here and are done, in the order in which they were made.

        Those in which an experiment tests are left out: nothing may be learned from them.
        """
        fits, values = listed("run", "runs.id")
        rows = self._database.execute(
            "SELECT id FROM runs WHERE status = 'done' AND procedure = :procedure AND imported IS NULL"
            " AND NOT EXISTS (SELECT 1 FROM experiment_cells WHERE experiment_cells.run = runs.id AND phase = 'test')"
            f" AND {fits} ORDER BY number",
            {**values, "procedure": procedure},
        )
        return [row["id"] for row in rows]

    def died_again(self, run: str) -> bool:
        """Note that a process ended while it drove the run; whether one had before, and nothing new is on record since.

        A run that waits for a person makes no events however well it goes, so that its processes don't count.
        """
        with self._database.transaction() as db:
            if db.execute("SELECT 1 FROM questions WHERE run = ? AND answer IS NULL", (run,)).fetchone():
                return False
            again = db.execute("SELECT 1 FROM runs WHERE id = ? AND reason = ?", (run, DIED)).fetchone() is not None
            self.say(run, DIED)
        return again

    def forgive(self, runs: Iterable[str]) -> None:
        """Count no process any more that ended while it drove one of these: they go well, or a person goes on."""
        self._database.connection.executemany(
            "UPDATE runs SET reason = '' WHERE id = ? AND reason = ?", [(run, DIED) for run in runs]
        )

    def kin(self, run: str) -> list[Run]:
        """The run, what it was forked from, and all that was forked from any of these; oldest first."""
        fits, values = listed("run", "runs.id")
        query = f"{FAMILY} SELECT * FROM runs WHERE id IN (SELECT id FROM tree) AND {fits} ORDER BY number"
        return read_all(self._database.execute(query, {**values, "run": run}), read_run)[0]

    def family_ids(self, run: str) -> frozenset[str]:
        """Return the ids of the run's family, as far as the person who acts sees it; see `kin`."""
        fits, values = listed("run", "tree.id")
        rows = self._database.execute(f"{FAMILY} SELECT id FROM tree WHERE {fits}", {**values, "run": run})
        return frozenset(row["id"] for row in rows)

    def root(self, run: str) -> str:
        """Return the run from which all of a run's family stems; it may be deleted."""
        last = "NOT EXISTS (SELECT 1 FROM runs WHERE runs.id = up.parent)"
        row = self._database.row(f"{LINE} SELECT coalesce(parent, id) AS id FROM up WHERE {last}", {"run": run})
        return str(row["id"]) if row else run

    def stems_from(self, run: str, other: str) -> bool:
        """Whether a run is this one, or was forked from it or from what stems from it."""
        stems = f"{LINE} SELECT 1 FROM up WHERE parent = :other"
        return run == other or self._database.row(stems, {"run": run, "other": other}) is not None

    def case(self, run: Run) -> Case:
        row = self._database.row("SELECT body FROM snapshots WHERE hash = ?", (run.case_hash,))
        if row is None:
            raise Unreadable("run", run.id, "its case is missing from the store")
        return read("case of run", run.id, lambda: parse_case(json.loads(row["body"])))

    def setup(self, run: str, kind: type[S]) -> S:
        """The setup of a run, as the procedure's own type."""
        self.demand_seen(run)
        row = self._database.row("SELECT setup FROM runs WHERE id = ?", (run,))
        if row is None:
            raise NoSuchRun(run)
        return read("setup of run", run, lambda: kind.model_validate_json(row["setup"], context=RECORDED))

    @needs(Access.RUN)
    def replace_setup(self, run: str, setup: Setup) -> None:
        """Change what may change under way, such as a budget."""
        self.changing(run, "change")
        self._database.execute("UPDATE runs SET setup = ? WHERE id = ?", (setup.model_dump_json(), run))

    def begin(self, run: str) -> None:
        """Say that a run goes on from here; one that failed asks again what failed."""
        with self._database.transaction():
            if self.status(run) == "failed":
                self.interventions.ask_again(run)
            self.set_status(run, "running")

    def say(self, run: str, reason: str) -> None:
        """Say something of a run that goes on all the same."""
        self._database.execute("UPDATE runs SET reason = ? WHERE id = ? AND status = 'running'", (reason, run))

    def end(self, run: str, seconds: float, verdict: Verdict | None) -> None:
        """Say that a run was worked on for so long, and which verdict it came to, if to any."""
        self._database.execute("UPDATE runs SET wall_s = wall_s + ? WHERE id = ?", (seconds, run))
        if verdict is not None:
            self._database.execute(
                "UPDATE runs SET status = 'done', reason = '', verdict = ? WHERE id = ?",
                (verdict.model_dump_json(), run),
            )

    def steering(self, runs: Sequence[str]) -> dict[str, Steering]:
        """How runs are to go on; those that were deleted are left out."""
        rows = self._database.execute(
            "SELECT id, status, control, (SELECT count(*) + count(undone) FROM interventions WHERE run = runs.id)"
            f" AS acts FROM runs WHERE id IN ({marks(runs)})",
            runs,
        ).fetchall()
        controls = dict[str, Control]()
        for text in {row["control"] for row in rows}:
            with suppress(ValueError):  # it can't be read
                controls[text] = Control.model_validate_json(text)
        return {row["id"]: Steering(row["status"], controls.get(row["control"]), row["acts"]) for row in rows}

    def set_control(self, run: str, control: Control) -> None:
        self._database.execute("UPDATE runs SET control = ? WHERE id = ?", (control.model_dump_json(), run))

    @needs(Access.RUN)
    def delete(self, run: str) -> Deleted:
        """Forget a run. Answers stay: another run may have them on record. Raises as `run` does."""
        with self._database.transaction() as db:
            row = self.changing(run, "delete")
            rows = dict[str, list[dict[str, Any]]]()
            for table, where in _WHERE.items():
                rows[table] = [dict(one) for one in db.execute(f"SELECT * FROM {table} WHERE {where}", (run,))]
            self.take_out([run])
        return Deleted(row.id, row.title, rows)

    def take_out(self, runs: Iterable[str]) -> None:
        """Forget runs for good, within a transaction of the caller's."""
        named = [(run,) for run in runs]
        for table in OF_A_RUN:
            self._database.connection.executemany(f"DELETE FROM {table} WHERE run = ?", named)
        self._database.connection.executemany("DELETE FROM runs WHERE id = ?", named)
        for run, *_ in named:
            give_up(self._database, self._named(run))

    @needs(Access.RUN)
    def restore(self, deleted: Deleted) -> None:
        """Bring back a run that was deleted, as it was; one that was brought back already stays as it is. Raises
        `CourtroomError`: another run has its id, or something of it came on record; nothing is brought back."""
        with self._database.transaction() as db:
            row = db.execute("SELECT number FROM runs WHERE id = ?", (deleted.run,)).fetchone()
            if row and [row["number"]] == [one["number"] for one in deleted.rows["runs"]]:
                return
            try:
                for table, rows in deleted.rows.items():
                    insert(db, table, rows)
            except REFUSALS as error:
                raise CourtroomError(TAKEN.format(title=deleted.title, run=deleted.run)) from error
            db.execute("UPDATE runs SET status = 'paused' WHERE id = ? AND status = 'running'", (deleted.run,))
            note(self._database, "restore", self._named(deleted.run))

    def demand_seen(self, run: str) -> None:
        """What may not be seen is as if it were not there."""
        if not may_see(self._database, self._named(run)):
            raise NoSuchRun(run)

    # --- imported runs --------------------------------------------------------------------------------------

    def recorded(self, sha256: str) -> str | None:
        """The id of the recorded hearing that was taken in from the file of this hash."""
        row = self._database.row("SELECT id FROM runs WHERE imported = ? AND origin = ?", (sha256, RECORDING))
        return row["id"] if row else None

    def take_in(
        self, run: Run, case: Case, setup: Setup, events: Iterable[tuple[float, Event]], overtaken: Iterable[Called]
    ) -> None:
        """Put a run on record that another install has worked out, within a transaction of the caller's. `events`: with
        their times, in order. `overtaken`: calls that did not stand in it any more."""
        db = self._database.connection
        values = run.model_dump(mode="json", exclude={"verdict", "control"})
        values |= {"setup": setup.model_dump_json(), "control": run.control.model_dump_json()}
        values |= {"verdict": run.verdict and run.verdict.model_dump_json()}
        values |= {"case_hash": _kept(db, case)}
        insert(db, "runs", [values])
        if not run.is_recording:  # which is nobody's, and everybody's to see
            take(self._database, self._named(run.id))
        note(self._database, "import", self._named(run.id), run.procedure)
        gone = [_event_row(run.id, event, run.created, overtaken=number) for number, event in enumerate(overtaken, 1)]
        insert(db, "events", [*gone, *(_event_row(run.id, event, at) for at, event in events)])

    # --- events ---------------------------------------------------------------------------------------------

    def add(self, run: str, events: Iterable[Event]) -> None:
        """Record events, all or none; those that are there stay as they are. The run goes well: see `forgive`."""
        now = time.time()
        with self._database.transaction() as db:
            insert(db, "events", (_event_row(run, event, now) for event in events), or_keep=True)
            self.forgive([run])

    def events(self, run: str) -> Iterator[tuple[float, Event]]:
        """All events that stand, with their times, in order."""
        self.demand_seen(run)
        sql = "SELECT at, body FROM events WHERE run = ? AND overtaken = 0 ORDER BY seq"
        rows = self._database.execute(sql, (run,))
        return ((row["at"], read_event(run, row["body"])) for row in rows)

    def status(self, run: str) -> str:
        row = self._database.row("SELECT status FROM runs WHERE id = ?", (run,))
        return str(row["status"]) if row and may_see(self._database, self._named(run)) else "deleted"

    def pulse(self, run: str) -> tuple[object, ...]:
        """Differs as soon as anything in the run has changed; cheap enough to ask twice a second."""
        row = self._database.row(
            "SELECT (SELECT max(seq) FROM events WHERE run = runs.id), status, reason, control, setup, wall_s,"
            " (SELECT max(number) FROM payments WHERE run = runs.id AND beside = 0),"
            " (SELECT count(*) + count(undone) FROM interventions WHERE run = runs.id) FROM runs WHERE id = ?",
            (run,),
        )
        return tuple(row) if row and may_see(self._database, self._named(run)) else ()

    def retrieval(self, run: str, key: str) -> Retrieved | None:
        """What this run, or one it was forked from, saw when it looked up the same."""
        row = self._database.row(
            "WITH RECURSIVE line(run, parent, far) AS (SELECT id, parent, 0 FROM runs WHERE id = ?"
            " UNION ALL SELECT runs.id, runs.parent, far + 1 FROM runs JOIN line ON runs.id = line.parent)"
            " SELECT line.run, body FROM line JOIN events ON events.run = line.run AND kind = 'retrieval' AND key = ?"
            " ORDER BY far, seq LIMIT 1",
            (run, key),
        )
        if row is None:
            return None
        event = read_event(row["run"], row["body"])
        assert isinstance(event, Retrieved)
        return event

    def incomplete(self, *runs: str) -> frozenset[str]:
        """Those of the runs, or of all, in which somebody gave no answer or a stand-in gave one."""
        among = f" AND run IN ({marks(runs)})" if runs else ""
        rows = self._database.execute(
            "SELECT DISTINCT run FROM events WHERE kind = 'call' AND overtaken = 0"
            f" AND (body LIKE '%\"value\":null%' OR body LIKE '%\"instead_of\":%'){among}",
            runs,
        )
        return frozenset(row["run"] for row in rows)

    def asked_at(self, run: str, model: str, connection: str) -> frozenset[str]:
        """The addresses at which this run, or one that it was forked from, asked a model through a connection."""
        calls_of = f"{LINE} SELECT run, body FROM up JOIN events ON events.run = up.id AND kind = 'call'"
        calls = (read_event(row["run"], row["body"]) for row in self._database.execute(calls_of, {"run": run}))
        return frozenset(
            call.address
            for call in calls
            if isinstance(call, Called) and call.keys and (call.model, call.connection) == (model, connection)
        )


def _kept(db: StoreConnection, case: Case) -> str:
    """Keep a case as it is heard, and return its hash."""
    kept = case.content_hash()
    insert(db, "snapshots", [{"hash": kept, "body": case.model_dump_json()}], or_keep=True)
    return kept


def _event_row(run: str, event: Event, at: float, overtaken: int = 0) -> dict[str, Any]:
    # Nothing reads an event's own generation any more; stores of before have the column.
    row = {"run": run, "generation": 0, "overtaken": overtaken, "stage": event.stage, "kind": event.kind}
    key = event.key if isinstance(event, Retrieved) else ""
    return row | {"path": event.path, "key": key, "at": at, "body": event.model_dump_json()}


def read_run(row: StoredRow) -> Run:
    """Return a run as it is listed, from a row with its columns. Raises `Unreadable`: they are damaged."""
    values = {name: row[name] for name in Run.model_fields}
    values["reason"] = SAID.get(values["reason"], values["reason"])
    apart = [name for name in ("control", "verdict") if values[name]]
    return read(
        "run", row["id"], lambda: Run.model_validate(values | {name: from_json(values[name]) for name in apart})
    )
