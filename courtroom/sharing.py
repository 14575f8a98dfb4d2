"""Whose each thing is, who sees and changes it, who did what, and links that open it for a time.

Something has a row here from when a person who signed in made it. What has none was made without sign-in, and is seen
as what is shared. No line holds a prompt, an answer or a key; of a link only a hash of what is in its address is kept.
"""

import hashlib
import secrets
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal, get_args

from courtroom.access import Access, Forbidden, Resource, Visibility, acting_account, demand
from courtroom.errors import CourtroomError
from courtroom.store.connection import StoredRow
from courtroom.store.database import Database, Tables, insert
from courtroom.strict import Strict
from courtroom.text.files import write_csv

NOBODYS = ""
"""The account of what was made without sign-in."""


@dataclass(frozen=True)
class Owned:
    """Whose something is, and who sees it."""

    account: str
    """Empty is nobody's."""
    visibility: Visibility


def owned(database: Database, resource: Resource) -> Owned:
    row = database.row(
        "SELECT account, visibility FROM ownership WHERE kind = ? AND id = ?", (resource.kind, resource.id)
    )
    return Owned(row["account"], row["visibility"]) if row else Owned(NOBODYS, "shared")


def may_see(database: Database, resource: Resource) -> bool:
    """Return whether the person who acts may see this: an owner of the server all; everybody what is public or was
    opened by a link; who may look what is shared and the own. The id of a deleted run is shared with nobody."""
    person = acting_account()
    if person is None or person.access >= Access.OWN or resource in person.opened:
        return True
    owner = owned(database, resource)
    if owner.visibility == "public":
        return True
    if resource.kind == "run" and any(one.kind == "experiment" for one in person.opened):
        cells = database.execute("SELECT experiment FROM experiment_cells WHERE run = ?", (resource.id,))
        if any(Resource(kind="experiment", id=row["experiment"]) in person.opened for row in cells):
            return True
    if person.access < Access.LOOK:
        return False
    is_run = owner.account == NOBODYS and resource.kind == "run"
    if is_run and database.row("SELECT 1 FROM runs WHERE id = ?", (resource.id,)) is None:
        return False  # it was deleted
    return owner.visibility == "shared" or owner.account == person.id


def may_change(database: Database, resource: Resource) -> bool:
    """Return whether the person who acts may change this: an owner of the server, or whose it is and who may run."""
    person = acting_account()
    if person is None or person.access >= Access.OWN:
        return True
    return person.access >= Access.RUN and owned(database, resource).account == person.id


def demand_change(database: Database, resource: Resource) -> None:
    """Refuse to change what is somebody else's; called after it was found that the person sees it."""
    if not may_change(database, resource):
        raise Forbidden("This belongs to somebody else, so you can only read it. Fork or copy it, and change that.")


def listed(kind: str, column: str) -> tuple[str, dict[str, object]]:
    """Return SQL, with its values, for what of a kind the person who acts sees in lists, without what is public.
    `column`: what has the ids, such as `runs.id`."""
    person = acting_account()
    if person is None or person.access >= Access.OWN:
        return "1 = 1", {}
    opened = sorted(one.id for one in person.opened if one.kind == kind)
    values: dict[str, object] = {f"opened{number}": one for number, one in enumerate(opened)}
    there = [f"{column} IN ({', '.join(f':{name}' for name in values)})"] if opened else []
    if person.access >= Access.LOOK:
        values["me"] = person.id
        there.append(
            f"NOT EXISTS (SELECT 1 FROM ownership WHERE ownership.kind = '{kind}' AND ownership.id = {column}"
            " AND ownership.visibility = 'private' AND ownership.account <> :me)"
        )
    return f"({' OR '.join(there) or '1 = 0'})", values


def own(kind: str, column: str) -> str:
    """SQL for what of a kind belongs to the account `:me`."""
    there = f"ownership.kind = '{kind}' AND ownership.id = {column}"
    return f"EXISTS (SELECT 1 FROM ownership WHERE {there} AND ownership.account = :me)"


# --- whose it becomes ---------------------------------------------------------------------------------------


def take(database: Database, resource: Resource, *, anew: bool = False) -> None:
    """What was just made belongs to the person who acts; within the transaction in which it was made."""
    person = acting_account()
    if person is None:
        return
    row = {"kind": resource.kind, "id": resource.id, "account": person.id, "visibility": person.makes}
    insert(database.connection, "ownership", [row], or_keep=not anew, key=["kind", "id"] if anew else [])


def follow(database: Database, resource: Resource, leader: Resource, account: str | None = None) -> None:
    """Let what was just made be seen by who sees something else; it belongs to its owner, or to an account."""
    owner = owned(database, leader)
    if owner.account == NOBODYS and owner.visibility == "shared" and not account:
        return
    row = resource.model_dump() | {"account": account or owner.account, "visibility": owner.visibility}
    insert(database.connection, "ownership", [row], or_keep=True)


def own_run(database: Database, run: str, parent: str | None) -> None:
    """Say whose a new run is: an experiment's follows that, every other one is its maker's."""
    cell = database.row("SELECT experiment FROM experiment_cells WHERE run = ?", (run,))
    resource = Resource(kind="run", id=run)
    if cell:
        follow(database, resource, Resource(kind="experiment", id=cell["experiment"]))
    elif acting_account() is not None:
        take(database, resource)
    elif parent is not None:  # by the shell: what is private stays so
        follow(database, resource, Resource(kind="run", id=parent))


def give_up(database: Database, resource: Resource) -> None:
    """What was deleted is nobody's any more, and its links open nothing."""
    for table in ("ownership", "links"):
        database.execute(f"DELETE FROM {table} WHERE kind = ? AND id = ?", (resource.kind, resource.id))


Action = Literal[
    "sign-in", "give-access", "make", "import", "fork", "start", "pause", "stop", "intervene", "undo", "change", "mark",
    "ask", "invite", "delete", "restore", "share", "link", "end-link", "download",
]  # fmt: skip
"""What can be done, in one word or two, the same in the store, in files and on pages."""
ACTIONS: tuple[Action, ...] = get_args(Action)
MAX_DETAIL_CHARACTERS = 200


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
    """Write a line on what the person who acts does, within the transaction that does it; nothing without sign-in."""
    person = acting_account()
    if person is None:
        return
    row = resource.model_dump() if resource else {"kind": "", "id": ""}
    row |= {"at": time.time(), "account": person.id, "name": person.name or person.email}
    insert(database.connection, "actions", [row | {"action": action, "detail": detail[:MAX_DETAIL_CHARACTERS]}])


def note_sign_in(database: Database, at: float) -> None:
    """Write down that the person who acts has signed in, once for each time."""
    person = acting_account()
    if person is None:
        return
    with database.transaction():
        there = database.row(
            "SELECT 1 FROM actions WHERE account = ? AND action = 'sign-in' AND at >= ?", (person.id, at)
        )
        if not there:
            note(database, "sign-in")


def changing(database: Database, action: Action, resource: Resource, detail: str = "") -> None:
    """The person who acts is about to change this: refused where it is not the person's own, else written down."""
    demand_change(database, resource)
    note(database, action, resource, detail)


class ActionLog(Tables):
    """Reads the lines. Methods may be called from any thread, for an owner of the server."""

    def count(self, wanted: ActionFilter) -> int:
        demand(Access.OWN)
        fits, values = _fits(wanted)
        return int(self._database.row(f"SELECT count(*) FROM actions WHERE {fits}", values)[0])

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
            "SELECT account, name FROM actions"
            " WHERE number IN (SELECT max(number) FROM actions GROUP BY account) ORDER BY name"
        )
        return {row["account"]: row["name"] or row["account"] for row in rows}

    def csv(self, wanted: ActionFilter) -> str:
        """All lines that fit, oldest first, with times in UTC; no cell is a formula to a spreadsheet."""
        demand(Access.OWN)
        fits, values = _fits(wanted)
        names = ("account", "name", "action", "kind", "id", "detail")
        rows = self._database.execute(f"SELECT * FROM actions WHERE {fits} ORDER BY number", values)
        times = ((datetime.fromtimestamp(row["at"], UTC).isoformat(timespec="seconds"), row) for row in rows)
        return write_csv(("time", *names), ((at, *(row[name] for name in names)) for at, row in times))


def _fits(wanted: ActionFilter) -> tuple[str, dict[str, object]]:
    tests = [f"{name} = :{name}" for name in ("account", "action", "kind", "id") if getattr(wanted, name)]
    tests += ["at >= :since"] if wanted.since else []
    tests += ["at < :until"] if wanted.until else []
    return " AND ".join(tests) or "1 = 1", wanted.model_dump()


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
        for found in ("SELECT :kind AS kind, :id AS id", *FOLLOWING.get(resource.kind, ())):
            db.execute(
                "INSERT INTO ownership (kind, id, account, visibility)"
                f" SELECT kind, id, :account, :visibility FROM ({found}) AS followers WHERE 1 = 1"
                " ON CONFLICT (kind, id) DO UPDATE SET visibility = excluded.visibility",
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


class Links(Tables):
    """Makes, lists and ends links. Methods may be called from any thread."""

    def make(self, opens: Resource, lasts: float) -> str:
        """Make a link that lasts so many seconds, one of `LASTING`. What is in its address is nowhere kept."""
        if lasts not in LASTING:
            raise CourtroomError("A link lasts an hour, a day, a week or 30 days. Choose one of these.")
        demand_change(self._database, opens)
        token, now, person = secrets.token_urlsafe(24), time.time(), acting_account()
        with self._database.transaction() as db:
            row = {"token": hashed(token), "account": person.id if person else "", "made": now, "expires": now + lasts}
            insert(db, "links", [row | opens.model_dump()])
            note(self._database, "link", opens, f"{lasts / HOUR:.0f}h")
        return token

    def opened(self, token: str) -> Resource:
        if (row := self._open(token)) is None:
            raise NoSuchLink(GONE)
        return Resource(kind=row["kind"], id=row["id"])

    def expires(self, token: str) -> float:
        """Until when a link opens what it does; 0 where it opens nothing."""
        row = self._open(token)
        return float(row["expires"]) if row else 0.0

    def _open(self, token: str) -> StoredRow | None:
        row: StoredRow | None = self._database.row(
            "SELECT * FROM links WHERE token = ? AND ended IS NULL AND expires > ?", (hashed(token), time.time())
        )
        return row

    def of(self, opens: Resource) -> list[Link]:
        """The links that open something now, newest first; none for who may not see it."""
        if not may_see(self._database, opens):
            return []
        rows = self._database.execute(
            "SELECT * FROM links WHERE kind = ? AND id = ? AND ended IS NULL AND expires > ? ORDER BY made DESC, token",
            (opens.kind, opens.id, time.time()),
        )
        return [
            Link(name=row["token"], opens=opens, **{one: row[one] for one in ("account", "made", "expires")})
            for row in rows
        ]

    def end(self, link: Link) -> None:
        """Have a link open nothing any more, also where it is open just now."""
        demand_change(self._database, link.opens)
        with self._database.transaction() as db:
            db.execute(
                "UPDATE links SET ended = ? WHERE token = ? AND kind = ? AND id = ? AND ended IS NULL",
                (time.time(), link.name, link.opens.kind, link.opens.id),
            )
            note(self._database, "end-link", link.opens)


def hashed(token: str) -> str:
    """A token has 192 random bits, so that its hash needs no salt."""
    return hashlib.sha256(token.encode(errors="surrogatepass")).hexdigest()
