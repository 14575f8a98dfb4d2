"""Says who may see something that is there already; what follows it is seen by the same people."""

from courtroom.access.account import Resource, Visibility
from courtroom.sharing.actions import note
from courtroom.sharing.rules import NOBODYS, demand_change, owned
from courtroom.store.database import Database

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
