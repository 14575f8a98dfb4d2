"""What generators, jurors and the chief editor are asked (section 3.2)."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from courtroom.cases.document import Document
from courtroom.models.task import Answer, Task
from courtroom.procedures.juris.kept import why_not_kept
from courtroom.text.words import words

Letter = Literal["A", "B"]
MOST_WORDS = 120
"""In one sentence."""


class Length(Answer):
    """A proposal for the length of the summary."""

    reason: str = Field(default="", description="How complex the document is, and how densely packed with information.")
    sentences: int = Field(ge=1, le=1000, description="How many sentences the summary should have.")


class Candidate(Answer):
    """A candidate for the next sentence."""

    evidence: tuple[str, ...] = Field(
        default=(), max_length=5, description="Passages of the document it rests on, copied word for word."
    )
    sentence: str = Field(min_length=1, description="The next sentence of the summary, and nothing else.")


class Ballot(Answer):
    """A critique of both candidates, then a vote."""

    evidence: tuple[str, ...] = Field(
        default=(), max_length=5, description="Passages of the document that decide it, copied word for word."
    )
    critique_a: str = Field(min_length=1, description="What speaks for and against candidate A.")
    critique_b: str = Field(min_length=1, description="What speaks for and against candidate B.")
    vote: Letter


class Edited(Answer):
    """A text that was worked over."""

    changes: tuple[str, ...] = Field(default=(), max_length=50, description="What has to be changed and why, in short.")
    sentences: tuple[str, ...] = Field(
        min_length=1, max_length=200, description="The whole text, sentence by sentence."
    )


class ProposeLength(Task[Length]):
    """How many sentences should the summary have? (The target length N.)"""

    name = "length"
    title = "Length"
    offline_only = ("seat",)  # a juror's own weights; a language model is distinguished by its sample
    document: Document
    viewpoint: str
    seat: int


class NextSentence(Task[Candidate]):
    """Which sentence should come next? (The candidate c_t, Eq. 1.)"""

    name = "generate"
    title = "Candidate"
    offline_only = ("letter",)  # which of the two ways to rank sentences
    document: Document
    viewpoint: str
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
    """Which of the two candidates should be taken? (R_i and v_i of Algorithm 1, in one answer.)"""

    name = "ballot"
    title = "Ballot"
    offline_only = ("seat",)  # a juror's own weights; a language model is distinguished by its sample
    document: Document
    viewpoint: str
    accepted: tuple[str, ...]
    candidate_a: str
    candidate_b: str
    seat: int


class Edit(Task[Edited]):
    """One pass over the accepted sentences. (S* of Algorithm 1.)"""

    name = "edit"
    title = "Editing"
    document: Document
    accepted: tuple[str, ...]

    def problem(self, answer: Edited) -> str | None:
        """The text says what the jury accepted, all of it and nothing else."""
        return why_not_kept(self.accepted, answer.sentences, self.document)


def joined(accepted: tuple[str, ...] | list[str]) -> str:
    """Sentences as one text; Chinese ones without spaces between."""
    text = ""
    for sentence in accepted:
        text += sentence if not text or text[-1] in "。！？；" else f" {sentence}"
    return text
