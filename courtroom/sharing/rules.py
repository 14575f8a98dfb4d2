"""Whose each thing is, and who may see and change it: the one place that says so. Something has a row here from when a person who
signed in made it. What has none was made without sign-in, and is seen as what is shared."""

from collections.abc import Iterable
from dataclasses import dataclass

from courtroom.access import Access, Account, Forbidden, Resource, Visibility, acting
from courtroom.store.database import Database

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
    """Whether the person who acts may see this. An owner of the server sees all; everybody sees what is public or was opened by a
    link; who may look sees what is shared and what is the person's own. The id of a run that was deleted is shared with nobody."""
    person = acting()
    if person is None or person.access >= Access.OWN or resource in person.opened:
        return True
    owner = owned(database, resource)
    if owner.visibility == "public" or _opened_with_its_experiment(database, person, resource):
        return True
    if person.access < Access.LOOK:
        return False
    if owner.account == NOBODYS and _is_deleted_run(database, resource):
        return False
    return owner.visibility == "shared" or owner.account == person.id


def may_change(database: Database, resource: Resource) -> bool:
    """Whether the person who acts may change this: an owner of the server may, and whose it is, who may run something."""
    person = acting()
    if person is None or person.access >= Access.OWN:
        return True
    return person.access >= Access.RUN and owned(database, resource).account == person.id


def demand_change(database: Database, resource: Resource) -> None:
    """Refuse to change what is somebody else's; called after it was found that the person sees it."""
    if not may_change(database, resource):
        raise Forbidden("This belongs to somebody else, so you can only read it. Fork or copy it, and change that.")


def listed(kind: str, column: str) -> tuple[str, dict[str, object]]:
    """SQL, with its values, for what of a kind the person who acts sees in lists: what is public has to be addressed. `column`: what has the ids, such as `runs.id`."""
    person = acting()
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
    return f"EXISTS (SELECT 1 FROM ownership WHERE ownership.kind = '{kind}' AND ownership.id = {column} AND ownership.account = :me)"


def mine(database: Database, kind: str) -> frozenset[str]:
    """The ids of what of a kind belongs to the person who acts."""
    person = acting()
    if person is None:
        return frozenset()
    rows = database.execute("SELECT id FROM ownership WHERE kind = ? AND account = ?", (kind, person.id))
    return frozenset(row["id"] for row in rows)


def seen(database: Database, kind: str, names: Iterable[str]) -> list[str]:
    """Those of the ids that the person who acts may see, in their order."""
    return [name for name in names if may_see(database, Resource(kind=kind, id=name))]


# --- whose it becomes ---------------------------------------------------------------------------------------


def take(database: Database, resource: Resource, *, anew: bool = False) -> None:
    """What was just made belongs to the person who acts; within the transaction in which it was made."""
    person = acting()
    if person is None:
        return
    taken = "UPDATE SET account = excluded.account, visibility = excluded.visibility" if anew else "NOTHING"
    database.execute(
        f"INSERT INTO ownership (kind, id, account, visibility) VALUES (?, ?, ?, ?) ON CONFLICT (kind, id) DO {taken}",
        (resource.kind, resource.id, person.id, person.makes),
    )


def follow(database: Database, resource: Resource, leader: Resource, account: str | None = None) -> None:
    """What was just made is seen by who sees something else, and belongs to whom that belongs to, or to this account."""
    owner = owned(database, leader)
    if owner.account == NOBODYS and owner.visibility == "shared" and not account:
        return
    database.execute(
        "INSERT INTO ownership (kind, id, account, visibility) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
        (resource.kind, resource.id, account or owner.account, owner.visibility),
    )


def own_run(database: Database, run: str, parent: str | None) -> None:
    """Say whose a new run is: an experiment's follows that, every other one is its maker's."""
    db = database.connection
    cell = db.execute("SELECT experiment FROM experiment_cells WHERE run = ?", (run,)).fetchone()
    resource = Resource(kind="run", id=run)
    if cell:
        follow(database, resource, Resource(kind="experiment", id=cell["experiment"]))
    elif acting() is not None:
        take(database, resource)
    elif parent is not None:  # by the shell: what is private stays so
        follow(database, resource, Resource(kind="run", id=parent))


def give_up(database: Database, resource: Resource) -> None:
    """What was deleted is nobody's any more, and its links open nothing."""
    for table in ("ownership", "links"):
        database.execute(f"DELETE FROM {table} WHERE kind = ? AND id = ?", (resource.kind, resource.id))


def _is_deleted_run(database: Database, resource: Resource) -> bool:
    if resource.kind != "run":
        return False
    return database.row("SELECT 1 FROM runs WHERE id = ?", (resource.id,)) is None


def _opened_with_its_experiment(database: Database, person: Account, resource: Resource) -> bool:
    if resource.kind != "run" or not any(one.kind == "experiment" for one in person.opened):
        return False
    rows = database.execute("SELECT experiment FROM experiment_cells WHERE run = ?", (resource.id,))
    return any(Resource(kind="experiment", id=row["experiment"]) in person.opened for row in rows)
