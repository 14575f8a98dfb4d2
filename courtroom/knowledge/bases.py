"""Knowledge bases: statutes, charges and referred precedents (JurisAgents, 3.2); precedents of disputes with norms."""

from functools import partial
from pathlib import Path
from typing import Annotated, Literal, get_args

from pydantic import Field

from courtroom.cases.criminal import CriminalCase
from courtroom.cases.dispute import Dispute, Precedent
from courtroom.knowledge.collection import R
from courtroom.law import STATUTES, Both, Charge, Statute
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
MemoryPart = Literal["standards", "directives", "buffer"]
MEMORY_PARTS: tuple[MemoryPart, ...] = get_args(MemoryPart)
"""The collections that are a learned memory."""
How = Literal["add", "replace"]
NAMING = r"^[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?$"
BaseName = Annotated[str, Field(pattern=NAMING)]


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
    """Return under which name a collection of a base, or a part of a memory, is kept. `base`: its name; that of the
    bundled base, and of the store's own memory, is not said."""
    return kind if base in (BUNDLED, "") else f"{kind}.{base}"


def origins(database: Database, collection: str) -> list[Origin]:
    """The files that were imported into a collection, oldest first, from the last replacement on."""
    rows = database.execute("SELECT * FROM origins WHERE collection = ? ORDER BY seq", (collection,))
    return read_all(rows, lambda row: read("origin", row["seq"], lambda: fitting(Origin, row)))[0]


def bundled(path: Path, kind: type[R]) -> list[R]:
    return [kind.model_validate_json(line) for line in path.read_text(encoding="utf-8").split("\n") if line.strip()]


bundled_statutes = partial(bundled, STATUTES, Statute)
bundled_cases = partial(bundled, DATA / "criminal_precedents.jsonl", CriminalCase)


def statute_text(statute: Statute) -> tuple[str, ...]:
    parts = (statute.title, *statute.charges, statute.text, statute.cues)
    return _each(parts, statute.interpretation)


def charge_text(charge: Charge) -> tuple[str, ...]:
    return _each((charge.name, charge.text, charge.cues))


def _each(parts: tuple[Both, ...], more: str = "") -> tuple[str, ...]:
    texts = (" ".join(part.zh for part in parts), " ".join(part.en for part in parts))
    lines = [text.strip() for text in texts if text.strip()]
    return *lines[:-1], f"{lines[-1]} {more}".strip()


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


def precedent_text(precedent: Precedent) -> str:
    """Return the text by which a precedent is found. "Other", which older ones begin with, says nothing."""
    return precedent.dispute.removeprefix("Other\n")


def dispute_text(case: Dispute) -> str:
    """A dispute as one text, whole: order, chat, claims of both sides, and what was seen in their media.

    Precedents are kept as this text and found by it, so that like is compared with like (Eq. 8 and 12).
    """
    deal = case.transaction
    category = "" if case.category == "Other" else case.category
    lines = [category, deal.product, deal.condition, deal.description, deal.order_state]
    lines += [f"{line.speaker.capitalize()} in the chat: {line.text}" for line in case.chat]
    for piece in case.evidence:
        lines.append(f"{piece.side.capitalize()}: {piece.text}")
        lines += [f"{medium.kind.capitalize()} by the {piece.side}: {medium.description}" for medium in piece.media]
    return "\n".join(line for line in lines if line.strip())
