"""The tables of the store, for SQLite and PostgreSQL; a change is a revision, too (`courtroom/store/revisions/`)."""

from functools import partial
from typing import Any

from sqlalchemy import (
    REAL,
    BigInteger,
    Column,
    Double,
    Identity,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
)
from sqlalchemy import text as sql
from sqlalchemy.schema import SchemaItem

TABLES = MetaData()
TEXT = Text().with_variant(Text(collation="C"), "postgresql")
"""Compared by its characters' numbers in both databases."""
WHOLE = BigInteger().with_variant(Integer(), "sqlite")
FLOAT = Double[float]().with_variant(REAL[float](), "sqlite")


def column(name: str, kind: Any, default: str | None = None, nullable: bool = False, **options: Any) -> Column[Any]:
    """A column that must have a value, unless it is said to be nullable. `default`: as SQL."""
    return Column(name, kind, nullable=nullable, server_default=None if default is None else sql(default), **options)


def texts(*names: str, **options: Any) -> list[Column[Any]]:
    """Columns of text."""
    return [column(name, TEXT, **options) for name in names]


def wholes(*names: str, **options: Any) -> list[Column[Any]]:
    """Columns of whole numbers; 0 and 1 are no and yes."""
    return [column(name, WHOLE, **options) for name in names]


def reals(*names: str, **options: Any) -> list[Column[Any]]:
    """Columns of numbers; a time is in seconds since 1970."""
    return [column(name, FLOAT, **options) for name in names]


text, whole, real = partial(column, kind=TEXT), partial(column, kind=WHOLE), partial(column, kind=FLOAT)
data = partial(column, kind=LargeBinary())


def table(name: str, *parts: SchemaItem, number: str = "", **options: Any) -> Table:
    """A table. `number`: the primary key of one whose rows are numbered as they come; no number is given twice."""
    if not number:
        return Table(name, TABLES, *parts, **options)
    key = Column(number, WHOLE, Identity(always=False), primary_key=True)
    return Table(name, TABLES, key, *parts, sqlite_autoincrement=True, **options)


# --- runs, and what belongs to one ---
table(
    "runs",
    text("id", unique=True),
    *texts("procedure", "case_id", "title", "case_hash", "setup"),
    whole("seed"),
    text("status"),
    text("reason", default="''"),
    *texts("verdict", "parent", nullable=True),
    text("origin", default="'input'"),
    real("created"),
    real("wall_s", default="0"),
    text("control"),
    *texts("imported", "exported_id", "exported_parent", nullable=True),
    Index("runs_by_case", "case_id", "number", "title", "id", "status", "procedure"),
    Index("runs_by_parent", "parent"),
    Index("runs_by_status", "status", "number", "id", "procedure"),
    number="number",
)
table("snapshots", text("hash", primary_key=True), text("body"))
table(
    "events",
    text("run"),
    whole("generation"),
    whole("overtaken", default="0"),
    *texts("stage", "kind", "path", "key"),
    real("at"),
    text("body"),
    UniqueConstraint("run", "overtaken", "kind", "path"),
    Index(
        "events_by_key",
        "run",
        "key",
        postgresql_where=sql("kind = 'retrieval'"),
        sqlite_where=sql("kind = 'retrieval'"),
    ),
    Index("events_by_run", "run", "seq"),
    number="seq",
)
table("answers", text("key", primary_key=True), text("model"), text("request"), text("reply"), real("at"))
table("parts", text("hash", primary_key=True), text("text"))
table("batched_calls", text("key", primary_key=True), text("batch"), real("at"))
table(
    "interventions",
    text("run", primary_key=True),
    whole("number", primary_key=True),
    *texts("id", "body"),
    real("undone", nullable=True),
    UniqueConstraint("run", "id"),
)
table("rewinds", text("run", primary_key=True), whole("stage"))
table(
    "seats",
    text("token", primary_key=True),
    *texts("run", "member"),
    real("made"),
    UniqueConstraint("run", "member"),
)
table(
    "questions",
    *texts("run", "path", "key", primary_key=True),
    *texts("member", "title", "request"),
    real("asked"),
    real("deadline", nullable=True),
    text("answer", nullable=True),
    real("answered", nullable=True),
)
table(
    "payments",
    *texts("run", "path", "key"),
    *wholes("calls", "attempts", "prompt", "completion"),
    real("cost", nullable=True),
    real("at"),
    *(whole(name, default="0") for name in ("beside", "estimated", "cached", "written", "batched")),
    Index("payments_by_run", "run", "path", "key"),
    number="number",
)
table(
    "asides",
    *texts("run", "kind"),
    real("at"),
    text("body"),
    Index("asides_by_run", "run", "seq"),
    number="seq",
)
table(
    "marks",
    *texts("run", "target", "reviewer", primary_key=True),
    real("at"),
    text("body"),
)
table(
    "imported_answers",
    *texts("run", "key", primary_key=True),
    *texts("request", "reply"),
)
table(
    "audiences",
    text("run", primary_key=True),
    text("token", unique=True),
    real("made"),
    real("closed", nullable=True),
    whole("shown", nullable=True),
)
table(
    "audience_votes",
    *texts("run", "poll", "phone", primary_key=True),
    text("choice"),
    real("at"),
)
table(
    "audience_arguments",
    *texts("run", "poll", "phone", "choice", "text"),
    real("at"),
    UniqueConstraint("run", "poll", "phone"),
    number="number",
)
table(
    "audience_likes",
    whole("argument", primary_key=True),
    text("run"),
    text("phone", primary_key=True),
    real("at"),
    Index("audience_likes_by_run", "run", "phone"),
)
# --- cases, datasets, experiments, and what is kept under a name ---
table(
    "experiments",
    text("id", unique=True),
    *texts("name", "body", "kind", "status"),
    text("reason", default="''"),
    real("created"),
    text("parent", default="''"),
    number="number",
)
table(
    "experiment_cells",
    text("experiment", primary_key=True),
    whole("number", primary_key=True),
    whole("arm"),
    text("row"),
    *wholes("repeat", "seed"),
    *texts("phase", "run"),
    text("state", default="'waiting'"),
    text("reason", default="''"),
    text("outcome", nullable=True),
    Index("experiment_cells_by_run", "run"),
    Index("experiment_cells_by_state", "experiment", "state", "arm"),
    sqlite_with_rowid=False,
)
table("setups", text("name", primary_key=True), text("body"), real("saved"))
table("panels", text("name", primary_key=True), text("body"), real("saved"))
table("cases", text("id", primary_key=True), text("body"), real("added"))
table("capabilities", text("model", primary_key=True), text("name", primary_key=True), whole("value"))
table(
    "datasets",
    Column("id", WHOLE, Identity(always=False), primary_key=True),
    text("name"),
    text("version", nullable=True),
    whole("content"),
    text("kind", default="''"),
    whole("count", default="0"),
    text("source"),
    real("made"),
    *texts("frame", "job", "orders", default="''"),
    text("state", default="'{}'"),
    UniqueConstraint("name", "version"),
)
table(
    "dataset_rows",
    *wholes("content", "seq", primary_key=True),
    *texts("id", "category", "grp", "asked"),
    whole("number"),
    *texts("place", "outcome"),
    whole("length"),
    text("language"),
    real("margin", nullable=True),
    data("fingerprint"),
    *texts("numbers", "body"),
    Index("dataset_rows_by_id", "content", "id", unique=True),
)
table(
    "dataset_splits",
    *wholes("dataset", "seq", primary_key=True),
    text("split"),
    sqlite_with_rowid=False,
)
table(
    "dataset_problems",
    whole("dataset"),
    *texts("place", "message"),
    number="number",
)
table(
    "dataset_relevance",
    whole("content", primary_key=True),
    *texts("query", "candidate", primary_key=True),
    whole("grade"),
    sqlite_with_rowid=False,
)
# --- the knowledge base ---
table(
    "knowledge",
    *texts("collection", "id", "body"),
    real("added"),
    text("words", nullable=True),
    whole("version", default="0"),
    UniqueConstraint("collection", "id"),
    Index("knowledge_by_version", "collection", "version"),
    number="seq",
)
table(
    "knowledge_removed",
    *texts("collection", "id", primary_key=True),
    whole("version"),
    sqlite_with_rowid=False,
)
table(
    "collections",
    text("name", primary_key=True),
    text("embedding", nullable=True),
    *wholes("changes", "seeded", default="0"),
)
table(
    "vectors",
    text("embedding", primary_key=True),
    data("digest", primary_key=True),
    data("vector"),
    sqlite_with_rowid=False,
)
table(
    "origins",
    *texts("collection", "file", "digest"),
    whole("records"),
    text("how"),
    real("at"),
    number="seq",
)
table(
    "lessons",
    *texts("run", "path"),
    real("at"),
    text("body"),
    real("undone", nullable=True),
    UniqueConstraint("run", "path"),
    number="seq",
)
table(
    "memory_states",
    *texts("collection", "id"),
    text("body", nullable=True),
    whole("until", nullable=True),
    Index(
        "memory_states_open",
        "collection",
        "id",
        postgresql_where=sql("until IS NULL"),
        sqlite_where=sql("until IS NULL"),
    ),
    number="seq",
)
table("memory_snapshots", text("name", primary_key=True), whole("at"), text("digest"), real("made"))
# --- the accounts of people ---
table(
    "accounts",
    text("id", primary_key=True),
    *texts("issuer", "subject", "name", "email"),
    whole("access"),
    real("budget", nullable=True),
    *reals("first", "last"),
    whole("rings", default="0"),
)
table(
    "spending",
    *texts("account", "month", primary_key=True),
    real("money"),
    whole("estimated", default="0"),
)
# --- whose each thing is, links, and who did what ---
table(
    "ownership",
    *texts("kind", "id", primary_key=True),
    *texts("account", "visibility"),
    sqlite_with_rowid=False,
)
table(
    "links",
    text("token", primary_key=True),
    *texts("kind", "id", "account"),
    *reals("made", "expires"),
    real("ended", nullable=True),
    Index("links_by_what_they_open", "kind", "id"),
)
table(
    "actions",
    real("at"),
    *texts("account", "name", "action", "kind", "id", "detail"),
    number="number",
)
# --- the store itself ---
table("alembic_version", text("version_num", primary_key=True))
table(
    "written_by",
    *texts("version", "revision", primary_key=True),
    text("tables"),
    real("first"),
)
