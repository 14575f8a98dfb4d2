"""Similar cases for the judges, with the reasons for their labels (section 3.4)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from courtroom.cases.labelled import Labelled
from courtroom.knowledge.search import Hit, Search
from courtroom.procedures.courtroom_llm.tasks import Explain, Similar
from courtroom.procedures.courtroom_llm.trial import Session, about


async def look_up(court: Session, item: Labelled, labels: Sequence[str]) -> tuple[Similar, ...]:
    """The nearest examples by cosine (section 3.4): of each of the two labels; without a trial, of all labels."""
    case, shots = court.case, court.setup.shots
    if not shots:
        return ()
    found: list[Similar] = []
    for number, under in enumerate([case.under(label) for label in labels] or [case.under()], start=1):
        query = Search(collection="examples", text=item.whole, k=shots, under=under, exclude=case.itself(item))
        hits = await court.retrieve(f"similar-{item.id}-{number}", query)
        told = await court.all(explained(court, item, f"{number}-{n}", hit) for n, hit in enumerate(hits, start=1))
        found += [one for one in told if one is not None]
    return tuple(found)


async def explained(court: Session, item: Labelled, step: str, hit: Hit) -> Similar:
    """A similar case with the reason for its label: the one on record, or one that is asked for."""
    record: dict[str, Any] = hit.record
    reason = str(record["reason"])
    if not reason and court.setup.explain:
        example = Labelled(id="example", text=record["text"], second=record["second"])
        task = Explain(about=about(court, example), label=record["label"])
        answer = await court.try_ask(court.panel("hearing")[0], task, f"{item.id}-{step}")
        reason = answer.reason if answer else ""
    return Similar(
        text=record["text"], second=record["second"], label=record["label"], reason=reason, similarity=hit.similarity
    )
