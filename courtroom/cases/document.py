"""A document to be summarised, with a reference summary where one is known."""

from typing import Literal, Self

from pydantic import Field, field_validator

from courtroom.cases.case import Case
from courtroom.media.medium import Medium

LONGEST = 200_000
"""Characters; about 40,000 English words, more than most models can read at once."""


class Document(Case):
    """One text. The reference summary is for measuring and never shown to a member."""

    kind: Literal["document"] = "document"
    domain: str = Field(default="", max_length=40, description="E.g. news, medical, report, meeting, interview, story.")
    text: str
    reference: str = Field(default="", max_length=20_000, description="A summary that somebody wrote.")

    kind_title = "Document"
    from_text = True

    @field_validator("text")
    @classmethod
    def _readable(cls, text: str) -> str:
        if not any(character.isalnum() for character in text):
            raise ValueError("it holds no words. Give a document with text")
        if len(text) > LONGEST:
            raise ValueError(
                f"it has {len(text):,} characters; a document may have {LONGEST:,}. Cut it into parts and hear each"
            )
        return text

    def blind(self) -> Self:
        """Without the reference summary."""
        return self.model_copy(update={"reference": ""})

    def brief(self) -> tuple[str, ...]:
        """Domain, length, and whether there is a reference summary."""
        known = ("with a reference summary",) if self.reference else ()
        return *filter(None, (self.domain,)), f"{len(self.text):,} characters", *known

    def sections(self) -> tuple[tuple[str, str], ...]:
        """The text, and the reference summary."""
        return tuple(pair for pair in (("Text", self.text), ("Reference summary", self.reference)) if pair[1])

    @classmethod
    def written(cls, name: str, title: str, language: str, text: str, media: tuple[Medium, ...]) -> Self:
        """A document that somebody pasted; pictures are no part of it."""
        return cls(id=name, title=title, language=language, text=text, source="Written in the app")
