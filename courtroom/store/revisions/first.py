"""A store that a development version wrote before 1.0.0 is taken over."""

import sqlalchemy as sa
from alembic import op

from courtroom.store.revisions import FLOAT, TEXT

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Take over the tables. What-ifs of before are dropped, as they are experiments now; their runs stay."""
    op.add_column("experiments", sa.Column("parent", TEXT, nullable=False, server_default=""))
    for table in ("sweep_runs", "sweeps", "playlists", "imports"):
        op.drop_table(table)
    for table in ("ownership", "links"):
        op.execute(f"DELETE FROM {table} WHERE kind IN ('sweep', 'playlist')")
    op.drop_index("knowledge_without_words", "knowledge")
    if op.get_context().dialect.name == "sqlite":
        vocabularies_first = "SELECT name FROM sqlite_master WHERE sql LIKE 'CREATE VIRTUAL TABLE %' ORDER BY name"
        for (name,) in op.get_bind().exec_driver_sql(vocabularies_first).fetchall():
            op.execute(f'DROP TABLE "{name}"')
    op.drop_table("written_by")
    op.create_table(
        "written_by",
        sa.Column("version", TEXT, primary_key=True),
        sa.Column("revision", TEXT, primary_key=True),
        sa.Column("tables", TEXT, nullable=False),
        sa.Column("first", FLOAT, nullable=False),
    )
