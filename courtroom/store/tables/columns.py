"""The kinds of columns, and where all tables are listed."""

from __future__ import annotations

from sqlalchemy import BigInteger, Double, LargeBinary, MetaData, Text

TABLES = MetaData()
TEXT = Text(collation="C")
"""Compared by its characters' numbers, as SQLite does."""
WHOLE = BigInteger()
REAL = Double[float]()
BYTES = LargeBinary()
