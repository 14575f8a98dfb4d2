"""Cases, datasets, sweeps, experiments, and what is kept under a name."""

from __future__ import annotations

from sqlalchemy import Column, Identity, Index, Table, UniqueConstraint
from sqlalchemy import text as sql

from courtroom.store.tables.columns import BYTES, REAL, TABLES, TEXT, WHOLE

Table(
    "sweeps",
    TABLES,
    Column("number", WHOLE, Identity(always=False), primary_key=True),
    Column("id", TEXT, nullable=False, unique=True),
    Column("base", TEXT, nullable=False),
    Column("title", TEXT, nullable=False),
    Column("plan", TEXT, nullable=False),
    Column("status", TEXT, nullable=False),
    Column("reason", TEXT, nullable=False, server_default=sql("''")),
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
    "experiments",
    TABLES,
    Column("number", WHOLE, Identity(always=False), primary_key=True),
    Column("id", TEXT, nullable=False, unique=True),
    Column("name", TEXT, nullable=False),
    Column("body", TEXT, nullable=False),
    Column("kind", TEXT, nullable=False),
    Column("status", TEXT, nullable=False),
    Column("reason", TEXT, nullable=False, server_default=sql("''")),
    Column("created", REAL, nullable=False),
    Column("owner", TEXT),
    Column("heartbeat", REAL),
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
    Column("state", TEXT, nullable=False, server_default=sql("'waiting'")),
    Column("reason", TEXT, nullable=False, server_default=sql("''")),
    Column("outcome", TEXT),
    Index("experiment_cells_by_run", "run"),
    Index("experiment_cells_by_state", "experiment", "state", "arm"),
)
Table(
    "setups",
    TABLES,
    Column("name", TEXT, primary_key=True),
    Column("body", TEXT, nullable=False),
    Column("saved", REAL, nullable=False),
)
Table(
    "panels",
    TABLES,
    Column("name", TEXT, primary_key=True),
    Column("body", TEXT, nullable=False),
    Column("saved", REAL, nullable=False),
)
Table(
    "cases",
    TABLES,
    Column("id", TEXT, primary_key=True),
    Column("body", TEXT, nullable=False),
    Column("added", REAL, nullable=False),
)
Table(
    "capabilities",
    TABLES,
    Column("model", TEXT, primary_key=True),
    Column("name", TEXT, primary_key=True),
    Column("value", WHOLE, nullable=False),
)
Table(
    "written_by",
    TABLES,
    Column("version", TEXT, primary_key=True),
    Column("schema", WHOLE, primary_key=True),
    Column("first", REAL, nullable=False),
)
Table(
    "datasets",
    TABLES,
    Column("id", WHOLE, Identity(always=False), primary_key=True),
    Column("name", TEXT, nullable=False),
    Column("version", TEXT),
    Column("content", WHOLE, nullable=False),
    Column("kind", TEXT, nullable=False, server_default=sql("''")),
    Column("count", WHOLE, nullable=False, server_default=sql("0")),
    Column("source", TEXT, nullable=False),
    Column("made", REAL, nullable=False),
    Column("frame", TEXT, nullable=False, server_default=sql("''")),
    Column("job", TEXT, nullable=False, server_default=sql("''")),
    Column("orders", TEXT, nullable=False, server_default=sql("''")),
    Column("state", TEXT, nullable=False, server_default=sql("'{}'")),
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
    "dataset_problems",
    TABLES,
    Column("number", WHOLE, Identity(always=False), primary_key=True),
    Column("dataset", WHOLE, nullable=False),
    Column("place", TEXT, nullable=False),
    Column("message", TEXT, nullable=False),
)
Table(
    "dataset_relevance",
    TABLES,
    Column("content", WHOLE, primary_key=True),
    Column("query", TEXT, primary_key=True),
    Column("candidate", TEXT, primary_key=True),
    Column("grade", WHOLE, nullable=False),
)
