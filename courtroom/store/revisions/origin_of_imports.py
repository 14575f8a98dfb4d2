"""An imported run keeps the ids of its file beside those that it has here."""

import sqlalchemy as sa
from alembic import op

from courtroom.store.revisions import TEXT

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Add the columns. Runs that were imported by 1.0.0 keep the ids of their files: reviewers know them by these."""
    for name in ("exported_id", "exported_parent"):
        op.add_column("runs", sa.Column(name, TEXT, nullable=True))
    op.execute("UPDATE runs SET exported_id = id, exported_parent = parent WHERE imported IS NOT NULL")
    op.execute("DELETE FROM interventions WHERE run NOT IN (SELECT id FROM runs)")  # what 1.0.0 left of deleted runs
