"""The nearest labelled texts decide, and no model is asked: a baseline (Cover and Hart, 1967, doi:10.1109/TIT.1967.1053964)."""

from __future__ import annotations

from courtroom.cases.labelled import Labelled
from courtroom.knowledge.search import Search
from courtroom.procedures.courtroom_llm.bench import Decision
from courtroom.procedures.courtroom_llm.trial import Session


async def by_nearest(court: Session, item: Labelled) -> Decision:
    """The label with the most likeness among the k nearest texts; the one seat on the bench casts the vote.

    A text counts by its cosine, and one that is unlike counts nothing. The text itself, and copies of it, are not among them.
    """
    case = court.case
    query = Search(
        collection="examples",
        text=item.whole,
        k=court.setup.neighbours,
        under=case.under(None),
        exclude=case.itself(item),
        itself=False,
    )
    hits = await court.retrieve(f"nearest-{item.id}", query)
    likeness: dict[str, float] = {}
    for hit in hits:
        label = str(hit.record["label"])
        likeness[label] = likeness.get(label, 0.0) + max(0.0, hit.similarity)
    (seat,) = court.panel("judge")
    if not likeness:
        court.vote(seat, None, ("There is no labelled text to compare with.",), on=item.id)
        return Decision(item, None, "There is no labelled text to compare with. Give the task examples.", {})
    label = max(likeness, key=lambda one: likeness[one])  # of equal ones, that of the nearest text
    own = [hit.similarity for hit in hits if hit.record["label"] == label]
    reason = f"{len(own)} of the {len(hits)} nearest texts have this label; the nearest of them has a likeness of {own[0]:.2f}."
    court.vote(seat, label, (reason,), on=item.id)
    court.tally(case.labels, consensus=0.5, on=item.id)
    return Decision(item, label, reason, {label: 1})
