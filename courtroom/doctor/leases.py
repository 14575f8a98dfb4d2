"""Runs and sweeps that count as driven by a process that is gone."""

from __future__ import annotations

from collections.abc import Iterator

from courtroom.courthouse import Courthouse
from courtroom.doctor.finding import Finding, fine, mended, wrong
from courtroom.engine.runner import alive


def living(house: Courthouse, mend: bool) -> Iterator[Finding]:
    """A lease of a dead process holds nothing up, but shows a run as running that nobody drives."""
    dead: list[str] = []
    for table in ("runs", "sweeps"):
        rows = house.database.connection.execute(
            f"SELECT id, owner, heartbeat FROM {table} WHERE owner IS NOT NULL"
        ).fetchall()
        for row in rows:
            if alive(row["owner"], row["heartbeat"]):
                continue
            dead.append(row["id"])
            if mend:
                house.database.connection.execute(
                    f"UPDATE {table} SET owner = NULL, heartbeat = NULL WHERE id = ? AND owner = ?",
                    (row["id"], row["owner"]),
                )
    if not dead:
        yield fine("leases", "No run or sweep is held by a process that is gone.")
        return
    named = ", ".join(dead[:10]) + (" ..." if len(dead) > 10 else "")
    if mend:
        yield mended("leases", f"Released: {named}. The app takes them up when it starts, or use `resume RUN`.")
    else:
        yield wrong(
            "leases",
            f"Held by a process that is gone: {named}. Start the app, use `resume RUN`, or --mend to release them.",
        )
