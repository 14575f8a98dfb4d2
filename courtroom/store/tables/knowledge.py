"""The knowledge base."""

from __future__ import annotations

from sqlalchemy import Column, Identity, Index, Table, UniqueConstraint
from sqlalchemy import text as sql

from courtroom.store.tables.columns import BYTES, REAL, TABLES, TEXT, WHOLE

Table(
    "knowledge",
    TABLES,
    Column("seq", WHOLE, Identity(always=False), primary_key=True),
    Column("collection", TEXT, nullable=False),
    Column("id", TEXT, nullable=False),
    Column("body", TEXT, nullable=False),
    Column("added", REAL, nullable=False),
    Column("words", TEXT),
    Column("version", WHOLE, nullable=False, server_default=sql("0")),
    UniqueConstraint("collection", "id"),
    Index("knowledge_by_version", "collection", "version"),
    Index("knowledge_without_words", "collection", postgresql_where=sql("words IS NULL")),
)
Table(
    "knowledge_removed",
    TABLES,
    Column("collection", TEXT, primary_key=True),
    Column("id", TEXT, primary_key=True),
    Column("version", WHOLE, nullable=False),
)
Table(
    "collections",
    TABLES,
    Column("name", TEXT, primary_key=True),
    Column("embedding", TEXT),
    Column("changes", WHOLE, nullable=False, server_default=sql("0")),
    Column("seeded", WHOLE, nullable=False, server_default=sql("0")),
)
Table(
    "vectors",
    TABLES,
    Column("embedding", TEXT, primary_key=True),
    Column("digest", BYTES, primary_key=True),
    Column("vector", BYTES, nullable=False),
)
Table(
    "imports",
    TABLES,
    Column("digest", TEXT, primary_key=True),
    Column("collection", TEXT, nullable=False),
    Column("name", TEXT, nullable=False),
    Column("total", WHOLE, nullable=False),
    Column("done", WHOLE, nullable=False),
    Column("began", REAL, nullable=False),
    Column("base", TEXT, nullable=False, server_default=sql("'imported'")),
    Column("how", TEXT, nullable=False, server_default=sql("'add'")),
)
Table(
    "origins",
    TABLES,
    Column("seq", WHOLE, Identity(always=False), primary_key=True),
    Column("collection", TEXT, nullable=False),
    Column("file", TEXT, nullable=False),
    Column("digest", TEXT, nullable=False),
    Column("records", WHOLE, nullable=False),
    Column("how", TEXT, nullable=False),
    Column("at", REAL, nullable=False),
)
Table(
    "lessons",
    TABLES,
    Column("seq", WHOLE, Identity(always=False), primary_key=True),
    Column("run", TEXT, nullable=False),
    Column("path", TEXT, nullable=False),
    Column("at", REAL, nullable=False),
    Column("body", TEXT, nullable=False),
    Column("undone", REAL),
    UniqueConstraint("run", "path"),
)
Table(
    "memory_states",
    TABLES,
    Column("seq", WHOLE, Identity(always=False), primary_key=True),
    Column("collection", TEXT, nullable=False),
    Column("id", TEXT, nullable=False),
    Column("body", TEXT),
    Column("until", WHOLE),
    Index("memory_states_open", "collection", "id", postgresql_where=sql("until IS NULL")),
)
Table(
    "memory_snapshots",
    TABLES,
    Column("name", TEXT, primary_key=True),
    Column("at", WHOLE, nullable=False),
    Column("digest", TEXT, nullable=False),
    Column("made", REAL, nullable=False),
)
