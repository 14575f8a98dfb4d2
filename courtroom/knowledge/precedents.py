"""The precedent base B = <H, N>: earlier disputes with their jurors' opinions, and the norms distilled from them."""

from collections.abc import Iterable
from dataclasses import dataclass

from pydantic import ValidationError

from courtroom.access import Access, needs
from courtroom.cases.checks import explain
from courtroom.cases.dispute import Dispute, Precedent
from courtroom.errors import CaseError
from courtroom.knowledge.collection import Collection
from courtroom.settings import DATA
from courtroom.text.files import json_records

BUNDLED = DATA / "precedents.jsonl"


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


def searched_text(precedent: Precedent) -> str:
    return precedent.dispute


def bundled_precedents() -> list[Precedent]:
    return [Precedent.model_validate_json(line) for line in BUNDLED.read_text(encoding="utf-8").splitlines()]


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
