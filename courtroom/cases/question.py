"""A question that somebody asks: two to six answers or none, material, who wants what, and what came of it."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Literal, Self

from pydantic import Field, field_validator, model_validator

from courtroom.cases.case import Brought, Case, Option, unique
from courtroom.cases.labelled import LONGEST
from courtroom.errors import CaseError
from courtroom.language import N_
from courtroom.media.medium import Medium
from courtroom.strict import Strict

LETTERS = "ABCDEF"
"""What answers are called in votes and prompts, those of the question and those that members propose."""
WRITTEN = "Written in the app"
MAX_ANSWER = 200
"""Characters."""


class Party(Strict):
    """Somebody with a stake in the question."""

    name: str = Field(min_length=1, max_length=80)
    wants: str = Field(default="", max_length=MAX_ANSWER, description="One of the options; empty: it is not said.")


class Piece(Strict):
    """One text of the material, with or without pictures."""

    text: str = Field(default="", max_length=LONGEST)
    source: str = Field(default="", max_length=400, description="Where it is from, such as the name of a file.")
    by: str = Field(default="", max_length=80, description="The name of the party who brings it; empty: nobody's.")
    media: tuple[Medium, ...] = ()


class Question(Case):
    """A question as somebody puts it to a panel."""

    kind: Literal["question"] = "question"
    question: str = Field(min_length=1, max_length=2_000)
    options: tuple[str, ...] = Field(
        default=(),
        max_length=len(LETTERS),
        title=N_("Answers to choose from, if any"),
        description="Two to six; none: members propose answers.",
    )
    parties: tuple[Party, ...] = Field(
        default=(), max_length=20, title=N_("Who has a stake in it, one a line: “name” or “name: the answer wanted”")
    )
    material: tuple[Piece, ...] = Field(default=(), max_length=300)
    outcome: str = Field(default="", max_length=2_000, title=N_("What was decided, or came of it, where that is known"))

    kind_title = "Question"
    over: ClassVar[str] = "a question"
    asks = ("question", "options", "parties", "outcome")
    has_options = True
    parts_title = N_("material")
    outcome_fields = {"outcome": ""}

    @field_validator("options")
    @classmethod
    def _are_answers(cls, options: tuple[str, ...]) -> tuple[str, ...]:
        if len(options) == 1:
            raise ValueError("a question has two to six answers to choose from, or none. Add one, or leave it out")
        for option in options:
            if not 0 < len(option) <= MAX_ANSWER or "\n" in option:
                raise ValueError(f"an answer is one line of at most {MAX_ANSWER} characters. Shorten “{option[:40]}”")
        if len({option.casefold() for option in options}) < len(options):
            raise ValueError("the answers must differ by more than case. Merge those that are alike")
        return options

    @model_validator(mode="after")
    def _names_are_known(self) -> Self:
        names = [party.name for party in self.parties]
        if len(set(names)) < len(names):
            raise ValueError("the names of the parties must differ")
        for piece in self.material:
            if piece.by and piece.by not in names:
                raise ValueError(f"“{piece.by}”, who brings a piece of material, is none of the parties. Add the party")
        for party in self.parties:
            if party.wants and party.wants not in self.options:
                raise ValueError(f"“{party.wants}”, which {party.name} wants, is none of the options. Add it there")
        unique("media ids", (medium.id for medium in self.media()))
        return self

    def _brought_for(self, answer: str) -> tuple[str, ...]:
        """The texts of those who want an answer; where it is empty, those of nobody who wants any."""
        wanted = {party.name: party.wants for party in self.parties}
        return tuple(piece.text for piece in self.material if piece.text and wanted.get(piece.by, "") == answer)

    @property
    def choices(self) -> tuple[Option, ...]:
        letters = zip(LETTERS, self.options, strict=False)
        return tuple(Option(name=letter, title=one, pieces=self._brought_for(one)) for letter, one in letters)

    @property
    def for_nobody(self) -> tuple[str, ...]:
        return self._brought_for("")

    def media(self) -> Iterator[Medium]:
        return (medium for piece in self.material for medium in piece.media)

    def real_outcome(self) -> str:
        return self.outcome

    def brief(self) -> tuple[str, ...]:
        told = f"{len(self.options)} options" if self.options else "without options"
        return told, *((f"Material: {len(self.material)}",) if self.material else ())

    def sections(self) -> tuple[tuple[str, str], ...]:
        wants = "\n".join(f"{one.name}: {one.wants}" if one.wants else one.name for one in self.parties)
        answers = "\n".join(f"{one.name}. {one.title}" for one in self.choices)
        lines = ((N_("Question"), self.question), (N_("Options"), answers), (N_("Who wants what"), wants))
        texts = "\n\n".join("\n".join(filter(None, (one.source, one.by, one.text))) for one in self.material)
        return tuple((title, text) for title, text in (*lines, (N_("Material"), texts)) if text)

    def parts(self) -> tuple[tuple[str, str], ...]:
        return tuple((f"material-{n}", one.text or one.source) for n, one in enumerate(self.material, start=1))

    def without(self, *parts: str) -> Self:
        """The question as if these pieces had not been brought."""
        if unknown := set(parts) - {name for name, _ in self.parts()}:
            raise CaseError(f"{self.id} has no part {', '.join(sorted(unknown))}.")
        kept = tuple(one for n, one in enumerate(self.material, start=1) if f"material-{n}" not in parts)
        return self.model_copy(update={"material": kept})

    def in_other_order(self) -> Self:
        """Return the question with its answers and its parties from the last to the first."""
        return self.model_copy(update={"options": self.options[::-1], "parties": self.parties[::-1]})

    def with_addition(self, text: str, side: str) -> Self:
        """The question with a text more. `side`: the name of the party who brings it; empty: nobody's."""
        if side and side not in {party.name for party in self.parties}:
            raise CaseError(f"“{side}” is none of the parties. Leave out whose it is, or name a party of the question.")
        return self.model_copy(update={"material": (*self.material, Piece(text=text, by=side))})

    @classmethod
    def places(cls, given: Mapping[str, Any]) -> Mapping[str, str]:
        """The material of nobody, and that of each party."""
        return {"material": N_("Material"), **{f"by {name}": name for name, _ in _parties(given)}}

    @classmethod
    def made(cls, given: dict[str, Any], pieces: Sequence[Brought]) -> Self:
        material = [
            Piece(text=piece.text, source=piece.source, by=piece.place.partition(" ")[2], media=piece.media)
            for piece in pieces
        ]
        parties = [{"name": name, "wants": wants} for name, wants in _parties(given)]
        options = options_in(given.get("options", ""))
        return cls.model_validate({**given, "options": options, "parties": parties, "material": material})


def _parties(given: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The name of each party in a form, and what it wants."""
    lines = (line.partition(":") for line in given.get("parties", "").replace("：", ":").splitlines())
    return [(name.strip(), wants.strip()) for name, _, wants in lines if name.strip()]


def options_in(text: str) -> tuple[str, ...]:
    """Return the answers in a text: one a line or, where it is one line, parted by commas or semicolons."""
    lines = [line.strip(" \t-•*") for line in text.strip().splitlines()]
    parts = re.split(r"[,;，；、]", lines[0]) if len(lines) == 1 else lines
    return tuple(filter(None, map(str.strip, parts)))
