"""Knowledge bases: statutes with interpretations, charges and referred precedents (JurisAgents, 3.2); precedents of disputes with their norms."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, get_args

from pydantic import Field, ValidationError

from courtroom.access import Access, needs
from courtroom.cases.checks import explain
from courtroom.cases.criminal import CriminalCase
from courtroom.cases.dispute import Dispute, Precedent
from courtroom.errors import CaseError
from courtroom.knowledge.collection import Collection
from courtroom.law import STATUTES, Both, Charge, Statute, charges_of
from courtroom.settings import DATA
from courtroom.store.connection import fitting, read, read_all
from courtroom.store.database import Database
from courtroom.strict import Strict
from courtroom.text.files import json_records

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


def _each(parts: tuple[Both, ...], more: str = "") -> tuple[str, ...]:
    texts = (" ".join(part.zh for part in parts), " ".join(part.en for part in parts))
    lines = [text.strip() for text in texts if text.strip()]
    return *lines[:-1], f"{lines[-1]} {more}".strip()


def _lines(path: Path) -> Iterator[str]:
    return (line for line in path.read_text(encoding="utf-8").split("\n") if line.strip())


PRECEDENTS = DATA / "precedents.jsonl"


@dataclass(frozen=True)
class ImportReport:
    """How an import went."""

    taken: tuple[str, ...]
    problems: tuple[str, ...]
    """A sentence each, with the number of the line, or of the item in an array."""


class PrecedentBase:
    """Precedents of disputes: a collection, and how files of them are imported."""

    def __init__(self, collection: Collection[Precedent]) -> None:
        self.collection = collection

    def all(self) -> list[Precedent]:
        return self.collection.all()

    def get(self, precedent: str) -> Precedent | None:
        return self.collection.get(precedent)

    @needs(Access.RUN)
    def add(self, precedents: Iterable[Precedent]) -> None:
        self.collection.add(precedents)

    @needs(Access.OWN)
    def delete(self, precedent: str) -> None:
        """Forget one. `add` brings it back."""
        self.collection.remove([precedent])

    @needs(Access.RUN)
    def import_file(self, data: bytes) -> ImportReport:
        """Take in a JSON array or JSONL; lines that don't fit are reported, the others taken."""
        taken, problems = list[Precedent](), list[str]()
        try:
            for place, row in json_records(data):
                try:
                    taken.append(Precedent.model_validate(row))
                except ValidationError as error:
                    wrong = str(row) if isinstance(row, CaseError) else " ".join(explain(error))
                    problems.append(f"{place.capitalize()}: {wrong}")
        except CaseError as error:
            problems.append(f"The file: {error}")
        if not taken and not problems:
            problems.append("The file holds no precedents. Choose one with a JSON object on each line.")
        self.add(taken)
        return ImportReport(tuple(precedent.id for precedent in taken), tuple(problems))


def bundled_precedents() -> list[Precedent]:
    return [Precedent.model_validate_json(line) for line in PRECEDENTS.read_text(encoding="utf-8").splitlines()]


def from_dispute(case: Dispute) -> Precedent:
    """A precedent from a dispute with votes on record; its norms are still to be distilled."""
    if case.jury is None:
        raise ValueError("only a dispute with votes on record can become a precedent")
    return Precedent(
        id=precedent_id(case),
        title=case.title,
        language=case.language,
        category=case.category,
        dispute=dispute_text(case),
        buyer_votes=case.jury.buyer,
        seller_votes=case.jury.seller,
        opinions=case.jury.opinions,
        source=f"The case {case.id}",
    )


def precedent_id(case: Dispute) -> str:
    return f"case-{case.id}"


def dispute_text(case: Dispute) -> str:
    """A dispute as one text, whole: order, chat, claims of both sides, and what was seen in their media.

    Precedents are kept as this text and found by it, so that like is compared with like (Eq. 8 and 12).
    """
    deal = case.transaction
    lines = [case.category, deal.product, deal.condition, deal.description, deal.order_state]
    lines += [f"{line.speaker.capitalize()} in the chat: {line.text}" for line in case.chat]
    for piece in case.evidence:
        lines.append(f"{piece.side.capitalize()}: {piece.text}")
        lines += [f"{medium.kind.capitalize()} by the {piece.side}: {medium.description}" for medium in piece.media]
    return "\n".join(line for line in lines if line.strip())
