"""Cases that somebody writes: a question with its files; and drafts, made piece by piece, kept till they are saved."""

import re
import secrets
import shutil
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import UnionType
from typing import Any, Union, get_args, get_origin

from pydantic import BaseModel, Field, ValidationError
from pydantic.fields import FieldInfo

from courtroom.access import Access, needs, signed
from courtroom.cases.case import Brought, Case
from courtroom.cases.checks import explain
from courtroom.cases.files import Package
from courtroom.cases.kinds import case_kinds
from courtroom.cases.papers import Papers, read_papers
from courtroom.cases.question import MAX_ANSWER, WRITTEN, Piece, Question
from courtroom.errors import CaseError
from courtroom.language import N_
from courtroom.media.medium import Medium, MediumKind
from courtroom.strict import Strict
from courtroom.text.files import replacing
from courtroom.text.languages import language_of

KEPT_S = 30 * 24 * 3600
"""A draft that nobody has touched for so long is deleted."""
MAX_PIECES = 500
MAX_SENTENCES = 5
"""Of what does not fit a case, so many are shown at once."""
LEFT_OUT = "out"
ABOVE = "above"
"""Where a piece is given to the one before it, such as a picture to what is said of it."""
_ID = re.compile(r"[A-Za-z0-9_-]{22}")


def asked_with(question: str, options: Sequence[str] = (), files: Iterable[tuple[str, bytes]] = ()) -> Package:
    """Make a case of a question and the files that members are to read or look at.

    Args:
        options: two to six answers to choose from; none: members propose.
        files: name and content of pictures, videos, and papers as `read_papers` reads them.

    Raises:
        CaseError: there is no question, an option does not fit, or a file can't be read; the sentence says which.
    """
    text = question.strip()
    if not text:
        raise CaseError("There is no question. Type one.")
    media: dict[str, bytes] = {}
    material: list[Piece] = []
    remarks: dict[str, None] = {}
    for name, data in files:
        papers = read_papers(name, data)
        remarks |= dict.fromkeys(papers.remarks)
        for piece in papers.pieces:
            shown: tuple[Medium, ...] = ()
            if piece.medium:
                name, (kind, ending) = f"material-{len(material) + 1}", piece.form
                shown = (Medium(id=name, kind=kind, file=f"media/{name}{ending}"),)
                media[shown[0].file] = piece.medium
            material.append(Piece(text=piece.text, source=piece.source[:400], media=shown))
    slug = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:60].strip("-")
    known: dict[str, Any] = {"language": language_of(text), "question": text, "source": WRITTEN}
    known |= {"id": f"question-{slug}" if slug else "question", "title": text.splitlines()[0][:MAX_ANSWER]}
    answers = tuple(filter(None, map(str.strip, options)))
    try:
        case = Question(**known, options=answers, material=tuple(material))
    except ValidationError as error:
        raise CaseError(" ".join(explain(error))) from error
    return Package(case, media, tuple(remarks))


class DraftPiece(Strict):
    """A text, or a picture or video with words on it, and whose it is."""

    number: int
    source: str = Field(default="", description="Empty: somebody wrote it for the case.")
    text: str = ""
    paper: str = Field(default="", description="The whole text that the papers have at this place.")
    file: str = Field(default="", description="The medium, by its name in the draft's folder; empty: a text.")
    kind: MediumKind = "image"
    place: str = Field(default="", description="Empty: not yet decided.")
    round: int = 1


class Draft(Strict):
    """What is to become a case."""

    id: str
    owner: str = ""
    kind: str = "dispute"
    values: dict[str, Any] = Field(default={}, description="By the names of fields, those within another after a dot.")
    pieces: tuple[DraftPiece, ...] = ()
    questions: tuple[str, ...] = Field(default=(), description="What a model wants to know.")
    refused: tuple[str, ...] = Field(default=(), description="What of a model's draft was not taken over, and why.")
    version: int = Field(default=0, description="How often a model has drafted it.")

    @property
    def case_kind(self) -> type[Case]:
        return case_kinds()[self.kind]

    @property
    def places(self) -> Mapping[str, str]:
        return self.case_kind.places(self.values)

    @property
    def asks(self) -> tuple[str, ...]:
        """The fields of the case that a person fills in."""
        return "title", "language", *self.case_kind.asks

    def at(self, place: str) -> Iterator[DraftPiece]:
        return (piece for piece in self.pieces if piece.place == place)

    def moved(self, number: int, by: int) -> "Draft":
        """The draft with a piece some places further down."""
        pieces = list(self.pieces)
        old = next(index for index, piece in enumerate(pieces) if piece.number == number)
        pieces.insert(max(0, old + by), pieces.pop(old))
        return self.model_copy(update={"pieces": tuple(pieces)})

    def with_piece(self) -> "Draft":
        """The draft with an empty piece more, for a person to write."""
        number = max((piece.number for piece in self.pieces), default=0) + 1
        return self.model_copy(update={"pieces": (*self.pieces, DraftPiece(number=number))})

    def brought(self) -> list[Brought]:
        """The pieces that have a place in the case."""
        pieces: list[Brought] = []
        place = ""
        for piece in self.pieces:
            is_joined = piece.place == ABOVE
            place = place if is_joined else piece.place
            if place not in self.places:
                continue
            media: tuple[Medium, ...] = ()
            if piece.file:
                shown = {"id": f"piece-{piece.number}", "kind": piece.kind, "file": f"media/{piece.file}"}
                media = (Medium.model_validate({**shown, "description": piece.text}),)
            text = "" if piece.file else piece.text
            new = Brought(place=place, source=piece.source, text=text, round=piece.round, media=media)
            if is_joined:
                last = pieces.pop()
                text = "\n\n".join(filter(None, (last.text, new.words if text else "")))
                new = last.model_copy(update={"text": text, "media": (*last.media, *media)})
            pieces.append(new)
        return pieces


def field_of(kind: type[BaseModel], name: str) -> tuple[FieldInfo, Any]:
    """Return a field that a form asks for, an inner one after a dot, and its type where it is set."""
    first, _, rest = name.partition(".")
    field = kind.model_fields[first]
    parts = get_args(field.annotation) if get_origin(field.annotation) in (Union, UnionType) else (field.annotation,)
    inner = next(part for part in parts if part is not type(None))
    return field_of(inner, rest) if rest else (field, inner)


def title_of(kind: type[BaseModel], name: str) -> str:
    """Return what a form calls a field."""
    return field_of(kind, name)[0].title or name.rpartition(".")[2].capitalize()


def missing(draft: Draft) -> list[str]:
    """Return what has to be done before a draft can be saved, a sentence each."""
    kind, lacks = draft.case_kind, list[str]()
    for name in draft.asks:
        outer = kind.model_fields[name.partition(".")[0]]
        is_asked = outer.is_required() and field_of(kind, name)[0].is_required()
        if is_asked and not str(draft.values.get(name) or "").strip() and not any(draft.at(name)):
            lacks.append(f"Fill in: {title_of(kind, name)}.")
    if undecided := [piece for piece in draft.pieces if piece.place not in (*draft.places, LEFT_OUT, ABOVE)]:
        lacks.append(f"Give each piece to a side, or leave it out: {len(undecided)} are open.")
    if draft.pieces and draft.pieces[0].place == ABOVE:
        lacks.append(N_("There is no piece above the first one. Choose a side for it."))
    if lacks:
        return lacks
    try:
        _case(draft)
    except ValidationError as error:
        return explain(error)[:MAX_SENTENCES]
    except CaseError as error:
        return [str(error)]
    return []


def _case(draft: Draft) -> Case:
    title = str(draft.values.get("title", "")).strip()
    source = "Made of papers in the app" if any(piece.source for piece in draft.pieces) else WRITTEN
    given: dict[str, Any] = {"id": re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:60] or "case"}
    given["source"] = "" if draft.values.get("decided_by") == "people" else source
    for name in draft.asks:
        value = draft.values.get(name)
        if value not in (None, ""):
            outer, _, inner = name.rpartition(".")
            (given.setdefault(outer, {}) if outer else given)[inner] = value
    return draft.case_kind.made(given, draft.brought())


class Drafts:
    """Drafts in a folder, each under a name that nobody can guess."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @needs(Access.RUN)
    def begin(self, language: str) -> Draft:
        """Begin an empty draft, and delete those that were forgotten."""
        for old in self._folder.glob("*/draft.json"):
            if time.time() - old.stat().st_mtime > KEPT_S:
                shutil.rmtree(old.parent)
        draft = Draft(id=secrets.token_urlsafe(16), owner=signed(""), values={"language": language})
        self.save(draft)
        return draft

    def load(self, name: str) -> Draft:
        """Give a draft back. Raises `CaseError`: it is not here, or somebody else's."""
        path = self._folder / name / "draft.json"
        if _ID.fullmatch(name) and path.is_file():
            draft = Draft.model_validate_json(path.read_bytes())
            if draft.owner == signed(""):
                return draft
        raise CaseError("This draft is no longer here: it was saved or given up. Bring the papers again.")

    @needs(Access.RUN)
    def save(self, draft: Draft) -> None:
        path = self._folder / draft.id / "draft.json"
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
            known: dict[str, Any] = {"source": piece.source, "text": piece.text, "paper": piece.text}
            if piece.medium:
                kind, ending = piece.form
                known |= {"file": f"{number}{ending}", "kind": kind}
                (self._folder / draft.id / known["file"]).write_bytes(piece.medium)
            pieces.append(DraftPiece(number=number, **known))
        draft = draft.model_copy(update={"pieces": tuple(pieces)})
        self.save(draft)
        return draft

    def medium(self, draft: Draft, piece: DraftPiece) -> bytes:
        return (self._folder / draft.id / piece.file).read_bytes()

    def package(self, draft: Draft) -> Package:
        """Return the case that a draft makes, and its media; raises `CaseError` where something is missing or wrong."""
        if lacks := missing(draft):
            raise CaseError(" ".join(lacks))
        case = _case(draft)
        files = {f"media/{piece.file}": piece for piece in draft.pieces}
        return Package(case, {one.file: self.medium(draft, files[one.file]) for one in case.media()})

    def end(self, draft: Draft) -> None:
        """Delete a draft that was saved as a case, or is given up."""
        shutil.rmtree(self._folder / draft.id, ignore_errors=True)
