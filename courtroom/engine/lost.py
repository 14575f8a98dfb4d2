"""Processes that ended while they drove a run: a run that ends its process again and again is left to a person."""

from __future__ import annotations

from courtroom.store.database import Database


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
        """A person lets runs go on: they count as new."""
        with self._database.transaction() as db:
            db.executemany("DELETE FROM lost_drivers WHERE run = ?", [(run,) for run in runs])
