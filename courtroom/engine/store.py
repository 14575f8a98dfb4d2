"""Runs and their events on disk: the source of truth that pages read and the engine writes."""

from __future__ import annotations

import json
import secrets
import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

from courtroom.cases.case import Case
from courtroom.cases.kinds import parse_case
from courtroom.engine.control import Control
from courtroom.engine.errors import NoSuchRun
from courtroom.engine.events import EVENT, Called, Event, Retrieved, StageBegan, Verdict, Voted
from courtroom.engine.interventions import Intervention, InterventionStore
from courtroom.engine.lease import Lease
from courtroom.engine.record import Record
from courtroom.engine.run import Run, Status
from courtroom.engine.setup import Setup
from courtroom.errors import Unreadable
from courtroom.models.spec import RECORDED
from courtroom.store.database import Database
from courtroom.store.rows import read, read_all

S = TypeVar("S", bound=Setup)


class RunStore:
    """Reads and writes runs and events. Methods may be called from any thread."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.interventions = InterventionStore(database)
        self.lease = Lease(database, "runs")

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
        run = run or new_id()
        with self._database.transaction() as db:
            db.execute("INSERT OR IGNORE INTO snapshots VALUES (?, ?)", (case.content_hash(), case.model_dump_json()))
            db.execute(
                "INSERT INTO runs (id, procedure, case_id, title, case_hash, setup, seed, status, parent, origin,"
                " created, control) VALUES (?, ?, ?, ?, ?, ?, ?, 'paused', ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING",
                (
                    *(run, procedure, case.id, case.title, case.content_hash(), setup.model_dump_json(), seed),
                    *(parent, origin, time.time(), Control().model_dump_json()),
                ),
            )
            self.interventions.put(run, interventions)
        return run

    def run(self, run: str) -> Run:
        """One run.

        Raises:
            NoSuchRun: nothing is on record under this id.
            Unreadable: its row is damaged.
        """
        row = self._database.connection.execute("SELECT * FROM runs WHERE id = ?", (run,)).fetchone()
        if row is None:
            raise NoSuchRun(f"There is no run “{run}” here. See all runs with `python -m courtroom runs`.")
        return _run(row)

    def runs(self) -> list[Run]:
        """All runs that can be read, in the order in which they were made; `unreadable` has the others."""
        return self._read_all()[0]

    def unreadable(self) -> list[Unreadable]:
        """The runs whose row is damaged."""
        return self._read_all()[1]

    def under_way(self) -> list[tuple[str, str | None, float | None]]:
        """Runs that count as running, each with who drives it and the last heartbeat."""
        rows = self._database.connection.execute(
            "SELECT id, owner, heartbeat FROM runs WHERE status = 'running' ORDER BY rowid"
        )
        return [tuple(row) for row in rows]

    def kin(self, run: str) -> list[Run]:
        """The run, what it was forked from, and all that was forked from any of these; oldest first."""
        rows = self._database.connection.execute(
            "WITH RECURSIVE up(id, parent) AS (SELECT id, parent FROM runs WHERE id = ?"
            " UNION SELECT runs.id, runs.parent FROM runs JOIN up ON runs.id = up.parent),"
            " tree(id) AS (SELECT id FROM up UNION SELECT runs.id FROM runs JOIN tree ON runs.parent = tree.id)"
            " SELECT * FROM runs WHERE id IN (SELECT id FROM tree) ORDER BY rowid",
            (run,),
        )
        return read_all(rows, _run)[0]

    def root(self, run: str) -> str:
        """The run from which all of its family stems."""
        at = run
        while (
            row := self._database.connection.execute("SELECT parent FROM runs WHERE id = ?", (at,)).fetchone()
        ) and row["parent"]:
            at = row["parent"]
        return at

    def case(self, run: Run) -> Case:
        """The case as it was when the run was made."""
        row = self._database.connection.execute(
            "SELECT body FROM snapshots WHERE hash = ?", (run.case_hash,)
        ).fetchone()
        if row is None:
            raise Unreadable("run", run.id, "its case is missing from the store")
        return read("case of run", run.id, lambda: parse_case(json.loads(row["body"])))

    def setup(self, run: str, kind: type[S]) -> S:
        """The setup of a run, as the procedure's own type."""
        row = self._database.connection.execute("SELECT setup FROM runs WHERE id = ?", (run,)).fetchone()
        return read("setup of run", run, lambda: kind.model_validate_json(row["setup"], context=RECORDED))

    def replace_setup(self, run: str, setup: Setup) -> None:
        """Change what may change under way, such as a budget."""
        self._database.connection.execute("UPDATE runs SET setup = ? WHERE id = ?", (setup.model_dump_json(), run))

    def set_status(self, run: str, status: Status, reason: str = "") -> None:
        """Say where the run stands, with one plain sentence where there is something to say."""
        self._database.connection.execute("UPDATE runs SET status = ?, reason = ? WHERE id = ?", (status, reason, run))

    def say(self, run: str, reason: str) -> None:
        """Say something of a run that goes on all the same."""
        self._database.connection.execute(
            "UPDATE runs SET reason = ? WHERE id = ? AND status = 'running'", (reason, run)
        )

    def finish(self, run: str, verdict: Verdict) -> None:
        """The run is done."""
        self._database.connection.execute(
            "UPDATE runs SET status = 'done', reason = '', verdict = ? WHERE id = ?", (verdict.model_dump_json(), run)
        )

    def add_wall(self, run: str, seconds: float) -> None:
        """Add to the time that the run has been driven."""
        self._database.connection.execute("UPDATE runs SET wall_s = wall_s + ? WHERE id = ?", (seconds, run))

    def control(self, run: str) -> Control:
        """How far the run may go."""
        row = self._database.connection.execute("SELECT control FROM runs WHERE id = ?", (run,)).fetchone()
        return read("run", run, lambda: Control.model_validate_json(row["control"]))

    def set_control(self, run: str, control: Control) -> None:
        """Say how far the run may go."""
        self._database.connection.execute("UPDATE runs SET control = ? WHERE id = ?", (control.model_dump_json(), run))

    def delete(self, run: str) -> None:
        """Forget a run. Answers stay: another run may have them on record."""
        with self._database.transaction():
            self.take_out([run])

    def take_out(self, runs: Iterable[str]) -> None:
        """As `delete`, within a transaction of the caller's."""
        named = [(run,) for run in runs]
        for table in ("events", "rewinds", "questions", "seats", "lost_drivers"):
            self._database.connection.executemany(f"DELETE FROM {table} WHERE run = ?", named)
        self._database.connection.executemany("DELETE FROM runs WHERE id = ?", named)

    def restore(self, record: Record) -> None:
        """Bring back a run that was deleted."""
        run = record.run
        with self._database.transaction() as db:
            db.execute("INSERT OR IGNORE INTO snapshots VALUES (?, ?)", (run.case_hash, record.case.model_dump_json()))
            db.execute(
                "INSERT OR IGNORE INTO runs (id, procedure, case_id, title, case_hash, setup, seed, status, reason, verdict,"
                " parent, origin, created, wall_s, control) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    *(run.id, run.procedure, run.case_id, run.title, run.case_hash, record.setup.model_dump_json()),
                    *(run.seed, "paused" if run.status == "running" else run.status, run.reason),
                    *(run.verdict.model_dump_json() if run.verdict else None, run.parent, run.origin, run.created),
                    *(run.wall_s, run.control.model_dump_json()),
                ),
            )
            rows: list[tuple[str, str, float, str]] = [
                (event.kind, event.path, at, event.model_dump_json()) for at, event in record.events
            ]
            rows += [
                ("overtaken", f"{number}/{call.path}", run.created, call.model_dump_json())
                for number, call in enumerate(record.overtaken)
            ]
            db.executemany(
                "INSERT OR IGNORE INTO events (run, kind, path, at, body) VALUES (?, ?, ?, ?, ?)",
                [(run.id, *row) for row in rows],
            )

    def _read_all(self) -> tuple[list[Run], list[Unreadable]]:
        return read_all(self._database.connection.execute("SELECT * FROM runs ORDER BY rowid"), _run)

    # --- who drives -----------------------------------------------------------------------------------------

    def lost_driver(self, run: str, owner: str) -> int:
        """Note that a process ended while it drove the run; how often in a row that was without a new event between.

        Whoever notices, each process counts once.

        A run that waits for a person makes no events however well it goes, so that its drivers don't count.
        """
        with self._database.transaction() as db:
            if db.execute("SELECT 1 FROM questions WHERE run = ? AND answer IS NULL", (run,)).fetchone():
                return 0
            db.execute(
                "INSERT INTO lost_drivers SELECT ?, ?, 1, ifnull(max(seq), 0) FROM events WHERE run = ? ON CONFLICT (run)"
                " DO UPDATE SET times = CASE WHEN owner = excluded.owner THEN times WHEN excluded.seen > seen THEN 1"
                " ELSE times + 1 END, owner = excluded.owner, seen = excluded.seen",
                (run, owner, run),
            )
            row = db.execute("SELECT times FROM lost_drivers WHERE run = ?", (run,)).fetchone()
        return int(row["times"])

    def forget_lost_drivers(self, run: str) -> None:
        """A person lets the run go on: it counts as new."""
        self._database.connection.execute("DELETE FROM lost_drivers WHERE run = ?", (run,))

    # --- events ---------------------------------------------------------------------------------------------

    def add(self, run: str, events: Iterable[Event]) -> None:
        """Record events, all or none; those that the run has already stay as they are."""
        now = time.time()
        with self._database.transaction() as db:
            db.executemany(
                "INSERT OR IGNORE INTO events (run, kind, path, at, body) VALUES (?, ?, ?, ?, ?)",
                [(run, event.kind, event.path, now, event.model_dump_json()) for event in events],
            )

    def stages(self, run: str) -> list[str]:
        """Names of the stages that have begun."""
        rows = self._database.connection.execute(
            "SELECT json_extract(body, '$.name') AS name FROM events WHERE run = ? AND kind = 'stage' AND json_valid(body)"
            " ORDER BY seq",
            (run,),
        )
        return [row["name"] for row in rows]

    def events(self, run: str) -> Iterator[tuple[float, Event]]:
        """All events with their times, in order."""
        rows = self._database.connection.execute(
            "SELECT seq, at, body FROM events WHERE run = ? AND kind != 'overtaken' ORDER BY seq", (run,)
        )
        return ((row["at"], _event(run, row)) for row in rows)

    def status(self, run: str) -> str:
        """Where the run stands."""
        row = self._database.connection.execute("SELECT status FROM runs WHERE id = ?", (run,)).fetchone()
        return str(row["status"]) if row else "deleted"

    def pulse(self, run: str) -> tuple[object, ...]:
        """Differs as soon as anything in the run has changed; cheap enough to ask twice a second."""
        row = self._database.connection.execute(
            "SELECT (SELECT max(seq) FROM events WHERE run = runs.id), status, reason, control,"
            " (SELECT count(*) + count(undone) FROM interventions WHERE run = runs.id) FROM runs WHERE id = ?",
            (run,),
        ).fetchone()
        return tuple(row) if row else ()

    def retrieval(self, run: str, key: str) -> Retrieved | None:
        """What this run, or one it was forked from, saw when it looked up the same."""
        seen: str | None = run
        while seen is not None:
            rows = self._database.connection.execute(
                "SELECT seq, body FROM events WHERE run = ? AND kind IN ('retrieval', 'overtaken') AND body LIKE ?",
                (seen, f"%{key}%"),
            )
            for event in (_event(run, row) for row in rows):
                if isinstance(event, Retrieved) and event.key == key:
                    return event
            parent = self._database.connection.execute("SELECT parent FROM runs WHERE id = ?", (seen,)).fetchone()
            seen = parent["parent"] if parent else None
        return None

    def rewind(self, run: str, index: int) -> None:
        """Have everything from a stage on worked out anew. Calls and look-ups stay on record as overtaken: they are paid for."""
        with self._database.transaction() as db:
            began = [event for _, event in self.events(run) if isinstance(event, StageBegan) and event.index >= index]
            gone = {stage.path for stage in began}
            rows = db.execute(
                "SELECT seq, kind, path FROM events WHERE run = ? AND kind != 'overtaken'", (run,)
            ).fetchall()
            for row in rows:
                stage = row["path"].removeprefix("panel/").partition("/")[0]
                if stage not in gone or row["kind"] in ("learned", "note"):
                    continue
                if row["kind"] in ("call", "retrieval"):
                    db.execute(
                        "UPDATE events SET kind = 'overtaken', path = ? WHERE seq = ?",
                        (f"{row['seq']}/{row['path']}", row["seq"]),
                    )
                else:
                    db.execute("DELETE FROM events WHERE seq = ?", (row["seq"],))
            db.execute("UPDATE runs SET verdict = NULL WHERE id = ?", (run,))

    def overtaken(self, run: str) -> list[Called]:
        """Calls that were made before the run was worked out anew, and that do not stand in it any more."""
        rows = self._database.connection.execute(
            "SELECT seq, body FROM events WHERE run = ? AND kind = 'overtaken' ORDER BY seq", (run,)
        )
        calls = [event for row in rows if isinstance(event := _event(run, row), Called)]
        if not calls:
            return []
        standing = {(call.path, call.keys) for _, call in self.events(run) if isinstance(call, Called)}
        return [call for call in calls if (call.path, call.keys) not in standing]

    def forget_abstentions(self, run: str) -> None:
        """Let the members that are without a vote be asked again where they had failed, and ballots be held anew."""
        with self._database.transaction() as db:
            events = [event for _, event in self.events(run)]
            missing = {vote.member for vote in events if isinstance(vote, Voted) and vote.choice is None}
            failed = [e.path for e in events if isinstance(e, Called) and e.value is None and e.member in missing]
            db.executemany(
                "DELETE FROM events WHERE run = ? AND kind = 'call' AND path = ?", ((run, path) for path in failed)
            )
            db.execute("DELETE FROM events WHERE run = ? AND kind IN ('tally', 'vote', 'stage-end')", (run,))


def new_id() -> str:
    """A run's id: when it was made, and something that no other has."""
    return time.strftime("%y%m%d-%H%M%S-") + secrets.token_hex(3)


def _run(row: sqlite3.Row) -> Run:
    fields = dict(row)
    fields.pop("setup")

    def parsed() -> Run:
        fields["control"] = Control.model_validate_json(fields["control"])
        fields["verdict"] = Verdict.model_validate_json(fields["verdict"]) if fields["verdict"] else None
        return Run.model_validate(fields)

    return read("run", row["id"], parsed)


def _event(run: str, row: sqlite3.Row) -> Event:
    return read("run", run, lambda: EVENT.validate_json(row["body"], context=RECORDED))
