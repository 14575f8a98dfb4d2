"""A run's verdict from the decisions on its texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from courtroom.cases.labelled import Labelled
from courtroom.engine.events import Verdict
from courtroom.procedures.courtroom_llm.bench import Decision
from courtroom.procedures.courtroom_llm.trial import Session


def verdict(court: Session, items: Sequence[Labelled], decided: Sequence[Decision | None]) -> Verdict:
    """One text's label with its grounds, or how many texts got which label.

    Raises:
        QuorumLost: too few texts have a label.
    """
    made = {one.item.id: one for one in decided if one is not None}
    decisions = [made.get(item.id) or Decision(item, None, "It could not be heard.", {}) for item in items]
    court.needs(sum(one.label is not None for one in decisions), len(decisions), "texts could be decided")
    return of_one(court, decisions[0]) if len(decisions) == 1 else of_several(decisions)


def of_one(court: Session, made: Decision) -> Verdict:
    """The text's label, with the reason of the last judge who decided so."""
    ambiguous = made.trial is not None and made.trial.ambiguous
    return Verdict(
        outcome=str(made.label),
        counts=made.votes,
        abstained=len(court.panel("judge")) - sum(made.votes.values()),
        summary=made.reason,
        note="The preliminary hearings disagreed: the text is ambiguous." if ambiguous else "",
        details={"results": [result(made)]},
    )


def of_several(decisions: Sequence[Decision]) -> Verdict:
    """How many texts got which label. A text without one stays among the results: it counts as wrong."""
    labels = [one.label for one in decisions if one.label is not None]
    unclear = sum(bool(one.trial and one.trial.ambiguous) for one in decisions)
    return Verdict(
        outcome=f"{len(labels)} texts classified",
        counts=dict(Counter(labels).most_common()),
        abstained=len(decisions) - len(labels),
        summary=f"{len(labels)} of {len(decisions)} texts have a label; the tab Results shows them beside the known ones.",
        note=f"{unclear} of them are ambiguous: their preliminary hearings disagreed." if unclear else "",
        details={"results": [result(one) for one in decisions]},
    )


def result(made: Decision) -> dict[str, Any]:
    """One text as it stands in the verdict's details."""
    trial = made.trial
    return {
        "id": made.item.id,
        "label": made.label,
        "failed": "" if made.label is not None else made.reason,
        "first": trial.first if trial else None,
        "second": trial.second if trial else None,
        "prosecuted": trial.prosecuted if trial else None,
        "ambiguous": trial.ambiguous if trial else None,
        "votes": made.votes,
    }
