"""Which runs stem from which."""

from __future__ import annotations

from courtroom.sharing.rules import listed
from courtroom.store.database import Database

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
        rows = self._database.connection.execute(f"{FAMILY} SELECT id FROM tree WHERE {fits}", {**values, "run": run})
        return frozenset(row["id"] for row in rows)

    def root(self, run: str) -> str:
        """The run from which all of its family stems."""
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
        row = self._database.connection.execute("SELECT parent FROM runs WHERE id = ?", (run,)).fetchone()
        return row["parent"] if row else None
