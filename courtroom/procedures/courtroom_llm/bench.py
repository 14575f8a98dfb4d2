"""The bench's votes on one text, and the decision that comes of them (section 3.3)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from courtroom.cases.labelled import Labelled
from courtroom.engine.setup import Member
from courtroom.procedures.courtroom_llm.tasks import Earlier, Opinion, same
from courtroom.procedures.courtroom_llm.trial import Session, Trial


@dataclass(frozen=True)
class Decision:
    """How one text was classified."""

    item: Labelled
    label: str
    reason: str
    votes: dict[str, int]
    trial: Trial | None = None

    def result(self) -> dict[str, Any]:
        """As it stands in the verdict's details."""
        trial = self.trial
        return {
            "id": self.item.id,
            "label": self.label,
            "first": trial.first if trial else None,
            "second": trial.second if trial else None,
            "prosecuted": trial.prosecuted if trial else None,
            "ambiguous": trial.ambiguous if trial else None,
            "votes": self.votes,
        }


def cast(
    court: Session, judge: Member, item: Labelled, opinion: Opinion | None, labels: Sequence[str]
) -> Earlier | None:
    """A judge's vote, on record; None is an abstention."""
    label = same(opinion.label, labels) if opinion else None
    court.vote(judge, label, (opinion.reason,) if opinion else (), on=item.id)
    return Earlier(judge=judge.name, label=label, reason=opinion.reason) if opinion and label else None


def decided(
    court: Session,
    item: Labelled,
    label: str,
    opinions: Sequence[Earlier],
    labels: Sequence[str],
    trial: Trial | None,
) -> Decision:
    """The bench's decision, with the reason of the last judge who shares it."""
    counts = court.tally(labels, consensus=0.5, on=item.id).counts
    reason = next((one.reason for one in reversed(opinions) if one.label == label), "")
    return Decision(item, label, reason, {name: count for name, count in counts.items() if count}, trial)


def majority(opinions: Sequence[Earlier], tie: str) -> str:
    """The label with most votes; where judges abstained and two are equal, `tie` if it is among them."""
    counts = Counter(opinion.label for opinion in opinions)
    most = max(counts.values())
    return tie if counts[tie] == most else next(label for label in counts if counts[label] == most)
