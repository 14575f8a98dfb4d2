"""A run that was deleted: all that the tables had of it, and how that comes back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from courtroom.store.connection import StoreConnection

BESIDE_A_RUN = ("asides", "marks", "audiences", "audience_votes", "audience_arguments", "audience_likes")
"""Tables of what is kept beside a run."""
OF_A_RUN = ("events", "rewinds", "questions", "seats", "lost_drivers", "payments", "imported_answers", *BESIDE_A_RUN)
"""Tables whose rows go when their run is deleted; interventions stay, as they do no harm."""


@dataclass(frozen=True)
class Deleted:
    """A run that was deleted, with what is needed to bring it back."""

    run: str
    title: str
    rows: Mapping[str, list[dict[str, Any]]]
    """By table."""


def all_of(db: StoreConnection, run: str) -> Mapping[str, list[dict[str, Any]]]:
    """Everything that the tables have of a run: also whose it is, and the links that open it."""
    fits = {
        **dict.fromkeys(OF_A_RUN, "run = ?"),
        "runs": "id = ?",
        **dict.fromkeys(("ownership", "links"), "kind = 'run' AND id = ?"),
    }
    return {
        table: [dict(one) for one in db.execute(f"SELECT * FROM {table} WHERE {of_it}", (run,))]
        for table, of_it in fits.items()
    }


def put_back(db: StoreConnection, deleted: Deleted) -> None:
    """Bring its rows back, within a transaction; nobody drives it."""
    for table, rows in deleted.rows.items():
        for row in rows:
            columns = ", ".join(row)
            values = ", ".join(f":{column}" for column in row)
            db.execute(f"INSERT INTO {table} ({columns}) VALUES ({values}) ON CONFLICT DO NOTHING", row)
    db.execute(
        "UPDATE runs SET owner = NULL, heartbeat = NULL, status = CASE status WHEN 'running' THEN 'paused' ELSE status END"
        " WHERE id = ?",
        (deleted.run,),
    )
