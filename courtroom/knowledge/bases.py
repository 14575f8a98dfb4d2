"""Knowledge bases of criminal law: which there are, and where the records of each came from.

A base holds articles, charges and precedents. The bundled one is ours: an unofficial digest and invented precedents. What is
imported goes into a base with a name of its own, so that the two never mix: each has its own word index and vector index.
"""

from __future__ import annotations

from typing import Annotated, Literal, get_args

from pydantic import Field

from courtroom.store.database import Database
from courtroom.store.rows import read, read_all
from courtroom.strict import Strict

BUNDLED = "bundled"
IMPORTED = "imported"
"""The base into which a file goes where no other is named."""
Kind = Literal["statutes", "charges", "cases"]
KINDS: tuple[Kind, ...] = get_args(Kind)
How = Literal["add", "replace"]
BaseName = Annotated[str, Field(pattern=r"^[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?$")]


class Origin(Strict):
    """One file that was taken into a base."""

    collection: str
    """Under which name its records are kept, e.g. `statutes.imported`."""
    file: str
    digest: str
    """SHA-256 of the records as they were taken in."""
    records: int
    how: How
    at: float


def kept_as(kind: str, base: str) -> str:
    """The name under which a collection of a base is kept; those of the bundled base have the name of their kind alone."""
    return kind if base == BUNDLED else f"{kind}.{base}"


def known_bases(database: Database) -> tuple[str, ...]:
    """All bases that hold something, the bundled one first."""
    rows = database.connection.execute(
        "SELECT name FROM collections WHERE instr(name, '.') > 0 AND EXISTS (SELECT 1 FROM knowledge WHERE collection = name)"
    )
    return (BUNDLED, *sorted({row["name"].partition(".")[2] for row in rows}))


def origins(database: Database, collection: str) -> list[Origin]:
    """The files that a collection is made of, oldest first; what came before the last replacement is not among them."""
    rows = database.connection.execute("SELECT * FROM origins WHERE collection = ? ORDER BY seq", (collection,))
    return read_all(rows, lambda row: read("origin", row["seq"], lambda: _origin(dict(row))))[0]


def _origin(row: dict[str, object]) -> Origin:
    return Origin.model_validate({name: value for name, value in row.items() if name != "seq"})
