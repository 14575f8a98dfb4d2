"""The assessment of a final text: fine-grained by key facts and sentence by sentence, and holistic."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from courtroom.cases.document import Document
from courtroom.engine.court import Court
from courtroom.evaluation.fine_grained import completeness, conciseness, faithfulness
from courtroom.procedures.juris.assessment_tasks import (
    AlignKeyFacts,
    Assess,
    CheckFacts,
    FindKeyFacts,
)
from courtroom.procedures.juris.setup import JurisSetup
from courtroom.procedures.juris.tasks import joined
from courtroom.text.words import sentences

Scores = dict[str, Any]


async def assess(court: Court[Document, JurisSetup], final: Sequence[str]) -> dict[str, Scores | None]:
    """The assessor's scores of the final text by the ways that the setup asks for, for the verdict's details."""
    if not court.setup.ways:
        return {"assessment": None, "fine_grained": None}
    await court.stage("Assessment", "assessment")
    ways = court.setup.ways  # here, as a person may have changed it
    text = joined(tuple(final))
    whole, fine = await court.all(
        (
            holistic(court, text) if "holistic" in ways else _nothing(),
            fine_grained(court, sentences(text)) if "fine-grained" in ways else _nothing(),
        )
    )
    return {"assessment": whole, "fine_grained": fine}


async def holistic(court: Court[Document, JurisSetup], text: str) -> Scores | None:
    """One score for each dimension (section 4.1, as G-Eval does it)."""
    scores = await court.try_ask(court.member("assessor"), Assess(document=court.case, summary=text))
    return scores.model_dump(include={"faithfulness", "completeness", "conciseness"}) if scores else None


async def fine_grained(court: Court[Document, JurisSetup], text: tuple[str, ...]) -> Scores:
    """Errors sentence by sentence, and which key facts are stated where (section 4.1, as UniSumEval does it).

    Returns:
        The scores with what they are made of; a score is None where its answer is missing.
    """
    missing = dict.fromkeys(("faithfulness", "completeness", "conciseness"))
    parts = await court.all((_fact_check(court, text), _key_facts(court, text)))
    return {**missing, "sentences": [], "key_facts": [], **(parts[0] or {}), **(parts[1] or {})}


async def _fact_check(court: Court[Document, JurisSetup], text: tuple[str, ...]) -> Scores:
    checked = await court.ask(court.member("assessor"), CheckFacts(document=court.case, sentences=text))
    found = sorted(checked.checks, key=lambda one: one.sentence)
    return {
        "faithfulness": faithfulness([one.category for one in found]),
        "sentences": [
            {"sentence": sentence, "reason": one.reason, "category": one.category}
            for sentence, one in zip(text, found, strict=True)
        ],
    }


async def _key_facts(court: Court[Document, JurisSetup], text: tuple[str, ...]) -> Scores:
    """The text is final by now: a reference summary can't reach who wrote it."""
    reference = court.unsealed.reference if court.setup.key_facts == "reference" else ""
    assessor = court.member("assessor")
    facts = (await court.ask(assessor, FindKeyFacts(document=court.case, reference=reference))).key_facts
    aligned = await court.try_ask(assessor, AlignKeyFacts(document=court.case, key_facts=facts, sentences=text))
    if aligned is None:
        return {"key_facts": [{"key_fact": fact, "sentences": None} for fact in facts]}
    lines = [one.line_numbers for one in sorted(aligned.alignments, key=lambda one: one.key_fact)]
    return {
        "completeness": completeness(lines),
        "conciseness": conciseness(lines, len(text)),
        "key_facts": [{"key_fact": fact, "sentences": list(said)} for fact, said in zip(facts, lines, strict=True)],
    }


async def _nothing() -> None:
    return None
