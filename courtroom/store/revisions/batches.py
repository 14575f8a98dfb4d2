"""A payment says what of its tokens came from a provider's cache and went by its batch; batches are on record."""

import sqlalchemy as sa
from alembic import op

from courtroom.store.revisions import FLOAT, TEXT, WHOLE

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Add the columns, of which nothing is known of earlier payments, and the table."""
    for name in ("cached", "written", "batched"):
        op.add_column("payments", sa.Column(name, WHOLE, nullable=False, server_default=sa.text("0")))
    op.create_table(
        "batched_calls",
        sa.Column("key", TEXT, primary_key=True, nullable=False),
        sa.Column("batch", TEXT, nullable=False),
        sa.Column("at", FLOAT, nullable=False),
    )
