"""What generators, jurors, chief editor and assessor are asked (section 3.2)."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from courtroom.cases.document import Document
from courtroom.models.task import Answer, Task
from courtroom.text.words import sentences, words

Letter = Literal["A", "B"]
MOST_WORDS = 120
"""In one sentence."""


class Length(Answer):
    """One juror's proposal for the target length N."""

    sentences: int = Field(ge=1, le=200, description="How many sentences the summary should have.")
    reason: str = Field(default="", description="How complex and how dense the document is.")


class Candidate(Answer):
    """c_t: a candidate for the next sentence (Eq. 1)."""

    sentence: str = Field(min_length=1, description="The next sentence of the summary, and nothing else.")
    evidence: tuple[str, ...] = Field(
        default=(), max_length=5, description="Passages of the document it rests on, copied word for word."
    )


class Ballot(Answer):
    """R_i and v_i: a juror's critique of both candidates, and its vote."""

    critique_a: str = Field(min_length=1, description="What speaks for and against candidate A.")
    critique_b: str = Field(min_length=1, description="What speaks for and against candidate B.")
    evidence: tuple[str, ...] = Field(
        default=(), max_length=5, description="Passages of the document that decide it, copied word for word."
    )
    vote: Letter


class Edited(Answer):
    """S*: the chief editor's text, sentence by sentence."""

    sentences: tuple[str, ...] = Field(min_length=1, max_length=200)
    changes: tuple[str, ...] = Field(default=(), max_length=50, description="What was changed and why, in short.")

    @property
    def text(self) -> str:
        """As one text."""
        return joined(self.sentences)


class Assessment(Answer):
    """A judge model's scores, 0 to 100 each (section 4.1)."""

    faithfulness: float = Field(ge=0, le=100, description="How far all that is said is supported by the document.")
    completeness: float = Field(ge=0, le=100, description="How far the key facts of the document are there.")
    conciseness: float = Field(ge=0, le=100, description="How far nothing is said that could be left out.")
    reason: str = ""


class ProposeLength(Task[Length]):
    """How many sentences should the summary have?"""

    name = "length"
    title = "Length"
    offline_only = ("seat",)  # a juror's own weights; a language model is told apart by its sample
    document: Document
    seat: int
    shortest: int
    longest: int

    def problem(self, answer: Length) -> str | None:
        """A proposal outside the range can't be counted."""
        if self.shortest <= answer.sentences <= self.longest:
            return None
        return f"`sentences` must be from {self.shortest} to {self.longest}"


class NextSentence(Task[Candidate]):
    """Which sentence should come next?"""

    name = "generate"
    title = "Candidate"
    offline_only = ("letter",)  # which of the two ways to rank sentences
    document: Document
    accepted: tuple[str, ...]
    target: int
    letter: Letter

    def problem(self, answer: Candidate) -> str | None:
        """One sentence, of readable length, that isn't there yet."""
        if answer.sentence.casefold() in {sentence.casefold() for sentence in self.accepted}:
            return "this sentence is accepted already; give one that adds something"
        if len(words(answer.sentence)) > MOST_WORDS:
            return f"`sentence` is longer than {MOST_WORDS} words; give one sentence"
        return None


class CastBallot(Task[Ballot]):
    """Which of the two candidates should be taken?"""

    name = "ballot"
    title = "Ballot"
    offline_only = ("seat",)  # a juror's own weights; a language model is told apart by its sample
    document: Document
    accepted: tuple[str, ...]
    candidate_a: str
    candidate_b: str
    seat: int


class Edit(Task[Edited]):
    """One pass over the accepted sentences."""

    name = "edit"
    title = "Editing"
    document: Document
    accepted: tuple[str, ...]


class WriteAlone(Task[Edited]):
    """The whole summary by one generator (the single-agent baseline)."""

    name = "write"
    title = "Summary"
    offline_only = ("letter",)  # which of the two ways to rank sentences
    document: Document
    shortest: int
    longest: int
    letter: Letter


class Assess(Task[Assessment]):
    """How good is the summary?"""

    name = "assess"
    title = "Assessment"
    document: Document
    summary: str


def joined(accepted: tuple[str, ...] | list[str]) -> str:
    """Sentences as one text; Chinese ones without spaces between."""
    text = ""
    for sentence in accepted:
        text += sentence if not text or text[-1] in "。！？；" else f" {sentence}"
    return text


def split(text: str) -> tuple[str, ...]:
    """A text as sentences."""
    return sentences(text)
