"""An account says whether its person is told when something of it ends, waits or fails."""

import sqlalchemy as sa
from alembic import op

from courtroom.store.revisions import WHOLE

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Add the column; nobody has asked to be told."""
    op.add_column("accounts", sa.Column("rings", WHOLE, nullable=False, server_default=sa.text("0")))
