"""Runs and their events on disk: the source of truth that pages read and the engine writes."""

import json
import secrets
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, TypeVar

from courtroom.access import Access, Resource, needs
from courtroom.cases.case import Case
from courtroom.cases.kinds import parse_case
from courtroom.engine.budget import MonthlyBudgets, Payments
from courtroom.engine.errors import NO_SUCH_RUN, NoSuchRun
from courtroom.engine.events import Called, Event, Retrieved, Verdict, read_event
from courtroom.engine.interventions import Intervention, InterventionStore, Rewinding, generation
from courtroom.engine.lease import Lease
from courtroom.engine.run import RECORDING, Control, Run, Status, Steering
from courtroom.engine.setup import Setup
from courtroom.errors import CourtroomError, Unreadable
from courtroom.models.spec import RECORDED
from courtroom.sharing import Action, changing, give_up, listed, may_see, note, own_run, take
from courtroom.store.connection import REFUSALS, StoreConnection, StoredRow, read, read_all
from courtroom.store.database import Database, marks

BESIDE_A_RUN = ("asides", "marks", "audiences", "audience_votes", "audience_arguments", "audience_likes")
"""Tables of what is kept beside a run."""
OF_A_RUN = (
    *("events", "interventions", "rewinds", "questions", "seats", "lost_drivers", "payments", "imported_answers"),
    *BESIDE_A_RUN,
)
"""Tables whose rows go, and come back, with their run."""


@dataclass(frozen=True)
class Deleted:
    """A run that was deleted, with what is needed to bring it back."""

    run: str
    title: str
    rows: Mapping[str, list[dict[str, Any]]]


def all_of(db: StoreConnection, run: str) -> Mapping[str, list[dict[str, Any]]]:
    """Everything that the tables have of a run: also whose it is, and the links that open it."""
    fits = {
        **dict.fromkeys(OF_A_RUN, "run = ?"),
        "runs": "id = ?",
        **dict.fromkeys(("ownership", "links"), "kind = 'run' AND id = ?"),
    }
    return {
        table: [dict(one) for one in db.execute(f"SELECT * FROM {table} WHERE {of_it}", (run,))]
        for table, of_it in fits.items()
    }


def put_back(db: StoreConnection, deleted: Deleted) -> None:
    """Bring its rows back, within a transaction; nobody drives it."""
    for table, rows in deleted.rows.items():
        for row in rows:
            columns = ", ".join(row)
            values = ", ".join(f":{column}" for column in row)
            db.execute(f"INSERT INTO {table} ({columns}) VALUES ({values})", row)
    db.execute(
        "UPDATE runs SET owner = NULL, heartbeat = NULL, status = CASE status WHEN 'running' THEN 'paused' ELSE status END"
        " WHERE id = ?",
        (deleted.run,),
    )


FAMILY = (
    "WITH RECURSIVE up(id, parent) AS (SELECT id, parent FROM runs WHERE id = :run"
    " UNION SELECT runs.id, runs.parent FROM runs JOIN up ON runs.id = up.parent),"
    " tree(id) AS (SELECT id FROM up UNION SELECT runs.id FROM runs JOIN tree ON runs.parent = tree.id)"
)
"""SQL: `tree` has the ids of a run's family."""


class Families:
    """Finds the runs from which one was forked, and those that were forked from it."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def ids(self, run: str) -> frozenset[str]:
        """The run, what it was forked from, and all that was forked from any of these; those that the person who acts sees."""
        fits, values = listed("run", "tree.id")
        rows = self._database.execute(f"{FAMILY} SELECT id FROM tree WHERE {fits}", {**values, "run": run})
        return frozenset(row["id"] for row in rows)

    def root(self, run: str) -> str:
        at = run
        while parent := self._parent(at):
            at = parent
        return at

    def leads_to(self, parent: str | None, run: str) -> bool:
        """Whether a run, or one that it stems from, is this one."""
        at = parent
        while at is not None and at != run:
            at = self._parent(at)
        return at is not None

    def _parent(self, run: str) -> str | None:
        row = self._database.row("SELECT parent FROM runs WHERE id = ?", (run,))
        return row["parent"] if row else None


class LostDrivers:
    """How often in a row a run lost who drove it. Methods may be called from any thread."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def note(self, run: str, owner: str) -> int:
        """Note that a process ended while it drove the run; how often in a row that was without a new event between.

        Whoever notices, each process counts once.

        A run that waits for a person makes no events however well it goes, so that its drivers don't count.
        """
        with self._database.transaction() as db:
            if db.execute("SELECT 1 FROM questions WHERE run = ? AND answer IS NULL", (run,)).fetchone():
                return 0
            db.execute(
                "INSERT INTO lost_drivers SELECT ?, ?, 1, coalesce(max(seq), 0) FROM events WHERE run = ? ON CONFLICT (run)"
                " DO UPDATE SET times = CASE WHEN lost_drivers.owner = excluded.owner THEN lost_drivers.times WHEN"
                " excluded.seen > lost_drivers.seen THEN 1 ELSE lost_drivers.times + 1 END, owner = excluded.owner, seen = excluded.seen",
                (run, owner, run),
            )
            row = db.execute("SELECT times FROM lost_drivers WHERE run = ?", (run,)).fetchone()
        return int(row["times"])

    def forget(self, *runs: str) -> None:
        with self._database.transaction() as db:
            db.executemany("DELETE FROM lost_drivers WHERE run = ?", [(run,) for run in runs])


TAKEN = "The run of “{title}” can't be brought back: another run has its id {run} by now. Delete that one first."
S = TypeVar("S", bound=Setup)
READ_ONLY = "This run was imported from a file and can only be read: its answers were given elsewhere and can't be checked here."


def read_only(run: Run) -> str:
    """Why an imported run is not continued, in a sentence."""
    return "A recorded hearing stays as it was recorded." if run.is_recording else READ_ONLY


class RunStore:
    """Reads and writes runs and events. Methods may be called from any thread."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.rewinding = Rewinding(database)
        self.interventions = InterventionStore(database, self.rewinding)
        self.lease = Lease(database, "runs")
        self.lost = LostDrivers(database)
        self.payments, self.monthly_budgets = Payments(database), MonthlyBudgets(database)
        self.families = Families(database)

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
        wanted, run = run, run or new_id()
        with self._database.transaction() as db:
            taken = "SELECT 1 FROM runs WHERE id = ? AND imported IS NOT NULL"
            if wanted and db.execute(taken, (wanted,)).fetchone():
                raise CourtroomError(f"{READ_ONLY} Delete the imported run {wanted} first.")
            db.execute(
                "INSERT INTO snapshots VALUES (?, ?) ON CONFLICT DO NOTHING",
                (case.content_hash(), case.model_dump_json()),
            )
            fresh = db.execute(
                "INSERT INTO runs (id, procedure, case_id, title, case_hash, setup, seed, status, parent, origin,"
                " created, control) VALUES (?, ?, ?, ?, ?, ?, ?, 'paused', ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING",
                (
                    *(run, procedure, case.id, case.title, case.content_hash(), setup.model_dump_json(), seed),
                    *(parent, origin, time.time(), Control().model_dump_json()),
                ),
            ).rowcount
            self.interventions.put(run, interventions)
            if fresh:
                own_run(self._database, run, parent)
                note(self._database, "fork" if parent else "make", _named(run), procedure)
        return run

    def run(self, run: str) -> Run:
        """One run.

        Raises:
            NoSuchRun: nothing is on record under this id.
            Unreadable: its row is damaged.
        """
        row = self._database.row("SELECT * FROM runs WHERE id = ?", (run,))
        if row is None:
            raise NoSuchRun(NO_SUCH_RUN.format(run=run))
        self.demand_seen(run)
        return _run(row)

    @needs(Access.RUN)
    def changing(self, run: str, action: Action, detail: str = "") -> Run:
        """A run that the person who acts is about to change, with a line in the log of actions."""
        row = self.run(run)
        changing(self._database, action, _named(run), detail)
        return row

    def is_there(self, run: str) -> bool:
        return self._database.row("SELECT 1 FROM runs WHERE id = ?", (run,)) is not None

    def has_runs(self) -> bool:
        fits, values = listed("run", "runs.id")
        found = self._database.execute(f"SELECT 1 FROM runs WHERE {fits} LIMIT 1", values)
        return found.fetchone() is not None

    def runs(self) -> list[Run]:
        """All runs that can be read, in the order in which they were made; all of them in memory."""
        return [one for one in self.each() if isinstance(one, Run)]

    def each(self) -> Iterator[Run | Unreadable]:
        """Every run in the order in which they were made, one after the other; of one whose row is damaged, what is wrong."""
        fits, values = listed("run", "runs.id")
        for row in self._database.each(f"SELECT * FROM runs WHERE {fits} ORDER BY number", values):
            (good, bad) = read_all([row], _run)
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

    def under_way(self) -> list[tuple[str, str | None, float | None]]:
        """Runs that count as running, each with who drives it and the last heartbeat."""
        rows = self._database.execute("SELECT id, owner, heartbeat FROM runs WHERE status = 'running' ORDER BY number")
        return [tuple(row) for row in rows]

    def kin(self, run: str) -> list[Run]:
        """The run, what it was forked from, and all that was forked from any of these; oldest first."""
        fits, values = listed("run", "runs.id")
        query = f"{FAMILY} SELECT * FROM runs WHERE id IN (SELECT id FROM tree) AND {fits} ORDER BY number"
        return read_all(self._database.execute(query, {**values, "run": run}), _run)[0]

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
            raise NoSuchRun(NO_SUCH_RUN.format(run=run))
        return read("setup of run", run, lambda: kind.model_validate_json(row["setup"], context=RECORDED))

    @needs(Access.RUN)
    def replace_setup(self, run: str, setup: Setup) -> None:
        """Change what may change under way, such as a budget."""
        self.changing(run, "change")
        self._database.execute("UPDATE runs SET setup = ? WHERE id = ?", (setup.model_dump_json(), run))

    def set_status(self, run: str, status: Status, reason: str = "") -> None:
        """Say where the run stands, with one plain sentence where there is something to say."""
        self._database.execute("UPDATE runs SET status = ?, reason = ? WHERE id = ?", (status, reason, run))

    def say(self, run: str, reason: str) -> None:
        """Say something of a run that goes on all the same."""
        self._database.execute("UPDATE runs SET reason = ? WHERE id = ? AND status = 'running'", (reason, run))

    def finish(self, run: str, verdict: Verdict) -> None:
        self._database.execute(
            "UPDATE runs SET status = 'done', reason = '', verdict = ? WHERE id = ?", (verdict.model_dump_json(), run)
        )

    def add_wall(self, run: str, seconds: float) -> None:
        self._database.execute("UPDATE runs SET wall_s = wall_s + ? WHERE id = ?", (seconds, run))

    def control(self, run: str) -> Control:
        self.demand_seen(run)
        row = self._database.row("SELECT control FROM runs WHERE id = ?", (run,))
        return read("run", run, lambda: Control.model_validate_json(row["control"]))

    def steering(self, runs: Sequence[str]) -> dict[str, Steering]:
        """How runs are to go on; those that were deleted are left out."""
        rows = self._database.execute(
            "SELECT id, owner, status, control, (SELECT count(*) + count(undone) FROM interventions WHERE run = runs.id)"
            f" AS acts FROM runs WHERE id IN ({marks(runs)})",
            runs,
        ).fetchall()
        controls: dict[str, Control | None] = {}
        for text in {row["control"] for row in rows}:
            read_ones, _ = read_all([text], lambda one: read("control", one, lambda: Control.model_validate_json(one)))
            controls[text] = read_ones[0] if read_ones else None
        return {row["id"]: Steering(row["owner"], row["status"], controls[row["control"]], row["acts"]) for row in rows}

    def set_control(self, run: str, control: Control) -> None:
        self._database.execute("UPDATE runs SET control = ? WHERE id = ?", (control.model_dump_json(), run))

    @needs(Access.RUN)
    def delete(self, run: str) -> Deleted:
        """Forget a run. Answers stay: another run may have them on record.

        Raises:
            NoSuchRun: nothing is on record under this id.
            Unreadable: its row is damaged.
        """
        with self._database.transaction() as db:
            row = self.changing(run, "delete")
            rows = all_of(db, run)
            self.take_out([run])
        return Deleted(row.id, row.title, rows)

    def take_out(self, runs: Iterable[str]) -> None:
        """Forget runs for good, within a transaction of the caller's."""
        named = [(run,) for run in runs]
        for table in OF_A_RUN:
            self._database.connection.executemany(f"DELETE FROM {table} WHERE run = ?", named)
        self._database.connection.executemany("DELETE FROM runs WHERE id = ?", named)
        for run, *_ in named:
            give_up(self._database, _named(run))

    @needs(Access.RUN)
    def restore(self, deleted: Deleted) -> None:
        """Bring back a run that was deleted, as it was; nobody drives it. One that was brought back already stays as it is.

        Raises:
            CourtroomError: another run has its id by now, or something of it came on record meanwhile; nothing is brought back.
        """
        with self._database.transaction() as db:
            row = db.execute("SELECT number FROM runs WHERE id = ?", (deleted.run,)).fetchone()
            if row and [row["number"]] == [one["number"] for one in deleted.rows["runs"]]:
                return
            try:
                put_back(db, deleted)
            except REFUSALS as error:
                raise CourtroomError(TAKEN.format(title=deleted.title, run=deleted.run)) from error
            note(self._database, "restore", _named(deleted.run))

    def demand_seen(self, run: str) -> None:
        """What may not be seen is as if it were not there."""
        if not may_see(self._database, _named(run)):
            raise NoSuchRun(NO_SUCH_RUN.format(run=run))

    # --- imported runs --------------------------------------------------------------------------------------

    def recorded(self, sha256: str) -> str | None:
        """The id of the recorded hearing that was taken in from the file of this hash."""
        row = self._database.row("SELECT id FROM runs WHERE imported = ? AND origin = ?", (sha256, RECORDING))
        return row["id"] if row else None

    def take_in(
        self, run: Run, case: Case, setup: Setup, events: Iterable[tuple[float, Event]], overtaken: Iterable[Called]
    ) -> None:
        """Put a run on record that another install has worked out, within a transaction of the caller's.

        Args:
            events: with their times, in order.
            overtaken: calls that did not stand in it any more.
        """
        db = self._database.connection
        db.execute(
            "INSERT INTO snapshots VALUES (?, ?) ON CONFLICT DO NOTHING", (case.content_hash(), case.model_dump_json())
        )
        values = run.model_dump(mode="json", exclude={"verdict", "control"})
        values |= {"setup": setup.model_dump_json(), "control": run.control.model_dump_json()}
        values |= {"verdict": run.verdict and run.verdict.model_dump_json()}
        named = ", ".join(f":{name}" for name in values)
        db.execute(f"INSERT INTO runs ({', '.join(values)}) VALUES ({named})", values)
        gone = ((run.created, event, number) for number, event in enumerate(overtaken, start=1))
        if not run.is_recording:  # which is nobody's, and everybody's to see
            take(self._database, _named(run.id))
        note(self._database, "import", _named(run.id), run.procedure)
        for at, event, number in (*gone, *((at, event, 0) for at, event in events)):
            key = event.key if isinstance(event, Retrieved) else ""
            db.execute(
                "INSERT INTO events (run, generation, overtaken, stage, kind, path, key, at, body)"
                " VALUES (?, 0, ?, ?, ?, ?, ?, ?, ?)",
                (run.id, number, event.stage, event.kind, event.path, key, at, event.model_dump_json()),
            )

    # --- events ---------------------------------------------------------------------------------------------

    def add(self, run: str, events: Iterable[Event]) -> None:
        """Record events, all or none; those that the run has already stay as they are."""
        now = time.time()
        with self._database.transaction() as db:
            now_in = generation(self._database, run)
            db.executemany(
                "INSERT INTO events (run, generation, stage, kind, path, key, at, body)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
                [
                    (
                        *(run, now_in, event.stage, event.kind, event.path),
                        *(event.key if isinstance(event, Retrieved) else "", now, event.model_dump_json()),
                    )
                    for event in events
                ],
            )

    def stages(self, run: str) -> list[str]:
        self.demand_seen(run)
        rows = self._database.execute(
            "SELECT json_extract(body, '$.name') AS name FROM events"
            " WHERE run = ? AND overtaken = 0 AND kind = 'stage' AND json_valid(body) ORDER BY seq",
            (run,),
        )
        return [row["name"] for row in rows]

    def events(self, run: str) -> Iterator[tuple[float, Event]]:
        """All events that stand, with their times, in order."""
        self.demand_seen(run)
        rows = self._database.execute(
            "SELECT at, body FROM events WHERE run = ? AND overtaken = 0 ORDER BY seq", (run,)
        )
        return ((row["at"], read_event(run, row["body"])) for row in rows)

    def status(self, run: str) -> str:
        row = self._database.row("SELECT status FROM runs WHERE id = ?", (run,))
        return str(row["status"]) if row and may_see(self._database, _named(run)) else "deleted"

    def pulse(self, run: str) -> tuple[object, ...]:
        """Differs as soon as anything in the run has changed; cheap enough to ask twice a second."""
        row = self._database.row(
            "SELECT (SELECT max(seq) FROM events WHERE run = runs.id), status, reason, control, setup, wall_s,"
            " (SELECT count(*) + count(undone) FROM interventions WHERE run = runs.id) FROM runs WHERE id = ?",
            (run,),
        )
        return tuple(row) if row and may_see(self._database, _named(run)) else ()

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
        rows = self._database.execute(
            "WITH RECURSIVE line(run, parent) AS (SELECT id, parent FROM runs WHERE id = ?"
            " UNION SELECT runs.id, runs.parent FROM runs JOIN line ON runs.id = line.parent)"
            " SELECT line.run, body FROM line JOIN events ON events.run = line.run AND kind = 'call'",
            (run,),
        )
        calls = (read_event(row["run"], row["body"]) for row in rows)
        return frozenset(
            call.address
            for call in calls
            if isinstance(call, Called) and call.keys and (call.model, call.connection) == (model, connection)
        )


def _named(run: str) -> Resource:
    return Resource(kind="run", id=run)


def new_id() -> str:
    """A run's id: when it was made, and something that no other has."""
    return time.strftime("%y%m%d-%H%M%S-") + secrets.token_hex(3)


def _run(row: StoredRow) -> Run:
    fields = dict(row)
    for apart in ("number", "setup"):
        fields.pop(apart)

    def parsed() -> Run:
        fields["control"] = Control.model_validate_json(fields["control"])
        fields["verdict"] = Verdict.model_validate_json(fields["verdict"]) if fields["verdict"] else None
        return Run.model_validate(fields)

    return read("run", row["id"], parsed)
