"""The accounts of people, and what their runs have cost."""

from __future__ import annotations

from sqlalchemy import Column, Table

from courtroom.store.tables.columns import REAL, TABLES, TEXT, WHOLE

Table(
    "accounts",
    TABLES,
    Column("id", TEXT, primary_key=True),
    Column("issuer", TEXT, nullable=False),
    Column("subject", TEXT, nullable=False),
    Column("name", TEXT, nullable=False),
    Column("email", TEXT, nullable=False),
    Column("access", WHOLE, nullable=False),
    Column("budget", REAL),
    Column("first", REAL, nullable=False),
    Column("last", REAL, nullable=False),
)
Table(
    "spending",
    TABLES,
    Column("account", TEXT, primary_key=True),
    Column("month", TEXT, primary_key=True),
    Column("money", REAL, nullable=False),
)
