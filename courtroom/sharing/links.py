"""Who may see something that is there already; and links that open one thing to read, for a time, to whoever has them."""

import hashlib
import secrets
import time
from collections.abc import Callable

from courtroom.access import Resource, Visibility, acting
from courtroom.errors import CourtroomError
from courtroom.sharing.actions import note
from courtroom.sharing.rules import NOBODYS, demand_change, may_see, owned
from courtroom.store.database import Database
from courtroom.strict import Strict

FOLLOWING = {
    "experiment": (
        "SELECT DISTINCT 'run' AS kind, runs.id AS id FROM experiment_cells JOIN runs ON runs.id = experiment_cells.run"
        " WHERE experiment = :id",
    ),
    "run": (
        "SELECT 'experiment' AS kind, id FROM experiments WHERE parent = :id",
        "SELECT DISTINCT 'run' AS kind, runs.id AS id FROM experiments JOIN experiment_cells"
        " ON experiment_cells.experiment = experiments.id JOIN runs ON runs.id = experiment_cells.run"
        " WHERE experiments.parent = :id",
    ),
}
"""What is seen by who sees something of a kind: the runs of an experiment, what-ifs on a run with their runs."""


def share(database: Database, resource: Resource, visibility: Visibility) -> None:
    """Say who may see this besides whose it is, and with it what follows it."""
    demand_change(database, resource)
    with database.transaction() as db:
        account = owned(database, resource).account or NOBODYS
        values = {"kind": resource.kind, "id": resource.id, "account": account, "visibility": visibility}
        put = "ON CONFLICT (kind, id) DO UPDATE SET visibility = excluded.visibility"
        db.execute(
            "INSERT INTO ownership (kind, id, account, visibility) VALUES (:kind, :id, :account, :visibility) " + put,
            values,
        )
        for found in FOLLOWING.get(resource.kind, ()):
            db.execute(
                "INSERT INTO ownership (kind, id, account, visibility)"
                f" SELECT kind, id, :account, :visibility FROM ({found}) AS followers WHERE 1 = 1 {put}",
                values,
            )
        note(database, "share", resource, visibility)


HOUR = 3600.0
DAY = 24 * HOUR
LASTING: tuple[float, ...] = (HOUR, DAY, 7 * DAY, 30 * DAY)
"""Seconds for which a link may open something."""
GONE = "This link leads to nothing any more. Ask whoever sent it for a new one."


class NoSuchLink(CourtroomError):
    """A link that has expired, was ended, or never was."""


class Link(Strict):
    """A link as it is listed; what stands in its address is known only to who was given it."""

    name: str
    """Its hash, by which it is ended."""
    opens: Resource
    account: str
    made: float
    expires: float


class Links:
    """Makes, lists and ends links. Methods may be called from any thread. `clock`: says what time it is, in seconds since 1970."""

    def __init__(self, database: Database, clock: Callable[[], float] = time.time) -> None:
        self._database, self._clock = database, clock

    def make(self, opens: Resource, lasts: float) -> str:
        """A new link that lasts so many seconds, one of `LASTING`: what stands in its address, which is nowhere kept."""
        if lasts not in LASTING:
            raise CourtroomError("A link lasts an hour, a day, a week or 30 days. Choose one of these.")
        demand_change(self._database, opens)
        token, now, person = secrets.token_urlsafe(24), self._clock(), acting()
        with self._database.transaction() as db:
            db.execute(
                "INSERT INTO links (token, kind, id, account, made, expires) VALUES (?, ?, ?, ?, ?, ?)",
                (_hashed(token), opens.kind, opens.id, person.id if person else "", now, now + lasts),
            )
            note(self._database, "link", opens, f"{lasts / HOUR:.0f}h")
        return token

    def opened(self, token: str) -> Resource:
        row = self._database.row(
            "SELECT kind, id FROM links WHERE token = ? AND ended IS NULL AND expires > ?",
            (_hashed(token), self._clock()),
        )
        if row is None:
            raise NoSuchLink(GONE)
        return Resource(kind=row["kind"], id=row["id"])

    def expires(self, token: str) -> float:
        """Until when a link opens what it does; 0 where it opens nothing."""
        row = self._database.row(
            "SELECT expires FROM links WHERE token = ? AND ended IS NULL AND expires > ?",
            (_hashed(token), self._clock()),
        )
        return float(row["expires"]) if row else 0.0

    def of(self, opens: Resource) -> list[Link]:
        """The links that open something now, newest first; none for who may not see it."""
        if not may_see(self._database, opens):
            return []
        rows = self._database.execute(
            "SELECT * FROM links WHERE kind = ? AND id = ? AND ended IS NULL AND expires > ? ORDER BY made DESC, token",
            (opens.kind, opens.id, self._clock()),
        )
        return [
            Link(name=row["token"], opens=opens, account=row["account"], made=row["made"], expires=row["expires"])
            for row in rows
        ]

    def end(self, link: Link) -> None:
        """Have a link open nothing any more, also where it is open just now."""
        demand_change(self._database, link.opens)
        with self._database.transaction() as db:
            db.execute(
                "UPDATE links SET ended = ? WHERE token = ? AND kind = ? AND id = ? AND ended IS NULL",
                (self._clock(), link.name, link.opens.kind, link.opens.id),
            )
            note(self._database, "end-link", link.opens)


def _hashed(token: str) -> str:
    """A token has 192 random bits, so that its hash needs no salt."""
    return hashlib.sha256(token.encode(errors="surrogatepass")).hexdigest()
