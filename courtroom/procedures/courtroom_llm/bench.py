"""The bench's votes on one text, and the decision that comes of them (section 3.3)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from courtroom.cases.labelled import Labelled
from courtroom.engine.setup import Member
from courtroom.models.narrow import same
from courtroom.procedures.courtroom_llm.tasks import ChosenLabel, Earlier
from courtroom.procedures.courtroom_llm.trial import LabelTrial, Session


@dataclass(frozen=True)
class Decision:
    """How one text was classified; `label` is None where it could not be, and `reason` then says why."""

    item: Labelled
    label: str | None
    reason: str
    votes: dict[str, int]
    trial: LabelTrial | None = None


def cast(
    court: Session, judge: Member, item: Labelled, opinion: ChosenLabel | None, labels: Sequence[str]
) -> Earlier | None:
    """A judge's vote, on record; None is an abstention."""
    label = str(same(opinion.label, tuple(labels))) if opinion else None
    court.vote(judge, label, (opinion.reason,) if opinion else (), on=item.id)
    return Earlier(judge=judge.name, reason=opinion.reason, label=label) if opinion and label else None


def decision(
    court: Session, item: Labelled, opinions: Sequence[Earlier], labels: Sequence[str], trial: LabelTrial | None
) -> Decision:
    """By majority, or by the last judge where that is set; with the reason of the last judge who shares it.

    A text for which too few judges voted has no label. That is this text's failure: the others' trials go on.
    """
    bench = court.panel("judge")
    if not court.enough(len(opinions), len(bench)):
        return Decision(item, None, f"Only {len(opinions)} of {len(bench)} judges could decide.", {}, trial)
    counts = court.tally(labels, consensus=0.5, on=item.id).counts
    last = court.setup.structure == "sequential" and court.setup.decided_by == "last"
    label = opinions[-1].label if last else majority(opinions, trial.first if trial else opinions[0].label)
    reason = next(one.reason for one in reversed(opinions) if one.label == label)
    return Decision(item, label, reason, {name: count for name, count in counts.items() if count}, trial)


def majority(opinions: Sequence[Earlier], tie: str) -> str:
    """The label with most votes; where judges abstained and two are equal, `tie` if it is among them."""
    counts = Counter(opinion.label for opinion in opinions)
    most = max(counts.values())
    return tie if counts[tie] == most else next(label for label in counts if counts[label] == most)
