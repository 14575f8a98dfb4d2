"""A payment says whether a provider did not count its tokens, so that they and the cost are about so much."""

import sqlalchemy as sa
from alembic import op

from courtroom.store.revisions import WHOLE

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Add the columns; payments of 1.0.0, which estimated nothing, count as told."""
    for table in ("payments", "spending"):
        op.add_column(table, sa.Column("estimated", WHOLE, nullable=False, server_default=sa.text("0")))
