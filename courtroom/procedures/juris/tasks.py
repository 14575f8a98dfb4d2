"""What generators, jurors and the chief editor are asked (section 3.2)."""

from typing import Annotated, Literal

from pydantic import BaseModel, Field

from courtroom.cases.labelled import Document
from courtroom.models.narrow import asked_at_most, asked_within, known
from courtroom.models.task import Answer, Longest, Passages, Point, Sentence, Task, filled
from courtroom.procedures.juris.kept import why_not_kept
from courtroom.text.words import sentences, word_count, words

Letter = Literal["A", "B"]
"""Whose candidate it is; a juror is told places, as the lot orders them anew for each ballot."""
Place = Literal["first", "second"]
MOST_WORDS = 120
"""In one sentence."""
LEAST_WORDS = 3
"""In what counts as a sentence of its own: “Dr.” does not."""
MORE = 3
"""Sentences that a text that is worked over may have more than before."""
SummarySentence = Annotated[str, Longest(500)]
CandidateSentence = Annotated[str, Longest(300, 400)]
"""Of about 40 words at most."""


class Length(Answer):
    """A proposal for the length of the summary."""

    reason: Sentence = Field(
        default="", description="How complex is the document, and how densely packed with information?"
    )
    sentences: int = Field(ge=1, le=1000, description="How many sentences should the summary have?")


class Candidate(Answer):
    """A candidate for the next sentence."""

    evidence: Passages = Field(
        default=(), max_length=50, description="On which passages of the document does it rest, copied word for word?"
    )
    sentence: CandidateSentence = filled("Which sentence comes next in the summary?")


class Ballot(Answer):
    """A critique of both candidates, then a vote."""

    evidence: Passages = Field(
        default=(), max_length=50, description="Which passages of the document decide it, copied word for word?"
    )
    on_first: Sentence = filled("What speaks for and against the first candidate?")
    on_second: Sentence = filled("What speaks for and against the second candidate?")
    vote: Place = Field(description="Which candidate is better?")


class Edited(Answer):
    """A text that was worked over."""

    changes: Annotated[tuple[Point, ...], Longest(5)] = Field(
        default=(), max_length=50, description="What has to be changed and why, in short?"
    )
    sentences: tuple[SummarySentence, ...] = filled("What is the whole text, sentence by sentence?", max_length=200)


class ProposeLength(Task[Length]):
    """How many sentences should the summary have? (The target length N.)"""

    name, title = "length", "Length"
    offline_only = ("seat",)  # a juror's own weights; a language model is distinguished by its sample
    document: Document
    viewpoint: str
    seat: int
    told: tuple[int, int] | None = None
    """The fewest and the most, where jurors are told; a proposal beyond them is read all the same."""

    @property
    def form(self) -> type[BaseModel]:
        return asked_within(Length, "sentences", *self.told) if self.told else Length


class NextSentence(Task[Candidate]):
    """Which sentence should come next? (The candidate c_t, Eq. 1.)"""

    name, title = "generate", "Candidate"
    offline_only = ("letter",)  # which of the two ways to rank sentences
    document: Document
    viewpoint: str
    accepted: tuple[str, ...]
    target: int
    letter: Letter
    passages: bool = True
    """Whether it first copies the passages on which its sentence rests."""

    @property
    def form(self) -> type[BaseModel]:
        return Candidate if self.passages else known(Candidate, "evidence", ())

    def problem(self, answer: Candidate) -> str | None:
        """One sentence, of readable length, that isn't there yet."""
        if answer.sentence.casefold() in {sentence.casefold() for sentence in self.accepted}:
            return "this sentence is accepted already; give one that adds something"
        if sum(len(words(part)) >= LEAST_WORDS for part in sentences(answer.sentence)) > 1:
            return "`sentence` holds several sentences; give one"
        if word_count(answer.sentence) > MOST_WORDS:
            return f"`sentence` is longer than {MOST_WORDS} words; give one sentence"
        return None


class CastBallot(Task[Ballot]):
    """Which of the two candidates should be taken? (R_i and v_i of Algorithm 1, in one answer.)"""

    name, title = "ballot", "Ballot"
    offline_only = ("seat",)  # a juror's own weights; a language model is distinguished by its sample
    document: Document
    viewpoint: str
    accepted: tuple[str, ...]
    target: int
    first: str
    second: str
    seat: int


class Edit(Task[Edited]):
    """One pass over the accepted sentences. (S* of Algorithm 1.)"""

    name, title = "edit", "Editing"
    document: Document
    accepted: tuple[str, ...]
    checked: bool = True

    @property
    def form(self) -> type[BaseModel]:
        return asked_at_most(Edited, "sentences", len(self.accepted) + MORE)

    def problem(self, answer: Edited) -> str | None:
        """Where it is checked, the text says what the jury accepted, all of it and nothing else."""
        return why_not_kept(self.accepted, answer.sentences, self.document) if self.checked else None


def joined(accepted: tuple[str, ...] | list[str]) -> str:
    """Sentences as one text; Chinese ones without spaces between."""
    text = ""
    for sentence in accepted:
        text += sentence if not text or text[-1] in "。！？；" else f" {sentence}"
    return text


LONGEST = 600
"""Characters of one point of view."""
