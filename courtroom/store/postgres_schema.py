"""PostgreSQL's tables: made where there are none, brought up to date where they are older."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Protocol

from sqlalchemy import Connection as ServerConnection

from courtroom.errors import StoreError
from courtroom.store.connection import StoreConnection
from courtroom.store.file import OURS
from courtroom.store.plain_text import begun
from courtroom.store.tables import TABLES
from courtroom.version import __version__


class SchemaServer(Protocol):
    """What a schema is made in."""

    place: str
    """Where it is, in words."""

    @property
    def held(self) -> ServerConnection | None:
        """The connection of this thread's transaction."""
        ...

    def transaction(self) -> AbstractContextManager[StoreConnection]:
        """All or nothing."""
        ...


FIRST = 18
"""The first schema that PostgreSQL was given."""
CHANGES: Mapping[int, str] = {
    19: """CREATE TABLE accounts (id text COLLATE "C" PRIMARY KEY, issuer text COLLATE "C" NOT NULL, subject text COLLATE "C" NOT NULL,
        name text COLLATE "C" NOT NULL, email text COLLATE "C" NOT NULL, access bigint NOT NULL, budget double precision,
        first double precision NOT NULL, last double precision NOT NULL)""",
}
"""For each later entry of `MIGRATIONS`, what does the same in PostgreSQL, by the number of the schema."""

# SQLite's functions that the program uses, and PostgreSQL lacks. A damaged text gives NULL. What catches an error can't be run by
# several workers at once.
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
    RETURN QUERY SELECT json_array_elements_text(replace(body, '\u0000', '')::json #> string_to_array(substr(path, 3), '.'));
END $$;
"""


def prepare(store: SchemaServer, schema: int) -> None:
    """Make the tables, or bring them up to date; all or nothing, and one process at a time.

    Args:
        schema: number of the schema that this program writes.

    Raises:
        StoreError: the database holds something else, or was written by a newer program.
        ServerError: the server can't do it.
    """
    me = (__version__, schema)
    with store.transaction() as db:
        encoding = db.execute("SELECT current_setting('server_encoding')").fetchone()[0]
        if encoding != "UTF8":
            raise StoreError(
                f"{begun(store.place)} keeps text as {encoding}. Make it anew with `createdb --encoding UTF8`."
            )
        there = {row[0] for row in db.execute("SELECT tablename FROM pg_tables WHERE schemaname = current_schema()")}
        if there and not there >= OURS | {"written_by"}:
            raise StoreError(
                f"{begun(store.place)} holds something else than a store of Courtroom. Give it an empty database."
            )
        if not there:
            held = store.held
            assert held is not None
            TABLES.create_all(held, checkfirst=False)
            held.exec_driver_sql(FUNCTIONS)
        else:
            newest = db.execute(
                "SELECT version, schema FROM written_by ORDER BY schema DESC, first DESC LIMIT 1"
            ).fetchone()
            if newest["schema"] > schema:
                raise StoreError(
                    f"{begun(store.place)} was written by Courtroom {newest['version']} with schema {newest['schema']}; this is "
                    f"Courtroom {__version__}, which knows schemas up to {schema}. Install the newer one."
                )
            for number in range(newest["schema"] + 1, schema + 1):
                db.execute(CHANGES[number])
        db.execute("INSERT INTO written_by VALUES (?, ?, ?) ON CONFLICT DO NOTHING", (*me, time.time()))
