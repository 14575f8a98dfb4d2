"""Where people sign in: whose each thing is, links that open one thing for a time, and who did what."""

from __future__ import annotations

from sqlalchemy import Column, Identity, Index, Table

from courtroom.store.tables.columns import REAL, TABLES, TEXT, WHOLE

Table(
    "ownership",
    TABLES,
    Column("kind", TEXT, primary_key=True),
    Column("id", TEXT, primary_key=True),
    Column("account", TEXT, nullable=False),
    Column("visibility", TEXT, nullable=False),
)
Table(
    "links",
    TABLES,
    Column("token", TEXT, primary_key=True),
    Column("kind", TEXT, nullable=False),
    Column("id", TEXT, nullable=False),
    Column("account", TEXT, nullable=False),
    Column("made", REAL, nullable=False),
    Column("expires", REAL, nullable=False),
    Column("ended", REAL),
    Index("links_by_what_they_open", "kind", "id"),
)
Table(
    "actions",
    TABLES,
    Column("number", WHOLE, Identity(always=False), primary_key=True),
    Column("at", REAL, nullable=False),
    Column("account", TEXT, nullable=False),
    Column("name", TEXT, nullable=False),
    Column("action", TEXT, nullable=False),
    Column("kind", TEXT, nullable=False),
    Column("id", TEXT, nullable=False),
    Column("detail", TEXT, nullable=False),
)
