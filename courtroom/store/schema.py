"""Which schema a store has: it is made from the tables, brought up to date by Alembic, or refused in one sentence.

SQLAlchemy and Alembic are slow to import, so a store of this program's revision is opened without them.
"""

from __future__ import annotations

import time
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from courtroom.errors import StoreError
from courtroom.store.connection import StoreConnection
from courtroom.version import __version__

if TYPE_CHECKING:
    from sqlalchemy import Connection as ServerConnection

REVISION = "0006"
"""The last of `revisions/`: its file says so, and numbers count on."""
BEFORE = 22
"""The schema of the last development version before 1.0.0, which the first revision takes over."""
OURS = frozenset({"runs", "answers"})


def is_current(db: StoreConnection, names: set[str], place: str) -> bool:
    """Whether a store has this program's schema; False where it is empty, or older and can be brought up to date.

    Raises:
        StoreError: it is none of ours, newer, too old, or a table is missing.
    """
    if not names:
        return False
    if not names >= OURS:
        raise StoreError(f"{place} holds something else than a store of Courtroom. Choose another place for the store.")
    if "alembic_version" not in names:
        _check_before_alembic(db, "written_by" in names, place)
        return False
    (revision,) = db.execute("SELECT max(version_num) FROM alembic_version").fetchone()
    if revision is None or revision > REVISION:
        raise _newer(db, "written_by" in names, place, f"revision {revision}")
    tables = None
    if "written_by" in names:
        tables = db.execute("SELECT max(tables) FROM written_by WHERE revision = ?", (revision,)).fetchone()[0]
    if missing := {*(tables or "written_by").split()} - names:
        raise StoreError(f"{place} is not whole: the table {min(missing)} is missing. Put a backup in its place.")
    return bool(revision == REVISION)


def _check_before_alembic(db: StoreConnection, signed: bool, place: str) -> None:
    schema = db.execute("SELECT max(schema) FROM written_by").fetchone()[0] if signed else None
    if schema is None or schema < BEFORE:
        raise StoreError(
            f"{place} was written by a development version before 1.0.0, with a schema that is no longer read. "
            "Start with an empty store; to keep its runs, export them with the version that wrote it."
        )
    if schema > BEFORE:
        raise _newer(db, signed, place, f"schema {schema}")


def _newer(db: StoreConnection, signed: bool, place: str, schema: str) -> StoreError:
    """Another program wrote the store, which names itself where it can."""
    row = db.execute("SELECT version FROM written_by ORDER BY first DESC LIMIT 1").fetchone() if signed else None
    writer = f"Courtroom {row[0]}" if row else "a newer Courtroom"
    return StoreError(
        f"{place} was written by {writer} with {schema}; this is Courtroom {__version__}, which knows revisions up to "
        f"{REVISION}. Install the newer one, or choose another place for the store."
    )


def begun(text: str) -> str:
    """A text at the beginning of a sentence."""
    return text[:1].upper() + text[1:]


def create(db: StoreConnection, dialect: str) -> None:
    """Make all tables in an empty database, within the caller's transaction."""
    for statement in statements(dialect):
        db.execute(statement)
    db.execute("INSERT INTO alembic_version VALUES (?)", (REVISION,))
    sign(db, names_of_tables())


@cache
def statements(dialect: str) -> tuple[str, ...]:
    from sqlalchemy.dialects import postgresql, sqlite
    from sqlalchemy.schema import CreateIndex, CreateTable

    from courtroom.store.tables import TABLES

    kind = sqlite.dialect() if dialect == "sqlite" else postgresql.dialect()  # type: ignore[no-untyped-call]
    tables = TABLES.tables.values()
    made = [str(CreateTable(table).compile(dialect=kind)) for table in tables]
    indexes = [index for table in tables for index in sorted(table.indexes, key=lambda index: str(index.name))]
    written = (*made, *(str(CreateIndex(index).compile(dialect=kind)) for index in indexes))
    return written if dialect == "sqlite" else (*written, FUNCTIONS)


def names_of_tables() -> str:
    from courtroom.store.tables import TABLES

    return " ".join(sorted(TABLES.tables))


def upgrade(server: ServerConnection) -> None:
    """Run the revisions that a store lacks, within the caller's transaction."""
    from alembic.migration import MigrationContext
    from alembic.operations import Operations
    from alembic.script import ScriptDirectory

    folder = str(Path(__file__).parent / "revisions")
    scripts = ScriptDirectory(folder, version_locations=[folder])
    context = MigrationContext.configure(server)
    lacking = scripts.iterate_revisions(REVISION, context.get_current_revision() or "base")
    with Operations.context(context):
        for script in reversed([*lacking]):
            script.module.upgrade()
    context.stamp(scripts, REVISION)


def is_signed(db: StoreConnection) -> bool:
    """Whether it is on record that this version of the program has opened the store."""
    row = db.execute("SELECT 1 FROM written_by WHERE version = ? AND revision = ?", (__version__, REVISION)).fetchone()
    return row is not None


def sign(db: StoreConnection, tables: str = "") -> None:
    """Put on record which program writes this store, so that an older one can name it, and which tables the store has.

    Args:
        tables: their names; those that stand there already by default.
    """
    if not tables:
        tables = db.execute("SELECT tables FROM written_by WHERE revision = ?", (REVISION,)).fetchone()[0]
    db.execute(
        "INSERT INTO written_by (version, revision, tables, first) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
        (__version__, REVISION, tables, time.time()),
    )


# SQLite's functions that the program uses, and PostgreSQL lacks. A damaged text gives NULL. What catches an error
# can't be run by several workers at once.
FUNCTIONS = r"""
CREATE FUNCTION instr(text, text) RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE AS 'SELECT strpos($1, $2)';
CREATE FUNCTION folded(text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS 'SELECT lower(coalesce($1, '''') COLLATE pg_catalog."default")';
CREATE FUNCTION json_valid(body text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    PERFORM body::json;
    RETURN body IS NOT NULL;
EXCEPTION WHEN invalid_text_representation THEN
    RETURN false;
END $$;
CREATE FUNCTION json_extract(body text, path text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    found json;
BEGIN
    found := body::json #> string_to_array(substr(path, 3), '.');
    RETURN CASE json_typeof(found)
        WHEN 'boolean' THEN CASE found #>> '{}' WHEN 'true' THEN '1' ELSE '0' END
        ELSE found #>> '{}'
    END;
EXCEPTION
    WHEN invalid_text_representation THEN RETURN NULL;
    WHEN untranslatable_character THEN RETURN json_extract(replace(body, '\u0000', ''), path);
END $$;
CREATE FUNCTION json_each(body text, path text) RETURNS TABLE (value text) LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    RETURN QUERY SELECT json_array_elements_text(body::json #> string_to_array(substr(path, 3), '.'));
EXCEPTION WHEN untranslatable_character THEN
    RETURN QUERY
            SELECT json_array_elements_text(replace(body, '\u0000', '')::json #> string_to_array(substr(path, 3), '.'));
END $$;
"""
