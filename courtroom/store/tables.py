"""The tables as PostgreSQL is given them. A test holds them against what SQLite's migrations make, column by column."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Column,
    Double,
    Identity,
    Index,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    text,
)

TABLES = MetaData()
TEXT = Text(collation="C")
"""Compared by its characters' numbers, as SQLite does."""
WHOLE = BigInteger()
REAL = Double[float]()
BYTES = LargeBinary()

Table(
    "sweeps",
    TABLES,
    Column("number", WHOLE, Identity(always=False), primary_key=True),
    Column("id", TEXT, nullable=False, unique=True),
    Column("base", TEXT, nullable=False),
    Column("title", TEXT, nullable=False),
    Column("plan", TEXT, nullable=False),
    Column("status", TEXT, nullable=False),
    Column("reason", TEXT, nullable=False, server_default=text("''")),
    Column("created", REAL, nullable=False),
    Column("owner", TEXT),
    Column("heartbeat", REAL),
)
Table("snapshots", TABLES, Column("hash", TEXT, primary_key=True), Column("body", TEXT, nullable=False))
Table(
    "memory_snapshots",
    TABLES,
    Column("name", TEXT, primary_key=True),
    Column("at", WHOLE, nullable=False),
    Column("digest", TEXT, nullable=False),
    Column("made", REAL, nullable=False),
)
Table(
    "answers",
    TABLES,
    Column("key", TEXT, primary_key=True),
    Column("model", TEXT, nullable=False),
    Column("request", TEXT, nullable=False),
    Column("reply", TEXT, nullable=False),
    Column("at", REAL, nullable=False),
)
Table("parts", TABLES, Column("hash", TEXT, primary_key=True), Column("text", TEXT, nullable=False))
Table(
    "capabilities",
    TABLES,
    Column("model", TEXT, primary_key=True),
    Column("name", TEXT, primary_key=True),
    Column("value", WHOLE, nullable=False),
)
Table(
    "cases",
    TABLES,
    Column("id", TEXT, primary_key=True),
    Column("body", TEXT, nullable=False),
    Column("added", REAL, nullable=False),
)
Table(
    "setups",
    TABLES,
    Column("name", TEXT, primary_key=True),
    Column("body", TEXT, nullable=False),
    Column("saved", REAL, nullable=False),
)
Table(
    "knowledge",
    TABLES,
    Column("seq", WHOLE, Identity(always=False), primary_key=True),
    Column("collection", TEXT, nullable=False),
    Column("id", TEXT, nullable=False),
    Column("body", TEXT, nullable=False),
    Column("added", REAL, nullable=False),
    Column("words", TEXT),
    Column("version", WHOLE, nullable=False, server_default=text("0")),
    UniqueConstraint("collection", "id"),
    Index("knowledge_by_version", "collection", "version"),
)
Table(
    "collections",
    TABLES,
    Column("name", TEXT, primary_key=True),
    Column("embedding", TEXT),
    Column("changes", WHOLE, nullable=False, server_default=text("0")),
    Column("seeded", WHOLE, nullable=False, server_default=text("0")),
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
    Column("base", TEXT, nullable=False, server_default=text("'imported'")),
    Column("how", TEXT, nullable=False, server_default=text("'add'")),
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
    "experiments",
    TABLES,
    Column("number", WHOLE, Identity(always=False), primary_key=True),
    Column("id", TEXT, nullable=False, unique=True),
    Column("name", TEXT, nullable=False),
    Column("body", TEXT, nullable=False),
    Column("kind", TEXT, nullable=False),
    Column("status", TEXT, nullable=False),
    Column("reason", TEXT, nullable=False, server_default=text("''")),
    Column("created", REAL, nullable=False),
    Column("owner", TEXT),
    Column("heartbeat", REAL),
)
Table(
    "sweep_runs",
    TABLES,
    Column("sweep", TEXT, primary_key=True),
    Column("variant", WHOLE, primary_key=True),
    Column("seed", WHOLE, primary_key=True),
    Column("run", TEXT, nullable=False),
    Index("sweep_runs_by_run", "run"),
)
Table(
    "interventions",
    TABLES,
    Column("run", TEXT, primary_key=True),
    Column("number", WHOLE, primary_key=True),
    Column("id", TEXT, nullable=False),
    Column("body", TEXT, nullable=False),
    Column("undone", REAL),
    UniqueConstraint("run", "id"),
)
Table("rewinds", TABLES, Column("run", TEXT, primary_key=True), Column("stage", WHOLE, nullable=False))
Table(
    "seats",
    TABLES,
    Column("token", TEXT, primary_key=True),
    Column("run", TEXT, nullable=False),
    Column("member", TEXT, nullable=False),
    Column("made", REAL, nullable=False),
    UniqueConstraint("run", "member"),
)
Table(
    "questions",
    TABLES,
    Column("run", TEXT, primary_key=True),
    Column("path", TEXT, primary_key=True),
    Column("key", TEXT, primary_key=True),
    Column("member", TEXT, nullable=False),
    Column("title", TEXT, nullable=False),
    Column("request", TEXT, nullable=False),
    Column("asked", REAL, nullable=False),
    Column("deadline", REAL),
    Column("answer", TEXT),
    Column("answered", REAL),
)
Table(
    "written_by",
    TABLES,
    Column("version", TEXT, primary_key=True),
    Column("schema", WHOLE, primary_key=True),
    Column("first", REAL, nullable=False),
)
Table(
    "lost_drivers",
    TABLES,
    Column("run", TEXT, primary_key=True),
    Column("owner", TEXT, nullable=False),
    Column("times", WHOLE, nullable=False),
    Column("seen", WHOLE, nullable=False),
)
Table(
    "memory_states",
    TABLES,
    Column("seq", WHOLE, Identity(always=False), primary_key=True),
    Column("collection", TEXT, nullable=False),
    Column("id", TEXT, nullable=False),
    Column("body", TEXT),
    Column("until", WHOLE),
    Index("memory_states_open", "collection", "id", postgresql_where=text("until IS NULL")),
)
Table(
    "events",
    TABLES,
    Column("seq", WHOLE, Identity(always=False), primary_key=True),
    Column("run", TEXT, nullable=False),
    Column("generation", WHOLE, nullable=False),
    Column("overtaken", WHOLE, nullable=False, server_default=text("0")),
    Column("stage", TEXT, nullable=False),
    Column("kind", TEXT, nullable=False),
    Column("path", TEXT, nullable=False),
    Column("key", TEXT, nullable=False),
    Column("at", REAL, nullable=False),
    Column("body", TEXT, nullable=False),
    UniqueConstraint("run", "overtaken", "kind", "path"),
    Index("events_by_run", "run", "seq"),
    Index("events_by_key", "run", "key", postgresql_where=text("kind = 'retrieval'")),
)
Table(
    "datasets",
    TABLES,
    Column("id", WHOLE, Identity(always=False), primary_key=True),
    Column("name", TEXT, nullable=False),
    Column("version", TEXT),
    Column("content", WHOLE, nullable=False),
    Column("kind", TEXT, nullable=False, server_default=text("''")),
    Column("count", WHOLE, nullable=False, server_default=text("0")),
    Column("source", TEXT, nullable=False),
    Column("made", REAL, nullable=False),
    Column("frame", TEXT, nullable=False, server_default=text("''")),
    Column("job", TEXT, nullable=False, server_default=text("''")),
    Column("orders", TEXT, nullable=False, server_default=text("''")),
    Column("state", TEXT, nullable=False, server_default=text("'{}'")),
    UniqueConstraint("name", "version"),
)
Table(
    "dataset_rows",
    TABLES,
    Column("content", WHOLE, primary_key=True),
    Column("seq", WHOLE, primary_key=True),
    Column("id", TEXT, nullable=False),
    Column("category", TEXT, nullable=False),
    Column("grp", TEXT, nullable=False),
    Column("asked", TEXT, nullable=False),
    Column("number", WHOLE, nullable=False),
    Column("place", TEXT, nullable=False),
    Column("outcome", TEXT, nullable=False),
    Column("length", WHOLE, nullable=False),
    Column("language", TEXT, nullable=False),
    Column("margin", REAL),
    Column("fingerprint", BYTES, nullable=False),
    Column("numbers", TEXT, nullable=False),
    Column("body", TEXT, nullable=False),
    Index("dataset_rows_by_id", "content", "id", unique=True),
)
Table(
    "dataset_splits",
    TABLES,
    Column("dataset", WHOLE, primary_key=True),
    Column("seq", WHOLE, primary_key=True),
    Column("split", TEXT, nullable=False),
)
Table(
    "dataset_relevance",
    TABLES,
    Column("content", WHOLE, primary_key=True),
    Column("query", TEXT, primary_key=True),
    Column("candidate", TEXT, primary_key=True),
    Column("grade", WHOLE, nullable=False),
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
    "payments",
    TABLES,
    Column("number", WHOLE, Identity(always=False), primary_key=True),
    Column("run", TEXT, nullable=False),
    Column("path", TEXT, nullable=False),
    Column("key", TEXT, nullable=False),
    Column("calls", WHOLE, nullable=False),
    Column("attempts", WHOLE, nullable=False),
    Column("prompt", WHOLE, nullable=False),
    Column("completion", WHOLE, nullable=False),
    Column("cost", REAL),
    Column("at", REAL, nullable=False),
    Column("beside", WHOLE, nullable=False, server_default=text("0")),
    Index("payments_by_run", "run", "path", "key"),
)
Table(
    "dataset_problems",
    TABLES,
    Column("number", WHOLE, Identity(always=False), primary_key=True),
    Column("dataset", WHOLE, nullable=False),
    Column("place", TEXT, nullable=False),
    Column("message", TEXT, nullable=False),
)
Table(
    "experiment_cells",
    TABLES,
    Column("experiment", TEXT, primary_key=True),
    Column("number", WHOLE, primary_key=True),
    Column("arm", WHOLE, nullable=False),
    Column("row", TEXT, nullable=False),
    Column("repeat", WHOLE, nullable=False),
    Column("seed", WHOLE, nullable=False),
    Column("phase", TEXT, nullable=False),
    Column("run", TEXT, nullable=False),
    Column("state", TEXT, nullable=False, server_default=text("'waiting'")),
    Column("reason", TEXT, nullable=False, server_default=text("''")),
    Column("outcome", TEXT),
    Index("experiment_cells_by_run", "run"),
    Index("experiment_cells_by_state", "experiment", "state", "arm"),
)
Table(
    "asides",
    TABLES,
    Column("seq", WHOLE, Identity(always=False), primary_key=True),
    Column("run", TEXT, nullable=False),
    Column("kind", TEXT, nullable=False),
    Column("at", REAL, nullable=False),
    Column("body", TEXT, nullable=False),
    Index("asides_by_run", "run", "seq"),
)
Table(
    "marks",
    TABLES,
    Column("run", TEXT, primary_key=True),
    Column("target", TEXT, primary_key=True),
    Column("reviewer", TEXT, primary_key=True),
    Column("at", REAL, nullable=False),
    Column("body", TEXT, nullable=False),
)
Table(
    "knowledge_removed",
    TABLES,
    Column("collection", TEXT, primary_key=True),
    Column("id", TEXT, primary_key=True),
    Column("version", WHOLE, nullable=False),
)
Table(
    "imported_answers",
    TABLES,
    Column("run", TEXT, primary_key=True),
    Column("key", TEXT, primary_key=True),
    Column("request", TEXT, nullable=False),
    Column("reply", TEXT, nullable=False),
)
Table(
    "panels",
    TABLES,
    Column("name", TEXT, primary_key=True),
    Column("body", TEXT, nullable=False),
    Column("saved", REAL, nullable=False),
)
Table(
    "runs",
    TABLES,
    Column("number", WHOLE, Identity(always=False), primary_key=True),
    Column("id", TEXT, nullable=False, unique=True),
    Column("procedure", TEXT, nullable=False),
    Column("case_id", TEXT, nullable=False),
    Column("title", TEXT, nullable=False),
    Column("case_hash", TEXT, nullable=False),
    Column("setup", TEXT, nullable=False),
    Column("seed", WHOLE, nullable=False),
    Column("status", TEXT, nullable=False),
    Column("reason", TEXT, nullable=False, server_default=text("''")),
    Column("verdict", TEXT),
    Column("parent", TEXT),
    Column("origin", TEXT, nullable=False, server_default=text("'input'")),
    Column("created", REAL, nullable=False),
    Column("wall_s", REAL, nullable=False, server_default=text("0")),
    Column("control", TEXT, nullable=False),
    Column("owner", TEXT),
    Column("heartbeat", REAL),
    Column("imported", TEXT),
    Index("runs_listed", "created", "id", "status", "procedure", "parent"),
)
