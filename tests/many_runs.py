"""A store with many runs: copies of one run that was really heard, under ids of their own."""

from courtroom.courthouse import Courthouse
from courtroom.store.connection import StoreConnection


def copies(house: Courthouse, run: str, count: int, start: int = 0) -> None:
    """Put copies of a run on record with all of its events, numbered from `start`, each by a clock that is a minute further behind."""
    with house.database.transaction() as db:
        names = ", ".join(name for name in _columns(db, "runs") if name not in ("number", "id", "created"))
        kept = ", ".join(name for name in _columns(db, "events") if name not in ("seq", "run"))
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


def _columns(db: StoreConnection, table: str) -> list[str]:
    found: list[str] = db.execute(f"SELECT * FROM {table} LIMIT 1").fetchone().keys()
    return found
