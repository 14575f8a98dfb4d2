"""The tables as PostgreSQL is given them. A test holds them against what SQLite's migrations make, column by column."""

from courtroom.store.tables import knowledge, people, runs, sharing, studies
from courtroom.store.tables.columns import TABLES

__all__ = ["TABLES", "knowledge", "people", "runs", "sharing", "studies"]
