"""Rewinding: what a run is to work out anew no longer stands in it, and stays on record as overtaken: it is paid for."""

from __future__ import annotations

from courtroom.engine.events import Called, Voted, read_event
from courtroom.store.database import Database

KEPT = ("learned", "note")
"""Kinds of events that stand for good: what the knowledge base was taught it knows, and what a reader was told was true."""


class Rewinding:
    """Rewinds runs. An event's column `overtaken` says which generation of the run took its place, 0 while it stands.

    Methods may be called from any thread.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def plan(self, run: str, index: int) -> None:
        """Have the run rewound to the beginning of a stage when it goes on; of several plans the earliest stage counts."""
        self._database.connection.execute(
            "INSERT INTO rewinds VALUES (?, ?) ON CONFLICT (run) DO UPDATE SET stage = min(stage, excluded.stage)",
            (run, index),
        )

    def due(self, run: str) -> bool:
        """Whether the run is to be rewound before it goes on."""
        return self._database.connection.execute("SELECT 1 FROM rewinds WHERE run = ?", (run,)).fetchone() is not None

    def rewind(self, run: str) -> None:
        """Do what was planned: everything from that stage on will be worked out anew."""
        with self._database.transaction() as db:
            db.execute(
                "UPDATE events SET overtaken = :new WHERE run = :run AND overtaken = 0 AND kind NOT IN (:learned, :note)"
                " AND stage IN (SELECT path FROM events WHERE run = :run AND overtaken = 0 AND kind = 'stage'"
                " AND iif(json_valid(body), json_extract(body, '$.index'), -1) >= (SELECT stage FROM rewinds WHERE run = :run))",
                {"new": self._next(run), "run": run, **dict(zip(KEPT, KEPT, strict=True))},
            )
            db.execute("UPDATE runs SET verdict = NULL WHERE id = ?", (run,))
            db.execute("DELETE FROM rewinds WHERE run = ?", (run,))

    def ask_again(self, run: str) -> None:
        """Have the members that are without a vote asked again where they failed, and all ballots held anew."""
        with self._database.transaction() as db:
            rows = db.execute(
                "SELECT seq, kind, body FROM events WHERE run = ? AND overtaken = 0 AND kind IN ('call', 'vote')",
                (run,),
            )
            events = [(row["seq"], read_event(run, row["body"])) for row in rows]
            missing = {vote.member for _, vote in events if isinstance(vote, Voted) and vote.choice is None}
            new = self._next(run)
            db.executemany(
                "UPDATE events SET overtaken = ? WHERE seq = ?",
                [
                    (new, seq)
                    for seq, call in events
                    if isinstance(call, Called) and call.value is None and call.member in missing
                ],
            )
            db.execute(
                "UPDATE events SET overtaken = ? WHERE run = ? AND overtaken = 0 AND kind IN ('tally', 'vote', 'stage-end')",
                (new, run),
            )

    def overtaken(self, run: str) -> list[Called]:
        """Calls that no longer stand in the run; of those with the same answer one, as it was paid once.

        One that was answered and stands again, with what it has cost, is not among them.
        """
        rows = self._database.connection.execute(
            "SELECT gone.body AS gone, stands.body AS stands FROM events AS gone LEFT JOIN events AS stands"
            " ON stands.run = gone.run AND stands.overtaken = 0 AND stands.kind = 'call' AND stands.path = gone.path"
            " WHERE gone.run = ? AND gone.overtaken > 0 AND gone.kind = 'call' ORDER BY gone.seq",
            (run,),
        )
        calls: dict[object, Called] = {}
        for number, row in enumerate(rows):
            gone, stands = (read_event(run, body) if body else None for body in (row["gone"], row["stands"]))
            assert isinstance(gone, Called)
            if gone.value is None:  # asked again it is paid again
                calls[number] = gone
            elif not isinstance(stands, Called) or stands.keys != gone.keys:
                calls.setdefault((gone.path, gone.keys), gone)
        return list(calls.values())

    def _next(self, run: str) -> int:
        return generation(self._database, run) + 1


def generation(database: Database, run: str) -> int:
    """How often a run was worked out anew."""
    row = database.connection.execute("SELECT max(overtaken) AS last FROM events WHERE run = ?", (run,)).fetchone()
    return int(row["last"] or 0)
