"""Similar cases for the judges, with the reasons for their labels (section 3.4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from courtroom.cases.labelled import Labelled
from courtroom.knowledge.search import Draw, Hit, Search
from courtroom.procedures.courtroom_llm.tasks import Explain, Similar
from courtroom.procedures.courtroom_llm.trial import Session, passages


@dataclass(frozen=True)
class Precedents:
    """Similar cases, and how near each is to the text, as a cosine; 0 where it was drawn at random."""

    cases: tuple[Similar, ...] = ()
    similarities: tuple[float, ...] = ()


async def look_up(court: Session, item: Labelled, in_question: Sequence[str]) -> Precedents:
    """`shots` examples for each label that the setup names, in the order of the label set, so that it reveals nothing.

    The text itself is never among them, nor is another with the same words.
    """
    if not court.setup.shots:
        return Precedents()
    of = court.setup.labels_of_cases(court.case.labels, in_question)
    hits = [
        (f"{number}-{n}", hit)
        for number, label in enumerate(of, start=1)
        for n, hit in enumerate(await found(court, item, label, number), start=1)
    ]
    cases = await court.all(explained(court, item, step, hit) for step, hit in hits)
    return Precedents(tuple(one for one in cases if one), tuple(hit.similarity for _, hit in hits))


async def found(court: Session, item: Labelled, label: str | None, number: int) -> tuple[Hit, ...]:
    """Examples of one label, or of any: the nearest by cosine, or drawn at random."""
    case, shots, name = court.case, court.setup.shots, f"similar-{item.id}-{number}"
    under, exclude = case.under(label), case.itself(item)
    query: Search | Draw = Search(
        collection="examples", text=item.whole, k=shots, under=under, exclude=exclude, itself=False
    )
    if court.setup.cases_by == "random":
        lot = f"{court.seed}/{name}"
        query = Draw(collection="examples", text=item.whole, k=shots, under=under, exclude=exclude, seed=lot)
    return await court.retrieve(name, query)


async def explained(court: Session, item: Labelled, step: str, hit: Hit) -> Similar:
    """A similar case with the reason for its label: the one on record, or one that is asked for."""
    record: dict[str, Any] = hit.record
    shown = passages(court.case, record["text"], record["second"])
    reason = str(record["reason"])
    if not reason and court.setup.explain:
        task = Explain(passages=shown, labels=court.case.labels, label=record["label"])
        answer = await court.try_ask(court.member("clerk"), task, f"{item.id}-{step}")
        reason = answer.reason if answer else ""
    return Similar(passages=shown, label=record["label"], reason=reason)
