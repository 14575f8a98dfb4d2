"""What the baselines of section 4.1 are asked: one model alone, SummIt, QA-prompting.

SummIt: Zhang et al. (2023), arXiv:2305.14835. QA-prompting: Sinha (2025), arXiv:2505.14347. The prompts are our own words.
"""

from __future__ import annotations

from pydantic import Field

from courtroom.cases.document import Document
from courtroom.models.task import Answer, Task
from courtroom.procedures.juris.tasks import Edited, Letter

QUESTIONS = (
    "What is the document mainly about?",
    "Which points does it make, and how does it support them?",
    "Who are the most important persons or bodies in it, and what do they do?",
    "When does what happen?",
    "Which details, examples or figures matter?",
    "What does it conclude, recommend or expect?",
    "In what tone is it written?",
    "Which questions or difficulties does it leave open?",
    "What does it say that others do not?",
    "Whom does it address, and how does that show?",
)
"""After the ten subjects of QA-prompting, in its order. There the best five for a domain are found by reference summaries;
here the first ones are asked."""


class Written(Answer):
    """A summary, sentence by sentence."""

    sentences: tuple[str, ...] = Field(min_length=1, max_length=200, description="The summary, sentence by sentence.")


class Advised(Answer):
    """What is to be said of a summary, and whether it can stay."""

    rationale: str = Field(default="", description="What is good and what is not, in two or three sentences.")
    advice: tuple[str, ...] = Field(
        default=(), max_length=10, description="Each: what to add, remove, rephrase or shorten. Empty: nothing."
    )
    stop: bool = Field(description="Whether the summary can stay as it is.")


class Answered(Answer):
    """Answers to the questions, then the summary."""

    answers: tuple[str, ...] = Field(max_length=20, description="One for each question, in order.")
    sentences: tuple[str, ...] = Field(min_length=1, max_length=200, description="The summary, sentence by sentence.")


class WriteAlone(Task[Written]):
    """The whole summary by one model (the single-agent baseline, and SummIt's first draft)."""

    name = "write"
    title = "Summary"
    offline_only = ("letter",)  # which of the two ways to rank sentences
    document: Document
    shortest: int | None
    longest: int | None
    letter: Letter


class Advise(Task[Advised]):
    """What should be better in this summary? (SummIt's evaluator.)"""

    name = "advise"
    title = "Advice"
    document: Document
    sentences: tuple[str, ...]

    def problem(self, answer: Advised) -> str | None:
        """Whoever wants another turn must say what for."""
        return None if answer.stop or answer.advice else "give at least one piece of advice, or set `stop` to true"


class RefineSummary(Task[Edited]):
    """The summary again, by the evaluator's advice. (SummIt's summarizer.)"""

    name = "refine"
    title = "Refined summary"
    document: Document
    sentences: tuple[str, ...]
    rationale: str
    advice: tuple[str, ...]


class AnswerAndWrite(Task[Answered]):
    """Questions about the document first, then the summary, in one call."""

    name = "answer"
    title = "Answers and summary"
    offline_only = ("letter",)  # which of the two ways to rank sentences
    document: Document
    questions: tuple[str, ...]
    shortest: int | None
    longest: int | None
    letter: Letter

    def problem(self, answer: Answered) -> str | None:
        """Each question has its answer."""
        if len(answer.answers) == len(self.questions):
            return None
        return f"`answers` must have {len(self.questions)} entries, one for each question in order"
