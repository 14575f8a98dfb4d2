"""The precedent base B = <H, N>: earlier disputes with their jurors' opinions, and the norms distilled from them."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from courtroom.case_files import explain
from courtroom.database import Database
from courtroom.dispute import Dispute
from courtroom.knowledge.embedding import Embedding
from courtroom.knowledge.index import VectorIndex
from courtroom.precedent import Precedent
from courtroom.settings import DATA, Settings

BUNDLED = DATA / "precedents.jsonl"


@dataclass(frozen=True)
class ImportReport:
    """How an import went."""

    taken: tuple[str, ...]
    problems: tuple[str, ...]
    """A sentence each, with the line's number."""


class PrecedentBase:
    """Precedents in SQLite, searched through an index."""

    def __init__(self, database: Database, settings: Settings, embedding: Embedding) -> None:
        self._database = database
        self._index = VectorIndex(settings, "precedents", embedding)
        self._seed_once()

    def all(self) -> list[Precedent]:
        """All precedents, in the order in which they came."""
        rows = self._database.connection.execute("SELECT body FROM precedents ORDER BY added, id")
        return [Precedent.model_validate_json(row["body"]) for row in rows]

    def get(self, precedent: str) -> Precedent | None:
        """One precedent."""
        row = self._database.connection.execute("SELECT body FROM precedents WHERE id = ?", (precedent,)).fetchone()
        return Precedent.model_validate_json(row["body"]) if row else None

    def add(self, precedents: Iterable[Precedent]) -> None:
        """Add, or put in place of what has the same id."""
        with self._database.transaction() as db:
            for precedent in precedents:
                db.execute(
                    "INSERT INTO precedents VALUES (?, ?, ?) ON CONFLICT (id) DO UPDATE SET body = excluded.body",
                    (precedent.id, precedent.model_dump_json(), time.time()),
                )

    def delete(self, precedent: str) -> None:
        """Forget one. `add` brings it back."""
        self._database.connection.execute("DELETE FROM precedents WHERE id = ?", (precedent,))

    def import_file(self, data: bytes) -> ImportReport:
        """Take in a JSON array or JSONL; lines that don't fit are reported, the others taken."""
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError:
            return ImportReport((), ("The file is not UTF-8 text. Save it as UTF-8 and try again.",))
        taken, problems = [], []
        for number, row in _rows(text):
            if isinstance(row, str):
                problems.append(f"Line {number}: {row}")
                continue
            try:
                taken.append(Precedent.model_validate(row))
            except ValidationError as error:
                problems.append(f"Line {number}: {' '.join(explain(error))}")
        self.add(taken)
        return ImportReport(tuple(precedent.id for precedent in taken), tuple(problems))

    async def search(self, text: str, k: int, exclude: Sequence[str] = ()) -> list[tuple[Precedent, float]]:
        """The k precedents most similar to a dispute's text, with their similarity."""
        known = {precedent.id: precedent for precedent in self.all()}
        texts = {i: f"{p.category}\n{p.title}\n{p.dispute}" for i, p in known.items()}
        return [(known[i], similarity) for i, similarity in await self._index.search(text, k, texts, exclude)]

    async def warm(self) -> None:
        """Open the index and bring it up to date."""
        await self.search("", 1)

    def _seed_once(self) -> None:
        """Bundled precedents are put in once: one that is deleted stays deleted."""
        with self._database.transaction() as db:
            if db.execute("SELECT 1 FROM capabilities WHERE model = 'precedents' AND name = 'seeded'").fetchone():
                return
            for line in BUNDLED.read_text(encoding="utf-8").splitlines():
                bundled = Precedent.model_validate_json(line)
                db.execute("INSERT OR IGNORE INTO precedents VALUES (?, ?, 0)", (bundled.id, bundled.model_dump_json()))
            db.execute("INSERT INTO capabilities VALUES ('precedents', 'seeded', 1)")


def from_dispute(case: Dispute) -> Precedent:
    """A precedent from a dispute whose real jury is known; its norms are still to be distilled."""
    if case.jury is None:
        raise ValueError("only a dispute with a real jury record can become a precedent")
    claims = " ".join(f"{piece.side.capitalize()}: {piece.text}" for piece in case.evidence)
    return Precedent(
        id=f"case-{case.id}",
        title=case.title,
        language=case.language,
        category=case.category,
        dispute=f"{case.transaction.product}. {case.transaction.description} {claims}"[:4000],
        buyer_votes=case.jury.buyer,
        seller_votes=case.jury.seller,
        opinions=case.jury.opinions,
        source=f"The case {case.id}",
    )


def _rows(text: str) -> list[tuple[int, Any]]:
    """Line numbers with objects, or with what is wrong with the line."""
    if text.lstrip().startswith("["):
        try:
            return list(enumerate(json.loads(text), start=1))
        except json.JSONDecodeError as error:
            return [(error.lineno, "this is not valid JSON. Mend it, or check that the file is whole.")]
    rows: list[tuple[int, Any]] = []
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip():
            try:
                rows.append((number, json.loads(line)))
            except json.JSONDecodeError:
                rows.append((number, "this is not valid JSON. Each line needs one whole JSON object."))
    return rows
