"""Knowledge bases: statutes with interpretations, charges and referred precedents (JurisAgents, 3.2); precedents of disputes.

The bundled base is ours: an unofficial digest and invented precedents. What is imported goes into a base with a name of its
own, so that the two never mix: each has its own word index and vector index.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal, get_args

from pydantic import Field

from courtroom.cases.criminal import CriminalCase
from courtroom.law.statute import Both, Charge, Statute, charges_of
from courtroom.settings import DATA
from courtroom.store.connection import fitting, read, read_all
from courtroom.store.database import Database
from courtroom.strict import Strict

BUNDLED = "bundled"
IMPORTED = "imported"
"""The base into which a file goes where no other is named."""
Kind = Literal["statutes", "charges", "cases"]
KINDS: tuple[Kind, ...] = get_args(Kind)
IN_BASES: tuple[Literal["precedents"] | Kind, ...] = (*KINDS, "precedents")
"""The collections that each base has."""
How = Literal["add", "replace"]
BaseName = Annotated[str, Field(pattern=r"^[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?$")]


class Origin(Strict):
    """One file that was imported into a base."""

    collection: str
    """Under which name its records are kept, e.g. `statutes.imported`."""
    file: str
    digest: str
    """SHA-256 of the records as they were imported."""
    records: int
    how: How
    at: float


def kept_as(kind: str, base: str) -> str:
    """The name under which a collection of a base is kept; those of the bundled base have the name of their kind alone."""
    return kind if base == BUNDLED else f"{kind}.{base}"


def known_bases(database: Database) -> tuple[str, ...]:
    """All bases that hold something, the bundled one first."""
    rows = database.execute(
        "SELECT name FROM collections WHERE instr(name, '.') > 0 AND EXISTS (SELECT 1 FROM knowledge WHERE collection = name)"
    )
    return (BUNDLED, *sorted({row["name"].partition(".")[2] for row in rows}))


def origins(database: Database, collection: str) -> list[Origin]:
    """The files that were imported into a collection, oldest first, from the last replacement on."""
    rows = database.execute("SELECT * FROM origins WHERE collection = ? ORDER BY seq", (collection,))
    return read_all(rows, lambda row: read("origin", row["seq"], lambda: fitting(Origin, row)))[0]


STATUTES = DATA / "statutes.jsonl"
REFERRED = DATA / "criminal_precedents.jsonl"


def bundled_statutes() -> list[Statute]:
    return [Statute.model_validate_json(line) for line in _lines(STATUTES)]


def bundled_charges() -> list[Charge]:
    return charges_of(bundled_statutes())


def bundled_cases() -> list[CriminalCase]:
    return [CriminalCase.model_validate_json(line) for line in _lines(REFERRED)]


def statute_text(statute: Statute) -> tuple[str, ...]:
    parts = (statute.title, *statute.charges, statute.text, statute.cues)
    return _each(parts, statute.interpretation)


def charge_text(charge: Charge) -> tuple[str, ...]:
    return _each((charge.name, charge.text, charge.cues))


def case_text(case: CriminalCase) -> str:
    """What of a referred precedent is searched: its facts alone, as they are all that a new case has."""
    return case.facts


def _each(parts: tuple[Both, ...], more: str = "") -> tuple[str, ...]:
    texts = (" ".join(part.zh for part in parts), " ".join(part.en for part in parts))
    lines = [text.strip() for text in texts if text.strip()]
    return *lines[:-1], f"{lines[-1]} {more}".strip()


def _lines(path: Path) -> Iterator[str]:
    return (line for line in path.read_text(encoding="utf-8").split("\n") if line.strip())
