"""A run's verdict: the final text, with the sentences in it that may lack support."""

from __future__ import annotations

from courtroom.cases.document import Document
from courtroom.engine.events import Verdict
from courtroom.evaluation.grounding import grounding
from courtroom.procedures.juris.tasks import Assessment, joined, split


def verdict(
    document: Document, accepted: tuple[str, ...], final: tuple[str, ...], assessment: Assessment | None
) -> Verdict:
    """The final text, with what in it neither the accepted sentences nor the document support."""
    text = joined(final)
    sentences = split(text)
    source = f"{joined(accepted)}\n{document.text}"
    unsupported = [sentence for sentence in sentences if not grounding(sentence, source).supported]
    scores = {"faithfulness", "completeness", "conciseness"}
    return Verdict(
        outcome=f"A summary of {len(sentences)} sentence{'s' * (len(sentences) != 1)}",
        summary=text,
        note=f"{len(unsupported)} of its sentences may lack support; see the tab Summary." if unsupported else "",
        details={
            "summary": text,
            "accepted": list(accepted),
            "unsupported": unsupported,
            "assessment": assessment.model_dump(include=scores) if assessment else None,
        },
    )
