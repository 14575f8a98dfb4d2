"""The baselines of section 4.1: one model writes, without a jury."""

from __future__ import annotations

from courtroom.cases.document import Document
from courtroom.engine.court import Court
from courtroom.procedures.juris.baseline_tasks import QUESTIONS, Advise, AnswerAndWrite, RefineSummary, WriteAlone
from courtroom.procedures.juris.setup import JurisSetup
from courtroom.procedures.juris.tasks import Letter

Hearing = Court[Document, JurisSetup]


async def without_jury(court: Hearing) -> tuple[str, ...]:
    """The summary of the variant's writer, sentence by sentence."""
    await court.stage("Summary", "alone")
    if court.setup.variant == "qa-prompt":
        return await qa_prompted(court)
    written = await alone(court)
    return await refined(court, written) if court.setup.variant == "summit" else written


async def alone(court: Hearing) -> tuple[str, ...]:
    """One model, one call, no example (the paper's zero-shot baseline)."""
    setup = court.setup
    task = WriteAlone(document=court.case, shortest=setup.shortest, longest=setup.longest, letter=letter(court.setup))
    return (await court.ask(court.member("generator"), task)).sentences


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


async def qa_prompted(court: Hearing) -> tuple[str, ...]:
    """QA-prompting (arXiv:2505.14347): questions are answered first, then the summary is written, in one call."""
    setup = court.setup
    task = AnswerAndWrite(
        document=court.case,
        questions=QUESTIONS[: setup.question_count],
        shortest=setup.shortest,
        longest=setup.longest,
        letter=letter(setup),
    )
    return (await court.ask(court.member("generator"), task)).sentences


def letter(setup: JurisSetup) -> Letter:
    """Which of the two generators writes."""
    return "B" if setup.writer == "generator-b" else "A"
