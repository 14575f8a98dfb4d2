"""The baselines of section 4.1: one model writes, without a jury."""

import tomllib
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field

from courtroom.cases.labelled import Document
from courtroom.models.narrow import asked_at_most, bounded
from courtroom.models.task import Answer, Paragraph, Sentence, Task, filled
from courtroom.procedures.juris.assessment import Hearing
from courtroom.procedures.juris.tasks import MORE, Edited, Letter, SummarySentence

MOST_SENTENCES = 30
"""Of a summary whose length nobody has set."""
_ASKED = tomllib.loads((Path(__file__).parent / "prompts" / "questions.toml").read_text(encoding="utf-8"))
QUESTIONS: tuple[str, ...] = tuple(_ASKED["questions"])


class Written(Answer):
    """A summary, sentence by sentence."""

    sentences: tuple[SummarySentence, ...] = filled("What is the summary, sentence by sentence?", max_length=200)


class Advised(Answer):
    """What is to be said of a summary, and whether it can stay."""

    rationale: Paragraph = Field(default="", description="What is good and what is not, in two or three sentences?")
    advice: tuple[Sentence, ...] = Field(
        default=(),
        max_length=10,
        description="What is to be added, removed, rephrased or shortened? Empty where nothing is.",
    )
    stop: bool = Field(description="Can the summary stay as it is?")


class AnswersAndSummary(Answer):
    """Answers to the questions, then the summary."""

    answers: tuple[Sentence, ...] = Field(max_length=20, description="What is the answer to each question, in order?")
    sentences: tuple[SummarySentence, ...] = filled("What is the summary, sentence by sentence?", max_length=200)


class WriteAlone(Task[Written]):
    """The whole summary by one model (the single-agent baseline, and SummIt's first draft)."""

    name, title = "write", "Summary"
    offline_only = ("letter",)  # which of the two ways to rank sentences
    document: Document
    shortest: int | None
    longest: int | None
    letter: Letter

    @property
    def form(self) -> type[BaseModel]:
        return asked_at_most(Written, "sentences", self.longest or MOST_SENTENCES)


class Advise(Task[Advised]):
    """What should be better in this summary? (SummIt's evaluator.)"""

    name, title = "advise", "Advice"
    document: Document
    sentences: tuple[str, ...]

    def problem(self, answer: Advised) -> str | None:
        """Whoever wants another turn must say what for."""
        return None if answer.stop or answer.advice else "give at least one piece of advice, or set `stop` to true"


class RefineSummary(Task[Edited]):
    """The summary again, by the evaluator's advice. (SummIt's summarizer.)"""

    name, title = "refine", "Refined summary"
    document: Document
    sentences: tuple[str, ...]
    rationale: str
    advice: tuple[str, ...]

    @property
    def form(self) -> type[BaseModel]:
        return asked_at_most(Edited, "sentences", len(self.sentences) + MORE)


class AnswerAndWrite(Task[AnswersAndSummary]):
    """Questions about the document first, then the summary, in one call."""

    name, title = "answer", "Answers and summary"
    offline_only = ("letter",)  # which of the two ways to rank sentences
    document: Document
    questions: tuple[str, ...]
    shortest: int | None
    longest: int | None
    letter: Letter

    @property
    def form(self) -> type[BaseModel]:
        form = bounded(AnswersAndSummary, "answers", len(self.questions), len(self.questions))
        return asked_at_most(form, "sentences", self.longest or MOST_SENTENCES)


async def without_jury(court: Hearing) -> tuple[str, ...]:
    """The summary of the variant's writer, sentence by sentence."""
    await court.stage("Summary", "alone")
    setup = court.setup
    wanted: dict[str, Any] = {"document": court.case, "shortest": setup.shortest, "longest": setup.longest}
    wanted["letter"] = "B" if setup.writer == "generator-b" else "A"
    if setup.variant == "qa-prompt":  # arXiv:2505.14347: questions first, then the summary, in one call
        asked = AnswerAndWrite(**wanted, questions=QUESTIONS[: setup.question_count])
        return (await court.ask(court.member("generator"), asked)).sentences
    # One model, one call, no example: the paper's zero-shot baseline.
    written = (await court.ask(court.member("generator"), WriteAlone(**wanted))).sentences
    return await refined(court, written) if setup.variant == "summit" else written


async def refined(court: Hearing, written: tuple[str, ...]) -> tuple[str, ...]:
    """SummIt (arXiv:2305.14835): an evaluator advises, the writer refines, until the evaluator stops or turns run out."""
    for turn in range(1, court.setup.refinements + 1):
        await court.stage(f"Refinement {turn}", "refinement")
        said = await court.try_ask(court.member("evaluator"), Advise(document=court.case, sentences=written))
        if said is None or said.stop:
            break
        task = RefineSummary(document=court.case, sentences=written, rationale=said.rationale, advice=said.advice)
        again = await court.try_ask(court.member("generator"), task)
        if again is None:
            court.note("unrefined", "The writer had no refined summary: the one before it stands.")
            break
        written = again.sentences
    return written
