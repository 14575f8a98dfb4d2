"""A store with many runs: copies of one run that was really heard, under ids of their own."""

from __future__ import annotations

from courtroom.courthouse import Courthouse


def copies(house: Courthouse, run: str, count: int, start: int = 0) -> None:
    """Put copies of a run on record with all of its events, numbered from `start`, each by a clock that is a minute further behind."""
    with house.database.transaction() as db:
        columns = [
            row["name"]
            for row in db.execute("PRAGMA table_info(runs)")
            if row["name"] not in ("number", "id", "created")
        ]
        names = ", ".join(columns)
        of_event = [row["name"] for row in db.execute("PRAGMA table_info(events)") if row["name"] not in ("seq", "run")]
        kept = ", ".join(of_event)
        for number in range(start, start + count):
            copy = f"{run}-{number:05d}"
            db.execute(
                f"INSERT INTO runs (id, created, {names}) SELECT ?, created - ?, {names} FROM runs WHERE id = ?",
                (copy, 60 * (number + 1), run),
            )
            db.execute(
                f"INSERT INTO events (run, {kept}) SELECT ?, {kept} FROM events WHERE run = ?",
                (copy, run),
            )
