"""Who drives a run or an experiment has a lock of the system's own, and is not on record any more."""

from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Take out who drove what, and when it was last heard of."""
    for table in ("runs", "experiments"):
        for column in ("owner", "heartbeat"):
            op.drop_column(table, column)
    for table in ("batches", "lost_drivers"):
        op.drop_table(table)
