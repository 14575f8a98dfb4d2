"""The assessment of a final text: fine-grained by key facts and sentence by sentence, and holistic."""

from collections.abc import Coroutine, Iterable, Sequence
from functools import lru_cache
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, create_model

from courtroom import Court, Document
from courtroom.evaluation.summaries import completeness, conciseness, faithfulness
from courtroom.models.narrow import bounded
from courtroom.models.task import Answer, Paragraph, Point, Sentence, Task, filled
from courtroom.procedures.juris.setup import JurisSetup
from courtroom.procedures.juris.tasks import joined
from courtroom.text.words import sentences

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

    key_facts: tuple[Point, ...] = filled("Which facts should a summary hold, the most important first?", max_length=16)


class Checked(Answer):
    """One sentence of the summary, held against the document."""

    opens_with = ("sentence",)
    sentence: Number = Field(description="Which sentence, by its number?")
    reason: Sentence = Field(description="What does the document say of it, in one sentence?")
    category: Category = Field(description="Which error does the sentence have, if any?")


class FactCheck(Answer):
    """Every sentence of the summary, in order."""

    checks: tuple[Checked, ...] = Field(max_length=200)


LINES = "From which sentences can it be inferred? Empty where from none."


class Aligned(Answer):
    """One key fact, and where the summary says it."""

    opens_with = ("key_fact",)
    key_fact: Number = Field(description="Which key fact, by its number?")
    line_numbers: tuple[Number, ...] = Field(default=(), max_length=200, description=LINES)


@lru_cache(maxsize=64)
def aligned(key_facts: int, lines: int) -> type[BaseModel]:
    """An entry for one of so many key facts, found in some of so many sentences."""
    line = Annotated[int, Field(ge=1, le=lines)]
    numbers: Any = (tuple[line, ...], Field(default=(), max_length=lines, description=LINES))
    return bounded(create_model("Aligned", __base__=Aligned, line_numbers=numbers), "key_fact", 1, key_facts)


class Alignment(Answer):
    """Every key fact, in order."""

    alignments: tuple[Aligned, ...] = Field(max_length=50)


class Assessment(Answer):
    """A reason, then a score for each dimension."""

    reason: Paragraph = Field(default="", description="What speaks for these scores, in two or three sentences?")
    faithfulness: float = Field(ge=0, le=100, description="How far is all that is said supported by the document?")
    completeness: float = Field(ge=0, le=100, description="How far are the key facts of the document there?")
    conciseness: float = Field(ge=0, le=100, description="How far is nothing said that could be left out?")


class FindKeyFacts(Task[KeyFacts]):
    """Which facts should a summary hold?"""

    name, title = "keyfacts", "Key facts"
    document: Document
    reference: str
    """A reference summary to take them from; empty: the document."""


class CheckFacts(Task[FactCheck]):
    """Is each sentence of the summary true to the document?"""

    name, title = "factcheck", "Fact check"
    document: Document
    sentences: tuple[str, ...]

    @property
    def form(self) -> type[BaseModel]:
        last = len(self.sentences)
        return bounded(FactCheck, "checks", last, last, bounded(Checked, "sentence", 1, last))

    def problem(self, answer: FactCheck) -> str | None:
        return _each_once((one.sentence for one in answer.checks), len(self.sentences), "checks", "sentence")


class AlignKeyFacts(Task[Alignment]):
    """Which key facts does the summary say, and where?"""

    name, title = "align", "Alignment of key facts"
    key_facts: tuple[str, ...]
    sentences: tuple[str, ...]

    @property
    def form(self) -> type[BaseModel]:
        last, lines = len(self.key_facts), len(self.sentences)
        return bounded(Alignment, "alignments", last, last, aligned(last, lines))

    def problem(self, answer: Alignment) -> str | None:
        return _each_once((one.key_fact for one in answer.alignments), len(self.key_facts), "alignments", "key fact")


class Assess(Task[Assessment]):
    """How good is the summary as a whole? (Section 4.1; the scale of its Table 1.)"""

    name, title = "assess", "Assessment"
    document: Document
    summary: str


def _each_once(numbers: Iterable[int], last: int, field: str, what: str) -> str | None:
    if sorted(numbers) == list(range(1, last + 1)):
        return None
    return f"`{field}` must have one entry for each {what} from 1 to {last}"


Scores = dict[str, Any]
Hearing = Court[Document, JurisSetup]


async def assess(court: Hearing, final: Sequence[str]) -> dict[str, Scores | None]:
    """The assessor's scores of the final text by the ways that the setup asks for, for the verdict's details."""
    none: dict[str, Scores | None] = {"assessment": None, "fine_grained": None}
    if not court.setup.ways:
        return none
    await court.stage("Assessment", "assessment")
    ways, text = court.setup.ways, joined(tuple(final))  # the ways here, as a person may have changed them
    asked: dict[str, Coroutine[Any, Any, Scores | None]] = {}
    if "holistic" in ways:
        asked["assessment"] = holistic(court, text)
    if "fine-grained" in ways:
        asked["fine_grained"] = fine_grained(court, sentences(text))
    return none | dict(zip(asked, await court.all(asked.values()), strict=True))


async def holistic(court: Hearing, text: str) -> Scores | None:
    """One score for each dimension (section 4.1, as G-Eval does it)."""
    scores = await court.try_ask(court.member("assessor"), Assess(document=court.case, summary=text))
    return scores.model_dump(include={"faithfulness", "completeness", "conciseness"}) if scores else None


async def fine_grained(court: Hearing, text: tuple[str, ...]) -> Scores:
    """Errors sentence by sentence, and which key facts are stated where (section 4.1, as UniSumEval does it). Gives the scores
    with what they are made of; a score is None where its answer is missing."""
    missing = dict.fromkeys(("faithfulness", "completeness", "conciseness"))
    parts = await court.all((_fact_check(court, text), _key_facts(court, text)))
    return {**missing, "sentences": [], "key_facts": [], **(parts[0] or {}), **(parts[1] or {})}


async def _fact_check(court: Hearing, text: tuple[str, ...]) -> Scores:
    checked = await court.ask(court.member("assessor"), CheckFacts(document=court.case, sentences=text))
    found = sorted(checked.checks, key=lambda one: one.sentence)
    return {
        "faithfulness": faithfulness([one.category for one in found]),
        "sentences": [
            {"sentence": sentence, "reason": one.reason, "category": one.category}
            for sentence, one in zip(text, found, strict=True)
        ],
    }


async def _key_facts(court: Hearing, text: tuple[str, ...]) -> Scores:
    """The text is final by now: a reference summary can't reach who wrote it."""
    reference = court.unsealed.reference if court.setup.key_facts == "reference" else ""
    assessor = court.member("assessor")
    facts = (await court.ask(assessor, FindKeyFacts(document=court.case, reference=reference))).key_facts
    aligned = await court.try_ask(assessor, AlignKeyFacts(key_facts=facts, sentences=text))
    if aligned is None:
        return {"key_facts": [{"key_fact": fact, "sentences": None} for fact in facts]}
    lines = [one.line_numbers for one in sorted(aligned.alignments, key=lambda one: one.key_fact)]
    return {
        "completeness": completeness(lines),
        "conciseness": conciseness(lines, len(text)),
        "key_facts": [{"key_fact": fact, "sentences": list(said)} for fact, said in zip(facts, lines, strict=True)],
    }
