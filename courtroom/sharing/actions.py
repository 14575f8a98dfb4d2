"""Who did what: a line for each thing that a signed-in person changed, paid for, shared, took away as a file, or signed in for. No
line holds a prompt, an answer or a key."""

import time
from datetime import UTC, datetime
from typing import Literal, get_args

from courtroom.access import Access, Resource, acting, demand
from courtroom.sharing.rules import demand_change
from courtroom.store.database import Database
from courtroom.strict import Strict
from courtroom.text.files import write_csv

Action = Literal[
    "sign-in", "give-access", "make", "import", "fork", "start", "pause", "stop", "intervene", "undo", "change", "mark",
    "ask", "invite", "delete", "restore", "share", "link", "end-link", "download",
]  # fmt: skip
"""What can be done, in one word or two, the same in the store, in files and on pages."""
ACTIONS: tuple[Action, ...] = get_args(Action)
LONGEST = 200


class DoneAction(Strict):
    """One line."""

    number: int
    at: float
    account: str
    name: str
    """What the person was called then."""
    action: str
    kind: str
    """Of what it was done to; empty where it was done to nothing."""
    id: str
    detail: str


class ActionFilter(Strict):
    """Which lines are wanted; an empty field lets all through."""

    account: str = ""
    action: str = ""
    kind: str = ""
    id: str = ""
    since: float = 0.0
    until: float = 0.0


def note(database: Database, action: Action, resource: Resource | None = None, detail: str = "") -> None:
    """Write a line on what the person who acts does; within the transaction that does it, or right after. Nothing without sign-in."""
    person = acting()
    if person is None:
        return
    database.execute(
        "INSERT INTO actions (at, account, name, action, kind, id, detail) VALUES (?, ?, ?, ?, ?, ?, ?)",
        (
            *(time.time(), person.id, person.name or person.email, action),
            *((resource.kind, resource.id) if resource else ("", "")),
            detail[:LONGEST],
        ),
    )


def note_sign_in(database: Database, at: float) -> None:
    """Write down that the person who acts has signed in, once for each time."""
    person = acting()
    if person is None:
        return
    with database.transaction() as db:
        there = db.execute(
            "SELECT 1 FROM actions WHERE account = ? AND action = 'sign-in' AND at >= ?", (person.id, at)
        ).fetchone()
        if not there:
            note(database, "sign-in")


def changing(database: Database, action: Action, resource: Resource, detail: str = "") -> None:
    """The person who acts is about to change this: refused where it is not the person's own, else written down."""
    demand_change(database, resource)
    note(database, action, resource, detail)


class ActionLog:
    """Reads the lines. Methods may be called from any thread, for an owner of the server."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def count(self, wanted: ActionFilter) -> int:
        demand(Access.OWN)
        fits, values = _fits(wanted)
        row = self._database.row(f"SELECT count(*) FROM actions WHERE {fits}", values)
        return int(row[0])

    def page(self, wanted: ActionFilter, start: int = 0, count: int = 100) -> list[DoneAction]:
        demand(Access.OWN)
        fits, values = _fits(wanted)
        rows = self._database.execute(
            f"SELECT * FROM actions WHERE {fits} ORDER BY number DESC LIMIT :count OFFSET :start",
            {**values, "count": count, "start": start},
        )
        return [DoneAction.model_validate(dict(row)) for row in rows]

    def people(self) -> dict[str, str]:
        """Who has done anything: accounts with what each was called last."""
        demand(Access.OWN)
        rows = self._database.execute(
            "SELECT account, name FROM actions WHERE number IN (SELECT max(number) FROM actions GROUP BY account) ORDER BY name"
        )
        return {row["account"]: row["name"] or row["account"] for row in rows}

    def csv(self, wanted: ActionFilter) -> str:
        """All lines that fit, oldest first, with times in UTC; no cell is a formula to a spreadsheet."""
        demand(Access.OWN)
        fits, values = _fits(wanted)
        names = ("account", "name", "action", "kind", "id", "detail")
        rows = self._database.execute(f"SELECT * FROM actions WHERE {fits} ORDER BY number", values)
        return write_csv(("time", *names), ((_utc(row["at"]), *(row[name] for name in names)) for row in rows))


def _utc(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds")


def _fits(wanted: ActionFilter) -> tuple[str, dict[str, object]]:
    tests = [f"{name} = :{name}" for name in ("account", "action", "kind", "id") if getattr(wanted, name)]
    tests += ["at >= :since"] if wanted.since else []
    tests += ["at < :until"] if wanted.until else []
    return " AND ".join(tests) or "1 = 1", wanted.model_dump()
