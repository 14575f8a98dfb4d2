"""The precedent base B = <H, N>: earlier disputes with their jurors' opinions, and the norms distilled from them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from courtroom.access.account import Access
from courtroom.access.acting import needs
from courtroom.cases.checks import explain
from courtroom.cases.dispute import Dispute, Precedent
from courtroom.knowledge.collection import Collection
from courtroom.settings import DATA

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
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError:
            return ImportReport((), ("The file is not UTF-8 text. Save it as UTF-8 and try again.",))
        taken, problems = [], []
        for place, row in _rows(text):
            if isinstance(row, _Unreadable):
                problems.append(f"{place}: {row.why}")
                continue
            try:
                taken.append(Precedent.model_validate(row))
            except ValidationError as error:
                problems.append(f"{place}: {' '.join(explain(error))}")
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


@dataclass(frozen=True)
class _Unreadable:
    why: str


def _rows(text: str) -> list[tuple[str, Any]]:
    if text.lstrip().startswith("["):
        items = _value(text, "Mend it, or check that the file is whole.")
        if isinstance(items, _Unreadable):
            return [("The file", items)]
        return [(f"Item {number}", item) for number, item in enumerate(items, start=1)]
    # Not splitlines: it also splits at characters that may stand within a JSON string.
    lines = enumerate(text.split("\n"), start=1)
    return [(f"Line {n}", _value(line, "Each line needs one whole JSON object.")) for n, line in lines if line.strip()]


def _value(text: str, mend: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        where = f" (line {error.lineno})" if error.lineno > 1 else ""
        return _Unreadable(f"this is not valid JSON{where}. {mend}")
    except RecursionError:
        return _Unreadable("this is nested too deeply. A precedent is one flat object.")
    except ValueError:
        return _Unreadable("a number has too many digits. Write a shorter one.")
