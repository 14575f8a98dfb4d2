"""A run's verdict: the final text, with the sentences in it that may lack support."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from courtroom.cases.document import Document
from courtroom.engine.events import Verdict
from courtroom.evaluation.grounding import grounding
from courtroom.procedures.juris.kept import added
from courtroom.procedures.juris.tasks import joined
from courtroom.text.words import sentences


def verdict(
    document: Document, accepted: tuple[str, ...], final: tuple[str, ...], assessment: Mapping[str, Any]
) -> Verdict:
    """The final text, with what in it goes beyond the accepted sentences or, without a jury, beyond the document.

    Args:
        assessment: the scores, by the way in which they were given.
    """
    text = joined(final)
    said = sentences(text)
    if accepted:
        unsupported = [sentence for sentence in said if added(sentence, accepted, document)]
    else:
        unsupported = [sentence for sentence in said if not grounding(sentence, document.text).supported]
    return Verdict(
        outcome=f"A summary of {len(said)} sentence{'s' * (len(said) != 1)}",
        summary=text,
        note=f"{len(unsupported)} of its sentences may lack support; see the tab Summary." if unsupported else "",
        details={"summary": text, "accepted": list(accepted), "unsupported": unsupported, **assessment},
    )
