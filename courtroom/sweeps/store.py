"""Sweeps on disk: their plans, and the id of every run before it is made, so that none is ever made twice."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Literal

from courtroom.access.account import Access, Resource
from courtroom.access.acting import acting, needs
from courtroom.engine.events import Verdict
from courtroom.engine.lease import Lease
from courtroom.engine.store import new_id
from courtroom.errors import CourtroomError, Unreadable
from courtroom.sharing.actions import Action, changing, note
from courtroom.sharing.rules import follow, give_up, listed, may_change, may_see
from courtroom.store.connection import StoredRow
from courtroom.store.database import Database
from courtroom.store.rows import read, read_all
from courtroom.strict import Strict
from courtroom.sweeps.plan import SweepPlan

Status = Literal["running", "paused", "done", "cancelled"]


class NoSuchSweep(CourtroomError):
    """No sweep has this id."""


class Sweep(Strict):
    """One sweep as listed."""

    id: str
    base: str
    title: str
    plan: SweepPlan
    status: Status
    reason: str
    created: float
    owner: str | None
    heartbeat: float | None


class SweepCell(Strict):
    """One variant under one seed: its run, and how that stands."""

    variant: int
    """Position in the plan."""
    seed: int
    run: str
    status: Literal["waiting", "running", "paused", "done", "failed"]
    """`waiting`: the run is not made yet, or was deleted."""
    verdict: Verdict | None


class SweepStore:
    """Reads and writes sweeps. Methods may be called from any thread."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.lease = Lease(database, "sweeps")

    def create(self, plan: SweepPlan, title: str, base_seed: int) -> str:
        """Put a sweep on record and return its id. The base under its own seed is the base run itself."""
        sweep = f"sweep-{new_id()}"
        rows = [
            (sweep, number, seed, plan.base if (number, seed) == (0, base_seed) else new_id())
            for number in range(len(plan.variants))
            for seed in plan.seeds
        ]
        with self._database.transaction() as db:
            db.execute(
                "INSERT INTO sweeps (id, base, title, plan, status, created) VALUES (?, ?, ?, ?, 'paused', ?)",
                (sweep, plan.base, title, plan.model_dump_json(), time.time()),
            )
            db.executemany("INSERT INTO sweep_runs VALUES (?, ?, ?, ?)", rows)
            person = acting()
            follow(self._database, _named(sweep), Resource(kind="run", id=plan.base), person.id if person else None)
            note(self._database, "make", _named(sweep), plan.base)
        return sweep

    def same_or_new(self, plan: SweepPlan, title: str, base_seed: int) -> str:
        """The sweep with this very plan; two processes that want it at once get the same one."""
        with self._database.transaction():
            return self.same(plan) or self.create(plan, title, base_seed)

    def same(self, plan: SweepPlan) -> str | None:
        """The last sweep with this very plan that was not cancelled and that the person who acts may go on with."""
        rows = self._database.connection.execute(
            "SELECT id FROM sweeps WHERE base = ? AND plan = ? AND status <> 'cancelled' ORDER BY number DESC",
            (plan.base, plan.model_dump_json()),
        )
        return next((row["id"] for row in rows if may_change(self._database, _named(row["id"]))), None)

    def sweep(self, sweep: str) -> Sweep:
        """One sweep.

        Raises:
            NoSuchSweep: nothing is on record under this id.
        """
        row = self._database.connection.execute("SELECT * FROM sweeps WHERE id = ?", (sweep,)).fetchone()
        if row is None or not may_see(self._database, _named(sweep)):
            raise NoSuchSweep(f"There is no sweep “{sweep}” here; it may have been deleted.")
        return _sweep(row)

    def sweeps(self) -> list[Sweep]:
        """All sweeps that can be read, newest first."""
        return self.newest(self.number())[0]

    def newest(self, most: int) -> tuple[list[Sweep], list[Unreadable]]:
        """The newest sweeps: those that can be read, and the others."""
        fits, values = listed("sweep", "sweeps.id")
        rows = self._database.connection.execute(
            f"SELECT * FROM sweeps WHERE {fits} ORDER BY number DESC LIMIT :most", {**values, "most": most}
        )
        return read_all(rows, _sweep)

    def number(self) -> int:
        """How many sweeps there are."""
        fits, values = listed("sweep", "sweeps.id")
        return int(self._database.connection.execute(f"SELECT count(*) FROM sweeps WHERE {fits}", values).fetchone()[0])

    @needs(Access.RUN)
    def changing(self, sweep: str, action: Action) -> None:
        """The person who acts is about to change a sweep.

        Raises:
            NoSuchSweep: there is none that the person may see.
            Forbidden: it is somebody else's.
        """
        self.sweep(sweep)
        changing(self._database, action, _named(sweep))

    def cells(self, sweep: str) -> list[SweepCell]:
        """Every variant under every seed, in the order in which they are run: the base first."""
        rows = self._database.connection.execute(
            "SELECT variant, sweep_runs.seed, run, coalesce(status, 'waiting') AS status, verdict FROM sweep_runs"
            " LEFT JOIN runs ON runs.id = run WHERE sweep = ? ORDER BY variant, sweep_runs.seed",
            (sweep,),
        )
        return [_cell(row) for row in rows]

    def status(self, sweep: str) -> str:
        """Where the sweep stands."""
        row = self._database.connection.execute("SELECT status FROM sweeps WHERE id = ?", (sweep,)).fetchone()
        return str(row["status"]) if row else "deleted"

    def under_way(self) -> list[tuple[str, str | None, float | None]]:
        """Sweeps that count as running, each with who drives it and the last heartbeat."""
        rows = self._database.connection.execute("SELECT id, owner, heartbeat FROM sweeps WHERE status = 'running'")
        return [tuple(row) for row in rows]

    def set_status(self, sweep: str, status: Status, reason: str = "") -> None:
        """Say where the sweep stands."""
        self._database.connection.execute(
            "UPDATE sweeps SET status = ?, reason = ? WHERE id = ?", (status, reason, sweep)
        )

    def delete(self, sweep: str, take_out: Callable[[list[str]], None]) -> None:
        """Forget a sweep and its runs, all or nothing; the base run stays.

        Args:
            take_out: forgets runs, within the transaction.
        """
        with self._database.transaction() as db:
            rows = db.execute(
                "SELECT run FROM sweep_runs WHERE sweep = ? AND run <> (SELECT base FROM sweeps WHERE id = sweep_runs.sweep)",
                (sweep,),
            )
            take_out([row["run"] for row in rows])
            db.execute("DELETE FROM sweep_runs WHERE sweep = ?", (sweep,))
            db.execute("DELETE FROM sweeps WHERE id = ?", (sweep,))
            give_up(self._database, _named(sweep))


def _named(sweep: str) -> Resource:
    return Resource(kind="sweep", id=sweep)


def _sweep(row: StoredRow) -> Sweep:
    fields = {name: value for name, value in dict(row).items() if name != "number"}
    return read(
        "sweep",
        row["id"],
        lambda: Sweep.model_validate({**fields, "plan": SweepPlan.model_validate_json(fields["plan"])}),
    )


def _cell(row: StoredRow) -> SweepCell:
    fields = dict(row)

    def parsed() -> SweepCell:
        verdict = Verdict.model_validate_json(fields["verdict"]) if fields["verdict"] else None
        return SweepCell.model_validate({**fields, "verdict": verdict})

    return read("run", row["run"], parsed)
