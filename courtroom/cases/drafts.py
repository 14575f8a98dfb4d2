"""Drafts: cases that somebody makes of papers, piece by piece. Each is a folder that is kept while a page reloads, until it is saved."""

import json
import re
import secrets
import shutil
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationError

from courtroom.access import Access, needs, signed
from courtroom.cases.checks import explain
from courtroom.cases.criminal import Matter, Trial
from courtroom.cases.dispute import SIDES, Category, Dispute
from courtroom.cases.files import Package
from courtroom.cases.papers import Papers
from courtroom.errors import CaseError
from courtroom.language import N_
from courtroom.media.pictures import ENDINGS, sniff
from courtroom.strict import Strict
from courtroom.text.files import replacing

KEPT_S = 30 * 24 * 3600
"""A draft that nobody has touched for so long is deleted."""
MAX_PIECE = 50_000
"""Characters."""
MAX_PIECES = 500
LEFT_OUT = "out"
_ID = re.compile(r"[A-Za-z0-9_-]{22}")

Kind = Literal["dispute", "trial"]
PLACES: dict[str, dict[str, str]] = {
    "dispute": {"buyer": N_("Buyer"), "seller": N_("Seller"), "facts": N_("Listing")},
    "criminal": {"proof": N_("Prosecution"), "defence": N_("Defence"), "facts": N_("Facts")},
    "civil": {"proof": N_("Plaintiff"), "defence": N_("Defence"), "facts": N_("Facts")},
}
"""What a piece may be given to, by the kind of case or the matter of a trial."""


class DraftPiece(Strict):
    """A text, or a picture or video with words on it, and whose it is."""

    number: int
    source: str
    text: str = ""
    paper: str = Field(default="", description="The whole text that the papers have at this place.")
    file: str = Field(default="", description="The medium, by its name in the draft's folder; empty: a text.")
    place: str = Field(default="", description="Empty: not yet decided.")


class Draft(Strict):
    """What is to become a case."""

    id: str
    owner: str = ""
    kind: Kind = "dispute"
    matter: Matter = "criminal"
    title: str = ""
    language: str = "en"
    claim: str = Field(default="", description="The charge, what the plaintiff claims, or what the buyer asks for.")
    facts: str = Field(default="", description="What both sides agree on, or the seller's listing.")
    product: str = ""
    category: Category = "Other"
    pieces: tuple[DraftPiece, ...] = ()
    questions: tuple[str, ...] = Field(default=(), description="What a model wants to know.")
    refused: tuple[str, ...] = Field(default=(), description="What of a model's draft was not taken over, and why.")
    version: int = Field(default=0, description="How often a model has drafted it.")

    @property
    def places(self) -> dict[str, str]:
        return PLACES["dispute" if self.kind == "dispute" else self.matter]

    def at(self, place: str) -> Iterator[DraftPiece]:
        return (piece for piece in self.pieces if piece.place == place)

    def text_at(self, place: str) -> tuple[str, ...]:
        """The texts that were given to a place, each headed by where it comes from."""
        return tuple(f"[{piece.source}]\n{piece.text.strip()}" for piece in self.at(place) if piece.text.strip())

    def moved(self, number: int, by: int) -> "Draft":
        """The draft with a piece some places further down."""
        pieces = list(self.pieces)
        old = next(index for index, piece in enumerate(pieces) if piece.number == number)
        pieces.insert(max(0, old + by), pieces.pop(old))
        return self.model_copy(update={"pieces": tuple(pieces)})


def missing(draft: Draft) -> list[str]:
    """Return what has to be done before a draft can be saved, a sentence each."""
    lacks: list[str] = []
    if not draft.title.strip():
        lacks.append(N_("Give it a title."))
    if draft.kind == "dispute" and not draft.product.strip():
        lacks.append(N_("Say what was sold."))
    if draft.kind == "trial" and not draft.claim.strip():
        lacks.append(N_("Write the charge.") if draft.matter == "criminal" else N_("Write what the plaintiff claims."))
    if draft.kind == "trial" and not (draft.facts.strip() or draft.text_at("facts")):
        lacks.append(N_("Write the facts, or give a piece to them."))
    if undecided := [piece for piece in draft.pieces if piece.place not in (*draft.places, LEFT_OUT)]:
        lacks.append(f"Give each piece to a side, or leave it out: {len(undecided)} are open.")
    if draft.kind == "dispute" and not any(True for side in SIDES for _ in draft.at(side)):
        lacks.append(N_("Give a piece to the buyer or the seller."))
    for piece in draft.pieces:
        if piece.place not in draft.places:
            continue
        if len(piece.text) > MAX_PIECE:
            lacks.append(f"{piece.source} has {len(piece.text):,} characters; {MAX_PIECE:,} are allowed. Shorten it.")
        if piece.file and not piece.text.strip() and (draft.kind == "trial" or piece.place == "facts"):
            lacks.append(f"Write what {piece.source} shows: there it is read, not seen.")
    return lacks


def as_case(draft: Draft, files: dict[str, bytes]) -> Package:
    """Return the case that a draft makes, and its media. `files`: the draft's media by their names.

    Raises:
        CaseError: something is missing or wrong.
    """
    if lacks := missing(draft):
        raise CaseError(" ".join(lacks))
    name = re.sub(r"[^a-z0-9]+", "-", draft.title.lower()).strip("-")[:60] or "case"
    facts = "\n\n".join(filter(None, (draft.facts.strip(), *draft.text_at("facts"))))
    known = {
        "id": name,
        "title": draft.title.strip(),
        "language": draft.language,
        "source": "Made of papers in the app",
    }
    try:
        if draft.kind == "dispute":
            return _dispute(draft, facts, known, files)
        sides = {"proof": draft.text_at("proof"), "defence": draft.text_at("defence")}
        return Package(
            Trial.model_validate({**known, **sides, "matter": draft.matter, "charge": draft.claim, "facts": facts})
        )
    except ValidationError as error:
        raise CaseError(" ".join(explain(error)[:5])) from error


def _dispute(draft: Draft, facts: str, known: dict[str, str], files: dict[str, bytes]) -> Package:
    evidence: list[dict[str, object]] = []
    media: dict[str, bytes] = {}
    for side in SIDES:
        for number, piece in enumerate(draft.at(side), start=1):
            entry: dict[str, object] = {
                "id": f"{side}-{number}",
                "side": side,
                "text": f"[{piece.source}]\n{piece.text}",
            }
            if piece.file:
                path, kind = f"media/{piece.file}", sniff(files[piece.file][:16])
                media[path] = files[piece.file]
                shown = {"id": f"{side}-{number}-shown", "kind": kind[0] if kind else "image", "file": path}
                entry |= {"text": f"[{piece.source}]", "media": [{**shown, "description": piece.text}]}
            evidence.append(entry)
    rest = {"category": draft.category, "claim": draft.claim, "evidence": evidence}
    deal = {"product": draft.product.strip(), "description": facts}
    return Package(Dispute.model_validate({**known, **rest, "transaction": deal}), media)


class Drafts:
    """Drafts in a folder, each under a name that nobody can guess."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @needs(Access.RUN)
    def begin(self) -> Draft:
        """Begin an empty draft, and delete those that were forgotten."""
        for old in self._folder.glob("*/draft.json"):
            if time.time() - old.stat().st_mtime > KEPT_S:
                shutil.rmtree(old.parent)
        draft = Draft(id=secrets.token_urlsafe(16), owner=signed(""))
        self.save(draft)
        return draft

    def load(self, name: str) -> Draft:
        """Give a draft back. Raises `CaseError`: it is not here, or somebody else's."""
        path = self._folder / name / "draft.json"
        if _ID.fullmatch(name) and path.is_file():
            draft = Draft.model_validate(json.loads(path.read_text(encoding="utf-8")))
            if draft.owner == signed(""):
                return draft
        raise CaseError("This draft is no longer here: it was saved or given up. Bring the papers again.")

    @needs(Access.RUN)
    def save(self, draft: Draft) -> None:
        path = self._folder / draft.id / "draft.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as part:
            part.write_text(draft.model_dump_json(), encoding="utf-8")

    @needs(Access.RUN)
    def add(self, draft: Draft, papers: Sequence[Papers]) -> Draft:
        """Put the pieces of papers at the end of a draft. Raises `CaseError`: there are too many."""
        new = [piece for paper in papers for piece in paper.pieces]
        if len(draft.pieces) + len(new) > MAX_PIECES:
            raise CaseError(f"A draft may have {MAX_PIECES} pieces. Bring fewer papers.")
        pieces = list(draft.pieces)
        begin = max((piece.number for piece in pieces), default=0)
        for number, piece in enumerate(new, start=begin + 1):
            file = ""
            if piece.medium:
                found = sniff(piece.medium[:16])
                file = f"{number}{ENDINGS[found[1]][0] if found and found[1] in ENDINGS else '.png'}"
                (self._folder / draft.id / file).write_bytes(piece.medium)
            words = {"text": piece.text, "paper": piece.text}
            pieces.append(DraftPiece(number=number, source=piece.source, file=file, **words))
        draft = draft.model_copy(update={"pieces": tuple(pieces)})
        self.save(draft)
        return draft

    def keep_answer(self, draft: Draft, answer: str) -> None:
        """Keep what a model has answered as it came: it was paid for."""
        with (self._folder / draft.id / "answers.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps(answer, ensure_ascii=False) + "\n")

    def medium(self, draft: Draft, piece: DraftPiece) -> bytes:
        return (self._folder / draft.id / piece.file).read_bytes()

    def package(self, draft: Draft) -> Package:
        """See `as_case`."""
        return as_case(draft, {piece.file: self.medium(draft, piece) for piece in draft.pieces if piece.file})

    def end(self, draft: Draft) -> None:
        """Delete a draft that was saved as a case, or is given up."""
        shutil.rmtree(self._folder / draft.id, ignore_errors=True)
