"""What the assessor is asked: key facts, errors sentence by sentence, and one holistic score for each dimension.

The fine-grained way is that of UniSumEval (Lee et al. 2024, cited in section 4.1) as a model does it in FineSurE (Song et al.
2024, arXiv:2407.00908): categories of error and the alignment of key facts with sentences are theirs, the words are ours.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Literal

from pydantic import Field

from courtroom.cases.document import Document
from courtroom.models.task import Answer, Task

MOST_KEY_FACTS = 16

Number = Annotated[int, Field(ge=1, le=1000)]
"""Of a sentence or a key fact, from 1."""

Category = Literal[
    "no error",
    "out-of-context error",
    "entity error",
    "predicate error",
    "circumstantial error",
    "grammatical error",
    "coreference error",
    "linking error",
    "other error",
]


class KeyFacts(Answer):
    """What a summary should say."""

    key_facts: tuple[str, ...] = Field(min_length=1, max_length=MOST_KEY_FACTS, description="The most important first.")


class Checked(Answer):
    """One sentence of the summary, held against the document."""

    opens_with = ("sentence",)
    sentence: Number = Field(description="The sentence's number.")
    reason: str = Field(description="What the document says of it, in one sentence.")
    category: Category


class FactCheck(Answer):
    """Every sentence of the summary, in order."""

    checks: tuple[Checked, ...] = Field(max_length=200)


class Aligned(Answer):
    """One key fact, and where the summary says it."""

    opens_with = ("key_fact",)
    key_fact: Number = Field(description="The key fact's number.")
    line_numbers: tuple[Number, ...] = Field(
        default=(), max_length=200, description="The sentences from which it can be inferred; empty: it can't."
    )


class Alignment(Answer):
    """Every key fact, in order."""

    alignments: tuple[Aligned, ...] = Field(max_length=50)


class Assessment(Answer):
    """A reason, then a score for each dimension."""

    reason: str = Field(default="", description="In two or three sentences.")
    faithfulness: float = Field(ge=0, le=100, description="How far all that is said is supported by the document.")
    completeness: float = Field(ge=0, le=100, description="How far the key facts of the document are there.")
    conciseness: float = Field(ge=0, le=100, description="How far nothing is said that could be left out.")


class FindKeyFacts(Task[KeyFacts]):
    """Which facts should a summary hold?"""

    name = "keyfacts"
    title = "Key facts"
    document: Document
    reference: str
    """A reference summary to take them from; empty: the document."""


class CheckFacts(Task[FactCheck]):
    """Is each sentence of the summary true to the document?"""

    name = "factcheck"
    title = "Fact check"
    document: Document
    sentences: tuple[str, ...]

    def problem(self, answer: FactCheck) -> str | None:
        """Each sentence once."""
        return _each_once((one.sentence for one in answer.checks), len(self.sentences), "checks", "sentence")


class AlignKeyFacts(Task[Alignment]):
    """Which key facts does the summary say, and where?"""

    name = "align"
    title = "Alignment of key facts"
    document: Document
    key_facts: tuple[str, ...]
    sentences: tuple[str, ...]

    def problem(self, answer: Alignment) -> str | None:
        """Each key fact once, and only sentences that are there."""
        last = len(self.sentences)
        if any(not 1 <= line <= last for one in answer.alignments for line in one.line_numbers):
            return f"`line_numbers` must be from 1 to {last}"
        return _each_once((one.key_fact for one in answer.alignments), len(self.key_facts), "alignments", "key fact")


class Assess(Task[Assessment]):
    """How good is the summary as a whole? (Section 4.1; the scale of its Table 1.)"""

    name = "assess"
    title = "Assessment"
    document: Document
    summary: str


def _each_once(numbers: Iterable[int], last: int, field: str, what: str) -> str | None:
    if sorted(numbers) == list(range(1, last + 1)):
        return None
    return f"`{field}` must have one entry for each {what} from 1 to {last}"
