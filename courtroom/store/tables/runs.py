"""Runs, and what belongs to one."""

from __future__ import annotations

from sqlalchemy import Column, Identity, Index, Table, UniqueConstraint
from sqlalchemy import text as sql

from courtroom.store.tables.columns import REAL, TABLES, TEXT, WHOLE

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
    Column("reason", TEXT, nullable=False, server_default=sql("''")),
    Column("verdict", TEXT),
    Column("parent", TEXT),
    Column("origin", TEXT, nullable=False, server_default=sql("'input'")),
    Column("created", REAL, nullable=False),
    Column("wall_s", REAL, nullable=False, server_default=sql("0")),
    Column("control", TEXT, nullable=False),
    Column("owner", TEXT),
    Column("heartbeat", REAL),
    Column("imported", TEXT),
    Index("runs_by_parent", "parent"),
    Index("runs_by_status", "status", "number", "id", "procedure"),
    Index("runs_by_case", "case_id", "number", "title", "id", "status", "procedure"),
)
Table("snapshots", TABLES, Column("hash", TEXT, primary_key=True), Column("body", TEXT, nullable=False))
Table(
    "events",
    TABLES,
    Column("seq", WHOLE, Identity(always=False), primary_key=True),
    Column("run", TEXT, nullable=False),
    Column("generation", WHOLE, nullable=False),
    Column("overtaken", WHOLE, nullable=False, server_default=sql("0")),
    Column("stage", TEXT, nullable=False),
    Column("kind", TEXT, nullable=False),
    Column("path", TEXT, nullable=False),
    Column("key", TEXT, nullable=False),
    Column("at", REAL, nullable=False),
    Column("body", TEXT, nullable=False),
    UniqueConstraint("run", "overtaken", "kind", "path"),
    Index("events_by_run", "run", "seq"),
    Index("events_by_key", "run", "key", postgresql_where=sql("kind = 'retrieval'")),
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
    "batches",
    TABLES,
    Column("writer", TEXT, primary_key=True),
    Column("number", WHOLE, nullable=False),
    Column("at", REAL, nullable=False),
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
    Column("beside", WHOLE, nullable=False, server_default=sql("0")),
    Index("payments_by_run", "run", "path", "key"),
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
    "imported_answers",
    TABLES,
    Column("run", TEXT, primary_key=True),
    Column("key", TEXT, primary_key=True),
    Column("request", TEXT, nullable=False),
    Column("reply", TEXT, nullable=False),
)
Table(
    "audiences",
    TABLES,
    Column("run", TEXT, primary_key=True),
    Column("token", TEXT, nullable=False, unique=True),
    Column("made", REAL, nullable=False),
    Column("closed", REAL),
    Column("shown", WHOLE),
)
Table(
    "audience_votes",
    TABLES,
    Column("run", TEXT, primary_key=True),
    Column("poll", TEXT, primary_key=True),
    Column("phone", TEXT, primary_key=True),
    Column("choice", TEXT, nullable=False),
    Column("at", REAL, nullable=False),
)
Table(
    "audience_arguments",
    TABLES,
    Column("number", WHOLE, Identity(always=False), primary_key=True),
    Column("run", TEXT, nullable=False),
    Column("poll", TEXT, nullable=False),
    Column("phone", TEXT, nullable=False),
    Column("choice", TEXT, nullable=False),
    Column("text", TEXT, nullable=False),
    Column("at", REAL, nullable=False),
    UniqueConstraint("run", "poll", "phone"),
)
Table(
    "audience_likes",
    TABLES,
    Column("argument", WHOLE, primary_key=True),
    Column("run", TEXT, nullable=False),
    Column("phone", TEXT, primary_key=True),
    Column("at", REAL, nullable=False),
    Index("audience_likes_by_run", "run", "phone"),
)
Table(
    "playlists",
    TABLES,
    Column("id", TEXT, primary_key=True),
    Column("body", TEXT, nullable=False),
    Column("made", REAL, nullable=False),
)
