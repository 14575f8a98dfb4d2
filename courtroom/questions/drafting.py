"""A model drafts a case of somebody's papers. What it gives as evidence has to stand in them, word for word."""

from __future__ import annotations

from collections import defaultdict
from contextlib import suppress
from datetime import date
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from courtroom.access import Access, needs
from courtroom.cases.drafts import LEFT_OUT, Draft, DraftPiece, Drafts, title_of
from courtroom.declarations.setup import Setup
from courtroom.errors import CourtroomError
from courtroom.media.medium import Medium, with_kept
from courtroom.models.rendering import quote
from courtroom.models.spec import ModelSpec
from courtroom.models.task import Answer, Label, Longest, Paragraph, Point, Sentence
from courtroom.questions.beside import Keys, TaskInWords, ask_outside_runs, by_role

if TYPE_CHECKING:
    from courtroom.courthouse import Courthouse

MAX_QUOTED = 200
"""Characters of a passage that a remark quotes."""
Whose = Literal["claimant", "respondent", "both", "neither"]
PLACES: dict[str, dict[Whose, str]] = {
    "dispute": {"claimant": "buyer", "respondent": "seller", "both": "description"},
    "trial": {"claimant": "proof", "respondent": "defence", "both": "facts"},
}
"""By the kind of case, what a piece of each is given to; in other kinds all have one place."""
OWN_WORDS = {
    "dispute": {"claim": "claim", "facts": "transaction.description"},
    "trial": {"claim": "charge", "facts": "facts"},
    "question": {"claim": "question", "answers": "options"},
}
"""By the kind of case, which field of it a model writes in its own words."""
DAYS = {"ordered": "ordered_at", "delivered": "delivered_at"}
"""What is read in a dispute's papers as a day, and the field it goes into; a field of what else is read has its name."""


class DraftedPiece(Answer):
    """What a side relies on."""

    opens_with = ("piece",)
    piece: int = Field(description="The number of the piece.")
    text: Paragraph = Field(description="Its words, copied; empty for all of it, or for a picture.")
    whose: Whose


class Said(Answer):
    """A message of a chat."""

    opens_with = ("piece",)
    piece: int = Field(description="The number of the piece.")
    text: Sentence = Field(description="The words of the message, copied, without name and time.")
    whose: Literal["claimant", "respondent"]


class Stated(Answer):
    """What the papers say of an order."""

    opens_with = ("piece", "what")
    piece: int = Field(description="The number of the piece that says so.")
    what: Literal["product", "price", "currency", "ordered", "delivered"]
    words: Sentence = Field(description="The words that say so, copied.")
    value: Label = Field(description="A date as 2025-03-31, a price as 40.5, a currency as EUR.")


class CaseDraft(Answer):
    """A case as a model drafts it."""

    title: Label = Field(min_length=1)
    claim: Paragraph = Field(
        description="The charge, or what the claimant asks for, with its reason; of a question, the question itself."
    )
    facts: Paragraph = Field(
        description="What both sides agree on, with its dates; of a dispute, what the listing says."
    )
    answers: Annotated[tuple[Label, ...], Longest(6, 6)] = Field(description="Of a question, what can be chosen from.")
    stated: Annotated[tuple[Stated, ...], Longest(5, 8)] = Field(description="Of a dispute, what was ordered.")
    chat: Annotated[tuple[Said, ...], Longest(20, 60)] = Field(
        description="Of a dispute, what both wrote to each other."
    )
    pieces: Annotated[tuple[DraftedPiece, ...], Longest(20, 60)]
    questions: Annotated[tuple[Point, ...], Longest(5)]
    kind: Literal["dispute", "criminal", "civil", "question"]


class DraftCase(TaskInWords[CaseDraft]):
    """Which case do these papers make?"""

    name = "draft-case"
    title = "Draft of a case"
    papers: tuple[DraftPiece, ...]
    pictures: tuple[Medium, ...] = ()
    """And videos."""

    def media(self) -> tuple[Medium, ...]:
        return self.pictures

    def before(self, *, sees: bool) -> tuple[str | Medium, ...]:
        """The papers in order, each text quoted."""
        shown = {picture.id: picture for picture in self.pictures} if sees else {}
        parts: list[str | Medium] = ["# The papers\n"]
        for paper in self.papers:
            parts.append(f"## Piece {paper.number}\n\n{quote(f'From: {_folded(paper.source)}')}\n")
            if paper.file:
                parts.append(shown.get(f"piece-{paper.number}", "A picture or video that you can't see.\n"))
            if paper.text:
                parts.append(f"{quote(paper.text)}\n")
        return tuple(parts)


@needs(Access.RUN)
def drafted(house: Courthouse, drafts: Drafts, draft: Draft, spec: ModelSpec, keys: Keys = None) -> Draft:
    """Have a model draft a case, and return the draft with what stands in the papers. `drafts`: have their pictures.

    Raises:
        CourtroomError: the model can't be asked, or no answer of it fits.
    """
    with_file = [piece for piece in draft.pieces if piece.file]
    pictures = tuple(Medium(id=f"piece-{one.number}", kind=one.kind, file=one.file) for one in with_file)
    kept = house.media.keep({one.file: drafts.medium(draft, one) for one in with_file})
    task = DraftCase(papers=draft.pieces, pictures=with_kept(pictures, kept))
    asked = by_role("drafter", task, spec, Setup(), f"{draft.id}/{draft.version}")
    (told,) = ask_outside_runs(house, "case-drafts", [asked], keys)
    if isinstance(told, str):
        raise CourtroomError(told)
    return applied(draft, CaseDraft.model_validate(told))


def applied(draft: Draft, answer: CaseDraft) -> Draft:
    """Return a draft with what a model made of it: a person's words stay, what the papers do not say is refused."""
    values, kind = dict(draft.values), draft.kind
    if not any(values.get(name) for name in _written(kind)):  # nobody has written anything yet
        kind = answer.kind if answer.kind in OWN_WORDS else "trial"
        values |= {"matter": answer.kind} if kind == "trial" else {}
    refused: list[str] = []
    texts = {"claim": answer.claim, "facts": answer.facts, "answers": "\n".join(answer.answers)}
    given = {"title": answer.title, **{field: texts[name] for name, field in OWN_WORDS.get(kind, {}).items()}}
    if kind == "dispute":
        given |= {"category": "Other", **_stated(draft, answer, refused)}
    fresh = {name: value for name, value in given.items() if value and not values.get(name)}
    draft = draft.model_copy(update={"kind": kind, "values": {**values, **fresh}})
    own = [title_of(draft.case_kind, name) for name in fresh if name in _written(kind)]
    if own:
        refused.append(f"In the model's own words, to be compared with the papers: {' · '.join(own)}.")
    pieces = _pieces(draft, answer, refused)
    more = {"questions": answer.questions, "refused": tuple(refused), "version": draft.version + 1}
    return draft.model_copy(update={"pieces": pieces, **more})


def _written(kind: str) -> tuple[str, ...]:
    return ("title", *OWN_WORDS.get(kind, {}).values())


def _stated(draft: Draft, answer: CaseDraft, refused: list[str]) -> dict[str, Any]:
    """What the papers say of the order, and the chat; what does not stand there is refused."""
    given: dict[str, Any] = {}
    for stated in answer.stated:
        if _standing(draft, stated.piece, stated.words, refused) and (value := _value(stated, refused)) is not None:
            given[f"transaction.{DAYS.get(stated.what, stated.what)}"] = value
    lines = (one for one in answer.chat if _standing(draft, one.piece, one.text, refused))
    return {**given, "chat": "\n".join(f"{PLACES['dispute'][one.whose]}: {_folded(one.text)}" for one in lines)}


def _value(stated: Stated, refused: list[str]) -> str | float | None:
    """What was stated, as its field holds it; None where the words that were copied do not say it."""
    words, value = stated.words.replace(",", "").casefold(), stated.value
    with suppress(ValueError):  # the sentence below says so
        if stated.what == "price":
            price = float(value.replace(",", ""))
            if f"{price:.12g}" in words:
                return price
        elif stated.what in DAYS:
            day = date.fromisoformat(value)
            if str(day.day) in words:
                return day.isoformat()
        elif stated.what == "currency" or value.replace(",", "").casefold() in words:
            return value
    refused.append(f"“{stated.words[:MAX_QUOTED]}” does not say {stated.what}: “{value}”. It was not taken over.")
    return None


def _standing(draft: Draft, number: int, text: str, refused: list[str]) -> DraftPiece | None:
    """The piece of a number if it holds a text, word for word; otherwise None, and a sentence says why."""
    piece = next((piece for piece in draft.pieces if piece.number == number), None)
    if piece is not None and _folded(text) in _folded(piece.paper):
        return piece
    shown = text[:MAX_QUOTED]
    if piece is None:
        why = f"There is no piece {number}: “{shown}” was not taken over."
    elif piece.file:
        why = f"“{shown}” is read off a picture, {piece.source}: it was not taken over. Compare, and write it."
    else:
        why = f"{piece.source} does not say “{shown}”: it was not taken over."
    refused.append(why)
    return None


def _pieces(draft: Draft, answer: CaseDraft, refused: list[str]) -> tuple[DraftPiece, ...]:
    """The pieces in their order, each cut to the passages that were named of it."""
    pictures = {piece.number for piece in draft.pieces if piece.file}
    places: dict[Whose, str] = {"neither": LEFT_OUT, **PLACES.get(draft.kind, {})}
    passages = defaultdict[int, list[DraftPiece]](list)
    for one in answer.pieces:
        number = one.piece
        text = "" if number in pictures else one.text.strip()
        if piece := _standing(draft, number, text, refused):
            place = places.get(one.whose, next(iter(draft.places)))
            passages[number].append(piece.model_copy(update={"place": place, "text": text or piece.text}))
    ordered = (part for piece in draft.pieces for part in passages.get(piece.number, [piece]))
    begin = max((piece.number for piece in draft.pieces), default=0) + 1
    return tuple(part.model_copy(update={"number": number}) for number, part in enumerate(ordered, start=begin))


def _folded(text: str) -> str:
    """A text with every white space as one blank."""
    return " ".join(text.split())
