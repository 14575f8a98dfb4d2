"""Rewinding: what a run is to work out anew no longer stands in it, and stays on record as overtaken: it was billed."""

from courtroom.engine.events import Called, StageBegan, Voted, read_event
from courtroom.store.database import Database

KEPT = ("learned", "note")
"""Kinds of events that stand for good: what the knowledge base was taught it knows, and what a reader was shown was true."""


class Rewinding:
    """Rewinds runs. An event's column `overtaken` says which generation of the run took its place, 0 while it stands.

    Methods may be called from any thread.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def plan(self, run: str, index: int) -> None:
        """Have the run rewound to the beginning of a stage when it goes on; of several plans the earliest stage counts."""
        self._database.execute(
            "INSERT INTO rewinds VALUES (?, ?) ON CONFLICT (run) DO UPDATE SET stage = excluded.stage WHERE excluded.stage < rewinds.stage",
            (run, index),
        )

    def due(self, run: str) -> bool:
        return self._database.row("SELECT 1 FROM rewinds WHERE run = ?", (run,)) is not None

    def rewind(self, run: str) -> None:
        """Do what was planned: everything from that stage on will be worked out anew."""
        with self._database.transaction() as db:
            db.execute(
                "UPDATE events SET overtaken = :new WHERE run = :run AND overtaken = 0 AND kind NOT IN (:learned, :note)"
                " AND stage IN (SELECT path FROM events WHERE run = :run AND overtaken = 0 AND kind = 'stage'"
                " AND CASE WHEN json_valid(body) THEN CAST(json_extract(body, '$.index') AS BIGINT) ELSE -1 END >= (SELECT stage FROM rewinds WHERE run = :run))",
                {"new": self._next(run), "run": run, **dict(zip(KEPT, KEPT, strict=True))},
            )
            db.execute("UPDATE runs SET verdict = NULL WHERE id = ?", (run,))
            db.execute("DELETE FROM rewinds WHERE run = ?", (run,))

    def ask_again(self, run: str) -> None:
        """Have the run rewound so that those who failed are asked again; answers that were given come from the record.

        It goes back to the earliest last failure of the members without a vote or an answer in the last stage. Where none
        of them failed, as those who did were left out since, it goes back to the last failure of all.
        """
        with self._database.transaction() as db:
            rows = db.execute(
                "SELECT body FROM events WHERE run = ? AND overtaken = 0 AND kind IN ('stage', 'call', 'vote') ORDER BY seq",
                (run,),
            )
            events = [read_event(run, row["body"]) for row in rows]
            index = {event.path: event.index for event in events if isinstance(event, StageBegan)}
            here = max(index, key=index.__getitem__, default="")
            failed: dict[str, int] = {}
            without: set[str] = set()
            for event in events:
                if isinstance(event, Called) and event.value is None and event.stage in index:
                    failed[event.member] = max(index[event.stage], failed.get(event.member, 0))
                    without |= {event.member} if event.stage == here else set()
                elif isinstance(event, Voted) and event.choice is None and event.stage == here:
                    without.add(event.member)
            if failed:
                now = [failed[member] for member in without & failed.keys()]
                self.plan(run, min(now) if now else max(failed.values()))

    def overtaken(self, run: str) -> list[Called]:
        """Calls that no longer stand in the run. One that was answered and stands again is not among them."""
        rows = self._database.execute(
            "SELECT gone.body AS gone, stands.body AS stands FROM events AS gone LEFT JOIN events AS stands"
            " ON stands.run = gone.run AND stands.overtaken = 0 AND stands.kind = 'call' AND stands.path = gone.path"
            " WHERE gone.run = ? AND gone.overtaken > 0 AND gone.kind = 'call' ORDER BY gone.seq",
            (run,),
        )
        calls: dict[object, Called] = {}
        for number, row in enumerate(rows):
            gone, stands = (read_event(run, body) if body else None for body in (row["gone"], row["stands"]))
            assert isinstance(gone, Called)
            if gone.value is None:
                calls[number] = gone
            elif not isinstance(stands, Called) or stands.keys != gone.keys:
                calls.setdefault((gone.path, gone.keys), gone)
        return list(calls.values())

    def _next(self, run: str) -> int:
        return generation(self._database, run) + 1


def generation(database: Database, run: str) -> int:
    """How often a run was worked out anew."""
    row = database.row("SELECT max(overtaken) AS last FROM events WHERE run = ?", (run,))
    return int(row["last"] or 0)
